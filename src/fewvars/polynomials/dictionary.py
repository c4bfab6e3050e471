"""Fit a sparse polynomial: all monomials up to a degree, few of them kept.

With few inputs (say ten, already selected) this takes milliseconds; with many, the number of monomials
is the limit: 40 inputs have 861 up to degree 2, 12,341 up to degree 3 and 135,751 up to degree 4.
"""

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from fewvars._common.validation import FloatArray, check_choice, check_real
from fewvars.polynomials.compressed import ROUNDING, Compressed, check_memory, compress
from fewvars.polynomials.paths import DictionaryPath, bic, l1_path, threshold_path
from fewvars.polynomials.polynomial import (
    Polynomial,
    monomial_exponents,
    monomial_values,
    row_chunks,
)

__all__ = ["METHODS", "DictionaryFit", "Polynomial", "fit_polynomial"]

METHODS = ("threshold", "l1")
_ROWS_FOR_DIGITS = 1000


@final
@dataclass(frozen=True, eq=False)
class DictionaryFit:
    """A sparse polynomial and how it was chosen.

    Parameters
    ----------
    polynomial : Polynomial
        The polynomial in the user's units, terms with nonzero coefficients only.
    strength : float
        Strength of the chosen fit, see `fit_polynomial`; inf for a threshold that leaves no term.
    criterion : {"bic", "held_out", "fixed"}
        What chose it.
    strengths, n_terms, scores : ndarray of shape (s,)
        The candidates: strength, number of monomials besides the constant, and the value of the
        criterion (nan when the strength was fixed).
    converged : bool
        Whether the solver reached its tolerance at every strength.
    """

    polynomial: Polynomial
    strength: float
    criterion: str
    strengths: FloatArray
    n_terms: NDArray[np.intp]
    scores: FloatArray
    converged: bool


def fit_polynomial(
    X: ArrayLike,
    y: ArrayLike,
    *,
    degree: int = 2,
    method: str = "threshold",
    strength: float | None = None,
    splits: Any = None,
    sample_weight: ArrayLike | None = None,
    constant: bool = True,
    coefficient_tolerance: float = 0.0,
    max_memory: float = 2**31,
) -> DictionaryFit:
    """Fit a sparse polynomial.

    Columns of the dictionary and outputs are standardised inside (mean zero if there is a constant, mean
    square one), so strengths have no units: a standardised coefficient b_j is c_j sd(column j) / sd(y).
    Several outputs share their monomials; |b_j| then stands for a norm over the outputs. The constant
    is never penalised or dropped.

    ``method="threshold"``: least squares on ever fewer monomials, the smallest root mean square |b_j| over
    the outputs leaving first; see `threshold_path` for the two starts. The strength of a fit is the
    smallest |b_j| in it. A given `strength` takes the first fit in which every |b_j| is at least that.

    ``method="l1"``: minimise 1/(2 n) Σ_i w_i |y_i - f(x_i)|^2 + strength Σ_j |b_j| over standardised
    outputs, |b_j| the Euclidean norm over the outputs. Its coefficients are shrunk, and stay so.

    Without `strength` the fit is chosen among those of the path. Without `splits`, by the smallest
    BIC = Σ_outputs n log(RSS / n) + log(n) (number of nonzero coefficients besides the constant). BIC
    takes the n samples for independent; those of a trajectory are not, and it may then keep far too
    much. With `splits`, by the mean held-out squared error of the standardised outputs: the fit with
    fewest monomials whose paired excess over the best is within one standard error over the splits.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs.
    y : array-like of shape (n,) or (n, k)
        Outputs.
    degree : int
        Largest degree of a monomial, at least 1.
    method : {"threshold", "l1"}
        How monomials are left out.
    strength : float, optional
        Fixed strength.
    splits : splitter or iterable of (train, test) index pairs, optional
        Anything that `sklearn.model_selection.check_cv` takes. Of a trajectory, hold out contiguous blocks.
    sample_weight : array-like of shape (n,), optional
        Weights as counts: weight 2 is a repeated row, weight 0 no row, n is their sum.
    constant : bool
        Whether the constant monomial is in the dictionary.
    coefficient_tolerance : float
        Coefficients (in the user's units) of smaller absolute value are set to zero at the end, each on
        its own. The paper uses 1e-4.
    max_memory : float
        Bytes that the fit may take at its peak, by estimate.

    Returns
    -------
    DictionaryFit
        The polynomial has coefficients (m,) if y is (n,), (m, k) if y is (n, k).

    Raises
    ------
    MemoryError
        Before anything is built, when the dictionary would need more than `max_memory`.
    """
    problem = _checked(X, y, sample_weight, degree, constant, max_memory)
    check_choice("method", method, METHODS)
    check_real("coefficient_tolerance", coefficient_tolerance)
    if strength is not None and not (strength > 0 or (strength == 0 and method == "threshold")):
        raise ValueError(f"strength must be positive (or zero, for a threshold), got {strength!r}.")
    data = problem.compressed(slice(None))
    path = _path(data, method, strength)
    scores = np.full(len(path.strengths), np.nan)
    if strength is not None:
        criterion, chosen = "fixed", int(np.argmax(path.strengths >= strength))
    elif splits is None:
        criterion, scores = "bic", bic(data, path.coefficients, path.residuals)
        chosen = int(scores.argmin())
    else:
        errors = _held_out_errors(problem, data, path, method, splits)
        criterion, scores, chosen = "held_out", errors.mean(axis=0), _fewest_terms(errors, path.n_terms)
    if not path.converged:
        warnings.warn(
            "Coordinate descent did not converge at every strength; the weakest fits are approximate.",
            ConvergenceWarning,
            stacklevel=2,
        )
    polynomial = _polynomial(problem, data, path.coefficients[chosen], coefficient_tolerance)
    if np.ndim(y) == 1:
        polynomial = Polynomial(polynomial.exponents, polynomial.coefficients[:, 0])
    polynomial = polynomial.with_digits_for(problem.X[:: -(-len(problem.X) // _ROWS_FOR_DIGITS)])
    chosen_strength = float(path.strengths[chosen])
    return DictionaryFit(polynomial, chosen_strength, criterion, path.strengths, path.n_terms, scores, path.converged)


@final
@dataclass(frozen=True, eq=False)
class _Problem:
    """Checked inputs (n, d), outputs (n, k), weights (n,) and exponents (m, d) without the constant."""

    X: FloatArray
    Y: FloatArray
    weight: FloatArray
    exponents: NDArray[np.int64]
    constant: bool

    def compressed(self, rows: slice | NDArray[np.intp]) -> Compressed:
        return compress(self.X[rows], self.Y[rows], self.weight[rows], self.exponents, self.constant)


def _path(data: Compressed, method: str, strength: float | None) -> DictionaryPath:
    if method == "threshold":
        return threshold_path(data)
    return l1_path(data, None if strength is None else np.array([float(strength)]))


def _held_out_errors(problem: _Problem, data: Compressed, path: DictionaryPath, method: str, splits: Any) -> FloatArray:
    """Mean squared errors (splits, s) of the standardised outputs on the test rows of each split."""
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in check_cv(splits).split(problem.X, problem.Y)]
    if not pairs:
        raise ValueError("splits holds no (train, test) pair.")
    errors = np.empty((len(pairs), len(path.strengths)))
    for row, (train, test) in zip(errors, pairs, strict=True):
        if not (problem.weight[train].any() and problem.weight[test].any()):
            raise ValueError("Every split needs training and test rows of positive weight.")
        part = problem.compressed(train)
        if method == "threshold":
            fits = threshold_path(part)
            # As many terms, or fewer where columns that differ overall are alike in the split.
            matching = [int(np.argmax(fits.n_terms <= size)) for size in path.n_terms]
            row[:] = _errors(problem, test, data, *part.in_users_units(fits.coefficients[matching]))
        else:
            fits = l1_path(part, path.strengths)
            row[:] = _errors(problem, test, data, *part.in_users_units(fits.coefficients))
    return np.maximum(errors, np.mean((ROUNDING * data.output_sizes / data.output_scales) ** 2))


def _errors(
    problem: _Problem,
    test: NDArray[np.intp],
    data: Compressed,
    coefficients: FloatArray,
    constants: FloatArray,
) -> FloatArray:
    """Weighted mean squared errors (s,) at the rows `test` of s fits in the user's units."""
    squares = np.zeros(len(coefficients))
    weight = problem.weight[test]
    for rows in row_chunks(len(test), len(problem.exponents)):
        values = monomial_values(problem.X[test[rows]], problem.exponents)
        residual = problem.Y[test[rows]] - values @ coefficients - constants[:, None]
        squares += np.einsum("snk,n->s", (residual / data.output_scales) ** 2, weight[rows])
    return squares / (weight.sum() * problem.Y.shape[1])


def _fewest_terms(errors: FloatArray, n_terms: NDArray[np.intp]) -> int:
    """Index of the smallest model not significantly worse than the best, by paired differences."""
    best = int(errors.mean(axis=0).argmin())
    excess = errors - errors[:, [best]]
    tolerance = np.zeros(errors.shape[1])
    if len(errors) > 1:
        tolerance = excess.std(axis=0, ddof=1) / np.sqrt(len(errors))
    eligible = np.flatnonzero(excess.mean(axis=0) <= tolerance)
    return int(min(eligible, key=lambda i: (n_terms[i], errors[:, i].mean())))


def _polynomial(problem: _Problem, data: Compressed, coefficients: FloatArray, tolerance: float) -> Polynomial:
    """Polynomial of k outputs in the user's units, without its zero terms.

    Outputs share their monomials: what is left of a monomial in an output that does without it is rounding.
    """
    raw, constants = data.in_users_units(np.where(np.abs(coefficients) <= ROUNDING, 0.0, coefficients))
    exponents = problem.exponents
    if problem.constant:
        parts = np.abs(data.output_means) + np.abs(raw.T) @ np.abs(data.column_means)
        constants = np.where(np.abs(constants) <= ROUNDING * parts, 0.0, constants)
        raw = np.concatenate((constants[None], raw))
        exponents = np.concatenate((np.zeros((1, exponents.shape[1]), dtype=np.int64), exponents))
    raw = np.where(np.abs(raw) < tolerance, 0.0, raw)
    kept = raw.any(axis=1)
    return Polynomial(exponents[kept], raw[kept])


def _checked(
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    degree: int,
    constant: bool,
    max_memory: float,
) -> _Problem:
    inputs, outputs = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if inputs.ndim != 2 or outputs.ndim not in (1, 2) or len(outputs) != len(inputs) or inputs.size == 0:
        raise ValueError(f"X (n, d) and y (n,) or (n, k) do not fit: {inputs.shape}, {outputs.shape}.")
    if not (np.isfinite(inputs).all() and np.isfinite(outputs).all()):
        raise ValueError("X and y must be finite.")
    weight = np.ones(len(inputs)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (len(inputs),) or not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError(f"sample_weight must hold {len(inputs)} finite numbers of at least zero.")
    if weight.sum() < min(2, len(inputs)):
        raise ValueError(
            f"sample_weight counts samples but sums to {weight.sum():g}; multiply normalised weights by n."
        )
    outputs = outputs.reshape(len(outputs), -1)
    check_memory(*inputs.shape, degree=degree, outputs=outputs.shape[1], max_memory=max_memory)
    exponents = monomial_exponents(inputs.shape[1], degree, constant=False)
    return _Problem(inputs, outputs, weight, exponents, constant)
