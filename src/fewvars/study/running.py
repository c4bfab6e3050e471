"""Where fits run: in this process, in processes of this machine (loky), or on a Dask cluster.

The process that coordinates writes the rows as results come in. Workers therefore need no shared folder, there is
one writer, and a kill loses no more than the fits in flight.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool

from fewvars._common.cluster import completed, connected
from fewvars._common.validation import check_whole
from fewvars.study.fit import Result, failed, run_task
from fewvars.study.row import Key
from fewvars.study.tasks import Task

# Runs tasks and yields each with its result, in any order; None if its worker may have died of it.
Place = Callable[[Iterable[Task]], Iterator[tuple[Task, Result | None]]]


def results(tasks: Iterable[Task], place: Place) -> Iterator[Result]:
    """Yield the result of every task.

    Tasks that were around when a worker died are run again one by one. One that dies alone twice is the culprit and
    becomes a failure (once may have been an accident); the others lose nothing.
    """
    suspects = []
    for task, result in place(tasks):
        if result is None:
            suspects.append(task)
        else:
            yield result
    for suspect in suspects:
        tries = (result for _ in range(2) for _, result in place([suspect]))
        dead = Result(failed(suspect, "WorkerDied: its process was killed, also when it ran alone"))
        yield next((result for result in tries if result is not None), dead)


def here(tasks: Iterable[Task]) -> Iterator[tuple[Task, Result | None]]:
    """Run one after the other in this process."""
    for task in tasks:
        yield task, run_task(task)


def processes(jobs: int) -> Place:
    """Return a place of several processes on this machine."""
    check_whole("jobs", jobs, minimum=2)

    def run(tasks: Iterable[Task]) -> Iterator[tuple[Task, Result | None]]:
        waiting = deque(tasks)
        while waiting:
            running: dict[Key, Task] = {}
            # Not dispatched before they are needed: all dispatched tasks are suspects when a worker dies.
            with parallel_config(backend="loky", inner_max_num_threads=1, initializer=_end_with_parent):
                pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
                done = pool(_calls(waiting, running))
            try:
                for result in done:
                    yield running.pop(result.row.key), result
            except BrokenProcessPool:
                for task in list(running.values()):
                    yield task, None

    return run


def _calls(waiting: deque[Task], running: dict[Key, Task]) -> Iterator[Any]:
    while waiting:
        task = waiting.popleft()
        running[task.key] = task
        yield delayed(run_task)(task)


def _end_with_parent() -> None:
    """End this worker as soon as the process that started it has gone, even in the middle of a fit."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def dask(address: str, jobs: int) -> Iterator[Place]:
    """Give a place on the Dask cluster at an address, or on one of its own if the address is "local"."""
    with connected(address, jobs) as client:
        yield partial(completed, client, run_task)
