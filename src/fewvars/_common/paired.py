"""The paired comparison of two models: errors on the same pieces of held-out data, and the ratio between them."""

import numpy as np

from fewvars._common.validation import FloatArray

_TINY = float(np.finfo(float).tiny)


def mean_and_error(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Return the weighted mean of values (pieces,) and its standard error; the error of a single piece is zero."""
    share = weights / weights.sum()
    mean = float(share @ values)
    live = max(int((share > 0).sum()), 2)
    spread = np.sqrt((share**2) @ (values - mean) ** 2 * live / (live - 1))
    return mean, float(spread)


def log_ratio(
    errors: FloatArray, reference: FloatArray, weights: FloatArray, negligible: float = _TINY
) -> tuple[float, float]:
    """Return the mean logarithm of the ratio of errors (pieces,) to a reference, and its standard error.

    Errors differ between pieces by orders of magnitude. Differences are dominated by the hardest pieces; ratios give
    each piece the same say, and so distinguish a weak term or variable from a useless one far better. Errors below a
    hundredth of the reference's mean, or below `negligible`, count as equal.
    """
    floor = 0.01 * float(np.average(reference, weights=weights)) + negligible
    return mean_and_error(np.log(errors + floor) - np.log(reference + floor), weights)
