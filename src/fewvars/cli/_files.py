"""Files that a command reads and writes."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..tables import Table

DATA = click.Path(exists=True, dir_okay=False, allow_dash=True)
FILE = click.Path(dir_okay=False, path_type=Path)

data_argument = click.argument("data", type=DATA)
delimiter_option = click.option(
    "--delimiter", metavar="CHARACTER", help="Between the fields of a CSV; 'tab' for a tab.  [default: comma]"
)


def complete_column(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the columns of DATA that start like this; nothing if there is no DATA yet."""
    from ..tables import column_names

    # An option without its value, which is what is being completed, keeps click from sorting the arguments.
    data = ctx.params.get("data") or next(reversed(ctx.args), None)
    if not data or data == "-":
        return []
    try:
        names = column_names(data, delimiter=separator(ctx.params.get("delimiter")))
    except (ValueError, OSError, ImportError):
        return []
    return [name for name in names if name.startswith(incomplete)]


def separator(delimiter: str | None) -> str | None:
    """Return the character itself: a tab is hard to type."""
    return "\t" if delimiter in ("tab", r"\t") else delimiter


def read(data: str, delimiter: str | None) -> "Table":
    """Read DATA, a file or stdin."""
    from ..tables import read_table

    if data == "-" and sys.stdin is None:
        raise ValueError("stdin is closed: give a file, or pipe one into it.")
    source = sys.stdin.buffer.read() if data == "-" else data
    try:
        return read_table(source, delimiter=separator(delimiter))
    except ValueError as error:
        raise ValueError(f"{'stdin' if data == '-' else data}: {error}") from error


def check_outputs(sources: Iterable[str | Path], outputs: dict[str, Path | None]) -> None:
    """Refuse, before anything is computed, to write over what is read, twice to one file, or nowhere."""
    taken = {os.path.realpath(source): f"{source}, which is read" for source in sources if source != "-"}
    for option, path in outputs.items():
        if path is None:
            continue
        if not path.absolute().parent.is_dir():
            raise ValueError(f"{option} {path}: there is no directory {path.parent}; create it first.")
        same = [other for other in taken if os.path.exists(other) and path.exists() and os.path.samefile(other, path)]
        real = same[0] if same else os.path.realpath(path)
        if real in taken and not str(path).startswith("/dev/"):
            raise ValueError(f"{option} {path} would overwrite {taken[real]}: choose another name.")
        taken[real] = f"{option} {path}"


def need_matplotlib() -> None:
    """Complain before the fit rather than after it."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("A report needs matplotlib: pip install 'fewvars[plot]'.") from None
