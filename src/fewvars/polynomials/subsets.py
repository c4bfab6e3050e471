"""The best subsets of columns of each size: least squares on few columns, improved by exchanging one for another.

Monomials are correlated, above all along a trajectory. Elimination alone then loses true terms to false ones: it finds
1, x^2 where x, x y is better, and no removal of a single term leads from one to the other. Exchanges do.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from fewvars._common.validation import FloatArray
from fewvars.polynomials.compressed import DEPENDENT, ROUNDING, triangle

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
        return Columns(both[:, :-1], both[:, -1], float(ROUNDING**2 * (target @ target)))

    @cached_property
    def _squares(self) -> FloatArray:
        return np.einsum("ij,ij->j", self.factor, self.factor)

    def residual(self, chosen: list[int]) -> float:
        """Residual sum of squares of some columns."""
        return solved_by_qr(self.factor[:, chosen], self.target)[2]

    def with_best(self, chosen: list[int]) -> list[int]:
        """Add the column that lowers the residual sum of squares most."""
        rest = self._projected(chosen)
        gains = np.divide(rest.products**2, rest.sizes, out=np.full(rest.sizes.size, -1.0), where=rest.free)
        best = int(gains.argmax())
        return [*chosen, best] if gains[best] >= 0 else chosen

    def exchanged(self, chosen: list[int]) -> tuple[list[int], float]:
        """Exchange one column for another as long as that lowers the residual sum of squares, which is returned too."""
        chosen = list(chosen)
        while True:
            rest = self._projected(chosen)
            if not chosen:
                break
            # Without column i of the chosen, the residual gains its component along the direction that i alone spans.
            inverse = inverse_of(rest.upper)
            alone = inverse / np.linalg.norm(inverse, axis=1, keepdims=True)
            target, columns = alone @ rest.inner_target, alone @ rest.inner_columns
            gains = np.divide(
                (rest.products + target[:, None] * columns) ** 2,
                rest.sizes + columns**2,
                out=np.full(columns.shape, -1.0),
                where=np.broadcast_to(rest.free, columns.shape),
            )
            residuals = rest.residual + target[:, None] ** 2 - gains
            i, j = np.unravel_index(int(residuals.argmin()), residuals.shape)
            if not self.lower(float(residuals[i, j]), rest.residual):
                break
            chosen[i] = int(j)
        return chosen, rest.residual

    def lower(self, residual: float, other: float) -> bool:
        """Return whether one residual sum of squares is below another by more than rounding."""
        return residual < other * (1 - _GAIN) - self.negligible

    def _projected(self, chosen: list[int]) -> "_Projected":
        basis, upper = np.linalg.qr(self.factor[:, chosen])
        target, columns = basis.T @ self.target, basis.T @ self.factor
        left, others = self.target - basis @ target, self.factor - basis @ columns
        sizes = np.einsum("ij,ij->j", others, others)
        free = sizes > DEPENDENT**2 * self._squares
        free[chosen] = False
        return _Projected(upper, target, columns, left @ others, sizes, free, float(left @ left))


@dataclass(frozen=True, eq=False)
class _Projected:
    """Target and columns split into their parts inside and outside the span of k chosen columns.

    Attributes
    ----------
    upper : (k, k)
        The chosen columns in an orthonormal basis of their span.
    inner_target, inner_columns : (k,) and (k, p)
        The inner parts in the same basis.
    products, sizes : (p,)
        Inner products of the outer parts of the columns with that of the target, and with themselves.
    free : (p,) bool
        Columns outside the span.
    residual : float
        Square of the outer part of the target.
    """

    upper: FloatArray
    inner_target: FloatArray
    inner_columns: FloatArray
    products: FloatArray
    sizes: FloatArray
    free: NDArray[np.bool_]
    residual: float


def best_subsets(problem: Columns) -> list[NDArray[np.intp]]:
    """Subsets of columns of decreasing size, from all to none, with small residual sums of squares.

    Those that elimination leaves are compared with those that grow from none and with those that lose one column of the
    next larger, each improved by exchanges.
    """
    subsets: dict[int, list[int]] = {chosen.size: chosen.tolist() for chosen in eliminated(problem)}
    residuals = {size: problem.residual(chosen) for size, chosen in subsets.items()}
    known: set[frozenset[int]] = set()  # where an exchange began or ended

    def offer(chosen: list[int]) -> None:
        if frozenset(chosen) in known:
            return
        found, residual = problem.exchanged(chosen)
        known.update((frozenset(chosen), frozenset(found)))
        size = len(found)
        if size not in subsets or problem.lower(residual, residuals[size]):
            subsets[size], residuals[size] = found, residual

    sizes = range(1, min(LARGEST_EXCHANGED + 1, max(subsets)))
    for size in sizes:
        offer(problem.with_best(subsets[size - 1]))
    for size in reversed(sizes):
        if size + 1 in subsets:
            offer(_without_least(problem, subsets[size + 1]))
    return [np.sort(np.array(subsets[size], dtype=np.intp)) for size in sorted(subsets, reverse=True)]


def eliminated(problem: Columns, more_than: int = -1, *, by_size: bool = False) -> list[NDArray[np.intp]]:
    """Subsets on the way from all columns to none; the tenth that raises the residual least is removed at a time.

    With `by_size`, the columns with the smallest coefficients are removed instead, as in sequential thresholding.
    """
    importance = _sizes if by_size else _losses
    columns = _independent(problem)
    upper, target, _ = solved_by_qr(problem.factor[:, columns], problem.target)
    subsets = []
    while columns.size > more_than:
        subsets.append(columns)
        if not columns.size:
            break
        keep = np.ones(columns.size, dtype=bool)
        keep[np.argsort(importance(upper, target), kind="stable")[: max(1, columns.size // 10)]] = False
        columns = columns[keep]
        upper, target, _ = solved_by_qr(upper[:, keep], target)
    return subsets


def _without_least(problem: Columns, chosen: list[int]) -> list[int]:
    upper, target, _ = solved_by_qr(problem.factor[:, chosen], problem.target)
    least = int(_losses(upper, target).argmin())
    return chosen[:least] + chosen[least + 1 :]


def _losses(upper: FloatArray, target: FloatArray) -> FloatArray:
    """Rise of the residual sum of squares when each column of a triangular problem is left out, (a,)."""
    inverse = inverse_of(upper)
    return (inverse @ target) ** 2 / np.einsum("ij,ij->i", inverse, inverse)


def _sizes(upper: FloatArray, target: FloatArray) -> FloatArray:
    """Absolute coefficients (a,) of a triangular problem."""
    return np.abs(inverse_of(upper) @ target)


def inverse_of(upper: FloatArray) -> FloatArray:
    """Inverse of a triangular factor (a, a)."""
    return dtrtri(upper)[0] if upper.size else upper


def solved_by_qr(factor: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Triangular factor (a, a), its target (a,), and the residual sum of squares that no b avoids."""
    a = factor.shape[1]
    both = np.zeros((max(len(factor), a + 1), a + 1), order="F")
    both[: len(factor), :a] = factor
    both[: len(factor), a] = target
    upper = triangle(both)
    return upper[:a, :a], upper[:a, a], float(upper[a, a] ** 2)


def _independent(problem: Columns) -> NDArray[np.intp]:
    """Columns without those that earlier ones (of lower degree) already span."""
    columns = np.arange(problem.factor.shape[1])
    while True:
        upper, _, _ = solved_by_qr(problem.factor[:, columns], problem.target)
        spanned = np.abs(np.diag(upper)) <= DEPENDENT * np.linalg.norm(problem.factor[:, columns], axis=0)
        if not spanned.any():
            return columns
        columns = columns[~spanned]
