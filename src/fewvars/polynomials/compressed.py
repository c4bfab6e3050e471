"""A least-squares problem over all monomials, compressed to an orthogonal factor of the data.

All fits see the data through a factor F (r, m) and a target G (r, k) with r <= n rows such that
|G - F b|^2 equals the weighted residual sum of squares for every b. Working with F rather than the Gram
matrix F^T F keeps the full precision of the data: noiseless polynomials come back to rounding.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log2
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqrf, dgeqrf_lwork

from fewvars._common.validation import FloatArray, check_whole
from fewvars.polynomials.polynomial import monomial_count, monomial_values

# A remainder of a column below this share of it is a rounding error.
DEPENDENT = 1e-10
# Residuals below this share of the output are rounding errors: of two such fits, neither is better.
ROUNDING = 1e-12


@final
@dataclass(frozen=True, eq=False)
class Compressed:
    """Standardised least-squares problem: columns and outputs have mean zero and mean square one.

    Parameters
    ----------
    factor, target : ndarray of shape (r, m) and (r, k)
        F and G. Columns of F that are constant in the data are zero.
    column_means, column_scales : ndarray of shape (m,)
        Weighted means (zero without a constant) and root mean squares about them; scale 0 if constant.
    output_means, output_scales, output_sizes : ndarray of shape (k,)
        The same of the outputs (scale 1 if constant), and their root mean squares about zero.
    n : float
        Sum of the weights, the number of samples.
    """

    factor: FloatArray
    target: FloatArray
    column_means: FloatArray
    column_scales: FloatArray
    output_means: FloatArray
    output_scales: FloatArray
    output_sizes: FloatArray
    n: float

    def output(self, j: int) -> "OneOutput":
        """Return the problem of the j-th output."""
        return OneOutput(
            self.factor,
            self.target[:, j],
            self.column_means,
            self.column_scales,
            float(self.output_means[j]),
            float(self.output_scales[j]),
            float(self.output_sizes[j]),
            self.n,
        )


@final
@dataclass(frozen=True, eq=False)
class OneOutput:
    """A `Compressed` problem of a single output, with target (r,)."""

    factor: FloatArray
    target: FloatArray
    column_means: FloatArray
    column_scales: FloatArray
    mean: float
    scale: float
    size: float
    n: float

    def in_users_units(self, coefficients: FloatArray, constant: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
        """Coefficients of the raw columns, and the constants (s,), of fits (s, m) with a constant or without (s,)."""
        raw = np.zeros_like(coefficients)
        used = coefficients != 0
        np.divide(coefficients * self.scale, self.column_scales, out=raw, where=used)
        return raw, np.where(constant, self.mean - raw @ self.column_means, 0.0)


def block_rows(width: int) -> int:
    """Number of rows processed at a time: enough that the factor of earlier rows adds little to the work."""
    return max(4 * width, 4096)


def compress(
    X: FloatArray,
    Y: FloatArray,
    weight: FloatArray,
    exponents: NDArray[np.int64],
    constant: bool,
) -> Compressed:
    """Standardised problem for the monomials `exponents` (m, d), none constant, of X (n, d) and Y (n, k).

    One pass over blocks of rows; each leaves only a triangular factor. A table with no more rows than
    columns is kept as it is.
    """
    present = weight > 0
    if not present.all():
        X, Y, weight = X[present], Y[present], weight[present]
    m, n = len(exponents), float(weight.sum())
    width = 1 + m + Y.shape[1]
    factor, shift = np.empty((0, width)), np.zeros(width)
    for first in range(0, len(X), block_rows(width)):
        rows = slice(first, first + block_rows(width))
        stack = np.empty((len(factor) + len(X[rows]), width), order="F")
        stack[: len(factor)] = factor
        table = stack[len(factor) :]
        _fill(table, X[rows], Y[rows], exponents, constant)
        if constant and first == 0:
            # Nearly centred columns lose no digits to their means. What is left of the means
            # goes with the column of ones below.
            shift[1:] = weight[rows] @ table[:, 1:] / weight[rows].sum()
        table -= shift
        table *= np.sqrt(weight[rows])[:, None]
        factor = stack if len(stack) <= width else triangle(stack)
    means = shift[1:]
    if constant and len(X) > width:
        means = means + factor[0, 1:] / factor[0, 0]
        factor = factor[1:]
    return _standardised(factor[:, 1:], means, m, n)


def triangle(table: FloatArray) -> FloatArray:
    """Upper factor R (p, p) with R^T R = A^T A of a table A (r, p), r >= p, which is overwritten."""
    return np.triu(reflected(table))


def reflected(table: FloatArray) -> FloatArray:
    """Return the same factor with other numbers below its diagonal.

    LAPACK's routine itself: `scipy.linalg.qr` makes two more copies of the table.
    """
    work, _ = dgeqrf_lwork(*table.shape)
    return dgeqrf(table, lwork=int(work), overwrite_a=True)[0][: table.shape[1]]


def _standardised(factor: FloatArray, means: FloatArray, m: int, n: float) -> Compressed:
    with np.errstate(over="ignore"):
        scales = np.sqrt(np.einsum("ij,ij->j", factor, factor) / n)
    _check_finite(scales)
    sizes = np.hypot(scales, means)
    scales[scales <= DEPENDENT * sizes] = 0.0
    factor = factor * np.divide(1.0, scales, out=np.zeros_like(scales), where=scales > 0)
    output_scales = np.where(scales[m:] > 0, scales[m:], 1.0)
    return Compressed(factor[:, :m], factor[:, m:], means[:m], scales[:m], means[m:], output_scales, sizes[m:], n)


def memory_estimate(n: int, d: int, *, degree: int, outputs: int = 1) -> float:
    """Bytes at the peak of a fit: two copies of a block of the table and its factor, and the path.

    Infinite where there are more than 2^60 monomials, too many to count quickly.
    """
    fewer = min(d, degree)
    if fewer * (log2(d + degree) - log2(fewer)) > 60:  # (n choose k) >= (n / k)^k
        return inf
    width = monomial_count(d, degree) + outputs
    return int(8 * width * (2.25 * min(n, block_rows(width) + width) + 200 * outputs))


def check_memory(n: int, d: int, *, max_degree: int, outputs: int = 1, max_memory: float = 2**31) -> None:
    """Raise MemoryError when the dictionary would need more than `max_memory` bytes."""
    check_whole("max_degree", max_degree)

    def needed(degree: int) -> float:
        return memory_estimate(n, d, degree=degree, outputs=outputs)

    if needed(max_degree) <= max_memory and needed(max_degree) < inf:
        return
    if needed(max_degree) < inf:
        size = f"{monomial_count(d, max_degree):,} columns and need about {needed(max_degree) / 2**30:.1f} GiB"
    else:
        size = "more than 2^60 columns"
    degree = _largest_degree(needed, max_degree, max_memory)
    remedy = f"Degree {degree} would fit" if degree else "Not even degree 1 would fit"
    raise MemoryError(
        f"All monomials of {d} inputs up to degree {max_degree} are {size}; max_memory is "
        f"{max_memory / 2**30:.1f} GiB. {remedy}; or select inputs first, or raise max_memory."
    )


def _largest_degree(needed: Callable[[int], float], limit: int, max_memory: float) -> int:
    """Return the largest degree below the limit whose dictionary fits into memory, by bisection; zero if none does."""
    fits, fails = 0, limit
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if needed(middle) <= min(max_memory, sys.float_info.max):
            fits = middle
        else:
            fails = middle
    return fits


def _fill(
    table: FloatArray,
    X: FloatArray,
    Y: FloatArray,
    exponents: NDArray[np.int64],
    constant: bool,
) -> None:
    table[:, 0] = constant
    with np.errstate(over="ignore", invalid="ignore"):
        table[:, 1 : 1 + len(exponents)] = monomial_values(X, exponents)
    table[:, 1 + len(exponents) :] = Y
    _check_finite(table)


def _check_finite(values: FloatArray) -> None:
    if not np.isfinite(values).all():
        raise ValueError("A monomial or an output overflows; scale the data or lower max_degree.")
