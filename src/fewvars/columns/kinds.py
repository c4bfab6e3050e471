"""What a column of a table is: a number, a category, a date, an identifier, a row number, or the same everywhere."""

from collections import Counter
from enum import StrEnum
from typing import Any

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.columns.raw import Raw

MOST_LEVELS = 100  # of a category: each is a column of numbers
FEWEST_COUNTED = 8  # rows from which on a counter of the rows is more than chance


class Kind(StrEnum):
    """What a column is."""

    NUMBER = "number"
    CATEGORY = "category"
    DATE = "date"
    IDENTIFIER = "identifier"
    ROW_NUMBER = "row number"
    CONSTANT = "constant"


def kind_of(column: Raw) -> Kind:
    """Return what a column seems to be."""
    if column.is_time:
        return Kind.DATE
    present = column.values[~column.missing]
    if column.is_number:
        if present.size == 0 or (present == present[0]).all():
            return Kind.CONSTANT
        return Kind.ROW_NUMBER if counts_rows(column.values[:, None])[0] else Kind.NUMBER
    counts = Counter(Raw(present).texts())
    if len(counts) < 2:
        return Kind.CONSTANT
    slip = stray_text(column) is not None  # numbers differ in every row without identifying it
    return Kind.IDENTIFIER if _mostly_different(counts, len(present)) and not slip else Kind.CATEGORY


def _mostly_different(counts: Counter[str], n: int) -> bool:
    """Return whether more than half of n values occur only once."""
    return sum(count == 1 for count in counts.values()) > n / 2


def stray_text(column: Raw) -> int | None:
    """Return the first row of text in a column that is mostly numbers, which is more often a slip than a category."""
    is_text = np.array([isinstance(value, str) and not is_numeral(value) for value in column.values], bool)
    n_numbers = len(column.values) - is_text.sum() - column.missing.sum()
    return int(np.argmax(is_text)) if 0 < is_text.sum() < n_numbers else None


def is_numeral(text: Any) -> bool:
    """Return whether a text, or anything else, can be read as a number."""
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def counts_rows(X: FloatArray) -> np.ndarray:
    """Tell which columns (n, d) of numbers count 0, 1, 2, ... or 1, 2, 3, ..., as no year does: (d,) bool."""
    if len(X) < FEWEST_COUNTED:
        return np.zeros(X.shape[1], bool)
    counting = ((X[0] == 0.0) | (X[0] == 1.0)) & (X[1] - X[0] == 1.0)
    some = np.flatnonzero(counting)
    counting[some] = (np.diff(X[:, some], axis=0) == 1.0).all(axis=0)
    return counting
