"""Class labels: what they may be, targets for cross-entropy, and an order of the rows that mixes the classes."""

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target

from fewvars._common.validation import FloatArray

FEWEST_OF_A_CLASS = 2  # so that one can be held out


def checked_labels(name: str, y: Any, n: int) -> np.ndarray:
    """Return the labels (n,) of an estimator's rows, or raise an error that says what is wrong with them."""
    if y is None:
        raise ValueError(f"This {name} requires y to be passed, but the target y is None: give a label for each row.")
    labels = column_or_1d(y, warn=True)
    if len(labels) != n:
        raise ValueError(
            f"X and y have inconsistent numbers of samples, {n} and {len(labels)}: give one label for each row."
        )
    given = (
        list(y) if isinstance(y, list | tuple) else labels.tolist()
    )  # NumPy turns lists of text and numbers into text
    missing = [row for row, label in enumerate(given) if _is_missing(label)]
    if missing:
        more = f" and {len(missing) - 1} more rows" if len(missing) > 1 else ""
        raise ValueError(
            f"y has no label in row {missing[0]}{more} (Input y contains NaN): leave such rows out, or label them."
        )
    types = sorted({type(label).__name__ for label in given})
    if len(types) > 1 and "str" in types:
        raise ValueError(f"y mixes labels of types {' and '.join(types)}: give all labels one type, for instance text.")
    if type_of_target(labels, input_name="y") not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: y holds {np.unique(labels).size} different numbers that are not all whole. Use "
            "FewVariablesRegressor for measured values, or group them into classes."
        )
    return labels


def classes_of(labels: np.ndarray, counted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, sorted, and the number of the class of each row; `counted` (a mask) says which rows count."""
    classes, numbers = np.unique(labels, return_inverse=True)
    counts = np.bincount(numbers, counted, minlength=classes.size)
    if (counts > 0).sum() < 2:
        raise ValueError(
            f"y holds only one class, {classes.tolist()[int(counts.argmax())]!r}, in rows of positive weight: give "
            "rows of at least two classes."
        )
    for label, count in zip(classes.tolist(), counts, strict=True):
        if count < FEWEST_OF_A_CLASS:
            raise ValueError(
                f"The class {label!r} of y has {count:.0f} rows of positive weight: give at least "
                f"{FEWEST_OF_A_CLASS}, leave the class out, or merge it with another."
            )
    return classes, numbers


def targets(numbers: np.ndarray, n_classes: int) -> FloatArray:
    """Return whether each row is of the second of two classes, (n,), or of each of several, (n, classes)."""
    if n_classes == 2:
        return (numbers == 1).astype(np.float64)
    return (numbers[:, None] == np.arange(n_classes)).astype(np.float64)


def mixed_order(outputs: FloatArray, rng: np.random.Generator) -> np.ndarray:
    """Return a random order of targets (n, outputs) in which every stretch holds all classes in about equal shares."""
    numbers = np.unique(outputs, axis=0, return_inverse=True)[1].ravel()
    places = np.empty(numbers.size)
    for number in range(numbers.max() + 1):
        rows = rng.permutation(np.flatnonzero(numbers == number))
        places[rows] = (np.arange(rows.size) + rng.random(rows.size)) / rows.size
    return np.argsort(places, kind="stable")


def _is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, or a missing value of pandas, which is equal to nothing."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
