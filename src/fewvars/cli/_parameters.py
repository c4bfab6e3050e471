"""From options of a command to parameters of an estimator."""

import ast
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

# Parameters of the estimators that have options of their own in `fewvars fit`.
_OPTIONS = {
    "smoothing": "--smoothing",
    "head": "--head",
    "loss": "--loss",
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


def setting_option(own: Mapping[str, str]) -> Callable[[Any], Any]:
    """Return the option --set, for parameters other than those that have options of their own."""

    def settings(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
        """Turn NAME=VALUE into keywords; a value that isn't a Python literal is text."""
        found = {}
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

    return click.option(
        "--set",
        "settings",
        multiple=True,
        callback=settings,
        metavar="NAME=VALUE",
        help="Set any other parameter of the estimator.",
    )


set_option = setting_option(_OPTIONS)


def parameters_asked_for(asked: dict[str, Any], keep: list[int], quiet: bool) -> dict[str, Any]:
    """Translate options into parameters of the estimator, leaving out those that were not given."""
    parameters = {
        "smoothing": asked["smoothing"],
        "head": asked["head"],
        "loss": asked["loss"],
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
    """Raise an error for parameters that the class of an estimator does not have."""
    known = estimator().get_params()
    for name in parameters:
        if name == "loss" and name not in known:
            raise ValueError("--loss is for targets of numbers: class labels always have the log loss.")
        if name in _OPTIONS and name not in known:
            raise ValueError(f"{_OPTIONS[name]} can only be used {'without' if directions else 'with'} --directions.")
    check_settings(estimator, parameters, _OPTIONS)


def check_settings(estimator: Any, names: Iterable[str], own: Mapping[str, str]) -> None:
    """Raise an error for names given with --set that are not parameters of an estimator."""
    known = estimator().get_params()
    for name in names:
        if name not in known:
            others = ", ".join(sorted(known.keys() - own.keys()))
            raise ValueError(f"--set {name}: {estimator.__name__} has no such parameter. It has {others}.")
