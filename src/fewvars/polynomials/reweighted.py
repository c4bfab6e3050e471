"""Sparse polynomials under losses other than squared error: log-odds of classes, logarithms of rates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewvars._common.paired import mean_and_error
from fewvars._common.validation import FloatArray
from fewvars.engine.losses import Loss
from fewvars.engine.solvers.reweighted import reweighted_least_squares
from fewvars.polynomials.polynomial import Polynomial, carried_monomials, monomial_exponents, monomial_values

RIDGES = (1e-1, 1e-2, 1e-3, 1e-4)  # times the number of rows, for standardised monomials
WHILE_CHOOSING = 1e-3
MOST_TERMS, ROWS_PER_TERM = 40, 20
TOLERANCE = 1.0  # standard errors by which the loss of fewer terms may exceed the smallest

Splits = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class _Monomials:
    """Monomials (m, d) of inputs z = (x - origin) / scale, standardised, as columns (n, m)."""

    exponents: NDArray[np.int64]
    origin: FloatArray
    scale: FloatArray
    columns: FloatArray
    means: FloatArray
    spreads: FloatArray

    @classmethod
    def of(cls, X: FloatArray, degree: int, weight: FloatArray, fewest_rows: int) -> "_Monomials":
        middle = np.average(X, axis=0, weights=weight)
        scale = np.sqrt(np.average((X - middle) ** 2, axis=0, weights=weight))
        scale = np.where(scale > 0, scale, 1.0)
        # Raw inputs make the shortest equations, but their powers are nearly equal where the mean is far from zero.
        origin = np.where(np.abs(middle) > 2 * scale, _rounded(middle, scale), 0.0) if degree > 1 else 0.0 * middle
        exponents = carried_monomials(monomial_exponents(X.shape[1], degree, constant=False), X, fewest_rows)
        exponents = exponents[(exponents[:, _has_two_values(X)] < 2).all(axis=1)]  # a power would be the same again
        values = monomial_values((X - origin) / scale, exponents)
        means = np.average(values, axis=0, weights=weight)
        spreads = np.sqrt(np.average((values - means) ** 2, axis=0, weights=weight))
        spreads = np.where(spreads > 1e-9, spreads, np.inf)  # constant columns become zero
        return cls(exponents, origin, scale, (values - means) / spreads, means, spreads)

    def polynomial(self, terms: np.ndarray, B: FloatArray) -> Polynomial:
        """Return the polynomial with coefficients B (1 + terms, outputs) of a constant and some columns."""
        own = B[1:] / self.spreads[terms, None]
        constant = B[0] - self.means[terms] @ own
        own = own / np.prod(self.scale ** self.exponents[terms], axis=1)[:, None]
        exponents = np.vstack([np.zeros((1, self.scale.size), np.int64), self.exponents[terms]])
        return Polynomial(exponents, np.vstack([constant, own]), origin=self.origin)


def fit_polynomial_under(
    loss: Loss,
    X: FloatArray,
    Y: FloatArray,
    *,
    max_degree: int,
    cv: Splits,
    sample_weight: FloatArray,
    fewest_rows: int = 0,
) -> Polynomial:
    """Fit a sparse polynomial f that makes sum_i w_i l(f(x_i), y_i) small.

    Monomials enter one by one, always the one whose score is largest compared with its standard deviation. How many
    there are, and the ridge on their coefficients, is decided by the loss on the held-out rows of `cv`, for which they
    enter anew in each split: the fewest whose mean loss is within one standard error of the smallest. Of degree one,
    all enter.

    Parameters
    ----------
    loss : Loss
    X : (n, d)
    Y : (n, outputs)
        Outputs share their monomials.
    max_degree : int
    cv : pairs of (train, test) row numbers
    sample_weight : (n,)
    fewest_rows : int
        Products of several inputs that are zero in all but fewer rows are left out.
    """
    library = _Monomials.of(X, max_degree, sample_weight, fewest_rows)
    if max_degree == 1:  # every input was selected, so all enter
        terms = np.arange(library.columns.shape[1])
    else:
        terms = _chosen(library.columns, Y, sample_weight, loss, cv)
    columns = _with_constant(library.columns, terms)
    ridge = _best_ridge(columns, Y, sample_weight, loss, cv)
    found = library.polynomial(terms, _fit(columns, Y, sample_weight, loss, ridge))
    return found.with_digits_for(X)


def _chosen(columns: FloatArray, Y: FloatArray, weight: FloatArray, loss: Loss, cv: Splits) -> np.ndarray:
    """Return the columns that enter."""
    most = min(columns.shape[1], MOST_TERMS, min(len(train) for train, _ in cv) // ROWS_PER_TERM)
    held_out = np.full((most + 1, len(Y)), np.nan)
    for train, test in cv:
        order, fits = _entering(columns[train], Y[train], weight[train], loss, most)
        for k, B in enumerate(fits):
            held_out[k:, test] = loss.values(_with_constant(columns[test], order[:k]) @ B, Y[test])
    counted = ~np.isnan(held_out[0])
    fewest = _fewest(held_out[:, counted], weight[counted])
    return _entering(columns, Y, weight, loss, fewest)[0]


def _entering(
    columns: FloatArray, Y: FloatArray, weight: FloatArray, loss: Loss, most: int
) -> tuple[np.ndarray, list[FloatArray]]:
    """Return the columns in the order in which they enter, and the coefficients with 0, 1, 2, ... of them."""
    roots = np.sqrt(weight)[:, None]
    left = columns * roots
    left = left - roots * (roots.T @ left) / weight.sum()
    sizes = np.einsum("ij,ij->j", left, left)
    order: list[int] = []
    fits = [_fit(np.ones((len(Y), 1)), Y, weight, loss, WHILE_CHOOSING)]
    while len(order) < most:
        predicted = _with_constant(columns, order) @ fits[-1]
        scores = left.T @ (roots * loss.derivatives(predicted, Y))
        # The curvature of a likelihood is the variance of its derivative: rows with large rates are noisy.
        variances = (left**2).T @ loss.curvatures(predicted, Y)
        squares = np.einsum("ij,ij->j", left, left)
        usable = squares > 1e-4 * np.maximum(sizes, 1e-12)
        statistics = np.where(usable, (scores**2 / np.maximum(variances, 1e-300)).sum(axis=1), -1.0)
        best = int(statistics.argmax())
        if statistics[best] <= 0:
            break
        order.append(best)
        direction = left[:, best] / np.sqrt(squares[best])
        left = left - np.outer(direction, direction @ left)
        start = np.vstack([fits[-1], np.zeros((1, Y.shape[1]))])
        fits.append(_fit(_with_constant(columns, order), Y, weight, loss, WHILE_CHOOSING, start))
    return np.array(order, int), fits


def _fewest(losses: FloatArray, weight: FloatArray) -> int:
    """Return the first of rows of losses (sizes, n) whose mean is within one standard error of the smallest."""
    best = losses[int((losses @ weight).argmin())]
    for k, own in enumerate(losses):
        mean, error = mean_and_error(own - best, weight)
        if mean <= TOLERANCE * error:
            return k
    raise AssertionError("the best is within its own error")


def _with_constant(columns: FloatArray, chosen: Sequence[int] | np.ndarray) -> FloatArray:
    return np.column_stack([np.ones(len(columns)), columns[:, chosen]])


def _fit(
    columns: FloatArray, Y: FloatArray, weight: FloatArray, loss: Loss, ridge: float, start: FloatArray | None = None
) -> FloatArray:
    strengths = np.full(columns.shape[1], ridge * float(weight.sum()))
    strengths[0] = 0.0  # of the constant
    return reweighted_least_squares(columns, Y, weight, loss, ridge=strengths, start=start, tolerance=1e-5)


def _best_ridge(columns: FloatArray, Y: FloatArray, weight: FloatArray, loss: Loss, cv: Splits) -> float:
    """Return the ridge with the smallest loss on held-out rows."""
    losses = np.zeros(len(RIDGES))
    for train, test in cv:
        B, own = None, columns[train]
        for k, ridge in enumerate(RIDGES):  # from strong to weak: each fit starts at the one before
            B = _fit(own, Y[train], weight[train], loss, ridge, B)
            losses[k] += weight[test] @ loss.values(columns[test] @ B, Y[test])
    return RIDGES[int(losses.argmin())]


def _has_two_values(X: FloatArray) -> NDArray[np.bool_]:
    """Tell which columns (n, d), such as indicators, take at most two values: (d,)."""
    lowest, highest = X.min(axis=0), X.max(axis=0)
    return ((lowest == X) | (highest == X)).all(axis=0)


def _rounded(values: FloatArray, scale: FloatArray) -> FloatArray:
    """Round values to as few digits as their scale allows."""
    decimals = -np.floor(np.log10(scale)).astype(int)
    return np.array([round(value, places) for value, places in zip(values.tolist(), decimals.tolist(), strict=True)])
