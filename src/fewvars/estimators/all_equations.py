"""Find all equations of a system, in threads of this process or on a Dask cluster."""

from joblib import effective_n_jobs

from fewvars._common.cluster import completed, connected
from fewvars._common.progress import Progress
from fewvars._common.threads import in_threads, single_blas_thread
from fewvars.estimators.equations import Equation, EquationSearch
from fewvars.estimators.system import System


def find_all(system: System, *, n_jobs: int | None, dask: str | None, progress: Progress) -> list[Equation]:
    """Return every equation of a system.

    Parameters
    ----------
    n_jobs : int, optional
        Threads, or workers of a cluster that is started here.
    dask : str, optional
        The address of a Dask scheduler, or "local" for a cluster on this machine.
    """
    n = len(system.include)
    progress.stage("equations", "equation", total=n)
    if dask is not None:
        return _on_cluster(system, dask, min(effective_n_jobs(n_jobs), n), progress)

    def find(i: int) -> Equation:
        found = EquationSearch(system, i).equation()
        progress.step()
        return found

    with single_blas_thread():
        return in_threads(find, range(n), n_jobs)


def _on_cluster(system: System, address: str, n_workers: int, progress: Progress) -> list[Equation]:
    found: dict[int, Equation] = {}
    with connected(address, n_workers) as client:
        for i, equation in completed(client, _find, range(len(system.include)), system):
            if equation is None:
                raise RuntimeError(
                    f"Workers of the cluster died while they fitted equation {i}: give them more memory, or leave out "
                    f"dask={address!r}."
                )
            found[i] = equation
            progress.step()
    return [found[i] for i in sorted(found)]


def _find(i: int, system: System) -> Equation:
    with single_blas_thread():
        return EquationSearch(system, i).equation()
