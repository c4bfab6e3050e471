"""The values of the columns of a table: checked, without the rows to be left out, and assembled."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fewvars.cli._checks import (
    check_classes,
    check_finite,
    check_increasing,
    check_numeric,
    check_text,
    check_time,
    refuse_all_missing,
    refuse_missing,
)
from fewvars.cli._roles import Roles

if TYPE_CHECKING:
    import numpy as np

    from fewvars.files.tables import Table


@dataclass(frozen=True, eq=False)
class Rows:
    """The values themselves: X (n, d), y (n,) or (n, outputs) or None, t (n,) or None, trajectory (n,) or None.

    X is a matrix if it is all numbers, or else a frame. `n_dropped` rows were left out, `n_unlabelled` of them because
    a target is missing; values of inputs may still be missing if the rows are `incomplete`.
    """

    X: Any
    y: Any
    t: Any
    trajectory: Any
    n_dropped: int
    n_unlabelled: int = 0
    incomplete: bool = False

    @classmethod
    def of(cls, table: "Table", roles: Roles, *, missing: str | None = None) -> "Rows":
        """Check the values, treat missing ones, and assemble the columns.

        Parameters
        ----------
        missing : {"error", "drop", "indicate"}, optional
            What to do about missing values of inputs. Rows without a target are always left out.
        """
        import numpy as np

        from fewvars.columns.raw import missing_values

        table = _dates_as_numbers(table, roles)
        check_text(table, roles)
        check_numeric(table, roles)
        check_time(table, roles)
        used = [*roles.inputs, *roles.targets, *roles.in_time]
        absent = {name: missing_values(table.columns[name]) for name in used}
        absent = {name: rows for name, rows in absent.items() if rows.any()}
        keep = _kept(absent, roles, missing, table.n_rows)
        numbers = np.arange(1, table.n_rows + 1)[keep]
        n_unlabelled = int(np.any([rows for name, rows in absent.items() if name in roles.targets], axis=0).sum())
        if not keep.all():
            kept = {name: table.columns[name][keep] for name in used}
            table = replace(table, columns=kept, n_rows=int(keep.sum()))
        y = _targets(table, roles)
        t = None if roles.time is None else table.columns[roles.time]
        labels = None if roles.trajectory is None else _labels(table.columns[roles.trajectory])
        if t is not None:
            check_increasing(t, labels, roles, numbers)
        for name in roles.numeric:
            check_finite(table.columns[name], name, numbers)
        incomplete = any(missing_values(table.columns[name]).any() for name in roles.inputs)
        return cls(_inputs(table, roles), y, t, labels, int((~keep).sum()), n_unlabelled, incomplete)


def _kept(absent: Mapping[str, "np.ndarray"], roles: Roles, missing: str | None, n_rows: int) -> "np.ndarray":
    """Return which rows are kept, (n,) bool, given those in which each column is missing; raise an error if none is."""
    import numpy as np

    refused = [name for name in roles.inputs if name in absent and missing == "error"]
    refused += [name for name in roles.in_time if name in absent and missing != "drop"]
    if refused:
        refuse_missing(refused, absent, roles)
    unwanted = [rows for name, rows in absent.items() if name in roles.targets or missing == "drop"]
    keep = ~np.any([np.zeros(n_rows, bool), *(unwanted if roles.droppable else [])], axis=0)
    if not keep.any():
        refuse_all_missing(absent, roles)
    return keep


def _dates_as_numbers(table: "Table", roles: Roles) -> "Table":
    """Return the table with dates that are inputs as days since 1970."""
    from fewvars.columns.raw import Raw

    dates = [name for name in roles.inputs if table.columns[name].dtype.kind in "mM"]
    numbers = {name: Raw(table.columns[name]).numbers() for name in dates if name not in roles.categories}
    return replace(table, columns={**table.columns, **numbers}) if numbers else table


def _inputs(table: "Table", roles: Roles) -> Any:
    """Return the inputs as a matrix of numbers, or as a frame if there are categories."""
    if not roles.categories:
        return table.matrix(roles.inputs)
    from fewvars.files.tables.frame import frame_of

    return frame_of({name: table.columns[name] for name in roles.inputs})


def _targets(table: "Table", roles: Roles) -> Any:
    """Return class labels (n,), numbers (n,) or (n, outputs), or None without targets."""
    if roles.classify:
        labels = _class_labels(table.columns[roles.targets[0]])
        check_classes(labels, roles.targets[0])
        return labels
    if not roles.targets:
        return None
    y = table.matrix(roles.targets)
    return y[:, 0] if y.shape[1] == 1 else y


def _class_labels(column: Any) -> Any:
    """Return class labels (n,) as text or whole numbers."""
    import numpy as np

    if column.dtype.kind == "f" and (column == np.round(column)).all():
        return column.astype(np.int64)
    return _labels(column)


def _labels(column: Any) -> Any:
    return column.astype(str) if column.dtype.kind == "O" else column
