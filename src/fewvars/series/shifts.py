"""Columns that repeat another column some rows later: lags, by whatever tool they were made."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray

MOST_LAGS = 60
WITNESSES = 12  # rows on which a column must agree before all rows are compared
AGREEMENT = 0.95  # share of the rows that must agree: the first rows of a lag have no past, and hold something else


@dataclass(frozen=True)
class Shift:
    """Column `copy` in row i + lag holds what column `source` holds in row i."""

    copy: int
    source: int
    lag: int


def shifts(columns: FloatArray, runs: Sequence[np.ndarray], most: int = MOST_LAGS) -> list[Shift]:
    """Find the columns (n, d) that are shifted copies of others, each once, with the least lag.

    Parameters
    ----------
    runs : sequence of row numbers
        Rows of each run in order of time; nothing is compared across them.
    """
    longest = max(runs, key=len)
    varying = np.flatnonzero(np.ptp(columns, axis=0) > 0)
    found: dict[int, Shift] = {}
    for lag in range(1, min(most, len(longest) // 4) + 1):
        later, earlier = _witnesses(columns, longest, lag)
        sources: dict[bytes, list[int]] = {}
        for j in varying:
            sources.setdefault(earlier[:, j].tobytes(), []).append(int(j))
        for j in varying:
            for source in sources.get(later[:, j].tobytes(), ()):
                if source != j and j not in found and _agree(columns[:, j], columns[:, source], runs, lag):
                    found[int(j)] = Shift(int(j), source, lag)
    return list(found.values())


def _witnesses(columns: FloatArray, run: np.ndarray, lag: int) -> tuple[FloatArray, FloatArray]:
    """Return the values in some rows past the beginning, and in the rows so many before them."""
    places = np.linspace(len(run) // 4, len(run) - 1, WITNESSES).astype(int)
    return columns[run[places]] + 0.0, columns[run[places - lag]] + 0.0  # no negative zeros


def _agree(copy: FloatArray, source: FloatArray, runs: Sequence[np.ndarray], lag: int) -> bool:
    pairs = [(run[lag:], run[:-lag]) for run in runs if len(run) > lag]
    later, earlier = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return bool((copy[later] == source[earlier]).mean() >= AGREEMENT and np.ptp(source[earlier]) > 0)
