"""Find all equations of a system: one by one, in processes on this machine, or on a Dask cluster."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from joblib import Parallel, delayed, effective_n_jobs

from fewvars._common.cluster import completed, connected
from fewvars._common.progress import Progress
from fewvars._common.threads import single_blas_thread
from fewvars.estimators.equations import Equation, EquationSearch
from fewvars.estimators.system import System

FEWEST_FOR_PROCESSES = 8  # processes take seconds to start; threads would wait for the interpreter's lock


def find_all(systems: Sequence[System], *, n_jobs: int | None, dask: str | None, progress: Progress) -> list[Equation]:
    """Return every equation.

    Parameters
    ----------
    systems : list of System
        What the search for each equation uses.
    n_jobs : int, optional
        Processes, if there are many equations, or workers of a cluster that is started here.
    dask : str, optional
        The address of a Dask scheduler, or "local" for a cluster on this machine.
    """
    n = len(systems)
    n_workers = min(effective_n_jobs(n_jobs), n)
    progress.stage("equations", "equation", total=n)
    if dask is not None:
        found = _on_cluster(systems, dask, n_workers)
    elif n_workers > 1 and n >= FEWEST_FOR_PROCESSES:
        found = _in_processes(systems, n_workers)
    else:
        found = (_numbered(i, system) for i, system in enumerate(systems))
    return _gathered(found, progress)


def _gathered(found: Iterable[tuple[int, Equation]], progress: Progress) -> list[Equation]:
    """Return equations in their order; they arrive with their numbers, in any order."""
    equations: dict[int, Equation] = {}
    for i, equation in found:
        equations[i] = equation
        progress.step()
    return [equations[i] for i in sorted(equations)]


def _on_cluster(systems: Sequence[System], address: str, n_workers: int) -> Iterator[tuple[int, Equation]]:
    with connected(address, n_workers) as client:
        for i, equation in completed(client, _find_in, range(len(systems)), _Shared(systems)):
            if equation is None:
                raise RuntimeError(
                    f"Workers of the cluster died while they fitted equation {i}: give them more memory, or leave out "
                    f"dask={address!r}."
                )
            yield i, equation


def _in_processes(systems: Sequence[System], n_workers: int) -> Iterator[tuple[int, Equation]]:
    parallel = Parallel(n_workers, batch_size=1, return_as="generator_unordered")
    return parallel(delayed(_numbered)(i, system) for i, system in enumerate(systems))


def _numbered(i: int, system: System) -> tuple[int, Equation]:
    return i, _find(i, system)


@dataclass(frozen=True, eq=False)
class _Shared:
    """All systems in one piece: of a list, Dask would send every item, however often it occurs."""

    systems: Sequence[System]


def _find_in(i: int, shared: _Shared) -> Equation:
    return _find(i, shared.systems[i])


def _find(i: int, system: System) -> Equation:
    with single_blas_thread():
        return EquationSearch(system, i).equation()
