"""Sort the columns of a table into inputs, targets, times and runs."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fewvars.cli._names import check_names, listed, naming, some_of
from fewvars.cli._types import found_kinds

if TYPE_CHECKING:
    from fewvars.files.tables import Table

# How columns of kinds that are left out by default are used if the user names them.
_USE_AS = {"date": "number", "row number": "number", "identifier": "category"}


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
