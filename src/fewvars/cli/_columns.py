"""Which columns of a table are inputs, targets, times and runs, and the numbers in them, or what is wrong with them."""

import difflib
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from fewvars.files.tables import Table


def listed(given: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return columns from options that were repeated or hold commas; a name that holds a comma comes first."""
    parts = (part for text in given for part in ([text] if text in names else text.split(",")))
    return list(dict.fromkeys(part if part in names else part.strip() for part in parts))


@dataclass(frozen=True, eq=False)
class Roles:
    """Which columns are what.

    Attributes
    ----------
    inputs, targets : list of str
    time, trajectory : str or None
    droppable : bool
        Whether inputs and rows can be left out, which a model that is already fitted does not allow.
    """

    inputs: list[str]
    targets: list[str]
    time: str | None = None
    trajectory: str | None = None
    droppable: bool = True

    @classmethod
    def of(
        cls,
        table: "Table",
        *,
        targets: Iterable[str],
        time: str | None = None,
        trajectory: str | None = None,
        inputs: Iterable[str] = (),
        drop: Iterable[str] = (),
    ) -> "Roles":
        """Sort the columns of a table; every column that has no other role is an input."""
        outputs, chosen, left_out = (listed(given, table.names) for given in (targets, inputs, drop))
        for option, names in {"--target": outputs, "--inputs": chosen, "--drop": left_out}.items():
            check_names(table, names, option)
        check_names(table, [name for name in (time,) if name is not None], "--time")
        check_names(table, [name for name in (trajectory,) if name is not None], "--trajectory")
        if not outputs:
            raise ValueError("--target is empty: name the column to explain.")
        for name in (*outputs, time, trajectory):
            if name in left_out or (name in chosen and name in outputs):
                option = "--drop" if name in left_out else "--inputs"
                raise ValueError(f"{option} {name!r}: this column already has another role.")
        for name in chosen:
            if name in left_out:
                raise ValueError(f"--inputs and --drop both name {name!r}: leave it out of one of them.")
        taken = {*outputs, time, trajectory, *left_out}
        found = chosen or [name for name in table.names if name not in taken]
        if not found:
            raise ValueError(f"No column is left as an input. {naming(table)}".strip())
        return cls(found, outputs, time, trajectory)

    @property
    def numeric(self) -> list[str]:
        """The columns that must hold numbers."""
        return [*self.inputs, *self.targets]


@dataclass(frozen=True, eq=False)
class Rows:
    """The numbers themselves: X (n, d), y (n,) or (n, outputs) or None, t (n,) or None, trajectory (n,) or None."""

    X: "np.ndarray"
    y: Any
    t: Any
    trajectory: Any
    n_dropped: int

    @classmethod
    def of(cls, table: "Table", roles: Roles, *, drop_missing: bool = False) -> "Rows":
        """Check that numbers are numbers and nothing is missing, and put them together."""
        import numpy as np

        _check_numeric(table, roles)
        _check_time(table, roles)
        used = [*roles.numeric, *(name for name in (roles.time, roles.trajectory) if name is not None)]
        absent = {name: _missing(table.columns[name]) for name in used}
        absent = {name: rows for name, rows in absent.items() if rows.any()}
        numbers, n_dropped = np.arange(1, table.n_rows + 1), 0
        if absent and not drop_missing:
            name, rows = next(iter(absent.items()))
            more = f", and {len(absent) - 1} more columns have missing values" if len(absent) > 1 else ""
            remedy = "leave such rows out with --drop-missing" if roles.droppable else "fill it or remove the row"
            if roles.droppable and name in roles.inputs:
                remedy += f", or the column with --drop {_quoted([name])}"
            raise ValueError(
                f"Column {name!r} has {_counted(int(rows.sum()), 'missing value')}, the first in row "
                f"{np.argmax(rows) + 1}{more}: {remedy}."
            )
        if absent:
            keep = ~np.any(list(absent.values()), axis=0)
            numbers, n_dropped = numbers[keep], int((~keep).sum())
            kept = {name: table.columns[name][keep] for name in used}
            table = replace(table, columns=kept, n_rows=int(keep.sum()))
            if not table.n_rows:
                raise ValueError("--drop-missing leaves no rows, because every row has a missing value: try --drop.")
        y = table.matrix(roles.targets) if roles.targets else None
        t = None if roles.time is None else table.columns[roles.time]
        labels = None if roles.trajectory is None else _labels(table.columns[roles.trajectory])
        if t is not None:
            _check_increasing(t, labels, roles, numbers)
        X = table.matrix(roles.inputs)
        _check_finite(X, roles.inputs, numbers)
        if y is not None:
            _check_finite(y, roles.targets, numbers)
        return cls(X, y[:, 0] if y is not None and y.shape[1] == 1 else y, t, labels, n_dropped)


def check_names(table: "Table", names: Iterable[str], option: str) -> None:
    """Complain about the first name that isn't a column, and guess what was meant."""
    for name in names:
        if name not in table.columns:
            close = difflib.get_close_matches(name, table.names, n=1)
            guess = f"did you mean {close[0]!r}?" if close else f"there are {some_of(table.names)}."
            raise ValueError(f"{option} {name!r}: no such column; {guess} {naming(table)}".strip())


def some_of(names: Sequence[str], most: int = 8) -> str:
    """Return the first few names as text."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def naming(table: "Table") -> str:
    """Return what may be wrong with the names of a table as a whole."""
    from fewvars.files.tables import naming_hint

    return naming_hint(table.names)


def _check_numeric(table: "Table", roles: Roles) -> None:
    bad = [name for name in roles.numeric if table.columns[name].dtype.kind != "f"]
    if not bad:
        return
    column = table.columns[bad[0]]
    if column.dtype.kind in "mM":
        what = f"Column {bad[0]!r} holds times, not numbers"
        remedy = "" if roles.time else f"name it with --time {_quoted(bad[:1])}, or "
    else:
        row, value = _first_text(column)
        what = f"Column {bad[0]!r} is not numeric (row {row} holds {value[:40]!r})"
        remedy = "" if not re.fullmatch(r"[-+]?\d+,\d+", value) else "write decimal commas as points, or "
    if len(bad) > 1:
        what += f", and neither are {len(bad) - 1} others"
    inputs = [name for name in bad if name in roles.inputs]
    if not roles.droppable:
        raise ValueError(f"{what}: the model needs numbers there.")
    leave = f"leave it out with --drop {_quoted(inputs)}." if inputs else "a target must hold numbers."
    raise ValueError(f"{what}: {remedy}{leave}")


def _first_text(column: Any) -> tuple[int, str]:
    """Return the row and the text of the first value that isn't a number."""
    for row, value in enumerate(column, start=1):
        try:
            float(value)
        except (TypeError, ValueError):
            if value is not None:
                return row, value
    return 1, str(column[0])


def _check_time(table: "Table", roles: Roles) -> None:
    if roles.time is not None and table.columns[roles.time].dtype.kind not in "fmM":
        row, value = _first_text(table.columns[roles.time])
        raise ValueError(
            f"--time {roles.time!r}: row {row} holds {value[:40]!r}, which isn't a time. Give numbers, or dates such "
            "as 2024-05-31T12:00:00."
        )


def _check_increasing(t: Any, labels: Any, roles: Roles, numbers: "np.ndarray") -> None:
    """Times must increase within each run; `numbers` are those of the rows in the file."""
    import numpy as np

    from fewvars.series.splits import trajectory_rows

    if t.dtype.kind == "f":
        _check_finite(t[:, None], [str(roles.time)], numbers)
    for run in trajectory_rows(labels, len(t)):
        late = np.flatnonzero(t[run][1:] <= t[run][:-1])
        if late.size:
            before, row = run[late[0]], run[late[0] + 1]
            apart = "" if roles.trajectory else ", or tell separate runs apart with --trajectory COLUMN"
            raise ValueError(
                f"--time {roles.time!r} does not increase: {t[row]} in row {numbers[row]} follows {t[before]}. Sort "
                f"the rows by time and drop repeats{apart}."
            )


def _check_finite(values: Any, names: Sequence[str], numbers: "np.ndarray") -> None:
    import numpy as np

    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"Column {names[column]!r} holds {values[row, column]} in row {numbers[row]}, which isn't finite: correct "
            "it or remove the row."
        )


def _missing(column: Any) -> Any:
    import numpy as np

    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind in "mM":
        return np.isnat(column)
    return np.array([value is None for value in column])


def _labels(column: Any) -> Any:
    return column.astype(str) if column.dtype.kind == "O" else column


def _quoted(names: Sequence[str]) -> str:
    """Return names as an option of the shell, each --drop on its own where a name holds a comma."""
    few = list(names)
    if any("," in name for name in few):
        return " --drop ".join(map(shlex.quote, few))
    return shlex.quote(",".join(few))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
