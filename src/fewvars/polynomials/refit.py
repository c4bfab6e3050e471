"""Least squares on given terms, to test a polynomial on other rows or without some of its variables."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray
from fewvars.polynomials.polynomial import Polynomial, monomial_values


def refitted(polynomial: Polynomial, X: FloatArray, Y: FloatArray, weight: FloatArray) -> Polynomial:
    """Refit the nonzero coefficients (terms, outputs) to X (n, d), Y (n, outputs) and weights (n,)."""
    roots = np.sqrt(weight)[:, None]
    columns = roots * monomial_values(X - polynomial.origin, polynomial.exponents)
    size = np.sqrt((columns**2).mean(axis=0))
    columns = columns / np.where(size > 0, size, 1.0)
    coefficients = np.zeros_like(polynomial.coefficients)
    for k, own in enumerate((polynomial.coefficients != 0).T):
        found = np.linalg.lstsq(columns[:, own], (roots * Y)[:, k], rcond=1e-12)[0]
        coefficients[own, k] = found / np.where(size > 0, size, 1.0)[own]
    return replace(polynomial, coefficients=coefficients)


def without(polynomial: Polynomial, inputs: NDArray[np.bool_]) -> Polynomial:
    """Leave out the terms in which one of these inputs (d,) occurs; if no term is left, add a constant."""
    kept = ~polynomial.exponents[:, inputs].any(axis=1)
    if not kept.any():
        constant = np.zeros((1, polynomial.exponents.shape[1]), np.int64)
        return replace(polynomial, exponents=constant, coefficients=np.ones((1, polynomial.coefficients.shape[1])))
    return replace(polynomial, exponents=polynomial.exponents[kept], coefficients=polynomial.coefficients[kept])


def with_terms(polynomial: Polynomial, exponents: NDArray[np.int64]) -> Polynomial:
    """Add those of the terms (terms, d) that it lacks to all outputs, with placeholder coefficients."""
    known = set(map(tuple, polynomial.exponents.tolist()))
    new = np.array([row for row in exponents.tolist() if tuple(row) not in known], np.int64)
    if not new.size:
        return polynomial
    ones = np.ones((len(new), polynomial.coefficients.shape[1]))
    return replace(
        polynomial,
        exponents=np.concatenate((polynomial.exponents, new)),
        coefficients=np.concatenate((polynomial.coefficients, ones)),
    )


def restricted(polynomial: Polynomial, inputs: NDArray[np.bool_]) -> Polynomial:
    """Return the same polynomial as a function of some inputs (d,), among them all that occur in it."""
    return replace(polynomial, exponents=polynomial.exponents[:, inputs], origin=polynomial.origin[inputs])
