"""`fewvars fit`: find the variables that a column depends on, the evidence, and the function."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import click

from fewvars._common.wording import first_few
from fewvars.cli import _files as files
from fewvars.cli import _options as options
from fewvars.cli._answer import describe, sentences
from fewvars.cli._checks import check_counts
from fewvars.cli._names import listed
from fewvars.cli._parameters import check_parameters, parameters_asked_for, set_option
from fewvars.cli._results import Results, command_line
from fewvars.cli._roles import Roles
from fewvars.cli._rows import Rows
from fewvars.cli._terminal import debug_option, note, quiet_option, warnings_as_notes
from fewvars.cli._types import asked_types, described, type_lines


@click.command()
@files.data_argument
@click.option(
    "--target",
    "targets",
    multiple=True,
    required=True,
    metavar="COLUMN",
    type=files.COLUMN,
    help="The column to explain. Repeat the option for several columns that depend on the same variables.",
)
@options.time_option
@options.trajectory_option
@options.columns_option("--inputs", help="Use only these columns. Repeat the option, or separate names by commas.")
@options.drop_option
@click.option(
    "--types",
    multiple=True,
    metavar="NAME=TYPE",
    type=files.COLUMN,
    help="Treat a column as a number or a category, whatever its detected type. Repeat the option, or use commas.",
)
@click.option(
    "--missing",
    type=click.Choice(["error", "drop", "indicate"]),
    help="If inputs have missing values: stop, leave such rows out, or use the mean and an indicator.  [default: "
    "indicate; drop with --directions]",
)
@click.option("--classify", is_flag=True, help="Treat the target as class labels, as text always is.")
@files.delimiter_option
@click.option("--save", type=files.FILE, metavar="MODEL", help="Save the model, for `fewvars predict`.")
@options.report_option
@options.json_option
@click.option("--directions", is_flag=True, help="Look for few linear combinations instead of few variables.")
@click.option("--smoothing", type=click.Choice(["auto", "on", "off"]), help="Smooth noisy columns in time.")
@click.option(
    "--loss",
    type=click.Choice(["squared", "huber", "poisson"]),
    help="The loss: squared error, robust to outliers (huber), or for counts (poisson).  [default: squared]",
)
@click.option("--head", metavar="KIND", help="The kind of function: auto, dictionary (polynomial), curves or network.")
@click.option("--n-variables", type=click.IntRange(min=1), help="Find this many variables.")
@click.option("--n-directions", type=click.IntRange(min=1), help="Find this many linear combinations.")
@click.option(
    "--fdr",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Select by q-value, at this false discovery rate.",
)
@options.columns_option("--include", help="Always select these variables.")
@click.option(
    "--shuffle", is_flag=True, help="Hold out random rows instead of blocks, for rows that are not in time order."
)
@options.resamples_option
@options.seed_option
@options.jobs_option
@set_option
@quiet_option
@debug_option
def fit(
    data: str,
    targets: tuple[str, ...],
    time_column: str | None,
    trajectory: str | None,
    inputs: tuple[str, ...],
    drop: tuple[str, ...],
    types: tuple[str, ...],
    missing: str | None,
    classify: bool,
    delimiter: str | None,
    save: Path | None,
    report: Path | None,
    as_json: bool,
    directions: bool,
    include: tuple[str, ...],
    settings: dict[str, Any],
    quiet: bool,
    **asked: Any,
) -> None:
    """Find the few variables that a column of DATA depends on, and the function.

    DATA is a CSV, Parquet or NPZ file, or - for stdin. Every column of numbers or categories is an input unless it is
    the target, the time or the trajectory, or is dropped. Dates, identifiers and row numbers are inputs only if they
    are named with --inputs or --types.

    \b
      fewvars fit flow.csv --target pressure --time t --report flow.html
      fewvars fit flow.csv --target pressure --drop station,note --json
    """
    if asked["smoothing"] == "on" and time_column is None:
        raise click.UsageError("--smoothing on needs --time COLUMN.")
    results = Results(save, report, as_json)
    results.check(data)
    table = files.read(data, delimiter)
    roles = Roles.of(
        table,
        targets=targets,
        time=time_column,
        trajectory=trajectory,
        inputs=inputs,
        drop=drop,
        types=asked_types(types, table),
        classify=classify,
    )
    if directions and roles.classify:
        raise click.UsageError(f"--directions needs a target of numbers, and {roles.targets[0]!r} holds class labels.")
    missing = missing or ("drop" if directions else "indicate")
    rows = Rows.of(table, roles, missing=missing)
    if asked["loss"] == "poisson" and not roles.classify:
        check_counts(table, roles)
    kept = listed(include, roles.inputs)
    for name in kept:
        if name not in roles.inputs:
            raise ValueError(f"--include {name!r}: this isn't one of the inputs.")
    asked |= {"include": [roles.inputs.index(name) for name in kept] or None, "shuffle": asked["shuffle"] or None}
    parameters = {**parameters_asked_for(asked, quiet), **settings}
    parameters |= {"missing": missing} if rows.incomplete or missing == "drop" else {}
    types_of_inputs = {name: kind for name, kind in roles.types.items() if name in roles.inputs}
    parameters |= {"types": types_of_inputs} if types_of_inputs else {}
    with warnings_as_notes():
        model, seconds = _fitted(directions, parameters, rows, roles)
        if not quiet:
            _notes(rows, roles)
        levels = _levels(model, roles)
        answer = {"data": data, "columns": described(table, roles, levels), **describe(model, rows, roles, seconds)}
        report_of = partial(_report, model=model, rows=rows, roles=roles, seconds=seconds)
        results.deliver(answer, lambda answer: [*type_lines(answer["columns"]), *sentences(answer)], model, report_of)


def _notes(rows: Rows, roles: Roles) -> None:
    """Say which rows and columns are left out, and what two values may mean."""
    import numpy as np

    n_rows, n_incomplete = rows.n_dropped + len(rows.X), rows.n_dropped - rows.n_unlabelled
    if rows.n_unlabelled:
        note(f"The target is missing in {rows.n_unlabelled} of {n_rows} rows, which are left out.")
    if n_incomplete:
        note(f"{n_incomplete} of {n_rows} rows lack a value of an input and are left out.")
    for name, values in zip(roles.targets, rows.y.reshape(len(rows.X), -1).T, strict=True):
        if not roles.classify and np.unique(values).size == 2:
            low, high = np.unique(values)
            note(f"{name!r} is either {low:g} or {high:g}. If these are classes, use --classify.")
    if roles.left_out:
        kinds = [f"{name!r} ({kind})" for name, kind in roles.left_out.items()]
        note(f"Not used as inputs: {first_few(kinds)}. Use --types NAME=number or NAME=category to use one.")


def _levels(model: Any, roles: Roles) -> dict[str, Any]:
    """Return the levels of the categories, and the classes of the target."""
    classes = {roles.targets[0]: model.findings().classes} if roles.classify else {}
    return {**getattr(model, "levels_", {}), **classes}


def _fitted(directions: bool, parameters: dict[str, Any], rows: Rows, roles: Roles) -> tuple[Any, float]:
    import warnings

    from fewvars.estimators import FewDirectionsRegressor, FewVariablesClassifier, FewVariablesRegressor
    from fewvars.files.tables.frame import named_columns

    estimator: Any = FewDirectionsRegressor if directions else FewVariablesRegressor
    if roles.classify:
        estimator = FewVariablesClassifier
    check_parameters(estimator, parameters)
    start = time.perf_counter()
    with warnings.catch_warnings():
        # The answer says so itself.
        warnings.filterwarnings("ignore", message="No (input|direction) predicts y", category=UserWarning)
        X = rows.X if roles.categories else named_columns(rows.X, roles.inputs)
        model = estimator(**parameters).fit(X, rows.y, t=rows.t, trajectory=rows.trajectory)
    return model, time.perf_counter() - start


def _report(path: Path, model: Any, rows: Rows, roles: Roles, seconds: float) -> None:
    from fewvars.report import write_report

    depend = "depends" if len(roles.targets) == 1 else "depend"
    write_report(
        path,
        model,
        rows.X,
        rows.y,
        t=rows.t,
        trajectory=rows.trajectory,
        title=f"What {' and '.join(roles.targets)} {depend} on",
        target_name=roles.targets,
        feature_names=roles.inputs,
        command=command_line(),
        seconds=seconds,
    )
