"""Printing that is safe on any terminal, pipe or locale: answers to stdout, everything else to stderr."""

import json
import logging
import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import click


@dataclass
class State:
    """The state that all commands share.

    Attributes
    ----------
    debug : bool
        Whether errors show where in the code they arose.
    """

    debug: bool = False


def _set_debug(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(State).debug = True


debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, is_eager=True, callback=_set_debug, help="Show tracebacks of errors."
)


def _set_quiet(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    if value:
        messages = logging.getLogger("fewvars")
        ctx.call_on_close(partial(messages.setLevel, messages.level))
        messages.setLevel(logging.ERROR)
    return value


quiet_option = click.option("--quiet", is_flag=True, callback=_set_quiet, help="Show no progress and no notes.")


def ready_streams() -> None:
    """Make closed streams, and characters that a stream cannot show, harmless."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell: the next file opened would get its number, and its output
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open to the end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


class Terminated(KeyboardInterrupt):
    """SIGTERM, as sent by batch systems, containers and `timeout`; it is treated like Ctrl-C."""


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM raise `Terminated`, so that bars are closed, temporary files removed and worker processes stopped."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
        yield
        return

    def stop(*_: Any) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def printable(text: object) -> str:
    """Return text with all characters escaped that could move the cursor, set colours or break the line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def say(line: str) -> None:
    """Print one line of the answer."""
    write(_in_reach(printable(line), sys.stdout) + "\n")


def note(line: str) -> None:
    """Print one line about the answer to stderr."""
    click.echo(_in_reach(printable(line), sys.stderr), file=sys.stderr)


def write(text: str) -> None:
    """Write text to stdout as it is, in the encoding that was asked for: click alone would turn ASCII into UTF-8."""
    click.echo(text, file=sys.stdout, nl=False)


def _in_reach(line: str, stream: Any) -> str:
    try:
        "±".encode(getattr(stream, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return line.replace("±", "+/-")
    return line


def say_json(answer: dict[str, Any]) -> None:
    """Print one object of strict JSON, in ASCII; numbers that are not finite become null."""
    write(json.dumps(_strict(answer), allow_nan=False) + "\n")


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # an array or a number of NumPy
        return _strict(value.tolist())
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings as single lines on stderr."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        note(f"Warning: {message}")

    with warnings.catch_warnings():
        warnings.filterwarnings("default", category=UserWarning)
        # Columns are matched by name before they become an array, which has no names.
        warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
        warnings.showwarning = show
        yield


def one_line(error: Exception) -> int:
    """Print an error as a single line; return the exit code."""
    if isinstance(error, click.ClickException):
        # Without a command, click shows the help.
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            return error.exit_code
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        note(f"Error: {error.format_message()}" + (f" See '{where} --help'." if where else ""))
        return error.exit_code
    if isinstance(error, ValueError):  # what the library says about data and settings
        note(f"Error: {error}")
        return 2
    named = isinstance(error, OSError | ImportError)
    text = str(error) if named and str(error) else f"{type(error).__name__}: {error}"
    note(f"Error: {text}" + ("" if named else " (--debug shows where)"))
    return 1
