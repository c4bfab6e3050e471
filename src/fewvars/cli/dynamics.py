"""`fewvars dynamics`: find the equations of a system from its trajectories, with the evidence for each dependence."""

import time as clock
from functools import partial
from pathlib import Path
from typing import Any

import click

from fewvars.cli import _files as files
from fewvars.cli import _options as options
from fewvars.cli._equations import describe, sentences
from fewvars.cli._names import check_names, listed, naming
from fewvars.cli._parameters import check_parameters, parameters_asked_for, set_option
from fewvars.cli._results import Results, command_line
from fewvars.cli._roles import Roles
from fewvars.cli._rows import Rows
from fewvars.cli._terminal import debug_option, note, quiet_option, warnings_as_notes


@click.command()
@files.data_argument
@options.time_option
@options.trajectory_option
@options.columns_option("--control", "controls", help="Known inputs or forcing, which have no equation of their own.")
@options.columns_option("--variables", help="The variables of the system.  [default: all other columns]")
@options.drop_option
@options.columns_option("--angles", help="Variables on a circle, in radians.")
@click.option(
    "--order",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="Order of the equations; 2 if velocities were not measured.",
)
@click.option(
    "--form",
    "target",
    type=click.Choice(["auto", "weak", "derivative", "step"]),
    default="auto",
    show_default=True,
    help="What the equations are compared with: averages (weak), derivatives, or steps of a map.",
)
@click.option("--include", multiple=True, metavar="EFFECT:CAUSE", help="Always let EFFECT depend on CAUSE.")
@click.option("--exclude", multiple=True, metavar="EFFECT:CAUSE", help="Never let EFFECT depend on CAUSE.")
@files.delimiter_option
@click.option("--save", type=files.FILE, metavar="MODEL", help="Save the model, for `fewvars.load`.")
@options.report_option
@options.json_option
@options.resamples_option
@options.seed_option
@options.jobs_option
@options.dask_option
@set_option
@quiet_option
@debug_option
def dynamics(
    data: str,
    time_column: str | None,
    trajectory: str | None,
    controls: tuple[str, ...],
    variables: tuple[str, ...],
    drop: tuple[str, ...],
    delimiter: str | None,
    save: Path | None,
    report: Path | None,
    as_json: bool,
    settings: dict[str, Any],
    quiet: bool,
    **asked: Any,
) -> None:
    """Find the equations dx/dt = f(x, u) of a system from the trajectories in DATA.

    DATA is a CSV, Parquet or NPZ file, or - for stdin. Every column is a variable of the system unless it is the time,
    the trajectory or a control, or is dropped. Rows with missing values are left out.

    \b
      fewvars dynamics lab.csv --time t --trajectory run --control u --report lab.html --save lab.model
    """
    results = Results(save, report, as_json)
    results.check(data)
    table = files.read(data, delimiter)
    roles = _roles(table, time_column, trajectory, controls, variables, drop)
    rows = Rows.of(table, roles, missing="drop")
    del table
    if rows.n_dropped and not quiet:
        note(f"{rows.n_dropped} of {rows.n_dropped + len(rows.X)} rows have missing values and are left out.")
    asked["angles"] = _angles(asked["angles"], roles) or None
    for kind in ("include", "exclude"):
        asked[kind] = _edges(f"--{kind}", asked[kind], roles) or None
    parameters = {**parameters_asked_for(asked, quiet), **settings}
    with warnings_as_notes():
        model, seconds = _fitted(parameters, rows, roles)
        answer = {"data": data, **describe(model, rows, roles), "seconds": seconds}
        results.deliver(answer, sentences, model, partial(_report, model=model, rows=rows, roles=roles))


def _roles(
    table: Any,
    time: str | None,
    trajectory: str | None,
    controls: tuple[str, ...],
    variables: tuple[str, ...],
    drop: tuple[str, ...],
) -> Roles:
    """Sort the columns; the controls take the role that targets have in other commands."""
    known, chosen, left_out = (listed(given, table.names) for given in (controls, variables, drop))
    given: dict[str, list[str]] = {
        "--time": [] if time is None else [time],
        "--trajectory": [] if trajectory is None else [trajectory],
        "--control": known,
        "--drop": left_out,
        "--variables": chosen,
    }
    used: dict[str, str] = {}
    for option, names in given.items():
        check_names(table, names, option)
        for name in names:
            if name in used:
                raise ValueError(f"{option} {name!r}: this column already has a role, by {used[name]}.")
            used[name] = option
    found = chosen or [name for name in table.names if name not in used]
    if not found:
        raise ValueError(f"No column is left as a variable. {naming(table)}".strip())
    return Roles(found, known, time, trajectory)


def _angles(given: tuple[str, ...], roles: Roles) -> list[str]:
    names = listed(given, roles.inputs)
    for name in names:
        if name not in roles.inputs:
            raise ValueError(f"--angles {name!r}: this isn't one of the variables.")
    return names


def _edges(option: str, given: tuple[str, ...], roles: Roles) -> list[tuple[str, str]]:
    """Return pairs (effect, cause); names may hold colons and commas themselves."""
    pairs = []
    for text in given:
        cuts = [(text[:k], text[k + 1 :]) for k, letter in enumerate(text) if letter == ":"]
        known = [pair for pair in cuts if pair[0] in roles.inputs]
        if not known:
            raise ValueError(f"{option} {text!r}: write EFFECT:CAUSE, where EFFECT is one of the variables.")
        pairs.append(known[0])
    return pairs


def _fitted(parameters: dict[str, Any], rows: Rows, roles: Roles) -> tuple[Any, float]:
    from fewvars.estimators import DynamicsRegressor
    from fewvars.files.tables.frame import named_columns

    check_parameters(DynamicsRegressor, parameters)
    start = clock.perf_counter()
    u = None if rows.y is None else named_columns(rows.y.reshape(len(rows.X), -1), roles.targets)
    X = named_columns(rows.X, roles.inputs)
    model = DynamicsRegressor(**parameters).fit(X, t=rows.t, trajectory=rows.trajectory, u=u)
    return model, clock.perf_counter() - start


def _report(path: Path, model: Any, rows: Rows, roles: Roles) -> None:
    from fewvars.report import write_dynamics_report

    write_dynamics_report(
        path,
        model,
        rows.X,
        t=rows.t,
        trajectory=rows.trajectory,
        u=None if rows.y is None else rows.y.reshape(len(rows.X), -1),
        feature_names=roles.inputs,
        command=command_line(),
    )
