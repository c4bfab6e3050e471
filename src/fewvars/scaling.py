"""Centre and scale columns so that any units, however large or small, are safe in single precision."""

from dataclasses import dataclass

import numpy as np

from ._validation import FloatArray


@dataclass(frozen=True, eq=False)
class Scaling:
    """(x - mean) / scale, column by column; constant columns have scale one.

    Attributes
    ----------
    mean, scale : (columns,)
    constant : (columns,) bool
    """

    mean: FloatArray
    scale: FloatArray
    constant: np.ndarray

    @classmethod
    def of(cls, X: FloatArray, sample_weight: FloatArray | None = None) -> "Scaling":
        """Take weighted means and standard deviations."""
        largest = np.abs(X).max(axis=0)
        unit = np.where(largest > 0, largest, 1.0)  # squares of the scaled columns cannot overflow
        mean = np.average(X / unit, axis=0, weights=sample_weight)
        spread = np.sqrt(np.average((X / unit - mean) ** 2, axis=0, weights=sample_weight))
        constant = spread <= 1e-13 * np.maximum(np.abs(mean), 1e-3)
        return cls(mean * unit, np.where(constant, 1.0, spread * unit), constant)

    def apply(self, X: FloatArray) -> FloatArray:
        """Return standardised columns."""
        return (X - self.mean) / self.scale

    def undo(self, Z: FloatArray) -> FloatArray:
        """Return columns in their own units."""
        return Z * self.scale + self.mean


def duplicated_columns(Z: FloatArray) -> np.ndarray:
    """Tell which standardised columns repeat an earlier one, up to sign: (columns,) bool."""
    seen: set[bytes] = set()
    repeated = np.zeros(Z.shape[1], bool)
    rounded = np.round(Z, 9) + 0.0  # plus zero: -0.0 and 0.0 have different bytes
    for j, column in enumerate(rounded.T):
        nonzero = np.flatnonzero(column)
        sign = np.sign(column[nonzero[0]]) if nonzero.size else 1.0
        key = (sign * column + 0.0).tobytes()
        repeated[j] = key in seen
        seen.add(key)
    return repeated
