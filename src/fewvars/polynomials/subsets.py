"""The best subsets of columns of each size: least squares on few columns, improved by exchanging one for another.

Monomials are correlated, above all along a trajectory. Elimination alone then loses true terms to false ones: it finds
1, x^2 where x, x y is better, and no removal of a single term leads from one to the other. Exchanges do.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from fewvars._common.validation import FloatArray
from fewvars.engine.kernels import best_addition, elimination, exchange, fit_columns
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

    @cached_property
    def _compiled(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Columns (p, r), target, and squares (p,) of what rounding leaves of columns in the span of others."""
        columns = np.ascontiguousarray(self.factor.T)
        return columns, self.target, DEPENDENT**2 * np.einsum("ij,ij->i", columns, columns)

    def residual(self, chosen: list[int]) -> float:
        """Residual sum of squares of some columns."""
        return self._fit(chosen)[0]

    def without_least(self, chosen: list[int]) -> list[int]:
        """Leave out the column whose removal raises the residual sum of squares least."""
        least = int(self._fit(chosen)[1].argmin())
        return chosen[:least] + chosen[least + 1 :]

    def _fit(self, chosen: list[int]) -> tuple[float, FloatArray]:
        columns, target, _ = self._compiled
        return fit_columns(columns, target, np.array(chosen, np.int64))

    def with_best(self, chosen: list[int]) -> list[int]:
        """Add the column that lowers the residual sum of squares most."""
        best = best_addition(*self._compiled, np.array(chosen, np.int64))
        return [*chosen, best] if best >= 0 else chosen

    def exchanged(self, chosen: list[int]) -> tuple[list[int], float]:
        """Exchange one column for another as long as that lowers the residual sum of squares, which is returned too."""
        found = np.array(chosen, np.int64)
        residual = exchange(*self._compiled, found, _GAIN, self.negligible)
        return found.tolist(), residual

    def lower(self, residual: float, other: float) -> bool:
        """Return whether one residual sum of squares is below another by more than rounding."""
        return residual < other * (1 - _GAIN) - self.negligible


def best_subsets(problem: Columns) -> list[NDArray[np.intp]]:
    """Subsets of columns of decreasing size, from all to none, with small residual sums of squares.

    Those that elimination leaves are compared with those that grow from none and with those that lose one column of the
    next larger, each improved by exchanges.
    """
    subsets: dict[int, list[int]] = {chosen.size: chosen.tolist() for chosen in eliminated(problem)}
    sizes = range(1, min(LARGEST_EXCHANGED + 1, max(subsets)))
    residuals = {size: problem.residual(subsets[size]) for size in sizes if size in subsets}
    known: set[frozenset[int]] = set()  # where an exchange began or ended

    def offer(chosen: list[int]) -> None:
        if frozenset(chosen) in known:
            return
        found, residual = problem.exchanged(chosen)
        known.update((frozenset(chosen), frozenset(found)))
        size = len(found)
        if size not in subsets or problem.lower(residual, residuals[size]):
            subsets[size], residuals[size] = found, residual

    for size in sizes:
        offer(problem.with_best(subsets[size - 1]))
    for size in reversed(sizes):
        if size + 1 in subsets:
            offer(problem.without_least(subsets[size + 1]))
    return [np.sort(np.array(subsets[size], dtype=np.intp)) for size in sorted(subsets, reverse=True)]


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
