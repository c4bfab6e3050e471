"""The deviance of counts."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import xlogy

from fewvars._common.validation import FloatArray
from fewvars.engine.kernels.losses import POISSON
from fewvars.engine.losses.loss import RAREST, SMALLEST_CURVATURE, Loss


@final
@dataclass(frozen=True)
class Poisson(Loss):
    """l(f, y) = e^f - y f + y log y - y, half the deviance of a count y whose rate is e^f, summed over the outputs."""

    code: ClassVar[int] = POISSON
    error_name: ClassVar[str] = "deviance, as a share of that of the mean,"
    mean_operation: ClassVar[str] = "Exp"

    def values(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return half the deviance of each row, (n,)."""
        f, y = predicted.astype(np.float64), Y.astype(np.float64)
        return (self.mean(f) - y * f + xlogy(y, y) - y).sum(axis=1)

    def derivatives(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return e^f - y, (n, outputs)."""
        return self.mean(predicted) - Y

    def curvatures(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the rates, (n, outputs)."""
        return np.maximum(self.mean(predicted), SMALLEST_CURVATURE)

    def null_model(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the logarithm of the mean of y."""
        return np.log(np.maximum(np.average(Y.astype(np.float64), axis=0, weights=weights), RAREST))

    def check(self, Y: FloatArray) -> None:
        """Raise ValueError if a count is negative."""
        if Y.min(initial=0.0) < 0:
            row = int(np.argwhere(Y < 0)[0, 0])
            raise ValueError(
                f"y holds {Y[row].min():g} in row {row}: loss='poisson' is for counts, which are not negative. Use "
                "loss='squared' or loss='huber' for measured values."
            )

    def error_unit(self, Y: FloatArray, weights: FloatArray) -> float:
        """Return the loss of the null model."""
        return self.null_loss(Y, weights) or 1.0

    def units(self, Y: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return zero and the means: the null model then predicts zero."""
        return np.zeros(Y.shape[1]), np.average(Y, axis=0, weights=weights)

    def prediction_units(self, origin: FloatArray, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the logarithm of the scale, which is added to logarithms of rates, and ones."""
        return np.log(scale), np.ones_like(scale)

    def predicted_name(self, target: str) -> str:
        """Return the name of the logarithm of the rate."""
        return f"log of the expected {target}"

    def mean(self, predicted: FloatArray) -> FloatArray:
        """Return the rates e^f, (n, outputs)."""
        with np.errstate(over="ignore"):  # infinite
            return np.exp(predicted)
