"""A sparse polynomial: a list of monomials with coefficients, its values, gradient and text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewvars._common.validation import FloatArray

_CHUNK_ELEMENTS = 2**22
_ROWS_FOR_DIGITS = 1000
_ROUNDING = 1e-14  # spread, relative to the size, of values that differ only by rounding errors
_INDICATOR = r"\[[^\[\]`\n]+\]"  # such as [site = north], which needs no quotes


def monomial_count(d: int, degree: int, *, constant: bool = True) -> int:
    """Number of monomials of degree at most `degree` in `d` variables, (d + degree choose degree)."""
    return comb(d + degree, degree) - (not constant)


def monomial_exponents(d: int, degree: int, *, constant: bool = True) -> NDArray[np.int64]:
    """Exponents (m, d) of all monomials up to a degree, lower degrees first, then in lexical order.

    For d = 2 and degree 2: 1, x0, x1, x0^2, x0 x1, x1^2.
    """
    exponents = np.zeros((monomial_count(d, degree, constant=constant), d), dtype=np.int64)
    row = int(constant)
    for order in range(1, degree + 1):
        factors = np.array(list(combinations_with_replacement(range(d), order)), dtype=np.int64)
        rows = np.arange(row, row + len(factors))
        for position in range(order):
            # Within one position each row occurs once, so plain indexing adds correctly.
            exponents[rows, factors[:, position]] += 1
        row += len(factors)
    return exponents


def monomial_values(X: FloatArray, exponents: NDArray[np.int64]) -> FloatArray:
    """Values (n, m), in column order, of the monomials with `exponents` (m, d) at the rows of X (n, d)."""
    values = np.ones((len(exponents), len(X)))
    for j in np.flatnonzero(exponents.any(axis=0)):
        column = np.ascontiguousarray(X[:, j])
        power = np.ones(len(X))
        for exponent in range(1, exponents[:, j].max() + 1):
            power = power * column
            values[exponents[:, j] == exponent] *= power
    return values.T


def carried_monomials(exponents: NDArray[np.int64], X: FloatArray, fewest_rows: int) -> NDArray[np.int64]:
    """Leave out products of several variables that are zero in all but a few rows of X, which cannot be estimated."""
    sparse = np.count_nonzero(X, axis=0) < len(X)
    if not sparse.any() or not fewest_rows:
        return exponents
    used = exponents > 0
    n_carrying = ((X == 0).astype(np.float32) @ used.T.astype(np.float32) == 0).sum(axis=0)
    return exponents[(n_carrying >= fewest_rows) | (used.sum(axis=1) < 2)]


def row_chunks(n: int, columns: int) -> Iterator[slice]:
    """Slices of at most 2^22 / `columns` rows each, so that temporary tables stay near 32 MB."""
    size = max(1, _CHUNK_ELEMENTS // max(columns, 1))
    for first in range(0, n, size):
        yield slice(first, min(first + size, n))


@final
@dataclass(frozen=True, eq=False)
class Polynomial:
    """Polynomial with one output or several: Σ_i c_i Π_j (x_j - o_j)^(e_ij).

    Parameters
    ----------
    exponents : ndarray of int, shape (m, d)
        e, one monomial per row; a row of zeros is the constant.
    coefficients : ndarray of shape (m,) or (m, k)
        c, for one output or for k outputs over the same monomials.
    digits : int
        Significant digits of the coefficients that a text needs, see `with_digits_for`.
    origin : ndarray of shape (d,), optional
        o, zero by default; a number near the mean of an input that is far from zero.
    """

    exponents: NDArray[np.int64]
    coefficients: FloatArray
    digits: int = 4
    origin: FloatArray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.exponents.ndim != 2 or (self.exponents < 0).any():
            raise ValueError("exponents must be a matrix of integers of at least zero.")
        if self.coefficients.ndim not in (1, 2) or len(self.coefficients) != len(self.exponents):
            raise ValueError(
                f"coefficients of shape {self.coefficients.shape} do not fit {len(self.exponents)} monomials."
            )
        if self.origin is None:
            object.__setattr__(self, "origin", np.zeros(self.exponents.shape[1]))
        if self.origin.shape != self.exponents.shape[1:]:
            raise ValueError(f"origin of shape {self.origin.shape} does not fit {self.exponents.shape[1]} inputs.")

    @property
    def support(self) -> NDArray[np.bool_]:
        """Variables (d,) that occur in a monomial with a nonzero coefficient."""
        nonzero = np.atleast_2d(self.coefficients.T != 0).sum(axis=0) > 0
        return self.exponents[nonzero].sum(axis=0) > 0

    def interactions(self, labels: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
        """Return the pairs of groups of variables, labelled (d,), that occur together in a monomial."""
        monomials = (np.unique(labels[exponents > 0]).tolist() for exponents in self.exponents)
        return tuple(sorted({pair for groups in monomials for pair in combinations(groups, 2)}))

    def predict(self, X: ArrayLike) -> FloatArray:
        """Values, (n,) or (n, k), at the rows of X (n, d)."""
        values = self._shifted(X)
        out = np.empty((len(values), *self.coefficients.shape[1:]))
        for rows in row_chunks(len(values), len(self.exponents)):
            out[rows] = monomial_values(values[rows], self.exponents) @ self.coefficients
        return out

    def gradient(self, X: ArrayLike) -> FloatArray:
        """Derivatives by each input, (n, d) or (n, k, d), at the rows of X (n, d)."""
        values = self._shifted(X)
        out = np.zeros((len(values), *self.coefficients.shape[1:], values.shape[1]))
        for j in np.flatnonzero(self.exponents.any(axis=0)):
            terms = self.exponents[:, j] > 0
            lowered = self.exponents[terms].copy()
            lowered[:, j] -= 1
            factors = (self.exponents[terms, j] * self.coefficients[terms].T).T
            out[..., j] = Polynomial(lowered, factors).predict(values)
        return out

    def with_digits_for(self, X: FloatArray) -> "Polynomial":
        """Return the polynomial with as many digits as its values at X need, at least four.

        Rounding may change the values at a thousand of the rows of X (n, d) by a thousandth of their standard
        deviation, as a root mean square. Where large terms cancel (temperatures in kelvin), four digits are too few.
        """
        X = X[:: -(-len(X) // _ROWS_FOR_DIGITS)]
        values = self.predict(X)
        size = np.abs(values).max(axis=0, initial=0.0)
        size = np.where(size > 0, size, 1.0)  # ratios to this unit can be squared without overflow
        spread = (values / size).std(axis=0)
        allowed = 1e-3 * np.where(spread > _ROUNDING, spread, 1.0)  # of a constant, its size
        for digits in range(4, 17):
            rounded = np.vectorize(lambda c, d=digits: float(f"{c:.{d}g}"), otypes=[float])(self.coefficients)
            change = replace(self, coefficients=rounded - self.coefficients).predict(X)
            if (np.sqrt(((change / size) ** 2).mean(axis=0)) <= allowed).all():
                return replace(self, digits=digits)
        return replace(self, digits=17)

    def equation(self, names: Sequence[str] | None = None, *, digits: int | None = None) -> str | list[str]:
        """Text such as ``-1.003 x23*x24 + 0.998 x24*x26 - 1.001 x25 + 7.99``, highest degree first.

        Parameters
        ----------
        names : sequence of d str, optional
            Names of the inputs, all different. Default: x0, x1, ... in the order of the columns. Names that
            are not identifiers or text in brackets are put in backticks (and backticks in them doubled), so that
            the text stays unambiguous.
        digits : int, optional
            Significant digits of the coefficients; 17 lose nothing. Default: those of the polynomial.

        Returns
        -------
        str or list of k str
            ``"0"`` for a polynomial without terms.
        """
        digits = self.digits if digits is None else digits
        labels = [
            label if shift == 0 else f"({label} {'-' if shift > 0 else '+'} {shortest_number(abs(shift))})"
            for label, shift in zip(_labels(names, self.exponents.shape[1]), self.origin, strict=True)
        ]
        order = np.argsort(-self.exponents.sum(axis=1), kind="stable")
        monomials = [_monomial_text(self.exponents[i], labels) for i in order]
        if self.coefficients.ndim == 1:
            return _sum_text(self.coefficients[order], monomials, digits)
        return [_sum_text(column, monomials, digits) for column in self.coefficients[order].T]

    def _shifted(self, X: ArrayLike) -> FloatArray:
        """Return X minus the origin."""
        values = np.asarray(X, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != self.exponents.shape[1]:
            raise ValueError(f"X must have shape (n, {self.exponents.shape[1]}), got {values.shape}.")
        return values - self.origin if self.origin.any() else values


def shortest_number(value: float) -> str:
    """Return the shortest text that gives the same number again, such as 0.9 or 300."""
    return repr(float(value)).removesuffix(".0")


def _labels(names: Sequence[str] | None, d: int) -> list[str]:
    if names is None:
        return [f"x{j}" for j in range(d)]
    texts = [str(name) for name in names]
    if len(texts) != d or len(set(texts)) != d:
        raise ValueError(f"names must be {d} different names, got {texts}.")
    plain = [text.isidentifier() or re.fullmatch(_INDICATOR, text) for text in texts]
    return [text if ok else "`" + text.replace("`", "``") + "`" for text, ok in zip(texts, plain, strict=True)]


def _monomial_text(exponents: NDArray[np.int64], labels: list[str]) -> str:
    return "*".join(
        labels[j] if exponents[j] == 1 else f"{labels[j]}^{exponents[j]}" for j in np.flatnonzero(exponents)
    )


def _sum_text(coefficients: FloatArray, monomials: list[str], digits: int) -> str:
    text = ""
    for coefficient, monomial in zip(coefficients, monomials, strict=True):
        if coefficient == 0:
            continue
        if text:
            sign = " - " if coefficient < 0 else " + "
        else:
            sign = "-" if coefficient < 0 else ""
        number = f"{abs(coefficient):.{digits}g}"
        text += sign + (f"{number} {monomial}" if monomial else number)
    return text or "0"
