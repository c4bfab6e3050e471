"""The end of a report: how to repeat the fit."""

import inspect
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fewvars.displays.names import plain
from fewvars.report._facts import Facts
from fewvars.report._markup import Markup, column, join, table, tag


def reproduction(facts: Facts) -> Markup:
    """Return code, command, parameters and versions."""
    parts = [tag("h2", "How to reproduce this"), tag("pre", tag("code", snippet(facts)))]
    if facts.command is not None:
        parts += [tag("p", "Or from the command line:"), tag("pre", tag("code", plain(facts.command)))]
    if facts.model.random_state is None:
        parts.append(
            tag("p", "random_state was not set, so another run may give slightly different numbers.", class_="soft")
        )
    defaults = _defaults(facts.model)
    rows = [
        tag(
            "tr",
            tag("th", key, scope="row"),
            tag("td", tag("code", _shown(value))),
            class_="quiet" if _shown(value) == _shown(defaults.get(key)) else None,
        )
        for key, value in facts.model.get_params(deep=False).items()
    ]
    parameters = table("Bold: changed from the default.", [column("Parameter"), column("Value")], rows)
    parts.append(tag("details", tag("summary", "All parameters"), parameters))
    return tag("section", *parts)


def snippet(facts: Facts) -> str:
    """Return Python code that repeats the fit."""
    model, defaults = facts.model, _defaults(facts.model)
    changed = [
        f"{key}={_shown(value)}"
        for key, value in model.get_params(deep=False).items()
        if _shown(value) != _shown(defaults.get(key))
    ]
    more = ", t=t" if facts.times is not None else ""
    more += ", trajectory=trajectory" if facts.trajectory is not None else ""
    inputs = f"X: {facts.n_samples} rows of {len(facts.names)} variables"
    return (
        f"import fewvars as fv\n\nmodel = fv.{type(model).__name__}({', '.join(changed)})\n"
        f"model.fit(X, y{more})  # {inputs}"
    )


def _defaults(model: Any) -> dict[str, Any]:
    return {name: p.default for name, p in inspect.signature(type(model).__init__).parameters.items()}


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else text[:199] + "…"


def footer(date: str | None) -> Markup:
    """Return versions, and when the report was written."""
    packages = ["fewvars", "numpy", "scipy", "scikit-learn", "numba"]
    texts = [f"{name} {_version(name)}" for name in packages]
    texts += [f"Python {platform.python_version()}", f"{platform.system()} {platform.machine()}"]
    written = None if date is None else join("Written ", tag("time", date, datetime=date), ". ")
    return tag("footer", tag("p", written, ", ".join(texts), "."))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "(unknown)"
