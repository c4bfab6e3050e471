"""From a table of monomials to a path of sparse least-squares fits, by orthogonal factors only.

All fits see the data through a factor F (r, m) and a target G (r, k) with r <= n rows such that
|G - F b|^2 equals the weighted residual sum of squares for every b. Working with F rather than the Gram
matrix F^T F keeps the full precision of the data: noiseless polynomials come back to rounding.
"""

import warnings
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from fewvars.polynomial import monomial_values, row_chunks

# A column whose part orthogonal to earlier columns is smaller than this share of it is a copy of them.
_DEPENDENT = 1e-10
# Least squares on all columns means little with fewer samples than this for each.
_SAMPLES_PER_COLUMN = 3
_SECOND_START = 100
_L1_STEPS = 100
_L1_RANGE = 1e-4


@final
@dataclass(frozen=True, eq=False)
class Compressed:
    """Standardised least-squares problem: columns and outputs have mean zero and mean square one.

    Parameters
    ----------
    factor, target : ndarray of shape (r, m) and (r, k)
        F and G. Columns of F that are constant in the data are zero.
    column_means, column_scales : ndarray of shape (m,)
        Weighted means (zero without a constant) and root mean squares about them; scale 0 if constant.
    output_means, output_scales, output_sizes : ndarray of shape (k,)
        The same of the outputs (scale 1 if constant), and their root mean squares about zero.
    n : float
        Sum of the weights, the number of samples.
    """

    factor: NDArray[np.float64]
    target: NDArray[np.float64]
    column_means: NDArray[np.float64]
    column_scales: NDArray[np.float64]
    output_means: NDArray[np.float64]
    output_scales: NDArray[np.float64]
    output_sizes: NDArray[np.float64]
    n: float

    def in_users_units(
        self, coefficients: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coefficients (..., m, k) of the raw columns, and the constants (..., k)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            raw = coefficients * self.output_scales / self.column_scales[:, None]
        raw = np.where(coefficients == 0, 0.0, raw)
        return raw, self.output_means - np.einsum("...mk,m->...k", raw, self.column_means)


@final
@dataclass(frozen=True, eq=False)
class DictionaryPath:
    """Sparse fits from one end of the strengths to the other, in standardised units.

    Parameters
    ----------
    strengths : ndarray of shape (s,)
        Monotone. A threshold (``method="threshold"``) or the weight of the l1 norm (``"l1"``).
    coefficients : ndarray of shape (s, m, k)
        Standardised coefficients at each strength.
    residuals : ndarray of shape (s, k)
        Residual sums of squares of the standardised outputs.
    converged : bool
        Whether the solver reached its tolerance at every strength.
    """

    strengths: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    residuals: NDArray[np.float64]
    converged: bool = True


def compress(
    X: NDArray[np.float64],
    Y: NDArray[np.float64],
    weight: NDArray[np.float64],
    exponents: NDArray[np.int64],
    constant: bool,
) -> Compressed:
    """Standardised problem for the monomials `exponents` (m, d), none constant, of X (n, d) and Y (n, k).

    Two passes over the rows in blocks, means first; the whole table is held only when it has no more
    rows than columns.
    """
    m, p = len(exponents), len(exponents) + Y.shape[1]
    n = weight.sum()
    means = np.zeros(p)
    for rows in row_chunks(len(X), p) if constant else ():
        means += weight[rows] @ _table(X[rows], Y[rows], exponents) / n
    factor = np.empty((0, p), order="F")
    block_rows = max(4 * p, 4096)
    for first in range(0, len(X), block_rows):
        rows = slice(first, first + block_rows)
        table = _table(X[rows], Y[rows], exponents)
        table -= means
        table *= np.sqrt(weight[rows])[:, None]
        if not np.isfinite(table).all():
            raise ValueError("A monomial overflows; scale the inputs or lower the degree.")
        factor = _triangular(np.concatenate((factor, table)) if len(factor) else table)
    scales = np.sqrt((factor**2).sum(axis=0) / n)
    sizes = np.hypot(scales, means)
    scales[scales <= _DEPENDENT * np.abs(means)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(scales > 0, factor / scales, 0.0)
    output_scales = np.where(scales[m:] > 0, scales[m:], 1.0)
    return Compressed(
        factor[:, :m], factor[:, m:], means[:m], scales[:m], means[m:], output_scales, sizes[m:], float(n)
    )


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
    coefficients: NDArray[np.float64]
    residual: NDArray[np.float64]
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
        leaving = np.argsort(sizes, kind="stable")[: max(1, columns.size // 10)]
        keep = np.setdiff1d(np.arange(columns.size), leaving)
        factor, target, lost = _solved_by_qr(factor[:, keep], target)
        columns, residual = columns[keep], residual + lost
    return models


def l1_path(data: Compressed, strengths: NDArray[np.float64] | None = None) -> DictionaryPath:
    """Minimisers of 1/(2 n) |G - F b|^2 + s Σ_j |b_j| at decreasing strengths s.

    |b_j| is the Euclidean norm over the outputs (the absolute value for one output). The default grid
    has 100 strengths from the smallest that gives b = 0 down to 1e-4 of it, evenly in logarithm.
    """
    rows = len(data.factor)
    if strengths is None:
        largest = np.linalg.norm(data.factor.T @ data.target, axis=1).max(initial=0.0) / data.n
        strengths = largest * np.geomspace(1.0, _L1_RANGE, _L1_STEPS) if largest > 0 else np.zeros(1)
    coefficients = np.zeros((len(strengths), data.factor.shape[1], data.target.shape[1]))
    converged = True
    if np.any(strengths > 0):
        target = data.target if data.target.shape[1] > 1 else data.target[:, 0]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            # scikit-learn divides the squares by 2 r, not 2 n.
            _, solution, _ = enet_path(
                np.asfortranarray(data.factor),
                target,
                l1_ratio=1.0,
                alphas=strengths * (data.n / rows),
                max_iter=10_000,
            )
        converged = not any(issubclass(entry.category, ConvergenceWarning) for entry in caught)
        coefficients[:] = np.moveaxis(solution.reshape(data.target.shape[1], -1, len(strengths)), -1, 0).mT
    residuals = ((data.target - data.factor @ coefficients) ** 2).sum(axis=1)
    return DictionaryPath(strengths, coefficients, residuals, converged)


def _table(
    X: NDArray[np.float64], Y: NDArray[np.float64], exponents: NDArray[np.int64]
) -> NDArray[np.float64]:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate((monomial_values(X, exponents).T, Y.T)).T


def _triangular(table: NDArray[np.float64]) -> NDArray[np.float64]:
    rows, columns = table.shape
    if rows <= columns:
        return table
    return qr(table, mode="r", overwrite_a=True, check_finite=False)[0][:columns]


def _solved_by_qr(
    factor: NDArray[np.float64], target: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Triangular factor (a, a), its target (a, k), and the residual sums of squares (k,) that no b avoids."""
    a = factor.shape[1]
    both = np.asfortranarray(np.concatenate((factor, target), axis=1))
    if len(both) < a:
        both = np.concatenate((both, np.zeros((a - len(both), both.shape[1]))))
    triangle = qr(both, mode="r", overwrite_a=True, check_finite=False)[0]
    return triangle[:a, :a], triangle[:a, a:], (triangle[a:, a:] ** 2).sum(axis=0)


def _independent(data: Compressed, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Columns without those that earlier ones (of lower degree) already span."""
    while True:
        triangle, _, _ = _solved_by_qr(data.factor[:, columns], data.target)
        spanned = np.abs(np.diag(triangle)) <= _DEPENDENT * np.sqrt(data.n)
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
        best = best[scores[best] > _DEPENDENT * data.n]
        if not best.size:
            break
        chosen[best] = True
        block = data.factor[:, best]
        for _ in range(2):  # once leaves rounding behind, twice is enough
            block = block - basis @ (basis.T @ block)
        directions, triangle, _ = qr(block, mode="economic", pivoting=True)
        rank = (np.abs(np.diag(triangle)) > _DEPENDENT * np.sqrt(data.n)).sum()
        basis = np.concatenate((basis, directions[:, :rank]), axis=1)
        residual = data.target - basis @ (basis.T @ data.target)
    return np.flatnonzero(chosen)
