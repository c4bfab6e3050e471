"""From options of `fewvars fit` to parameters of an estimator."""

import ast
import sys
from typing import Any

import click

# Parameters of the estimators that have options of their own.
_OPTIONS = {
    "smoothing": "--smoothing",
    "head": "--head",
    "n_variables": "--n-variables",
    "n_directions": "--n-directions",
    "include": "--include",
    "types": "--types",
    "missing": "--missing",
    "fdr": "--fdr",
    "shuffle": "--shuffle",
    "n_resamples": "--resamples",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "verbose": "--quiet",
}


def _settings(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """Turn NAME=VALUE into keywords; a value that isn't a Python literal is text."""
    settings = {}
    for text in given:
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not equals:
            raise click.BadParameter(f"{text!r}: write NAME=VALUE.")
        if name in _OPTIONS:
            raise click.BadParameter(f"{name!r} has an option of its own: use {_OPTIONS[name]}.")
        try:
            settings[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            settings[name] = value
    return settings


set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    callback=_settings,
    metavar="NAME=VALUE",
    help="Set any other parameter of the estimator.",
)


def parameters_asked_for(asked: dict[str, Any], keep: list[int], quiet: bool) -> dict[str, Any]:
    """Translate options into parameters of the estimator; what was not asked for is left to its default."""
    parameters = {
        "smoothing": asked["smoothing"],
        "head": asked["head"],
        "n_variables": asked["n_variables"],
        "n_directions": asked["n_directions"],
        "include": keep or None,
        "fdr": asked["fdr"],
        "shuffle": asked["shuffle"] or None,
        "n_resamples": asked["resamples"],
        "random_state": asked["seed"],
        "n_jobs": asked["jobs"],
        "verbose": int(not quiet and sys.stderr.isatty()),
    }
    return {name: value for name, value in parameters.items() if value is not None}


def check_parameters(estimator: Any, parameters: dict[str, Any], directions: bool) -> None:
    """Complain about parameters that the class of an estimator does not have."""
    known = estimator().get_params()
    for name in parameters:
        if name in _OPTIONS and name not in known:
            raise ValueError(f"{_OPTIONS[name]} can only be used {'without' if directions else 'with'} --directions.")
        if name not in known:
            others = ", ".join(sorted(known.keys() - _OPTIONS.keys()))
            raise ValueError(f"--set {name}: {estimator.__name__} has no such parameter. It has {others}.")
