"""How many terms a polynomial needs: errors on held-out rows along its path, and the paired comparison of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewvars._common.cv import checked_splits
from fewvars._common.paired import log_ratio
from fewvars._common.validation import FloatArray
from fewvars.polynomials.compressed import ROUNDING, Compressed
from fewvars.polynomials.paths import DictionaryPath, l1_path, threshold_path
from fewvars.polynomials.polynomial import monomial_values, row_chunks
from fewvars.polynomials.problem import Problem


def held_out_errors(problem: Problem, data: Compressed, path: DictionaryPath, method: str, cv: Any) -> FloatArray:
    """Mean squared errors (splits, s) of the standardised outputs on the test rows of each split."""
    pairs = checked_splits(cv, problem.X, problem.Y)
    errors = np.empty((len(pairs), len(path.strengths)))
    for row, (train, test) in zip(errors, pairs, strict=True):
        if not (problem.weight[train].any() and problem.weight[test].any()):
            raise ValueError("cv: every split needs training and test rows of positive weight.")
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
    problem: Problem,
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


def fewest_terms(errors: FloatArray, n_terms: NDArray[np.intp]) -> int:
    """Index of the smallest model whose errors (splits, s) are within one standard error of the best."""
    means, weights = errors.mean(axis=0), np.ones(len(errors))
    best = errors[:, means.argmin()]
    ratios = [log_ratio(error, best, weights) for error in errors.T]
    eligible = [i for i, (mean, spread) in enumerate(ratios) if mean <= spread]
    return int(min(eligible, key=lambda i: (n_terms[i], means[i])))
