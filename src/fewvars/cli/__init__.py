"""The command line: `fewvars fit`, `dynamics`, `predict`, `export`, `demo`, `bench`, `reproduce`, `completion`.

Each command is a module, which is imported, together with anything heavy, only when it runs.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from fewvars._common.version import __version__
from fewvars.cli._terminal import (
    State,
    Terminated,
    debug_option,
    one_line,
    ready_streams,
    termination_as_interrupt,
)

COMMANDS = {
    "fit": "Find the few variables that a column of DATA depends on.",
    "dynamics": "Find the equations of a system from its trajectories.",
    "predict": "Predict the rows of DATA with a saved model.",
    "export": "Write a saved model as ONNX.",
    "demo": "Find the variables that one equation of a chaotic system depends on.",
    "bench": "Measure how fast fewvars is on this machine.",
    "reproduce": "Repeat the experiments of the paper.",
    "completion": "Print a script that makes the shell complete commands and columns.",
}


class Commands(click.Group):
    """Commands by name, imported when needed; errors are one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f".{name}", __name__), name)
        command.short_help = COMMANDS[name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; Ctrl-C and SIGTERM aren't errors."""
        try:
            return super().invoke(ctx)
        except Terminated:
            click.echo("Terminated.", err=True)
            ctx.exit(143)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(130)

    def main(  # type: ignore[override]  # without the overloads
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any
    ) -> Any:
        """Run the command line and exit: 0 done, 1 failure, 2 usage or bad data, 130 interrupted, 143 terminated."""
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        ready_streams()
        state = State()
        try:
            with termination_as_interrupt():
                code = super().main(args, standalone_mode=False, obj=state, **extra)
        except click.Abort:
            click.echo("Interrupted.", err=True)
            code = 130
        except Exception as error:
            if state.debug and not isinstance(error, click.ClickException):
                raise
            code = one_line(error)
        sys.exit(code if isinstance(code, int) else 0)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="fewvars")
@debug_option
def main() -> None:
    """Learn functions of few variables: which inputs matter, and what the function is."""
