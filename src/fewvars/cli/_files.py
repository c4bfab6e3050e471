"""Files that a command reads and writes."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from fewvars.files.tables import Table


def decoded(argument: str) -> str:
    """Return an argument as text: in a locale that is not UTF-8, its bytes may have been left as surrogates."""
    if not any("\udc80" <= character <= "\udcff" for character in argument):
        return argument
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument


class Column(click.ParamType):
    """Names of columns, which are UTF-8 in every locale."""

    name = "column"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as text."""
        return decoded(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the columns of DATA that start like this; nothing if there is no DATA yet."""
        from fewvars.files.tables import column_names

        # click cannot sort the arguments while an option, the one being completed, has no value.
        data = ctx.params.get("data") or next(reversed(ctx.args), None)
        if not data or data == "-":
            return []
        try:
            names = column_names(data, delimiter=separator(ctx.params.get("delimiter")))
        except (ValueError, OSError, ImportError):
            return []
        return [CompletionItem(name) for name in names if name.startswith(decoded(incomplete))]


COLUMN = Column()
DATA = click.Path(exists=True, dir_okay=False, allow_dash=True)
FILE = click.Path(dir_okay=False, path_type=Path)

data_argument = click.argument("data", type=DATA)
delimiter_option = click.option(
    "--delimiter",
    metavar="CHARACTER",
    help="The separator of the fields of a CSV; 'tab' for a tab.  [default: detected from the first two lines]",
)


def separator(delimiter: str | None) -> str | None:
    """Return the character itself: a tab is hard to type."""
    return "\t" if delimiter in ("tab", r"\t") else delimiter


def read(data: str, delimiter: str | None) -> "Table":
    """Read DATA, a file or stdin."""
    from fewvars.files.tables import read_table

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
