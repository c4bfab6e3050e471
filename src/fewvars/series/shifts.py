"""Find columns that repeat another column some rows later: lags, whatever tool made them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray

MOST_LAGS = 60
# Columns are compared in all rows only if they agree in each of a few rows. Several sets of these are tried, because a
# set may contain a row just after a gap.
SETS_TRIED, ROWS_OF_A_SET = 6, 5
AGREEMENT = 0.8  # share of the rows that must agree: the first rows, and those after a gap, need not


@dataclass(frozen=True)
class Shift:
    """Column `copy` in row i + lag holds what column `source` holds in row i."""

    copy: int
    source: int
    lag: int


def shifts(columns: FloatArray, runs: Sequence[np.ndarray]) -> list[Shift]:
    """Find the columns (n, d) that are shifted copies of others, each once, with the least lag.

    Parameters
    ----------
    runs : sequence of row numbers
        Rows of each run in order of time; nothing is compared across them.
    """
    longest = max(runs, key=len)
    varying = np.flatnonzero(np.ptp(columns, axis=0) > 0)
    found: dict[int, Shift] = {}
    for lag in range(1, min(MOST_LAGS, len(longest) // 4) + 1):
        for places in _witnesses(longest):
            later, earlier = (columns[longest[rows]] + 0.0 for rows in (places, places - lag))  # no negative zeros
            sources: dict[bytes, list[int]] = {}
            for j in varying:
                sources.setdefault(earlier[:, j].tobytes(), []).append(int(j))
            for j in varying:
                for source in sources.get(later[:, j].tobytes(), ()):
                    if source != j and j not in found and _agree(columns[:, j], columns[:, source], runs, lag):
                        found[int(j)] = Shift(int(j), source, lag)
    return list(found.values())


def _witnesses(run: np.ndarray) -> np.ndarray:
    """Return sets of places after the beginning of a run, (sets, places)."""
    return (
        np.linspace(len(run) // 4, len(run) - 1, SETS_TRIED * ROWS_OF_A_SET)
        .astype(int)
        .reshape(ROWS_OF_A_SET, SETS_TRIED)
        .T
    )


def _agree(copy: FloatArray, source: FloatArray, runs: Sequence[np.ndarray], lag: int) -> bool:
    pairs = [(run[lag:], run[:-lag]) for run in runs if len(run) > lag]
    later, earlier = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return bool((copy[later] == source[earlier]).mean() >= AGREEMENT and np.ptp(source[earlier]) > 0)
