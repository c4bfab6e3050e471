"""`fewvars reproduce`: the paper's experiments, resumed where the last run ended."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fewvars.cli._files import check_outputs
from fewvars.cli._options import dask_option
from fewvars.cli._terminal import debug_option, note, quiet_option, say

if TYPE_CHECKING:
    from fewvars.study import Experiment

_EXPERIMENTS = ("size", "noise", "noiseless", "settings", "directions")
_FAMILIES = ("literal", "ours", "plain", "group-lasso", "dictionary", "dictionary-l1")


@click.command()
@click.option(
    "--replicates",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Number of replicates of each fit; the paper has 100.",
)
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(_EXPERIMENTS),
    help="Run only this experiment. Repeat the option for several.",
)
@click.option(
    "--methods",
    multiple=True,
    type=click.Choice(_FAMILIES),
    help="Run only this method. Repeat the option for several.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Number of processes on this machine.  [default: one per core]"
)
@dask_option
@click.option(
    "--rows",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("fewvars-study"),
    show_default=True,
    metavar="FOLDER",
    help="The folder of results, tables and figures.",
)
@click.option("--fresh", is_flag=True, help="Start over, in the first folder FOLDER-2, FOLDER-3, ... without rows.")
@click.option("--retry-failed", is_flag=True, help="Repeat the fits that failed.")
@click.option("--no-fits", is_flag=True, help="Make tables and figures of existing results only.")
@click.option(
    "--tables", type=click.Path(dir_okay=False, path_type=Path), metavar="MD", help="Copy the tables to this file."
)
@quiet_option
@debug_option
def reproduce(
    replicates: int,
    only: tuple[str, ...],
    methods: tuple[str, ...],
    jobs: int | None,
    dask: str | None,
    rows: Path,
    fresh: bool,
    retry_failed: bool,
    no_fits: bool,
    tables: Path | None,
    quiet: bool,
) -> None:
    """Repeat the experiments of the paper and compare the results with its figures.

    Every finished fit is kept in FOLDER. If the command is interrupted, run it again: it makes only the fits that are
    missing. Tables and figures show all rows in FOLDER.
    """
    from joblib import cpu_count

    from fewvars import study
    from fewvars._common.atomic import write_atomically

    if no_fits and (fresh or retry_failed or dask):
        raise click.UsageError("--no-fits runs nothing: leave out --fresh, --retry-failed and --dask.")
    chosen = [experiment for experiment in study.EXPERIMENTS if not only or experiment.name in only]
    _check_methods(methods, chosen)
    check_outputs([], {"--tables": tables})
    folder = study.Folder(rows)
    if no_fits and not folder.has_rows:
        raise click.UsageError(f"no rows in {rows}: check --rows.")
    if fresh:
        folder = folder.fresh()
        note(f"Starting over in {folder.path}.")
    for method in sorted({m.label for experiment in chosen for m in experiment.methods if not m.available}):
        note(f"{method} is left out: this version of fewvars does not have it.")
    failed = 0
    if not no_fits:
        try:
            found = study.run(
                folder.path,
                experiments=chosen,
                replicates=replicates,
                families=methods or None,
                jobs=jobs or cpu_count(),
                dask=dask,
                retry_failed=retry_failed,
                progress=not quiet,
            )
        except KeyboardInterrupt:
            note(f"The finished fits are in {folder.path}; run the same command again to continue.")
            raise
        failed = sum(not row.fitted for row in found)
    report = study.write_report(folder.path, experiments=study.EXPERIMENTS)
    if tables is not None:
        write_atomically(tables, report.tables.read_bytes())
    for text in report.contents.ignored:
        note(text)
    if failed:
        note(f"{failed} fits failed. Their rows say why, and --retry-failed repeats them.")
    say(f"Page: {report.page.resolve()}")
    say(f"Tables: {(tables or report.tables).resolve()}")


def _check_methods(asked: Sequence[str], experiments: "Sequence[Experiment]") -> None:
    """Raise an error for a method that none of the experiments has."""
    methods = [method for experiment in experiments for method in experiment.methods]
    families = list(dict.fromkeys(method.family for method in methods))
    for name in asked:
        if name not in families:
            names = ", ".join(experiment.name for experiment in experiments)
            raise click.UsageError(f"{names} has no method {name!r}: choose from {', '.join(families)}.")
