"""Whether the order of the rows of a table means anything."""

import numpy as np
from scipy import stats

from fewvars._common.validation import FloatArray

CLEAR = 4.0  # standard errors of an autocorrelation beyond which neighbouring rows clearly depend on each other
WINDOWS = (1, 4, 16)  # lags over which autocorrelations are summed
FEW_LEVELS = 10  # of a column, with which rows repeat each other by chance
MOST_SORTED = 3  # inputs that rows are sorted by
MOST_KNOTS, ROWS_PER_KNOT = 12, 8  # of piecewise linear functions of them
MOST_INPUTS = 50  # inputs of the linear function whose residual is tested


def is_sorted(values: FloatArray) -> bool:
    """Return whether rows were sorted by a column (n,): it never falls, never rises, or its commonest value lies apart.

    The last applies to tables that list all rows without an event first, and then those with one.
    """
    if _monotone(values):
        return bool(np.ptp(values) > 0)
    levels, counts = np.unique(values, return_counts=True)
    commonest = counts.argmax()
    share = counts[commonest] / len(values)
    return bool(0.1 < share < 0.9 and counts[commonest] >= 20 and _monotone(values == levels[commonest]))


def repeats_itself(values: FloatArray, share: float = 0.2) -> bool:
    """Return whether one value fills more than a share of a column (n,): labels, or counts that are mostly zero."""
    ranked = np.sort(values)
    lag = max(int(share * len(values)), 1)
    return bool((ranked[lag:] == ranked[:-lag]).any())


def counts_up(values: FloatArray) -> bool:
    """Return whether a column (n,) rises or falls from row to row without a single repetition, as a year does."""
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all())


def _monotone(values: np.ndarray) -> bool:
    steps = np.diff(values.astype(float))
    return bool((steps >= 0).all() or (steps <= 0).all())


def n_repeated(Z: FloatArray) -> int:
    """Return how many rows of Z (n, d) repeat an earlier one, if a column has too many values for chance."""
    combination = np.random.default_rng(0).standard_normal(Z.shape[1])
    _, first = np.unique(Z @ combination, return_index=True)
    by_chance = all(np.unique(column).size <= FEW_LEVELS for column in Z[first].T)
    return 0 if by_chance else len(Z) - first.size


def neighbours_depend(values: FloatArray) -> bool:
    """Return whether rows clearly resemble those next to them, by the autocorrelation of the ranks of a column (n,).

    Under independence the sum of the first m autocorrelations has standard error sqrt(m / n).
    """
    n = len(values)
    ranks = stats.rankdata(values)
    centred = ranks - ranks.mean()
    power = float(centred @ centred)
    if not power:
        return False
    lags = range(1, min(max(WINDOWS), n // 4) + 1)
    sums = np.cumsum([float(centred[k:] @ centred[:-k]) / power for k in lags])
    return any(sums[m - 1] > CLEAR * np.sqrt(m / n) for m in WINDOWS if m <= sums.size)


def simple_residual(Z: FloatArray, Y: FloatArray) -> FloatArray:
    """Return the residual (n, k) of a linear fit of the outputs to the inputs (n, d) that correlate most with them.

    An input that the rows are sorted by enters as a piecewise linear function: otherwise what is left of a curve would
    look like errors that depend on each other.
    """
    n = len(Z)
    strongest = np.argsort(-np.abs(Z.T @ Y).max(axis=1), kind="stable")[: min(MOST_INPUTS, max(1, n // 8))]
    sorted_by = [column for column in Z.T if _monotone(column) and np.ptp(column) > 0][:MOST_SORTED]
    bends = [_bends(column, min(MOST_KNOTS, n // ROWS_PER_KNOT)) for column in sorted_by]
    design = np.column_stack([np.ones(n), Z[:, strongest], *bends])
    return Y - design @ np.linalg.lstsq(design, Y, rcond=1e-8)[0]


def _bends(values: FloatArray, n_knots: int) -> FloatArray:
    """Return max(x - knot, 0) for knots among the values (n,), (n, knots); with few levels, at all of them but one."""
    levels = np.unique(values)[:-1]
    if levels.size > n_knots:
        levels = np.unique(np.quantile(values, np.arange(n_knots) / n_knots))
    return np.maximum(values[:, None] - levels, 0.0)
