"""The interface of losses: how far predictions are from the target, row by row."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from fewvars._common.validation import FloatArray

SMALLEST_CURVATURE = 1e-6
RAREST = 1e-9  # share of a class, or rate, of a null model: its logarithm must be finite


class Loss(ABC):
    """l(f, y), the loss of one row, with a prediction f and a target y of (outputs,) each.

    Attributes
    ----------
    code : int
        Of the branch in the compiled kernels.
    measured : bool
        Whether targets are measured, so that a residual may be an outlier, which tests clip, and losses differ from
        place to place by orders of magnitude, so that their ratios are compared; labels and counts are not.
    labels: bool
        Whether targets are labels, so that rows which a model predicts with certainty carry no more information.
    error_name : str
        The name of reported errors, as a phrase that a number can follow.
    mean_operation : str
        The ONNX operation that computes `mean`.
    """

    code: ClassVar[int]
    error_name: ClassVar[str] = "loss"
    mean_operation: ClassVar[str] = "Identity"
    measured: ClassVar[bool] = False
    labels: ClassVar[bool] = False
    threshold: float = 0.0

    @property
    def compiled(self) -> FloatArray:
        """The argument of the kernels: the code and the threshold."""
        return np.array([self.code, self.threshold])

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

    def null_loss(self, Y: FloatArray, weights: FloatArray) -> float:
        """Return the weighted mean loss of the null model."""
        constant = np.broadcast_to(self.null_model(Y, weights), Y.shape)
        return float(np.average(self.values(constant, Y), weights=weights))

    def mean(self, predicted: FloatArray) -> FloatArray:
        """Return the expected target, (n, outputs): the prediction itself, or rates or probabilities."""
        return predicted

    def predicted_name(self, target: str) -> str:
        """Return the name of what is predicted: the target, or a function of its mean."""
        return target

    def matched(self, spread: FloatArray) -> Self:
        """Return the loss with a scale that matches residuals of this robust spread (outputs,)."""
        return self

    def check(self, Y: FloatArray) -> None:  # noqa: B027 - most losses take any target
        """Raise ValueError if the loss cannot be used for targets (n, outputs)."""

    def error_unit(self, Y: FloatArray, weights: FloatArray) -> float:
        """Return the unit of reported errors."""
        return 1.0

    def units(self, Y: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the origin and the scale (outputs,) that make targets suitable for training."""
        return np.zeros(Y.shape[1]), np.ones(Y.shape[1])

    def in_units(self, scale: FloatArray) -> Self:
        """Return the loss of targets that were divided by a scale (outputs,), in these units."""
        return self

    def prediction_units(self, origin: FloatArray, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the origin and the scale (outputs,) of predictions, given those of the targets."""
        return origin, scale
