"""Losses: how far predictions are from the target, row by row, and how the compiled kernels compute it.

A new loss is one class here and one branch of `fewvars.engine.kernels.losses.output_error`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine import kernels


class Loss(ABC):
    """l(f, y), the loss of one row, with a prediction f and a target y of (outputs,) each."""

    code: ClassVar[int]  # of the branch in the compiled kernels

    @abstractmethod
    def values(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return l(f_i, y_i) in double precision, (n,), for predictions and targets (n, outputs)."""

    @abstractmethod
    def derivatives(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the derivative of l by f at every row, (n, outputs)."""

    @abstractmethod
    def curvatures(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return a positive diagonal that bounds the second derivative of l by f at every row, (n, outputs)."""

    @abstractmethod
    def null_model(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the constant prediction with the smallest weighted loss, (outputs,)."""

    @abstractmethod
    def null_loss(self, Y: FloatArray, weights: FloatArray) -> float:
        """Return the weighted mean loss of the null model."""


@final
@dataclass(frozen=True)
class SquaredError(Loss):
    """l(f, y) = |f - y|^2, summed over the outputs."""

    code: ClassVar[int] = kernels.SQUARED_ERROR

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


SQUARED = SquaredError()
