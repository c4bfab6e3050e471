"""Checks of stored values: type, range and, for arrays, a shape in named sizes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Sizes = dict[str, int]
# Raises a ValueError unless the value, named by the text, is valid. A named size is bound by
# the first value that mentions it and must be the same in all others of the same record.
Kind = Callable[[str, Any, Sizes], None]


def require(condition: Any, message: str) -> None:
    """Raise ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def truth(name: str, value: Any, sizes: Sizes) -> None:
    """True or False."""
    require(isinstance(value, bool), f"{name} is not true or false")


def whole(*, least: int = 0, size: str | None = None) -> Kind:
    """A whole number, which may bind a named size."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        ok = isinstance(value, int) and not isinstance(value, bool) and value >= least
        require(ok, f"{name} is not a whole number of at least {least}")
        if size is not None:
            agree(name, size, value, sizes)

    return check


def real(*, least: float = -math.inf, above: float = -math.inf, finite: bool = True) -> Kind:
    """A number; with ``finite=False`` also infinite or nan."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        require(isinstance(value, float | int) and not isinstance(value, bool), f"{name} is not a number")
        _in_range(name, np.asarray(value, float), least, above, finite)

    return check


def text(*choices: str) -> Kind:
    """Text, one of the choices if there are any."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        require(isinstance(value, str), f"{name} is not text")
        require(not choices or value in choices, f"{name} is not one of {', '.join(choices)}")

    return check


def array(kind: str, *shape: str, least: float = -math.inf, above: float = -math.inf, finite: bool = True) -> Kind:
    """An array of "bool", "int", "float" or "text" entries with a shape in named sizes.

    `least`, `above` and `finite` are about numbers; ``finite=False`` is for what an unlucky fit may have left
    infinite or nan without harm to its predictions.
    """
    dtypes = {"bool": ("bool",), "int": ("int64",), "float": ("float32", "float64"), "text": ("object", "str")}[kind]

    def check(name: str, value: Any, sizes: Sizes) -> None:
        require(isinstance(value, np.ndarray), f"{name} is not an array")
        found = "str" if value.dtype.kind == "U" else value.dtype.name
        require(found in dtypes, f"{name} is an array of {found}, not of {' or '.join(dtypes)}")
        require(value.ndim == len(shape), f"{name} has {value.ndim} axes, not {len(shape)}")
        for size, length in zip(shape, value.shape, strict=True):
            agree(name, size, length, sizes)
        if kind in ("int", "float"):
            _in_range(name, value, least, above, finite)

    return check


def one_of(*types: type) -> Kind:
    """An object of exactly one of the classes."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        require(type(value) in types, f"{name} is not a {' or '.join(kind.__name__ for kind in types)}")

    return check


def maybe(kind: Kind) -> Kind:
    """None, or a value of this kind."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        if value is not None:
            kind(name, value, sizes)

    return check


def row(*kinds: Kind) -> Kind:
    """A tuple with entries of these kinds."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        require(isinstance(value, tuple) and len(value) == len(kinds), f"{name} is not a list of {len(kinds)} values")
        for kind, entry in zip(kinds, value, strict=True):
            kind(name, entry, sizes)

    return check


def rows(kind: Kind, *, least: int = 0) -> Kind:
    """A tuple of entries of one kind, each with named sizes of its own."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        require(isinstance(value, tuple) and len(value) >= least, f"{name} is not a list of at least {least} values")
        for entry in value:
            kind(name, entry, {})

    return check


def table(kind: Kind) -> Kind:
    """A dict whose values are of one kind."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        require(isinstance(value, dict), f"{name} is not a mapping")
        for key, entry in value.items():
            kind(f"{name}[{key!r}]", entry, {})

    return check


def check_fields(name: str, kinds: dict[str, Kind], values: dict[str, Any], optional: frozenset[str]) -> None:
    """Raise a ValueError unless the values are of the given kinds, with sizes that agree."""
    missing = [field for field in kinds if field not in values and field not in optional]
    require(not missing, f"{name} lacks {', '.join(missing)}")
    unknown = [field for field in values if field not in kinds]
    require(not unknown, f"{name} has an unknown {', '.join(unknown)}")
    sizes: Sizes = {}
    for field, kind in kinds.items():
        if field in values:
            kind(f"{name}.{field}", values[field], sizes)


def agree(name: str, size: str, length: int, sizes: Sizes) -> None:
    """Bind a named size, or raise an error if it is already bound to another length."""
    known = sizes.setdefault(size, length)
    require(known == length, f"{name} has {length} for the {size}, but other values have {known}")


def _in_range(name: str, values: np.ndarray, least: float, above: float, finite: bool) -> None:
    require(not finite or np.isfinite(values).all(), f"{name} is not finite")
    require((values >= least).all() or least == -math.inf, f"{name} is below {least:g}")
    require((values > above).all() or above == -math.inf, f"{name} is not above {above:g}")
