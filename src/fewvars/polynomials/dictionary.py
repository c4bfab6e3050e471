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
from fewvars.polynomials.held_out import held_out_errors
from fewvars.polynomials.paths import DictionaryPath, bic
from fewvars.polynomials.polynomial import Polynomial
from fewvars.polynomials.problem import Problem
from fewvars.polynomials.subset_path import METHODS, sparse_path

__all__ = ["METHODS", "DictionaryFit", "Polynomial", "fit_polynomial"]

# Root mean square residual, in units of the spread of y, of a fit that is exact up to rounding.
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
        Strength of the chosen fit, see `fit_polynomial`, the smallest over the outputs; inf if nothing but constants
        is left.
    criterion : {"bic", "held_out", "fixed"}
        What chose it.
    strengths, n_terms, scores : ndarray of shape (s,)
        The candidates of all outputs, one output after the other: strength, number of terms, and the value of the
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
    method: str = "subsets",
    strength: float | None = None,
    cv: Any = None,
    tolerance: float = 1.0,
    by_ratio: bool = True,
    sample_weight: ArrayLike | None = None,
    constant: bool = True,
    coefficient_tolerance: float = 0.0,
    max_memory: float = 2**31,
    fewest_rows: int = 0,
) -> DictionaryFit:
    """Fit a sparse polynomial.

    Every output has its own terms. Columns of the dictionary and outputs are standardised internally (mean zero if
    there is a constant, mean square one), so strengths have no units: a standardised coefficient b_j is
    c_j sd(column j) / sd(y).

    If the mean of an input exceeds 8 of its standard deviations, the monomials are those of x - o, where o is a
    round number near the mean, and the polynomial says so (`Polynomial.origin`): in the raw input they would be nearly
    collinear, and the terms kept would depend on noise. Both bases span the same functions, unless there is no
    constant; nothing is shifted then. Noiseless data that have a shorter exact equation in the raw inputs get that one.

    ``method="subsets"``: least squares on the best subset of monomials of each size, found by elimination and by
    exchanges; see `subset_path`. The constant is a term like the others. The strength of a fit is the smallest |b_j| in
    it. A given `strength` takes the first fit in which every |b_j| is at least that.

    ``method="threshold"``: sequential thresholding, least squares on ever fewer monomials, the smallest |b_j| leaving
    first. The constant stays. Strengths are the same.

    ``method="l1"``: minimise 1/(2 n) Σ_i w_i |y_i - f(x_i)|^2 + strength Σ_j |b_j| over the standardised output. Its
    coefficients are shrunk, and are not refitted. The constant is never penalised or dropped.

    Without `strength` the fit is chosen among those of the path. Without `cv`, by the smallest
    BIC = n log(RSS / n) + log(n) (number of terms). BIC assumes independent samples; those of a trajectory are not, and
    it may then keep far too many terms. With `cv`, by the mean squared error on the held-out rows: the fit with the
    fewest terms whose error is within `tolerance` standard errors of the best. The comparison is paired: the mean over
    stretches of held-out rows of the logarithm of the ratio of errors, against its standard error.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs.
    y : array-like of shape (n,) or (n, k)
        Outputs.
    max_degree : int
        Largest degree of a monomial, at least 1.
    method : {"subsets", "threshold", "l1"}
        How the terms are selected.
    strength : float, optional
        Fixed strength.
    cv : int, splitter or iterable of (train, test) index pairs, optional
        Anything that `sklearn.model_selection.check_cv` accepts. For a trajectory, hold out contiguous blocks.
    tolerance : float
        Standard errors of the paired comparison. Two suit rows that were smoothed or averaged in time: their errors are
        smooth functions of the inputs, which one term more always explains a little.
    by_ratio : bool
        Whether errors are compared by their ratios. Labels, and counts that are mostly zero, need differences: by
        ratios, a fit that predicts the commonest value well in most stretches would win.
    sample_weight : array-like of shape (n,), optional
        Weights as counts: weight 2 is a repeated row, weight 0 is no row, n is their sum.
    constant : bool
        Whether the constant monomial is in the dictionary.
    coefficient_tolerance : float
        Coefficients (in the units of the data) of smaller absolute value are set to zero at the end, one by
        one. The paper uses 1e-4.
    max_memory : float
        Limit in bytes on the estimated peak memory of the fit.
    fewest_rows : int
        Products of several inputs that are zero in all but fewer rows are left out: those of two rare events.

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
    check_real("tolerance", tolerance)
    if strength is not None and not (strength > 0 or (strength == 0 and method != "l1")):
        raise ValueError(f"strength must be positive (or zero, but for l1), got {strength!r}.")
    problem = Problem.of(X, y, sample_weight, max_degree, constant, max_memory, fewest_rows)
    chosen = _choose(problem, method, strength, cv, tolerance, by_ratio)
    if problem.units.x_origin.any() and chosen.exact:
        raw = _choose(problem.without_origin(X, max_degree), method, strength, cv, tolerance, by_ratio)
        if raw.exact and raw.n_terms < chosen.n_terms:
            chosen = raw
    if not all(path.converged for path in chosen.paths):
        warnings.warn(
            "Coordinate descent did not converge at every strength; the weakest fits are approximate.",
            ConvergenceWarning,
            stacklevel=2,
        )
    polynomial = chosen.polynomial(coefficient_tolerance)
    if np.ndim(y) == 1:
        polynomial = replace(polynomial, coefficients=polynomial.coefficients[:, 0])
    return chosen.result(polynomial.with_digits_for(np.asarray(X, dtype=np.float64)))


@final
@dataclass(frozen=True, eq=False)
class _Choice:
    """For each output its path, the values (s,) of the criterion along it, and the fit that was chosen."""

    problem: Problem
    data: Compressed
    paths: list[DictionaryPath]
    criterion: str
    scores: list[FloatArray]
    chosen: list[int]

    @property
    def n_terms(self) -> int:
        """Number of terms of all outputs."""
        return sum(int(path.n_terms[i]) for path, i in zip(self.paths, self.chosen, strict=True))

    @property
    def exact(self) -> bool:
        """Whether the residual consists of rounding errors only."""
        limit = self.data.n * _EXACT**2
        return all(path.residuals[i] <= limit for path, i in zip(self.paths, self.chosen, strict=True))

    def polynomial(self, tolerance: float) -> Polynomial:
        """Polynomial of k outputs in the units of the data, without its zero terms."""
        exponents = self.problem.exponents
        columns = [self._column(j) for j in range(len(self.paths))]
        exponents = np.concatenate((np.zeros((1, exponents.shape[1]), dtype=np.int64), exponents))
        dense = self.problem.units.polynomial(exponents, np.column_stack(columns))
        raw = np.where(np.abs(dense.coefficients) < tolerance, 0.0, dense.coefficients)
        kept = raw.any(axis=1)
        return replace(dense, exponents=exponents[kept], coefficients=raw[kept])

    def _column(self, j: int) -> FloatArray:
        """Coefficients (1 + m,) of output j, the constant first, in the units of the problem."""
        path, i, data = self.paths[j], self.chosen[j], self.data.output(j)
        standardised = path.coefficients[i]
        standardised = np.where(np.abs(standardised) <= ROUNDING, 0.0, standardised)
        raw, constants = data.in_users_units(standardised[None], path.constant[[i]])
        parts = abs(data.mean) + np.abs(raw[0]) @ np.abs(data.column_means)
        return np.r_[0.0 if abs(constants[0]) <= ROUNDING * parts else constants[0], raw[0]]

    def result(self, polynomial: Polynomial) -> DictionaryFit:
        """Return the polynomial with all candidates."""
        return DictionaryFit(
            polynomial,
            min(float(path.strengths[i]) for path, i in zip(self.paths, self.chosen, strict=True)),
            self.criterion,
            np.concatenate([path.strengths for path in self.paths]),
            np.concatenate([path.n_terms for path in self.paths]),
            np.concatenate(self.scores),
            all(path.converged for path in self.paths),
        )


def _choose(
    problem: Problem, method: str, strength: float | None, cv: Any, tolerance: float, by_ratio: bool
) -> _Choice:
    """Fit the paths and choose from them: the given strength, the smallest BIC, or the smallest held-out error."""
    data = problem.compressed(slice(None))
    outputs = [data.output(j) for j in range(problem.Y.shape[1])]
    given = None if strength is None else np.array([float(strength)])
    paths = [sparse_path(method, output, problem.constant, given) for output in outputs]
    if strength is not None:
        unknown = [np.full(len(path.strengths), np.nan) for path in paths]
        first = [int(np.argmax(path.strengths >= strength)) for path in paths]
        return _Choice(problem, data, paths, "fixed", unknown, first)
    if cv is None:
        scores = [bic(output, path.residuals, path.n_terms) for output, path in zip(outputs, paths, strict=True)]
        shifts = 2 * np.log(2.0) * data.n * problem.units.y_power  # to the user's units
        least = [int(score.argmin()) for score in scores]
        return _Choice(problem, data, paths, "bic", [a + b for a, b in zip(scores, shifts, strict=True)], least)
    errors = held_out_errors(problem, data, paths, method, cv)
    fewest = [
        error.fewest_terms(path.n_terms, tolerance, by_ratio=by_ratio)
        for error, path in zip(errors, paths, strict=True)
    ]
    return _Choice(problem, data, paths, "held_out", [error.means for error in errors], fewest)
