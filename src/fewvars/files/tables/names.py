"""Names of columns, which must be unique, and hints about what may be wrong with a header."""

import re
from collections import Counter


def check_names(names: list[str]) -> None:
    """Raise an error for columns without a name, or with the name of another."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if "" in names:
        complaint = f"Column {names.index('') + 1} has no name: name it in the header."
        raise ValueError(f"{complaint} {naming_hint(names)}".strip())
    if repeated:
        raise ValueError(f"Several columns are named {repeated[0]!r}: rename all but one.")


def naming_hint(names: list[str]) -> str:
    """Return what may be wrong with a header that lacks an expected name; empty if it looks right."""
    if names[0].startswith(("#", "%", "//")):
        return "The first line is taken as the header and looks like a comment: if it is, remove it."
    if re.fullmatch("sep=.?", names[0], re.IGNORECASE):
        return "The first line is taken as the header and only names the separator: remove it, and use --delimiter."
    marks = [mark for mark in ";\t|" if mark in names[0]] if len(names) == 1 else []
    if marks:
        mark = "tab" if marks[0] == "\t" else repr(marks[0])
        return f"Is it separated by {mark}? Say so with --delimiter {mark}."
    if any(re.fullmatch(r"[-+]?\d*\.\d+([eE][-+]?\d+)?", name) for name in names):
        return "The first row looks like numbers: it must hold the names of the columns."
    return ""
