"""Sparse fits of a compressed least-squares problem, one for each strength; the path of the l1 norm."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from fewvars._common import bic as criterion
from fewvars._common.validation import FloatArray
from fewvars.polynomials.compressed import ROUNDING, OneOutput

# Least squares on all columns means little with fewer samples than this for each.
SAMPLES_PER_COLUMN = 3
_L1_STEPS = 100
_L1_RANGE = 1e-4
_L1_PATIENCE = 20
_MAX_SWEEPS = 10_000


@final
@dataclass(frozen=True, eq=False)
class DictionaryPath:
    """Sparse fits of the standardised problem of one output.

    Parameters
    ----------
    strengths : ndarray of shape (s,)
        The smallest standardised coefficient (`subset_path`) or the weight of the l1 norm (`l1_path`).
    coefficients : ndarray of shape (s, m)
        Standardised coefficients.
    constant : ndarray of bool, shape (s,)
        Whether there is a constant term.
    residuals : ndarray of shape (s,)
        Residual sums of squares of the standardised output.
    converged : bool
        Whether the solver reached its tolerance at every strength.
    """

    strengths: FloatArray
    coefficients: FloatArray
    constant: NDArray[np.bool_]
    residuals: FloatArray
    converged: bool = True

    @property
    def n_terms(self) -> NDArray[np.intp]:
        """Number of terms of each fit, shape (s,)."""
        return np.count_nonzero(self.coefficients, axis=1) + self.constant


def l1_path(data: OneOutput, constant: bool = True, strengths: FloatArray | None = None) -> DictionaryPath:
    """Minimisers of 1/(2 n) |g - F b|^2 + s Σ_j |b_j| at decreasing strengths s.

    The default grid starts at the smallest strength that gives b = 0 and falls by about 1.1 a step to 1e-4 of that.
    It ends earlier where there are more columns than a third of the samples, where coordinate descent no longer
    converges, or where BIC has not fallen for 20 steps: the weak end takes most of the time.
    """
    given = strengths is not None
    if strengths is None:
        largest = np.abs(data.factor.T @ data.target).max(initial=0.0) / data.n
        strengths = largest * np.geomspace(1.0, _L1_RANGE, _L1_STEPS)
    solver = _CoordinateDescent(data)
    fits: list[FloatArray] = [np.zeros(data.factor.shape[1])]
    residuals: list[float] = []
    all_converged = True
    for strength in strengths:
        fit, converged = solver.fit(strength, fits[-1]) if strength > 0 else (fits[-1], True)
        many = SAMPLES_PER_COLUMN * np.count_nonzero(fit) > data.n
        if not given and residuals and (many or not converged or _stalled(data, fits[1:], residuals)):
            break
        fits.append(fit)
        residuals.append(float(((data.target - data.factor @ fit) ** 2).sum()))
        all_converged &= converged
    always = np.full(len(residuals), constant)
    return DictionaryPath(strengths[: len(residuals)], np.array(fits[1:]), always, np.array(residuals), all_converged)


def bic(data: OneOutput, residuals: FloatArray, n_terms: NDArray[np.intp]) -> FloatArray:
    """BIC (s,) of fits, n log(RSS / n) + log(n) (number of terms).

    RSS, in the units of the output, comes from the standardised `residuals` (s,). RSS / n is not taken below
    (1e-12 rms(y))^2, which is rounding.
    """
    mean_squares = residuals[:, None] / data.n * data.scale**2
    floor = max((ROUNDING * data.size) ** 2, float(np.finfo(float).tiny))
    return criterion.bic(criterion.gaussian_deviance(mean_squares, data.n, floor), n_terms, data.n)


def _stalled(data: OneOutput, fits: list[FloatArray], residuals: list[float]) -> bool:
    scores = bic(data, np.array(residuals), np.count_nonzero(fits, axis=1))
    return len(scores) - 1 - int(scores.argmin()) >= _L1_PATIENCE


class _CoordinateDescent:
    """scikit-learn's coordinate descent, prepared once for many strengths."""

    def __init__(self, data: OneOutput):
        rows, columns = data.factor.shape
        self.n = data.n
        self.factor = np.asfortranarray(data.factor)
        self.target = data.target.copy()
        self.total = (self.target**2).sum()
        self.options: dict[str, Any] = {}
        if columns <= rows:
            self.options["precompute"] = np.ascontiguousarray(self.factor.T @ self.factor)
            self.options["Xy"] = self.factor.T @ self.target

    def fit(self, strength: float, start: FloatArray) -> tuple[FloatArray, bool]:
        """Minimiser (m,) from a start (m,), and whether it is one."""
        if self.total == 0.0:
            return np.zeros_like(start), True
        residual = ((self.target - self.factor @ start) ** 2).sum()
        # The duality gap is relative to the residual, not to the outputs.
        tolerance = np.clip(1e-3 * residual / self.total, 1e-12, 1e-3)
        try:
            _, solution, gaps = enet_path(
                self.factor,
                self.target,
                l1_ratio=1.0,
                alphas=[strength * self.n / len(self.factor)],  # scikit-learn divides squares by 2 r
                coef_init=start.copy(),
                max_iter=_MAX_SWEEPS,
                tol=tolerance,
                check_input=False,
                copy_X=False,
                **self.options,
            )
        except ConvergenceWarning:  # if the user has turned warnings into errors
            return start, False
        gap = gaps[0] * len(self.factor)  # scikit-learn divides it by r
        return solution[:, 0], bool(gap <= tolerance * self.total * (1 + 1e-12))
