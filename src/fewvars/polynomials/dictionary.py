"""Fit a sparse polynomial: all monomials up to a degree, few of them kept.

With few inputs (say ten, already selected) this takes milliseconds; with many, the number of monomials
is the limit: 40 inputs have 861 up to degree 2, 12,341 up to degree 3 and 135,751 up to degree 4.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from fewvars._common.validation import FloatArray, check_choice, check_real
from fewvars.polynomials.compressed import ROUNDING, Compressed
from fewvars.polynomials.held_out import fewest_terms, held_out_errors
from fewvars.polynomials.paths import DictionaryPath, bic, l1_path, threshold_path
from fewvars.polynomials.polynomial import Polynomial
from fewvars.polynomials.problem import Problem

__all__ = ["METHODS", "DictionaryFit", "Polynomial", "fit_polynomial"]

METHODS = ("threshold", "l1")
_ROWS_FOR_DIGITS = 1000
# Root mean square residual, in units of the spread of y, of a fit that is exact but for rounding.
_EXACT = 1e-9


@final
@dataclass(frozen=True, eq=False)
class DictionaryFit:
    """A sparse polynomial and how it was chosen.

    Parameters
    ----------
    polynomial : Polynomial
        The polynomial in the units of the data, terms with nonzero coefficients only.
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
    max_degree: int = 2,
    method: str = "threshold",
    strength: float | None = None,
    cv: Any = None,
    sample_weight: ArrayLike | None = None,
    constant: bool = True,
    coefficient_tolerance: float = 0.0,
    max_memory: float = 2**31,
) -> DictionaryFit:
    """Fit a sparse polynomial.

    Columns of the dictionary and outputs are standardised internally (mean zero if there is a constant, mean
    square one), so strengths have no units: a standardised coefficient b_j is c_j sd(column j) / sd(y).
    Several outputs share their monomials; |b_j| then stands for a norm over the outputs. The constant
    is never penalised or dropped.

    If the mean of an input exceeds 8 of its standard deviations, the monomials are those of x - o, where o is a
    round number near the mean, and the polynomial says so (`Polynomial.origin`): in the raw input they would be nearly
    collinear, and the terms kept would depend on noise. Both bases span the same functions, unless there is no
    constant; nothing is shifted then. Noiseless data that have a shorter exact equation in the raw inputs get that one.

    ``method="threshold"``: least squares on ever fewer monomials, the smallest root mean square |b_j| over
    the outputs leaving first; see `threshold_path` for the two starts. The strength of a fit is the
    smallest |b_j| in it. A given `strength` takes the first fit in which every |b_j| is at least that.

    ``method="l1"``: minimise 1/(2 n) Σ_i w_i |y_i - f(x_i)|^2 + strength Σ_j |b_j| over standardised
    outputs, |b_j| the Euclidean norm over the outputs. Its coefficients are shrunk, and are not refitted.

    Without `strength` the fit is chosen among those of the path. Without `cv`, by the smallest
    BIC = Σ_outputs n log(RSS / n) + log(n) (number of nonzero coefficients besides the constant). BIC
    assumes independent samples; those of a trajectory are not, and it may then keep far too many terms.
    With `cv`, by the mean squared error of the standardised outputs on the held-out rows: the fit with the
    fewest monomials whose error is within one standard error of the best. The comparison is paired: the mean
    over the splits of the logarithm of the ratio of errors against its standard error.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs.
    y : array-like of shape (n,) or (n, k)
        Outputs.
    max_degree : int
        Largest degree of a monomial, at least 1.
    method : {"threshold", "l1"}
        How monomials are eliminated.
    strength : float, optional
        Fixed strength.
    cv : int, splitter or iterable of (train, test) index pairs, optional
        Anything that `sklearn.model_selection.check_cv` accepts. For a trajectory, hold out contiguous blocks.
    sample_weight : array-like of shape (n,), optional
        Weights as counts: weight 2 is a repeated row, weight 0 is no row, n is their sum.
    constant : bool
        Whether the constant monomial is in the dictionary.
    coefficient_tolerance : float
        Coefficients (in the units of the data) of smaller absolute value are set to zero at the end, one by
        one. The paper uses 1e-4.
    max_memory : float
        Limit in bytes on the estimated peak memory of the fit.

    Returns
    -------
    DictionaryFit
        The polynomial has coefficients (m,) if y is (n,), (m, k) if y is (n, k).

    Raises
    ------
    MemoryError
        Before anything is built, if the dictionary would need more than `max_memory`.
    ValueError
        Also if a term or its coefficient is too large or too small for a floating-point number.
    """
    check_choice("method", method, METHODS)
    check_real("coefficient_tolerance", coefficient_tolerance)
    if strength is not None and not (strength > 0 or (strength == 0 and method == "threshold")):
        raise ValueError(f"strength must be positive (or zero, for a threshold), got {strength!r}.")
    problem = Problem.of(X, y, sample_weight, max_degree, constant, max_memory)
    chosen = _choose(problem, method, strength, cv)
    if problem.units.x_origin.any() and chosen.exact:
        raw = _choose(problem.without_origin(X, max_degree), method, strength, cv)
        if raw.exact and raw.n_terms < chosen.n_terms:
            chosen = raw
    if not chosen.path.converged:
        warnings.warn(
            "Coordinate descent did not converge at every strength; the weakest fits are approximate.",
            ConvergenceWarning,
            stacklevel=2,
        )
    polynomial = chosen.polynomial(coefficient_tolerance)
    if np.ndim(y) == 1:
        polynomial = replace(polynomial, coefficients=polynomial.coefficients[:, 0])
    inputs = np.asarray(X, dtype=np.float64)
    return chosen.result(polynomial.with_digits_for(inputs[:: -(-len(inputs) // _ROWS_FOR_DIGITS)]))


@final
@dataclass(frozen=True, eq=False)
class _Choice:
    """A path of fits, the values (s,) of the criterion, and the fit that was chosen."""

    problem: Problem
    data: Compressed
    path: DictionaryPath
    criterion: str
    scores: FloatArray
    index: int

    @property
    def n_terms(self) -> int:
        return int(self.path.n_terms[self.index])

    @property
    def exact(self) -> bool:
        """Whether nothing but rounding errors is left."""
        return bool((self.path.residuals[self.index] <= self.data.n * _EXACT**2).all())

    def polynomial(self, tolerance: float) -> Polynomial:
        """Polynomial of k outputs in the units of the data, without its zero terms.

        Outputs share their monomials: what is left of a monomial in an output that does without it is rounding error.
        """
        coefficients, data, exponents = self.path.coefficients[self.index], self.data, self.problem.exponents
        raw, constants = data.in_users_units(np.where(np.abs(coefficients) <= ROUNDING, 0.0, coefficients))
        if self.problem.constant:
            parts = np.abs(data.output_means) + np.abs(raw.T) @ np.abs(data.column_means)
            constants = np.where(np.abs(constants) <= ROUNDING * parts, 0.0, constants)
            raw = np.concatenate((constants[None], raw))
            exponents = np.concatenate((np.zeros((1, exponents.shape[1]), dtype=np.int64), exponents))
        dense = self.problem.units.polynomial(exponents, raw)
        raw = np.where(np.abs(dense.coefficients) < tolerance, 0.0, dense.coefficients)
        kept = raw.any(axis=1)
        return replace(dense, exponents=exponents[kept], coefficients=raw[kept])

    def result(self, polynomial: Polynomial) -> DictionaryFit:
        path = self.path
        strength = float(path.strengths[self.index])
        return DictionaryFit(
            polynomial, strength, self.criterion, path.strengths, path.n_terms, self.scores, path.converged
        )


def _choose(problem: Problem, method: str, strength: float | None, cv: Any) -> _Choice:
    """Fit the path and choose from it: the given strength, the smallest BIC, or the smallest held-out error."""
    data = problem.compressed(slice(None))
    path = _path(data, method, strength)
    if strength is not None:
        index = int(np.argmax(path.strengths >= strength))
        return _Choice(problem, data, path, "fixed", np.full(len(path.strengths), np.nan), index)
    if cv is None:
        scores = bic(data, path.coefficients, path.residuals)
        in_users_units = scores + 2 * np.log(2.0) * data.n * problem.units.y_power.sum()
        return _Choice(problem, data, path, "bic", in_users_units, int(scores.argmin()))
    errors = held_out_errors(problem, data, path, method, cv)
    return _Choice(problem, data, path, "held_out", errors.mean(axis=0), fewest_terms(errors, path.n_terms))


def _path(data: Compressed, method: str, strength: float | None) -> DictionaryPath:
    if method == "threshold":
        return threshold_path(data)
    return l1_path(data, None if strength is None else np.array([float(strength)]))
