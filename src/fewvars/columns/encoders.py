"""Encode one column of a table: a number stays one column, a category becomes indicators of its levels."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.columns.kinds import MOST_LEVELS, is_numeral
from fewvars.columns.raw import Raw

BASE = "base"  # how to treat levels that were not in the fit


@dataclass(frozen=True)
class Number:
    """A column of numbers.

    Attributes
    ----------
    mean : float
        Replaces missing values.
    indicated : bool
        Whether a second column says where values were missing.
    """

    mean: float
    indicated: bool = False

    @classmethod
    def of(cls, column: Raw, indicated: bool) -> "Number":
        """Learn the mean of a column."""
        values = _numbers(column)
        present = values[~np.isnan(values)]
        return cls(float(present.mean()) if present.size else 0.0, indicated)

    @property
    def names(self) -> tuple[str, ...]:
        """What each column of numbers says about the column of the table, to be filled with its name."""
        return ("{}", "[{} is missing]") if self.indicated else ("{}",)

    def encode(self, column: Raw, unseen: str) -> FloatArray:
        """Return columns of numbers, (n, 1 or 2)."""
        values = _numbers(column)
        missing = np.isnan(values)
        filled = np.where(missing, self.mean, values)
        return np.column_stack([filled, missing] if self.indicated else [filled])


@dataclass(frozen=True)
class Category:
    """A column of levels.

    Attributes
    ----------
    levels : tuple of str
        The base comes first.
    indicated : bool
        Whether one more column says where values were missing.
    """

    levels: tuple[str, ...]
    indicated: bool = False

    @classmethod
    def of(cls, column: Raw, indicated: bool) -> "Category":
        """Learn the levels of a column."""
        counts = Counter(text for text in column.texts() if text is not None)
        if len(counts) > MOST_LEVELS:
            raise ValueError(
                f"it has {len(counts)} levels, more than {MOST_LEVELS}: put rare ones together, or leave it out"
            )
        if not counts:
            raise ValueError("all of its values are missing: leave it out")
        ordered = [level for level in column.levels or () if level in counts] or _ordered(counts)
        base = max(ordered, key=lambda level: counts[level])
        return cls((base, *(level for level in ordered if level != base)), indicated)

    @property
    def names(self) -> tuple[str, ...]:
        """What each column of numbers says about the column of the table, to be filled with its name."""
        others = [f"[{{}} = {level.replace('{', '{{').replace('}', '}}')}]" for level in self.levels[1:]]
        return (*others, "[{} is missing]") if self.indicated else (*others,) or ("{}",)

    def encode(self, column: Raw, unseen: str) -> FloatArray:
        """Return indicators of all levels but the base, (n, levels - 1 or levels); one of zeros for a single level."""
        texts = column.texts()
        place = {level: k for k, level in enumerate(self.levels)}
        codes = np.array([-1 if text is None else place.get(text, -2) for text in texts])
        if (codes == -2).any() and unseen != BASE:
            row = int(np.argmax(codes == -2))
            raise ValueError(
                f"row {row} holds {texts[row][:40]!r}, a level that was not in the fit: choose unseen='base' to treat "
                f"it like {self.levels[0][:40]!r}, the most frequent level"
            )
        indicators = codes[:, None] == np.arange(1, len(self.levels))
        columns = np.column_stack([indicators, codes == -1]) if self.indicated else indicators
        return columns.astype(np.float64) if columns.shape[1] else np.zeros((len(codes), 1))


def _numbers(column: Raw) -> FloatArray:
    try:
        values = column.numbers()
    except ValueError as error:
        raise ValueError(f"{error} where a number is needed") from None
    if np.isinf(values).any():
        raise ValueError(f"row {int(np.argmax(np.isinf(values)))} holds inf: correct it or remove the row")
    return values


def _ordered(counts: Counter[str]) -> list[str]:
    """Return levels in numerical order if they are numbers, otherwise in alphabetical order."""
    return sorted(counts, key=lambda level: (0, float(level), level) if is_numeral(level) else (1, 0.0, level))
