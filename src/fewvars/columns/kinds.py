"""The type of a column of a table: number, category, date, identifier, row number or constant."""

from collections import Counter
from enum import StrEnum
from typing import Any

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.columns.raw import Raw

MOST_LEVELS = 100  # of a category; each becomes a column of numbers
FEWEST_COUNTED = 8  # rows; in shorter tables a column may count them by chance
# Where row numbers begin: identifiers count from 101, 1001, ...; years, and temperatures of a sweep, begin elsewhere.
FIRST_NUMBERS = (0.0, 1.0, *(10.0**k + 1.0 for k in range(2, 10)))


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
    slip = stray_text(column) is not None  # numbers may all differ without being identifiers
    return Kind.IDENTIFIER if _mostly_different(counts, len(present)) and not slip else Kind.CATEGORY


def _mostly_different(counts: Counter[str], n: int) -> bool:
    """Return whether more than half of n values occur only once."""
    return sum(count == 1 for count in counts.values()) > n / 2


def stray_text(column: Raw) -> int | None:
    """Return the first row of text in a column that is mostly numbers, where text is more likely a mistake."""
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
    """Return which columns (n, d) of numbers count the rows from 0, 1, 101, 1001, ..., (d,) bool; years do not."""
    if len(X) < FEWEST_COUNTED:
        return np.zeros(X.shape[1], bool)
    counting = np.isin(X[0], FIRST_NUMBERS) & (X[1] - X[0] == 1.0)
    some = np.flatnonzero(counting)
    counting[some] = (np.diff(X[:, some], axis=0) == 1.0).all(axis=0)
    return counting
