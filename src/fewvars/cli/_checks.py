"""What can be wrong with the columns of a table, and what to do about it."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fewvars._common.wording import counted

if TYPE_CHECKING:
    import numpy as np

    from fewvars.cli._roles import Roles
    from fewvars.files.tables import Table


def check_text(table: "Table", roles: "Roles") -> None:
    """Raise an error for text in an input that is more likely a mistake than a category."""
    from fewvars.columns.kinds import stray_text
    from fewvars.columns.raw import Raw

    for name in [*roles.categories, *(roles.targets if roles.classify else [])]:
        column = table.columns[name]
        if column.dtype.kind != "O" or name in roles.types or not roles.droppable:
            continue
        _refuse_units(table)
        row, value = _first_text(column)
        if re.fullmatch(r"[-+]?\d+,\d+", value):
            raise ValueError(
                f"Column {name!r} is not numeric (row {row} holds {value[:40]!r}): write decimal commas as points, or "
                f"separate the columns by semicolons."
            )
        stray = stray_text(Raw(column))
        if stray is not None:
            drop = "" if name in roles.targets else f", leave the column out with --drop {shlex.quote(name)}"
            raise ValueError(
                f"Column {name!r} is not numeric (row {stray + 1} holds {column[stray][:40]!r}), but most of it is: "
                f"correct it{drop}, or say --types {shlex.quote(f'{name}=category')}."
            )


def _refuse_units(table: "Table") -> None:
    """Complain about a first row that holds units: text over numbers in several columns."""
    from fewvars.columns.kinds import is_numeral

    texts = {name: column for name, column in table.columns.items() if column.dtype.kind == "O"}
    over_numbers = [
        name
        for name, (first, *others) in texts.items()
        if first is not None and not is_numeral(first) and others and all(v is None or is_numeral(v) for v in others)
    ]
    if len(over_numbers) > 1:
        name = over_numbers[0]
        raise ValueError(
            f"Row 1 holds text over numbers in {len(over_numbers)} columns ({texts[name][0][:40]!r} in {name!r}): if "
            "these are units, remove the row or write them into the header."
        )


def check_classes(labels: Any, name: str) -> None:
    """Complain about class labels of which there are too few or too many."""
    import numpy as np

    from fewvars.estimators.labels import classes_of

    classes_of(labels, np.ones(len(labels), bool), f"column {name!r}")


def check_counts(table: "Table", roles: "Roles") -> None:
    """Complain about negative numbers where counts are needed."""
    import numpy as np

    for name in roles.targets:
        negative = table.columns[name] < 0
        if negative.any():
            row = int(np.argmax(negative))
            raise ValueError(
                f"Column {name!r} holds {table.columns[name][row]:g} in row {row + 1}, and --loss poisson is for "
                "counts, which are not negative: correct it, or use --loss squared or huber."
            )


def refuse_all_missing(absent: Mapping[str, "np.ndarray"], roles: "Roles") -> None:
    """Complain that no row is left, and name the column to blame."""
    empty = [name for name in roles.targets if name in absent and absent[name].all()]
    if empty:
        raise ValueError(f"The target {empty[0]!r} is missing in every row: fill it in, or name another column.")
    worst = max(absent, key=lambda name: int(absent[name].sum()))
    drop = "" if worst in roles.targets else f"leave out the column with --drop {shlex.quote(worst)}, or "
    raise ValueError(
        f"No rows are left, because every row has a missing value; most are in {worst!r} "
        f"({absent[worst].mean():.0%}): {drop}use --missing indicate."
    )


def check_levels(table: "Table", name: str, levels: Sequence[str]) -> None:
    """Raise an error for levels that were not in the fit."""
    from fewvars.columns.raw import Raw

    for row, level in enumerate(Raw(table.columns[name]).texts(), start=1):
        if level is not None and level not in levels:
            raise ValueError(
                f"Column {name!r} holds {level[:40]!r} in row {row}, which was not in the fit: correct it, or use "
                f"--unseen base to treat it like {levels[0][:40]!r}, the most frequent level."
            )


def check_numeric(table: "Table", roles: "Roles") -> None:
    """Raise an error for text or times where numbers are needed."""
    bad = [name for name in roles.numeric if table.columns[name].dtype.kind != "f"]
    if not bad:
        return
    column = table.columns[bad[0]]
    if column.dtype.kind in "mM":
        what = f"Column {bad[0]!r} holds times, not numbers"
    else:
        row, value = _first_text(column)
        what = f"Column {bad[0]!r} is not numeric (row {row} holds {value[:40]!r})"
    if len(bad) > 1:
        what += f", and neither are {len(bad) - 1} others"
    if not roles.droppable:
        raise ValueError(f"{what}: the model needs numbers there.")
    if bad[0] in roles.targets:
        raise ValueError(f"{what}: targets and controls must hold numbers.")
    remedy = "drop it from --types" if bad[0] in roles.types else f"leave it out with --drop {shlex.quote(bad[0])}"
    raise ValueError(f"{what}: {remedy}.")


def refuse_missing(names: Sequence[str], absent: Mapping[str, "np.ndarray"], roles: "Roles") -> None:
    """Raise an error for missing values in columns, naming the remedies."""
    import numpy as np

    name, rows = names[0], absent[names[0]]
    more = f", and {counted(len(names) - 1, 'more column')} with missing values" if len(names) > 1 else ""
    remedy = "leave such rows out with --missing drop" if roles.droppable else "fill it or remove the row"
    if roles.droppable and name in roles.inputs:
        remedy += f", keep them with --missing indicate, or leave out the column with --drop {shlex.quote(name)}"
    raise ValueError(
        f"Column {name!r} has {counted(int(rows.sum()), 'missing value')}, the first in row "
        f"{np.argmax(rows) + 1}{more}: {remedy}."
    )


def _first_text(column: Any) -> tuple[int, str]:
    """Return the row and the text of the first value that isn't a number."""
    for row, value in enumerate(column, start=1):
        try:
            float(value)
        except (TypeError, ValueError):
            if value is not None:
                return row, value
    return 1, str(column[0])


def check_time(table: "Table", roles: "Roles") -> None:
    """Raise an error for text in place of times."""
    if roles.time is not None and table.columns[roles.time].dtype.kind not in "fmM":
        row, value = _first_text(table.columns[roles.time])
        raise ValueError(
            f"--time {roles.time!r}: row {row} holds {value[:40]!r}, which isn't a time. Give numbers, or dates such "
            "as 2024-05-31T12:00:00."
        )


def check_increasing(t: Any, labels: Any, roles: "Roles", numbers: "np.ndarray") -> None:
    """Raise an error unless times increase within each run; `numbers` are those of the rows in the file."""
    import numpy as np

    from fewvars.series.splits import trajectory_rows

    if t.dtype.kind == "f":
        check_finite(t, str(roles.time), numbers)
    for run in trajectory_rows(labels, len(t)):
        late = np.flatnonzero(t[run][1:] <= t[run][:-1])
        if late.size:
            before, row = run[late[0]], run[late[0] + 1]
            apart = "" if roles.trajectory else ", or tell separate runs apart with --trajectory COLUMN"
            raise ValueError(
                f"--time {roles.time!r} does not increase: {t[row]} in row {numbers[row]} follows {t[before]}. Sort "
                f"the rows by time and drop repeats{apart}."
            )


def check_finite(column: Any, name: str, numbers: "np.ndarray") -> None:
    """Raise an error for infinite numbers; `numbers` are those of the rows in the file."""
    import numpy as np

    bad = np.isinf(column)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"Column {name!r} holds {column[row]} in row {numbers[row]}, which isn't finite: correct it or remove the "
            "row."
        )
