"""Tasks on a Dask cluster: a connection, and results as they come in.

We use Dask directly and not as a backend of joblib: joblib 1.6 waits forever for a task that Dask has given up
because its workers died.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_WAIT_SECONDS = 60.0


@contextmanager
def connected(address: str, n_workers: int) -> Iterator[Any]:
    """Give a client of the cluster at an address, or of one with some workers on this machine if that is "local"."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError('Dask is not installed: pip install "fewvars[dask]".') from None
    if address != "local":
        with Client(address, timeout=_WAIT_SECONDS, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=_WAIT_SECONDS)
            yield client
        return
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def completed(
    client: Any, function: Callable[..., R], tasks: Iterable[T], *shared: Any
) -> Iterator[tuple[T, R | None]]:
    """Yield each task with function(task, *shared), in any order; with None if its worker may have died of it.

    The shared arguments are sent to each worker once.
    """
    from distributed import KilledWorker, as_completed

    name = uuid.uuid4().hex
    common = [client.scatter(item, broadcast=True, hash=False) for item in shared]
    futures = {
        client.submit(function, task, *common, key=f"fewvars-{name}-{i}", pure=False): task
        for i, task in enumerate(tasks)
    }
    # Given a loop, it does not look for a default client, which may be the user's.
    done = as_completed(list(futures), loop=client.loop, with_results=True, raise_errors=False)
    for future, value in done:
        task = futures.pop(future)
        if future.status == "finished":
            yield task, value
        elif future.status == "error" and isinstance(value[1], KilledWorker):
            yield task, None
        elif future.status == "error":
            raise value[1]
        else:
            raise ConnectionError(f"the Dask cluster dropped a task (its status is {future.status!r}).")
