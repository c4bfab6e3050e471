"""Checks shared by all public functions: errors that name the argument, the value and the remedy."""

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

FloatArray = NDArray[np.floating[Any]]  # real numbers, in single or double precision

LARGEST = 1e300  # leaves room for sums and differences


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


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as a bool; only True and False will do."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r}: give True or False.")
    return bool(value)


def check_jobs(n_jobs: Any) -> int | None:
    """Return a number of threads as joblib counts them, or None."""
    whole = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and n_jobs != 0):
        raise ValueError(f"n_jobs={n_jobs!r}: give a number of threads, -1 for one per core, or None for one.")
    return None if n_jobs is None else int(n_jobs)


def check_seed(random_state: Any) -> int:
    """Draw a seed from an int, a RandomState or None."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r}: give a whole number from 0 to {2**32 - 1}, a RandomState or None."
        ) from None


def check_samples(
    estimator: Any, X: Any, y: Any, *, fewest: int, allow_nan: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return the inputs (n, d) and outputs (n,) or (n, k) of a fit; the estimator learns the names of the columns."""
    y, finite = _without_text(y), "allow-nan" if allow_nan else True
    with np.errstate(invalid="ignore"):  # scikit-learn adds up numbers whose sum may overflow
        inputs, outputs = validate_data(
            estimator,
            X,
            y,
            dtype=np.float64,
            order="C",
            ensure_all_finite=finite,
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=fewest,
        )
    for name, values in (("X", inputs), ("y", outputs)):
        largest = np.nanmax(np.abs(values), initial=0.0)
        if largest > LARGEST:
            raise ValueError(
                f"{name} holds numbers up to {largest:.3g} in size: rescale them to less than {LARGEST:g}."
            )
    return inputs, np.asarray(outputs, np.float64)


def _without_text(y: Any) -> Any:
    """Return y with numbers that are written as text converted; raise an error for other text."""
    values = np.asarray(y)
    if values.ndim == 0 or values.dtype.kind not in "OSU":
        return y
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y is not numeric ({error}): give numbers, or use FewVariablesClassifier if it holds class labels."
        ) from None
    return y if values.dtype.kind == "O" else numbers


def counted_rows(sample_weight: FloatArray, *, fewest: int) -> NDArray[np.bool_]:
    """Return which rows count: one that weighs 1e-12 times as much as the heaviest is lost to rounding."""
    counted = sample_weight > 1e-12 * sample_weight.max(initial=0.0)
    if counted.sum() < fewest:
        raise ValueError(
            f"sample_weight leaves {counted.sum()} of {counted.size} rows, because rows below 1e-12 times the largest "
            f"weight do not count: give at least {fewest} rows comparable weights."
        )
    return counted


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
            f"{array.dtype}: remove or fill in missing values, and rescale large ones."
        )
    return array
