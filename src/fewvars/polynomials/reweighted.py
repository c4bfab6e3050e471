"""Sparse polynomials under losses other than squared error: log-odds of classes, logarithms of rates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import Loss
from fewvars.engine.solvers.reweighted import reweighted_least_squares
from fewvars.polynomials.dictionary import fit_polynomial
from fewvars.polynomials.polynomial import Polynomial, monomial_values

_ROUNDS = 4  # of choosing terms; the choice rarely changes after two
_RIDGES = (1e-1, 1e-2, 1e-3, 1e-4)  # times the number of rows, for standardised monomials
_ROWS_FOR_DIGITS = 1000

Splits = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class _Monomials:
    """A constant and standardised monomials (m, d) of x - origin, as columns (n, 1 + m)."""

    exponents: NDArray[np.int64]
    origin: FloatArray
    columns: FloatArray
    means: FloatArray
    scales: FloatArray

    @classmethod
    def of(cls, X: FloatArray, exponents: NDArray[np.int64], origin: FloatArray, weight: FloatArray) -> "_Monomials":
        values = monomial_values(X - origin, exponents)
        means = np.average(values, axis=0, weights=weight)
        spread = np.sqrt(np.average((values - means) ** 2, axis=0, weights=weight))
        scales = np.where(spread > 0, spread, 1.0)
        return cls(exponents, origin, np.column_stack([np.ones(len(X)), (values - means) / scales]), means, scales)

    def polynomial(self, coefficients: FloatArray) -> Polynomial:
        """Return the polynomial with these coefficients (1 + m, outputs) of the columns."""
        own = coefficients[1:] / self.scales[:, None]
        constant = coefficients[0] - self.means @ own
        exponents = np.vstack([np.zeros((1, self.exponents.shape[1]), np.int64), self.exponents])
        return Polynomial(exponents, np.vstack([constant, own]), origin=self.origin)


def fit_polynomial_under(
    loss: Loss,
    X: FloatArray,
    Y: FloatArray,
    *,
    max_degree: int,
    cv: Splits,
    sample_weight: FloatArray,
    tolerance: float = 1.0,
) -> Polynomial:
    """Fit a sparse polynomial f that makes sum_i w_i l(f(x_i), y_i) small; see `fit_polynomial` for how sparse.

    Terms are chosen by weighted least squares on the working response f - l' / c, with the weights w c / 2, where l'
    and c are the derivative and the curvature of the loss at the fit before. This is repeated until the choice does
    not change. The coefficients then minimise the loss with a ridge that the held-out rows of `cv` choose.

    Parameters
    ----------
    loss : Loss
    X : (n, d)
    Y : (n, outputs)
    max_degree : int
    cv : pairs of (train, test) row numbers
    sample_weight : (n,)
    tolerance : float
    """
    nothing = np.zeros((0, X.shape[1]), np.int64)
    terms = _Monomials.of(X, nothing, np.zeros(X.shape[1]), sample_weight)
    tried: list[bytes] = []
    while len(tried) < _ROUNDS:
        predicted = terms.columns @ _fit(terms.columns, Y, sample_weight, loss, _RIDGES[2])
        curvatures = loss.curvatures(predicted, Y)
        response = predicted - loss.derivatives(predicted, Y) / curvatures
        polynomials = [
            fit_polynomial(X, z, max_degree=max_degree, cv=cv, tolerance=tolerance, sample_weight=c / c.mean())
            for z, c in zip(response.T, (sample_weight[:, None] * curvatures).T, strict=True)
        ]
        chosen = np.unique(np.vstack([nothing, *(found.polynomial.exponents for found in polynomials)]), axis=0)
        terms = _Monomials.of(X, chosen[chosen.any(axis=1)], polynomials[0].polynomial.origin, sample_weight)
        tried.append(terms.exponents.tobytes())
        if tried[-1] in tried[:-1]:
            break
    ridge = min(_RIDGES, key=lambda ridge: _held_out_loss(terms.columns, Y, sample_weight, loss, ridge, cv))
    found = terms.polynomial(_fit(terms.columns, Y, sample_weight, loss, ridge))
    return found.with_digits_for(X[:: -(-len(X) // _ROWS_FOR_DIGITS)])


def _fit(columns: FloatArray, Y: FloatArray, weight: FloatArray, loss: Loss, ridge: float) -> FloatArray:
    return reweighted_least_squares(columns, Y, weight, loss, ridge=ridge * float(weight.sum()), tolerance=1e-5)


def _held_out_loss(
    columns: FloatArray, Y: FloatArray, weight: FloatArray, loss: Loss, ridge: float, cv: Splits
) -> float:
    total = 0.0
    for train, test in cv:
        B = _fit(columns[train], Y[train], weight[train], loss, ridge)
        total += float(weight[test] @ loss.values(columns[test] @ B, Y[test]))
    return total
