"""Run the missing fits of a study: plan, compare with the folder, fit, store."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from tqdm.auto import tqdm

from fewvars._common.validation import check_whole
from fewvars.study import running
from fewvars.study.experiments import EXPERIMENTS
from fewvars.study.row import Row
from fewvars.study.rows import Folder, Writer, missing
from fewvars.study.specification import Experiment
from fewvars.study.tasks import plan


def run(
    folder: str | Path,
    *,
    experiments: Sequence[Experiment] = EXPERIMENTS,
    replicates: int = 2,
    families: Iterable[str] | None = None,
    jobs: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
    progress: bool = False,
) -> list[Row]:
    """Run the fits that have no row in the folder yet; return the rows of all fits asked for.

    Every fit is written to disk as soon as it is finished. After an interruption, another call makes only the missing
    fits. Each fit has its own seed, so rows do not depend on where or in which order they are made.

    Parameters
    ----------
    folder : path
        Created if it is not there. Nothing in it is ever deleted.
    experiments : sequence of Experiment
        Default: the paper's.
    replicates : int
        Of every method in every setting; the paper has 100.
    families : iterable of str, optional
        Only methods of these families.
    jobs : int
        Processes on this machine; also the workers of ``dask="local"``.
    dask : str, optional
        Address of a Dask scheduler, or "local" for a cluster of its own on this machine.
    retry_failed : bool
        Run fits again whose row is a failure.
    progress : bool
        Show a bar with rate and time left on the standard error.
    """
    check_whole("jobs", jobs)
    tasks = plan(experiments, replicates, families)
    store = Folder(folder)
    specifications = {task.key[:3]: task.specification for task in tasks}
    todo = missing(tasks, store.contents(specifications).rows, retry_failed=retry_failed)
    if todo:
        # Fits take from a tenth of a second to half a minute: only the rate over all of them means something.
        bar = tqdm(total=len(todo), unit="fit", disable=not progress, smoothing=0.0, dynamic_ncols=True)
        with bar, _place(jobs, dask) as place, Writer(store) as writer:
            for result in running.results(todo, place):
                writer.append(result.row, result.curve)
                bar.update()
    rows = store.contents(specifications).rows
    return [rows[task.key] for task in tasks if task.key in rows]


def _place(jobs: int, dask: str | None) -> AbstractContextManager[running.Place]:
    if dask is not None:
        return running.dask(dask, jobs)
    return nullcontext(running.here if jobs == 1 else running.processes(jobs))
