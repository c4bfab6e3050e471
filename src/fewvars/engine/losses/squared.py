"""The squared error."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.kernels.losses import SQUARED_ERROR
from fewvars.engine.losses.loss import Loss


@final
@dataclass(frozen=True)
class SquaredError(Loss):
    """l(f, y) = |f - y|^2, summed over the outputs."""

    code: ClassVar[int] = SQUARED_ERROR
    error_name: ClassVar[str] = "mean squared error, as a share of the variance,"
    measured: ClassVar[bool] = True

    def values(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return |f_i - y_i|^2, (n,)."""
        return ((predicted - Y).astype(np.float64) ** 2).sum(axis=1)

    def derivatives(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return 2 (f_i - y_i), (n, outputs)."""
        return 2.0 * (predicted - Y)

    def curvatures(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return 2 for every row and output."""
        return np.full_like(predicted, 2.0)

    def null_model(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weighted mean of y."""
        return np.average(Y, axis=0, weights=weights)

    def null_loss(self, Y: FloatArray, weights: FloatArray) -> float:
        """Return the weighted variance of y, summed over the outputs, in the precision of y."""
        return float(np.average(((Y - self.null_model(Y, weights)) ** 2).sum(axis=1), weights=weights))
