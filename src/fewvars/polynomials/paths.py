"""Paths of sparse fits of a compressed least-squares problem, by elimination or by the l1 norm."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from fewvars._common import bic as criterion
from fewvars._common.validation import FloatArray
from fewvars.polynomials.compressed import DEPENDENT, ROUNDING, Compressed, triangle

# Least squares on all columns means little with fewer samples than this for each.
_SAMPLES_PER_COLUMN = 3
_SECOND_START = 100
_L1_STEPS = 100
_L1_RANGE = 1e-4
_L1_PATIENCE = 20
_MAX_SWEEPS = 10_000


@final
@dataclass(frozen=True, eq=False)
class DictionaryPath:
    """Sparse fits of the standardised problem, one for each strength.

    Parameters
    ----------
    strengths : ndarray of shape (s,)
        A threshold (`threshold_path`) or the weight of the l1 norm (`l1_path`).
    coefficients : ndarray of shape (s, m, k)
        Standardised coefficients at each strength.
    residuals : ndarray of shape (s, k)
        Residual sums of squares of the standardised outputs.
    converged : bool
        Whether the solver reached its tolerance at every strength.
    """

    strengths: FloatArray
    coefficients: FloatArray
    residuals: FloatArray
    converged: bool = True

    @property
    def n_terms(self) -> NDArray[np.intp]:
        """Number of columns in each fit, shape (s,)."""
        return self.coefficients.any(axis=2).sum(axis=1)


def threshold_path(data: Compressed) -> DictionaryPath:
    """Least squares on ever fewer columns, those with the smallest standardised coefficients leaving first.

    A tenth of the columns leaves at a time, one by one at the end, and least squares is solved again.
    The size of a column is the root mean square of its coefficients over the outputs; the strength of
    a model is the smallest size in it, the threshold that all its columns pass.

    There are two starts. The first runs from all columns down to 100, when there are at least three
    samples for each column. The second runs from the 100 columns that orthogonal matching pursuit takes
    first down to none: samples of a trajectory are so correlated that a thousand columns can follow
    8000 of them in time, and elimination from there may lose true terms to false ones.
    """
    models: list[_Model] = []
    usable = np.flatnonzero(data.column_scales > 0)
    limit = max(1, min(int(data.n) // _SAMPLES_PER_COLUMN, _SECOND_START))
    if limit < usable.size <= data.n / _SAMPLES_PER_COLUMN:
        models += _eliminated(data, usable, limit)
    models += _eliminated(data, usable if usable.size <= limit else _matched(data, limit), -1)
    coefficients = np.zeros((len(models), data.factor.shape[1], data.target.shape[1]))
    for dense, model in zip(coefficients, models, strict=True):
        dense[model.columns] = model.coefficients
    return DictionaryPath(
        np.array([model.strength for model in models]),
        coefficients,
        np.array([model.residual for model in models]),
    )


@final
@dataclass(frozen=True, eq=False)
class _Model:
    columns: NDArray[np.intp]
    coefficients: FloatArray
    residual: FloatArray
    strength: float


def _eliminated(data: Compressed, columns: NDArray[np.intp], above: int) -> list[_Model]:
    """Models with more than `above` columns met on the way from `columns` to none."""
    columns = _independent(data, columns)
    factor, target, residual = _solved_by_qr(data.factor[:, columns], data.target)
    models = []
    while columns.size > above:
        if not columns.size:
            models.append(_Model(columns, target, residual, np.inf))
            break
        coefficients = solve_triangular(factor, target, check_finite=False)
        sizes = np.sqrt((coefficients**2).mean(axis=1))
        models.append(_Model(columns, coefficients, residual, float(sizes.min())))
        keep = np.ones(columns.size, dtype=bool)
        keep[np.argsort(sizes, kind="stable")[: max(1, columns.size // 10)]] = False
        factor, target, lost = _solved_by_qr(factor[:, keep], target)
        columns, residual = columns[keep], residual + lost
    return models


def l1_path(data: Compressed, strengths: FloatArray | None = None) -> DictionaryPath:
    """Minimisers of 1/(2 n) |G - F b|^2 + s Σ_j |b_j| at decreasing strengths s.

    |b_j| is the Euclidean norm over the outputs (the absolute value for one output). The default grid
    starts at the smallest strength that gives b = 0 and falls by about 1.1 a step to 1e-4 of that. It
    ends earlier where there are more columns than a third of the samples, where coordinate descent no
    longer converges, or where BIC has not fallen for 20 steps: the weak end takes most of the time.
    """
    given = strengths is not None
    if strengths is None:
        largest = np.linalg.norm(data.factor.T @ data.target, axis=1).max(initial=0.0) / data.n
        strengths = largest * np.geomspace(1.0, _L1_RANGE, _L1_STEPS)
    solver = _CoordinateDescent(data)
    fits: list[FloatArray] = [np.zeros((data.factor.shape[1], data.target.shape[1]))]
    residuals: list[FloatArray] = []
    all_converged = True
    for strength in strengths:
        fit, converged = solver.fit(strength, fits[-1]) if strength > 0 else (fits[-1], True)
        many = _SAMPLES_PER_COLUMN * fit.any(axis=1).sum() > data.n
        if not given and residuals and (many or not converged or _stalled(data, fits[1:], residuals)):
            break
        fits.append(fit)
        residuals.append(((data.target - data.factor @ fit) ** 2).sum(axis=0))
        all_converged &= converged
    return DictionaryPath(strengths[: len(residuals)], np.array(fits[1:]), np.array(residuals), all_converged)


def bic(data: Compressed, coefficients: FloatArray, residuals: FloatArray) -> FloatArray:
    """BIC (s,) of fits (s, m, k), Σ_outputs n log(RSS / n) + log(n) (nonzero coefficients).

    RSS, in the units of the outputs, comes from the standardised `residuals` (s, k). RSS / n is not
    taken below (1e-12 rms(y))^2, which is rounding.
    """
    mean_squares = residuals / data.n * data.output_scales**2
    floor = np.maximum((ROUNDING * data.output_sizes) ** 2, np.finfo(float).tiny)
    nonzero = (coefficients != 0).sum(axis=(1, 2))
    return criterion.bic(criterion.gaussian_deviance(mean_squares, data.n, floor), nonzero, data.n)


def _stalled(data: Compressed, fits: list[FloatArray], residuals: list[FloatArray]) -> bool:
    scores = bic(data, np.array(fits), np.array(residuals))
    return len(scores) - 1 - int(scores.argmin()) >= _L1_PATIENCE


class _CoordinateDescent:
    """scikit-learn's coordinate descent, prepared once for many strengths."""

    def __init__(self, data: Compressed):
        rows, columns = data.factor.shape
        self.n = data.n
        self.factor = np.asfortranarray(data.factor)
        self.single = data.target.shape[1] == 1
        self.target = data.target[:, 0].copy() if self.single else np.asfortranarray(data.target)
        self.total = (self.target**2).sum()
        self.options: dict[str, Any] = {}
        if self.single and columns <= rows:
            self.options["precompute"] = np.ascontiguousarray(self.factor.T @ self.factor)
            self.options["Xy"] = self.factor.T @ self.target

    def fit(self, strength: float, start: FloatArray) -> tuple[FloatArray, bool]:
        """Minimiser (m, k) from a start (m, k), and whether it is one."""
        if self.total == 0.0:
            return np.zeros_like(start), True
        residual = ((self.target - self.factor @ (start[:, 0] if self.single else start)) ** 2).sum()
        # The duality gap relative to what is left to explain, not to the outputs.
        tolerance = np.clip(1e-3 * residual / self.total, 1e-12, 1e-3)
        try:
            _, solution, gaps = enet_path(
                self.factor,
                self.target,
                l1_ratio=1.0,
                alphas=[strength * self.n / len(self.factor)],  # scikit-learn divides squares by 2 r
                coef_init=start[:, 0].copy() if self.single else np.asfortranarray(start.T),
                max_iter=_MAX_SWEEPS,
                tol=tolerance,
                check_input=False,
                copy_X=False,
                **self.options,
            )
        except ConvergenceWarning:  # where the user has turned warnings into errors
            return start, False
        gap = gaps[0] * len(self.factor)  # scikit-learn divides it by r
        return solution.reshape(start.shape[1], -1).T, bool(gap <= tolerance * self.total * (1 + 1e-12))


def _solved_by_qr(factor: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Triangular factor (a, a), its target (a, k), and the residual sums of squares (k,) that no b avoids."""
    a, k = factor.shape[1], target.shape[1]
    both = np.zeros((max(len(factor), a + k), a + k), order="F")
    both[: len(factor), :a] = factor
    both[: len(factor), a:] = target
    upper = triangle(both)
    return upper[:a, :a], upper[:a, a:], (upper[a:, a:] ** 2).sum(axis=0)


def _independent(data: Compressed, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Columns without those that earlier ones (of lower degree) already span."""
    while True:
        upper, _, _ = _solved_by_qr(data.factor[:, columns], data.target)
        spanned = np.abs(np.diag(upper)) <= DEPENDENT * np.sqrt(data.n)
        if not spanned.any():
            return columns
        columns = columns[~spanned]


def _matched(data: Compressed, limit: int) -> NDArray[np.intp]:
    """The first `limit` columns that orthogonal matching pursuit takes, a fiftieth of them at a time."""
    chosen = np.zeros(data.factor.shape[1], dtype=bool)
    basis, residual = np.empty((len(data.factor), 0)), data.target
    while (missing := limit - chosen.sum()) > 0:
        scores = np.linalg.norm(data.factor.T @ residual, axis=1)
        scores[chosen] = 0.0
        best = np.argsort(-scores, kind="stable")[: min(missing, max(1, limit // 50))]
        best = best[scores[best] > DEPENDENT * data.n]
        if not best.size:
            break
        chosen[best] = True
        block = data.factor[:, best]
        for _ in range(2):  # once leaves rounding behind, twice is enough
            block = block - basis @ (basis.T @ block)
        directions, upper, _ = qr(block, mode="economic", pivoting=True)
        rank = (np.abs(np.diag(upper)) > DEPENDENT * np.sqrt(data.n)).sum()
        basis = np.concatenate((basis, directions[:, :rank]), axis=1)
        residual = data.target - basis @ (basis.T @ data.target)
    return np.flatnonzero(chosen)
