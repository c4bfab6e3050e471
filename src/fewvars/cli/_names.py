"""Names of columns on the command line: lists of them, and errors for those that are unknown."""

import difflib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fewvars._common.wording import first_few

if TYPE_CHECKING:
    from fewvars.files.tables import Table


def listed(given: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return columns from options that are repeated or hold commas; a column whose name holds the comma wins."""
    parts = (part for text in given for part in ([text] if text in names else text.split(",")))
    return list(dict.fromkeys(part if part in names else part.strip() for part in parts))


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
