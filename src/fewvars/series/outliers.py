"""Outliers: a misplaced decimal point, a broken sensor, or noise with heavy tails."""

import numpy as np

from fewvars._common.paired import mean_and_error
from fewvars._common.validation import FloatArray
from fewvars.engine.losses import robust_spread

# Absurd values: standard deviations of the others, times the distance of the next from the median, share of the rows.
ABSURD_DISTANCE, ABSURD_RATIO, MOST_ABSURD = 100.0, 10.0, 0.01
CLIPPED_AT = 3.0  # robust standard deviations
HEAVY_TAILS = 0.2  # share of the squared residuals that clipping must remove
LARGEST_SHIFT = 2.0  # standard errors by which clipping may shift the mean


def absurd_values(values: FloatArray) -> np.ndarray:
    """Return which of some values (n,) are few and lie absurdly far from all others.

    Heavy tails do not count: their extreme values are far from the median, but not from each other.
    """
    distance = np.abs(values - np.median(values))
    order = np.argsort(distance, kind="stable")
    ranked = distance[order]
    n_candidates = max(1, int(MOST_ABSURD * len(values)))
    scale = ranked[-1 - n_candidates] or 1.0  # squares of huge values must not overflow
    spread = scale * np.sqrt(np.mean((ranked[:-n_candidates] / scale) ** 2))
    if not spread:
        return np.zeros(len(values), bool)
    jumps = [k for k in range(len(ranked) - n_candidates, len(ranked)) if ranked[k] > ABSURD_RATIO * ranked[k - 1]]
    first = next((k for k in jumps if ranked[k] > ABSURD_DISTANCE * spread), len(ranked))
    found = np.zeros(len(values), bool)
    found[order[first:]] = True
    return found


def clip_outliers(y: FloatArray, predicted: FloatArray) -> FloatArray | None:
    """Return outputs (n, k) with their residuals clipped, or None if that removes little or shifts the mean.

    Heavy tails spoil least squares; but if they are on one side only, they are part of the mean of y.
    """
    rest = y - predicted
    limit = CLIPPED_AT * robust_spread(rest)
    limit = np.where(np.isfinite(limit), limit, np.maximum(np.abs(rest).max(axis=0), 1e-300))  # half of them are equal
    residual = rest / limit  # squares of huge values must not overflow
    clipped = np.clip(residual, -1.0, 1.0)
    if np.sum(clipped**2) >= (1.0 - HEAVY_TAILS) * np.sum(residual**2):
        return None
    shifts = [mean_and_error(column, np.ones(len(column))) for column in (residual - clipped).T]
    return None if any(abs(mean) > LARGEST_SHIFT * error for mean, error in shifts) else predicted + limit * clipped
