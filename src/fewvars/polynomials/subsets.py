"""The best subsets of columns of each size: least squares on few columns, improved by exchanging one for another.

Monomials are correlated, above all along a trajectory. Elimination alone then loses true terms to false ones: it finds
1, x^2 where x, x y is better, and no removal of a single term leads from one to the other. Exchanges do.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from fewvars._common.validation import FloatArray
from fewvars.engine.kernels import elimination, improved
from fewvars.polynomials.compressed import DEPENDENT, ROUNDING, reflected, triangle

# Larger subsets come from elimination alone: an exchange among k terms takes k least-squares problems.
LARGEST_EXCHANGED = 12
_GAIN = 1e-9  # share of the residual that an exchange must gain, so that rounding cannot cause a cycle


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """A least-squares problem: columns (r, p), a target (r,), and what counts as rounding of its square."""

    factor: FloatArray
    target: FloatArray
    negligible: float

    @staticmethod
    def of(table: FloatArray, target: FloatArray) -> "Columns":
        """Compress a table (r, p) and a target (r,) to p + 1 rows."""
        both = np.column_stack((table, target))
        if len(both) > both.shape[1]:
            both = triangle(np.asfortranarray(both))
        return Columns(both[:, :-1], both[:, -1].copy(), float(ROUNDING**2 * (target @ target)))

    @property
    def compiled(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Columns (p, r), target, and squares (p,) of what rounding leaves of columns in the span of others."""
        columns = np.ascontiguousarray(self.factor.T)
        return columns, self.target, DEPENDENT**2 * np.einsum("ij,ij->i", columns, columns)


def best_subsets(problem: Columns) -> list[NDArray[np.intp]]:
    """Subsets of columns of decreasing size, from all to none, with small residual sums of squares.

    Those that elimination leaves are compared with those that grow from none and with those that lose one column of the
    next larger, each improved by exchanges.
    """
    subsets = {chosen.size: chosen for chosen in eliminated(problem)}
    largest = min(LARGEST_EXCHANGED + 1, max(subsets))
    table = np.full((largest + 1, largest), -1, np.int64)
    for size, chosen in subsets.items():
        if size <= largest:
            table[size, :size] = chosen
    improved(*problem.compiled, table, _GAIN, problem.negligible)
    subsets.update((size, np.sort(table[size, :size])) for size in range(1, largest) if table[size, 0] >= 0)
    return [subsets[size] for size in sorted(subsets, reverse=True)]


def eliminated(problem: Columns, more_than: int = -1, *, by_size: bool = False) -> list[NDArray[np.intp]]:
    """Subsets on the way from all columns to none; the tenth that raises the residual least is removed at a time.

    With `by_size`, the columns with the smallest coefficients are removed instead, as in sequential thresholding.
    """
    columns, upper, target = _independent(problem)
    steps = elimination(upper, target, by_size)
    subsets = [columns[steps >= step] for step in range(int(steps.max(initial=-1)) + 2)]
    return [chosen for chosen in subsets if chosen.size > more_than]


def solved_by_qr(factor: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Triangular factor (a, a), its target (a,), and the residual sum of squares that no b avoids.

    What is below the diagonal of the factor is not zero, and not part of it.
    """
    a = factor.shape[1]
    both = np.zeros((max(len(factor), a + 1), a + 1), order="F")
    both[: len(factor), :a] = factor
    both[: len(factor), a] = target
    upper = reflected(both)
    return upper[:a, :a], upper[:a, a], float(upper[a, a] ** 2)


def coefficients_of(upper: FloatArray, target: FloatArray) -> FloatArray:
    """Solution (a,) of a triangular problem."""
    return dtrtrs(upper, target)[0] if target.size else target


def _independent(problem: Columns) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Columns without those that earlier ones (of lower degree) already span, their triangular factor, its target."""
    columns = np.arange(problem.factor.shape[1])
    while True:
        upper, target, _ = solved_by_qr(problem.factor[:, columns], problem.target)
        spanned = np.abs(np.diag(upper)) <= DEPENDENT * np.linalg.norm(problem.factor[:, columns], axis=0)
        if not spanned.any():
            return columns, upper, target
        columns = columns[~spanned]
