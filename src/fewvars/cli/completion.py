"""`fewvars completion`: let the shell complete commands, options and the names of columns."""

import click

from fewvars.cli._terminal import debug_option


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@debug_option
def completion(shell: str) -> None:
    """Print a script that makes the shell complete commands, options and the names of columns.

    \b
      eval "$(fewvars completion bash)"     in ~/.bashrc
      eval "$(fewvars completion zsh)"      in ~/.zshrc
      fewvars completion fish | source      in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from fewvars.cli import main

    kind = get_completion_class(shell)
    if kind is None:
        raise ValueError(f"This version of click knows no completion for {shell}.")
    click.echo(kind(main, {}, "fewvars", "_FEWVARS_COMPLETE").source())
