"""Options that several commands share."""

from collections.abc import Callable
from typing import Any

import click

from fewvars.cli import _files as files

Decorator = Callable[[Any], Any]


def column_option(*names: str, help: str) -> Decorator:
    """Return an option for the name of one column."""
    return click.option(*names, metavar="COLUMN", type=files.COLUMN, help=help)


def columns_option(*names: str, help: str) -> Decorator:
    """Return an option for names of columns, which can be repeated or separated by commas."""
    return click.option(*names, multiple=True, metavar="COLUMNS", type=files.COLUMN, help=help)


def _jobs(ctx: click.Context, param: click.Parameter, number: int) -> int:
    if number == 0:
        raise click.BadParameter("0: give a number of threads or processes, or -1 for all cores.")
    return number


time_option = column_option("--time", "time_column", help="Times: numbers or dates.")
trajectory_option = column_option("--trajectory", help="Labels of separate runs.")
drop_option = columns_option("--drop", help="Leave these columns out.")
report_option = click.option("--report", type=files.FILE, metavar="HTML", help="Write a report with figures.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
resamples_option = click.option(
    "--resamples",
    "n_resamples",
    type=click.IntRange(min=0),
    default=0,
    help="Number of resamples on which to repeat the selection.",
)
seed_option = click.option(
    "--seed",
    "random_state",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of the random numbers.",
)
jobs_option = click.option(
    "--jobs",
    "n_jobs",
    type=int,
    default=-1,
    show_default=True,
    callback=_jobs,
    help="Number of threads or processes; -1 uses all cores.",
)
dask_option = click.option(
    "--dask", metavar="ADDRESS", help="Run on the Dask cluster at tcp://...; 'local' starts one here."
)
