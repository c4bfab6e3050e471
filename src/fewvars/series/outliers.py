"""Values that cannot belong to the others: a slipped decimal point, a code for missing, a broken sensor."""

import numpy as np

from fewvars._common.validation import FloatArray

FAR = 100.0  # standard deviations of the other values
APART = 10.0  # times farther from the median than the next value
RARE = 0.01  # share of the rows, at most


def absurd_values(values: FloatArray) -> np.ndarray:
    """Return which of some values (n,) are few and lie absurdly far from all others.

    Heavy tails are no such thing: their extreme values are far from the median, but not far beyond each other.
    """
    distance = np.abs(values - np.median(values))
    order = np.argsort(distance, kind="stable")
    ranked = distance[order]
    n_candidates = max(1, int(RARE * len(values)))
    scale = ranked[-1 - n_candidates] or 1.0  # squares of huge values must not overflow
    spread = scale * np.sqrt(np.mean((ranked[:-n_candidates] / scale) ** 2))
    if not spread:
        return np.zeros(len(values), bool)
    jumps = [k for k in range(len(ranked) - n_candidates, len(ranked)) if ranked[k] > APART * ranked[k - 1]]
    first = next((k for k in jumps if ranked[k] > FAR * spread), len(ranked))
    found = np.zeros(len(values), bool)
    found[order[first:]] = True
    return found
