"""Sort the columns of a table into inputs, targets, times and runs, and check and collect their values."""

import difflib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fewvars._common.wording import first_few
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
from fewvars.cli._types import found_kinds

if TYPE_CHECKING:
    import numpy as np

    from fewvars.files.tables import Table


# What columns that are left out by default are used as if they are named.
_USE_AS = {"date": "number", "row number": "number", "identifier": "category"}


def listed(given: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return columns from options that are repeated or hold commas; a column whose name holds the comma wins."""
    parts = (part for text in given for part in ([text] if text in names else text.split(",")))
    return list(dict.fromkeys(part if part in names else part.strip() for part in parts))


@dataclass(frozen=True, eq=False)
class Roles:
    """The roles of the columns.

    Attributes
    ----------
    inputs, targets : list of str
    time, trajectory : str or None
    droppable : bool
        Whether inputs and rows can be left out, which a model that is already fitted does not allow.
    types : dict
        "number" or "category" for columns whose type was given.
    categories : set of str
        Inputs that are categories.
    left_out : dict
        The kind of each column that is not an input because of what it seems to be.
    classify : bool
        Whether the target holds class labels.
    """

    inputs: list[str]
    targets: list[str]
    time: str | None = None
    trajectory: str | None = None
    droppable: bool = True
    types: Mapping[str, str] = field(default_factory=dict)
    categories: Set[str] = frozenset()
    left_out: Mapping[str, str] = field(default_factory=dict)
    classify: bool = False

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
        types: Mapping[str, str] | None = None,
        classify: bool = False,
    ) -> "Roles":
        """Sort the columns of a table; every number or category that has no other role is an input.

        With `classify`, or if it is text or a category by its given type, the target holds class labels.
        """
        outputs, chosen, left_out = (listed(given, table.names) for given in (targets, inputs, drop))
        _check_roles(table, outputs, chosen, left_out, time, trajectory)
        taken = {*outputs, time, trajectory, *left_out}
        candidates = chosen or [name for name in table.names if name not in taken]
        kinds = found_kinds(table, candidates)
        asked = {**{name: _USE_AS[kinds[name]] for name in chosen if kinds[name] in _USE_AS}, **(types or {})}
        unfit = {name: str(kinds[name]) for name in candidates if kinds[name] in _USE_AS and name not in asked}
        found = [name for name in candidates if name not in unfit]
        if not found:
            because = f" besides {some_of(unfit)}, which --types could bring back" if unfit else ""
            raise ValueError(f"No column is left as an input{because}. {naming(table)}".strip())
        is_text = {name for name in found if table.columns[name].dtype.kind == "O" and name not in asked}
        categories = is_text | {name for name in found if asked.get(name) == "category"}
        classify = classify or any(
            asked.get(name, "category") == "category"
            for name in outputs
            if name in asked or table.columns[name].dtype.kind == "O"
        )
        if classify and len(outputs) > 1:
            raise ValueError(f"--target {some_of(outputs)}: give one column of class labels at a time.")
        return cls(
            found,
            outputs,
            time,
            trajectory,
            types=asked,
            categories=categories,
            left_out=unfit,
            classify=classify,
        )

    @property
    def in_time(self) -> list[str]:
        """The columns of times and of runs, if there are any."""
        return [name for name in (self.time, self.trajectory) if name is not None]

    @property
    def numeric(self) -> list[str]:
        """The columns that must hold numbers."""
        inputs = [name for name in self.inputs if name not in self.categories]
        return inputs if self.classify else [*inputs, *self.targets]

    def role_of(self, name: str) -> str:
        """Return what a column is used as."""
        if name in self.inputs or name in self.targets:
            return "input" if name in self.inputs else "target"
        return {self.time: "time", self.trajectory: "trajectory"}.get(name, "left out")


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


def _check_roles(
    table: "Table",
    targets: Sequence[str],
    inputs: Sequence[str],
    left_out: Sequence[str],
    time: str | None,
    trajectory: str | None,
) -> None:
    """Raise an error for names that are not columns, and for columns with two roles."""
    for option, names in {"--target": targets, "--inputs": inputs, "--drop": left_out}.items():
        check_names(table, names, option)
    for option, name in {"--time": time, "--trajectory": trajectory}.items():
        check_names(table, [] if name is None else [name], option)
    if not targets:
        raise ValueError("--target is empty: name the column to explain.")
    for name in (*targets, time, trajectory):
        if name in left_out or (name in inputs and name in targets):
            option = "--drop" if name in left_out else "--inputs"
            raise ValueError(f"{option} {name!r}: this column already has another role.")
    for name in inputs:
        if name in left_out:
            raise ValueError(f"--inputs and --drop both name {name!r}: leave it out of one of them.")


def check_names(table: "Table", names: Iterable[str], option: str) -> None:
    """Raise an error for the first name that isn't a column, and suggest what may have been meant."""
    for name in names:
        if name not in table.columns:
            close = difflib.get_close_matches(name, table.names, n=1)
            guess = f"did you mean {close[0]!r}?" if close else f"there are {some_of(table.names)}."
            raise ValueError(f"{option} {name!r}: no such column; {guess} {naming(table)}".strip())


def some_of(names: Iterable[str]) -> str:
    """Return the first few names, in quotes, as text."""
    return first_few([repr(name) for name in names])


def naming(table: "Table") -> str:
    """Return a hint about what may be wrong with the header; empty if it looks right."""
    from fewvars.files.tables import naming_hint

    return naming_hint(table.names)


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
