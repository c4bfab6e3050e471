"""Every problem and method by name; a later table adds an entry to one of these lists."""

from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from benchmarks.selection import calibration, development, methods, real, reported, rivals

METHODS = {method.name: method for method in [*methods.METHODS, *rivals.METHODS]}


def collections(folder: Path | None = None) -> dict[str, list[Any]]:
    """Return the collections of problems by name; `folder` holds data that are not part of the project."""
    return {
        "development": development.PROBLEMS,
        "reported": reported.PROBLEMS,
        "calibration": calibration.PROBLEMS,
        **real.problems(folder),
    }


def problems(folder: Path | None = None) -> dict[str, Any]:
    """Return all problems by name."""
    return {problem.name: problem for some in collections(folder).values() for problem in some}


def chosen(wanted: list[str], folder: Path | None = None) -> list[Any]:
    """Return the problems that are in a collection of that name, or whose own name matches a pattern."""
    found = []
    for word in wanted:
        some = collections(folder).get(word) or [p for name, p in problems(folder).items() if fnmatch(name, word)]
        if not some:
            raise SystemExit(f"no collection or problem is called {word!r}; `list` prints their names")
        found += [problem for problem in some if problem not in found]
    return found
