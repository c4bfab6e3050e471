"""The type of each column, detected from its values or given by the user, and a table of the types."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fewvars.cli._names import check_names
from fewvars.cli._terminal import printable

if TYPE_CHECKING:
    from fewvars.cli._roles import Roles
    from fewvars.columns.kinds import Kind
    from fewvars.files.tables import Table

MOST_SHOWN = 30  # columns in the table that is printed
MOST_LEVELS_SHOWN = 6


def asked_types(given: Iterable[str], table: "Table") -> dict[str, str]:
    """Return what --types says: NAME=TYPE, repeated or separated by commas."""
    from fewvars.columns.encoding import TYPES

    found = {}
    for text in given:
        whole = text.rpartition("=")
        parts = [text] if whole[0] in table.columns else text.split(",")
        for part in parts:
            name, equals, kind = part.rpartition("=")
            name = name if name in table.columns else name.strip()
            if not equals or kind.strip() not in TYPES:
                raise ValueError(f"--types {part!r}: write NAME=number or NAME=category.")
            found[name] = kind.strip()
    check_names(table, found, "--types")
    return found


def found_kinds(table: "Table", names: Iterable[str]) -> dict[str, "Kind"]:
    """Return the detected kind of each of some columns."""
    from fewvars.columns.kinds import kind_of
    from fewvars.columns.raw import Raw

    return {name: kind_of(Raw(table.columns[name])) for name in names}


def described(table: "Table", roles: "Roles", levels: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Return the name, type, share of missing values, role and levels of each column."""
    from fewvars.columns.raw import missing_values

    kinds = found_kinds(table, table.names)
    return [
        {
            "name": name,
            "type": "category" if roles.role_of(name) == "target" and roles.classify else _type(name, kinds, roles),
            "missing": float(missing_values(column).mean()),
            "role": roles.role_of(name),
            "levels": list(levels[name]) if name in levels else None,
        }
        for name, column in table.columns.items()
    ]


def _type(name: str, kinds: Mapping[str, "Kind"], roles: "Roles") -> str:
    return str(roles.types.get(name, kinds[name]))


def type_lines(columns: Sequence[dict[str, Any]]) -> list[str]:
    """Return the columns as a table in text; nothing if all possible inputs are complete columns of numbers."""
    possible = [column for column in columns if column["role"] in ("input", "left out")]
    special = [column for column in possible if column["type"] != "number" or column["missing"]]
    if not special:
        return []
    shown = columns if len(columns) <= MOST_SHOWN else special[:MOST_SHOWN]
    rows = [("column", "type", "missing", "role"), *map(_cells, shown)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    more = len(columns) - len(shown)
    return [*lines, *([f"and {more} more columns"] if more else []), ""]


def _cells(column: dict[str, Any]) -> tuple[str, ...]:
    role = column["role"]
    if column["levels"] and role != "left out":
        names = [printable(level)[:20] for level in column["levels"][:MOST_LEVELS_SHOWN]]
        more = len(column["levels"]) - len(names)
        role += f": {', '.join(names)}" + (f" and {more} more" if more else "")
    missing = f"{column['missing']:.1%}" if column["missing"] else ""
    return printable(column["name"])[:40], column["type"], missing, role
