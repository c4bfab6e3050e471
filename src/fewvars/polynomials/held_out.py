"""Choose the number of terms of a polynomial by a paired comparison of held-out errors along its path."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.cv import checked_splits
from fewvars._common.paired import log_ratio, mean_and_error
from fewvars._common.validation import FloatArray
from fewvars.polynomials.compressed import ROUNDING, Compressed, OneOutput
from fewvars.polynomials.paths import DictionaryPath
from fewvars.polynomials.polynomial import monomial_values, row_chunks
from fewvars.polynomials.problem import Problem
from fewvars.polynomials.subset_path import sparse_path

_MOST_PIECES = 20  # of the held-out rows of one split
_ROWS_OF_A_PIECE = 4


@final
@dataclass(frozen=True, eq=False)
class HeldOutErrors:
    """Mean squared errors (pieces, s) of s fits to a standardised output, and the weights (pieces,) of the pieces.

    A piece is a stretch of neighbouring held-out rows.
    """

    values: FloatArray
    weights: FloatArray

    @property
    def means(self) -> FloatArray:
        """Mean squared errors (s,) on all held-out rows."""
        return self.weights @ self.values / self.weights.sum()

    def fewest_terms(self, n_terms: NDArray[np.intp], tolerance: float, *, by_ratio: bool = True) -> int:
        """Index of the smallest fit whose errors exceed those of the best by at most `tolerance` standard errors.

        If most pieces are quiet, a fit could miss a rare event; so its mean error may be at most double.
        Without `by_ratio`, errors are compared by their differences.
        """
        means = self.means
        best = self.values[:, means.argmin()]
        ratios = [
            log_ratio(errors, best, self.weights) if by_ratio else mean_and_error(errors - best, self.weights)
            for errors in self.values.T
        ]
        eligible = [
            i for i, (mean, spread) in enumerate(ratios) if mean <= tolerance * spread and means[i] <= 2 * means.min()
        ]
        return int(min(eligible, key=lambda i: (n_terms[i], means[i])))


def held_out_errors(
    problem: Problem, data: Compressed, paths: list[DictionaryPath], method: str, cv: Any
) -> list[HeldOutErrors]:
    """Errors of each output along its path, of fits to the training rows of each split."""
    errors: list[list[FloatArray]] = [[] for _ in paths]
    weights = []
    for train, test in checked_splits(cv, problem.X, problem.Y):
        if not (problem.weight[train].any() and problem.weight[test].any()):
            raise ValueError("cv: every split needs training and test rows of positive weight.")
        pieces = _pieces(test, problem.weight[test])
        weights.append(np.bincount(pieces, problem.weight[test]))
        part = problem.compressed(train)
        for j, path in enumerate(paths):
            own = part.output(j)
            fits = _fits(own, problem.constant, path, method)
            squares = _squares(problem, test, j, *own.in_users_units(*fits)) / data.output_scales[j] ** 2
            sums = [np.bincount(pieces, problem.weight[test] * square) for square in squares]
            floor = (ROUNDING * data.output_sizes[j] / data.output_scales[j]) ** 2
            errors[j].append(np.maximum(np.array(sums).T / weights[-1][:, None], floor))
    return [HeldOutErrors(np.concatenate(parts), np.concatenate(weights)) for parts in errors]


def _fits(data: OneOutput, constant: bool, path: DictionaryPath, method: str) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Coefficients (s, m) and constants (s,) of fits to a part of the data, one for each fit of a path."""
    fits = sparse_path(method, data, constant, path.strengths)
    if method == "l1":
        return fits.coefficients, fits.constant
    # Equally many terms, or fewer if columns that differ overall are equal in this part.
    n_terms = fits.n_terms
    matching = [int(np.argmax(n_terms <= size)) for size in path.n_terms]
    return fits.coefficients[matching], fits.constant[matching]


def _squares(
    problem: Problem, test: NDArray[np.intp], j: int, coefficients: FloatArray, constants: FloatArray
) -> FloatArray:
    """Squared errors (s, rows) of output j at the rows `test` of s fits (s, m) in the user's units."""
    squares = np.empty((len(coefficients), len(test)))
    for rows in row_chunks(len(test), len(problem.exponents)):
        values = monomial_values(problem.X[test[rows]], problem.exponents)
        squares[:, rows] = (problem.Y[test[rows], j] - coefficients @ values.T - constants[:, None]) ** 2
    return squares


def _pieces(test: NDArray[np.intp], weight: FloatArray) -> NDArray[np.intp]:
    """Piece of each held-out row: stretches of neighbouring rows, of which many are merged and a single one is cut."""
    runs = np.cumsum(np.r_[False, np.diff(test) != 1])
    if runs[-1] == 0:
        runs = np.arange(test.size)
    most = int(np.clip(test.size // _ROWS_OF_A_PIECE, 1, _MOST_PIECES))
    count = int(runs[-1]) + 1
    pieces = runs * most // count if count > most else runs
    live = np.bincount(pieces, weight) > 0
    return (np.cumsum(live) - 1).clip(0)[pieces]  # a piece without weight is merged with the one before it
