"""The units in which a dictionary is built, so that neither offsets nor extreme scales cost digits.

Monomials of an input far from zero are nearly proportional to each other (at 1000 +- 1, x and x^2 correlate to one
part in a million), and which of them are left out is then decided by noise. All monomials up to a degree of the
shifted input x - origin span the same space without that defect. Inputs near zero keep their origin there, because
that is where their equations are sparse. Where scales are extreme, powers of two keep squares from overflowing.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray
from fewvars.polynomials.polynomial import Polynomial

# An input is shifted if its mean exceeds this many standard deviations. Up to 7 the raw monomials of noisy data are
# found nearly as reliably as without an offset; at 10 half of the supports are wrong, at 20 most.
FAR = 8.0
# Beyond this an output loses digits that the fit needs.
FAR_OUTPUT = 1e6
# Powers of ten, summed over all factors of a monomial, up to which no scaling is needed.
_USUAL = 100.0
# A power of two that a float can hold with room to spare.
_LARGEST_POWER = 1000.0


@final
@dataclass(frozen=True, eq=False)
class Units:
    """Origins and powers of two of the inputs (d,) and of the outputs (k,)."""

    x_origin: FloatArray
    x_power: NDArray[np.int64]
    y_origin: FloatArray
    y_power: NDArray[np.int64]

    @staticmethod
    def of(X: FloatArray, Y: FloatArray, weight: FloatArray, degree: int, constant: bool) -> "Units":
        """Choose units for X (n, d) and Y (n, k); without a constant nothing may be shifted."""
        X, Y = X[weight > 0], Y[weight > 0]
        x_origin = _origin(X, FAR) if constant else np.zeros(X.shape[1])
        y_origin = _origin(Y, FAR_OUTPUT) if constant else np.zeros(Y.shape[1])
        return Units(x_origin, _power(X - x_origin, degree), y_origin, _power(Y - y_origin, 1))

    def without_origin(self, X: FloatArray, degree: int) -> "Units":
        """Return units in which the inputs are not shifted."""
        return Units(np.zeros(X.shape[1]), _power(X, degree), self.y_origin, self.y_power)

    def inputs(self, X: FloatArray) -> FloatArray:
        """Return X (n, d) in these units; X itself where nothing changes."""
        return _converted(X, self.x_origin, self.x_power)

    def outputs(self, Y: FloatArray) -> FloatArray:
        """Return Y (n, k) in these units; Y itself where nothing changes."""
        return _converted(Y, self.y_origin, self.y_power)

    def polynomial(self, exponents: NDArray[np.int64], coefficients: FloatArray) -> Polynomial:
        """Return the polynomial for the user's data, given coefficients (m, k) in these units."""
        powers = exponents @ self.x_power
        with np.errstate(over="ignore", under="ignore"):
            raw = np.ldexp(coefficients, self.y_power - powers[:, None])
        raw[~exponents.any(axis=1)] += self.y_origin
        lost = (coefficients != 0) & ~((np.abs(raw) >= np.finfo(float).tiny) & (np.abs(raw) < np.inf))
        extreme = (lost.any(axis=1) | (np.abs(powers) > _LARGEST_POWER)) & coefficients.any(axis=1)
        if extreme.any():
            text = str(Polynomial(exponents[[np.argmax(extreme)]], np.ones(1)).equation()).removeprefix("1 ")
            raise ValueError(
                f"The term {text} or its coefficient overflows or underflows in the units of the data; scale X and y."
            )
        return Polynomial(exponents, raw, origin=self.x_origin)


def _origin(values: FloatArray, far: float) -> FloatArray:
    """Return a round number near the mean of each column whose mean exceeds `far` standard deviations, else zero.

    A column that varies by rounding alone counts as constant and is not shifted.
    """
    size = np.abs(values).max(axis=0, initial=0.0)
    ratios = values / np.where(size > 0, size, 1.0)  # scaled so that squares do not overflow
    mean, spread = ratios.mean(axis=0), ratios.std(axis=0)
    shifted = (np.abs(mean) > far * spread) & (spread > 2 * np.finfo(float).eps)
    origin = np.zeros(values.shape[1])
    for j in np.flatnonzero(shifted):
        centre = mean[j] * size[j]
        digits = int(np.floor(np.log10(abs(centre))) - np.round(np.log10(spread[j] * size[j]))) + 1
        origin[j] = float(f"{centre:.{digits}g}")
    return origin


def _power(values: FloatArray, degree: int) -> NDArray[np.int64]:
    """Return the power of two near the size of each column, zero unless its monomials reach extreme values."""
    size = np.abs(values).max(axis=0, initial=0.0)
    size[size == 0] = 1.0
    extreme = degree * np.abs(np.log10(size)) > _USUAL
    return np.where(extreme, np.round(np.log2(size)), 0.0).astype(np.int64)


def _converted(values: FloatArray, origin: FloatArray, power: NDArray[np.int64]) -> FloatArray:
    if not (origin.any() or power.any()):
        return values
    return np.ldexp(values - origin, -power)
