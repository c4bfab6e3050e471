"""Class labels: checks, targets for cross-entropy, and an order of the rows that mixes the classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from fewvars._common.validation import FloatArray, check_real
from fewvars.columns.raw import missing_values

FEWEST_OF_A_CLASS = 2  # so that some rows of each class can be held out
MOST_CLASSES = 100


def checked_labels(name: str, y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels (n,) of an estimator's rows, and in which rows they are present, (n,) bool.

    Other rows get an arbitrary label. Raises ValueError for labels that cannot be used.
    """
    if y is None:
        raise ValueError(f"This {name} requires y to be passed, but the target y is None: give a label for each row.")
    labels = column_or_1d(y, warn=True)
    if len(labels) != n:
        raise ValueError(
            f"X and y have inconsistent numbers of samples, {n} and {len(labels)}: give one label for each row."
        )
    # NumPy turns lists of text and numbers into text, and so hides what is mixed or missing.
    given = list(y) if isinstance(y, list | tuple) else labels.tolist()
    present = ~missing_values(np.array(given, object))
    if not present.any():
        raise ValueError(
            f"y has no label in any of its {n} rows (Input y contains NaN): label some rows of each class."
        )
    known = [label for label, there in zip(given, present, strict=True) if there]
    if not present.all():
        labels = np.array(known)[np.maximum(np.cumsum(present) - 1, 0)]
    types = sorted({"str" if isinstance(label, str) else type(label).__name__ for label in known})
    if len(types) > 1 and "str" in types:
        raise ValueError(f"y mixes labels of types {' and '.join(types)}: give all labels one type, for instance text.")
    if type_of_target(labels, input_name="y") not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: y holds {np.unique(labels).size} different numbers that are not all whole. Use "
            "FewVariablesRegressor for measured values, or group them into classes."
        )
    return labels, present


def classes_of(labels: np.ndarray, counted: np.ndarray, target: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, sorted, and the number of the class of each row; `counted` (a mask) says which rows count.

    Errors refer to the labels by the name `target`.
    """
    classes, numbers = np.unique(labels, return_inverse=True)
    if classes.size > MOST_CLASSES:
        raise ValueError(
            f"There are {classes.size} classes in {target}, more than {MOST_CLASSES}: merge rare ones, or use "
            "FewVariablesRegressor if they are measured values."
        )
    counts = np.bincount(numbers, counted, minlength=classes.size)
    where = "" if counted.all() else " of positive weight"
    if (counts > 0).sum() < 2:
        only = classes.tolist()[int(counts.argmax())]
        raise ValueError(f"There is only one class in {target}, {only!r}: give rows{where} of at least two classes.")
    for label, count in zip(classes.tolist(), counts, strict=True):
        if count < FEWEST_OF_A_CLASS:
            raise ValueError(
                f"The class {label!r} in {target} has {count:.0f} row{'' if count == 1 else 's'}{where}: give at least "
                f"{FEWEST_OF_A_CLASS}, leave the class out, or merge it with another."
            )
    return classes, numbers


def class_weights(given: Any, labels: np.ndarray) -> FloatArray:
    """Return the weight of the class of each row, (n,), as the parameter `class_weight` asks for it."""
    if isinstance(given, Mapping):
        known = np.unique(labels).tolist()
        for label, weight in given.items():
            if label not in known:
                raise ValueError(
                    f"class_weight names the class {label!r}, which y does not hold: name some of "
                    f"{', '.join(map(repr, known))}."
                )
            check_real(f"class_weight[{label!r}]", weight, strict=True)
    elif given is not None and given != "balanced":
        raise ValueError(f"class_weight={given!r}: give a dict from classes to weights, 'balanced' or None.")
    return compute_sample_weight(given, labels)


def targets(numbers: np.ndarray, n_classes: int, present: np.ndarray) -> FloatArray:
    """Return whether each row is of the second of two classes, (n,), or of each of several, (n, classes).

    In rows that have no label, because they are not `present` (a mask), targets are NaN.
    """
    found = (numbers[:, None] == np.arange(n_classes)).astype(np.float64)
    found[~present] = np.nan
    return found[:, 1] if n_classes == 2 else found


def mixed_order(outputs: FloatArray, rng: np.random.Generator) -> np.ndarray:
    """Return a random order of targets (n, outputs) in which every stretch holds all classes in about equal shares."""
    numbers = np.unique(outputs, axis=0, return_inverse=True)[1].ravel()
    places = np.empty(numbers.size)
    for number in range(numbers.max() + 1):
        rows = rng.permutation(np.flatnonzero(numbers == number))
        places[rows] = (np.arange(rows.size) + rng.random(rows.size)) / rows.size
    return np.argsort(places, kind="stable")
