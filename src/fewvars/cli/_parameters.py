"""From options of a command to parameters of an estimator: an option is stored under the name of its parameter."""

import ast
import sys
from typing import Any

import click


def _settings(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """Turn NAME=VALUE into keywords; a value that isn't a Python literal is text."""
    found, own = {}, _options(ctx)
    for text in given:
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not equals:
            raise click.BadParameter(f"{text!r}: write NAME=VALUE.")
        if name in own:
            raise click.BadParameter(f"{name!r} has an option of its own: use {own[name]}.")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    callback=_settings,
    metavar="NAME=VALUE",
    help="Set any other parameter of the estimator.",
)


def _options(ctx: click.Context) -> dict[str, str]:
    """Return the options of the command by the names of their parameters."""
    own = {str(param.name): param.opts[0] for param in ctx.command.params if isinstance(param, click.Option)}
    return {**own, "verbose": "--quiet"}


def parameters_asked_for(asked: dict[str, Any], quiet: bool) -> dict[str, Any]:
    """Return the parameters that were given as options."""
    given = {name: value for name, value in asked.items() if value is not None}
    return {**given, "verbose": int(not quiet and sys.stderr.isatty())}


def check_parameters(estimator: Any, parameters: dict[str, Any]) -> None:
    """Raise an error for parameters that the class of an estimator does not have."""
    ctx = click.get_current_context()
    known, own = estimator().get_params(), _options(ctx)
    for name in (name for name in parameters if name not in known):
        if name == "loss":
            raise ValueError("--loss is for targets of numbers: class labels always have the log loss.")
        if name in own:
            with_or_without = "without" if ctx.params["directions"] else "with"
            raise ValueError(f"{own[name]} can only be used {with_or_without} --directions.")
        others = ", ".join(sorted(known.keys() - own.keys()))
        raise ValueError(f"--set {name}: {estimator.__name__} has no such parameter. It has {others}.")
