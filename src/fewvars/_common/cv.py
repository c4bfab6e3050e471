"""Check a user's splits of the rows into training and held-out rows."""

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

Split = tuple[np.ndarray, np.ndarray]


def checked_splits(cv: Any, X: Any, y: Any, groups: Any = None) -> list[Split]:
    """Return the training and held-out row numbers of each split.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        Rows are given by their numbers from 0 on, or by a mask of all rows.
    X, y, groups
        Arguments for a splitter.
    """
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in check_cv(cv).split(X, y, groups)]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"cv does not split the {len(X)} rows ({error}): give a number of folds, a splitter of scikit-learn, or "
            "pairs of training rows and held-out rows."
        ) from None
    if not pairs:
        raise ValueError("cv has no splits: give at least one pair of training rows and held-out rows, or a splitter.")
    splits = [
        (_numbers(train, len(X), f"training rows of split {k}"), _numbers(test, len(X), f"held-out rows of split {k}"))
        for k, (train, test) in enumerate(pairs)
    ]
    for k, (train, test) in enumerate(splits):
        shared = np.intersect1d(train, test)
        if shared.size:
            raise ValueError(
                f"cv: split {k} trains on {shared.size} of the rows that it holds out, such as row {shared[0]}; leave "
                "held-out rows out of the training rows."
            )
    return splits


def _numbers(rows: np.ndarray, n: int, what: str) -> np.ndarray:
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(f"cv: the {what} are not a list of whole numbers, nor a mask of {n} booleans.")
    outside = rows[(rows < 0) | (rows >= n)]
    if outside.size:
        raise ValueError(f"cv: the {what} include {outside[0]}; row numbers go from 0 to {n - 1}.")
    return rows.astype(int)
