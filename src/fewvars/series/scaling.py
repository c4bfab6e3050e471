"""Centre and scale columns, so that single precision is safe in any units."""

from bisect import bisect_left, insort
from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED, Loss


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
        """Use weighted means and standard deviations."""
        largest = np.abs(X).max(axis=0)
        unit = np.where(largest > 0, largest, 1.0)  # squares of the scaled columns cannot overflow
        mean = np.average(X / unit, axis=0, weights=sample_weight)
        spread = np.sqrt(np.average((X / unit - mean) ** 2, axis=0, weights=sample_weight))
        constant = spread <= 1e-13 * np.maximum(np.abs(mean), 1e-3)
        return cls(mean * unit, np.where(constant, 1.0, spread * unit), constant)

    @classmethod
    def under(cls, loss: Loss, y: FloatArray, sample_weight: FloatArray) -> "Scaling":
        """Return the scaling of targets (n, outputs) that suits a loss."""
        plain = cls.of(y, sample_weight)
        if loss == SQUARED:
            return plain
        origin, scale = loss.units(y, sample_weight)
        return cls(origin, np.where(scale > 0, scale, 1.0), plain.constant)

    def of_predictions(self, loss: Loss) -> "Scaling":
        """Return the scaling of predictions, given this one of the targets."""
        return Scaling(*loss.prediction_units(self.mean, self.scale), self.constant)

    def apply(self, X: FloatArray) -> FloatArray:
        """Return standardised columns."""
        return (X - self.mean) / self.scale

    def undo(self, Z: FloatArray) -> FloatArray:
        """Return columns in their own units."""
        return Z * self.scale + self.mean


def duplicated_columns(Z: FloatArray, tolerance: float = 1e-6) -> np.ndarray:
    """Return which standardised columns repeat an earlier one, up to sign, (columns,) bool.

    A column far from zero loses digits when it is standardised, so entries need to agree to the tolerance only.
    Columns that are alike are neighbours in the order of one random combination of their entries.
    """
    combination = np.random.default_rng(0).standard_normal(len(Z))
    places = np.abs(combination @ Z)
    reach = tolerance * np.abs(combination).sum()
    seen: list[tuple[float, int]] = []
    repeated = np.zeros(Z.shape[1], bool)
    for j, place in enumerate(places):
        near = seen[bisect_left(seen, (place - reach, 0)) : bisect_left(seen, (place + reach, Z.shape[1]))]
        repeated[j] = any(
            min(np.abs(Z[:, j] - Z[:, i]).max(), np.abs(Z[:, j] + Z[:, i]).max()) <= tolerance for _, i in near
        )
        if not repeated[j]:
            insort(seen, (place, j))
    return repeated
