"""The Bayesian information criterion."""

import numpy as np

from fewvars._common.validation import FloatArray


def bic(deviance: FloatArray, degrees_of_freedom: np.ndarray, n: float) -> FloatArray:
    """Return deviance + df log n for fits (m,) to n samples."""
    return deviance + degrees_of_freedom * np.log(n)


def gaussian_deviance(mean_squares: FloatArray, n: float, floor: FloatArray | float) -> FloatArray:
    """Return sum_c n log(max(S_c, floor)), twice the negative log-likelihood up to a constant, (m,).

    S (m, variances) are mean squares of n residuals each, which estimate the variances of the noise; below the floor
    they are rounding.
    """
    return n * np.log(np.maximum(mean_squares, floor)).sum(axis=1)
