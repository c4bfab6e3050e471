"""Checks shared by all public functions: errors that name the argument, the value and the remedy."""

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.floating[Any]]  # real numbers, in single or double precision


def check_whole(name: str, value: Any, *, minimum: int = 1) -> int:
    """Return `value` as an int, or raise an error that says what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        raise ValueError(f"{name}={value!r}: give a whole number of at least {minimum}.")
    return int(value)


def check_real(name: str, value: Any, *, minimum: float = 0.0, strict: bool = False, below: float = np.inf) -> float:
    """Return `value` as a float within [minimum, below), or (minimum, below) if strict."""
    ok = isinstance(value, numbers.Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not ok or value < minimum or (strict and value == minimum) or value >= below:
        least = "above" if strict else "of at least"
        most = "" if below == np.inf else f" and below {below:g}"
        raise ValueError(f"{name}={value!r}: give a finite number {least} {minimum:g}{most}.")
    return float(value)


def check_choice(name: str, value: Any, choices: Any) -> Any:
    """Return `value` if it is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: choose one of {', '.join(map(repr, choices))}.")
    return value


def check_matrix(name: str, value: ArrayLike, *, dtype: Any, columns: int | None = None) -> FloatArray:
    """Return `value` as a finite, C-contiguous matrix with at least one row.

    The result is writable, since numba would compile its kernels again for read-only arrays.
    """
    try:
        with np.errstate(over="ignore"):  # reported below
            array = np.require(value, dtype, ["C", "W", "A", "E"])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not numeric ({error}): convert it to numbers first.") from None
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}: give a matrix of shape (samples, columns).")
    if array.shape[0] == 0:
        raise ValueError(f"{name} has no samples (shape {array.shape}): give at least one row.")
    if columns is not None and array.shape[1] != columns:
        raise ValueError(f"{name} has {array.shape[1]} columns: this model needs {columns}.")
    bad = ~np.isfinite(array)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"{name} holds {array[row, column]} in row {row}, column {column} ({bad.sum()} such entries) as "
            f"{array.dtype}: remove or fill what is missing, and rescale what is too large."
        )
    return array
