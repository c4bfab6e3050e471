"""Losses: how far predictions are from the target, row by row, and how the compiled kernels compute it.

A new loss is one class here and one branch of `fewvars.engine.kernels.losses.output_error`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self, final

import numpy as np
from scipy.special import expit, logit, softmax, xlogy

from fewvars._common.validation import FloatArray
from fewvars.engine import kernels

_SMALLEST_CURVATURE = 1e-6
_RAREST = 1e-9  # share of a class, or rate, of a null model: its logarithm must be finite
HUBER_SHARE = 1.345  # robust standard deviations of the residual: 95% efficient for normal errors (Huber, 1964)


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


@final
@dataclass(frozen=True)
class SquaredError(Loss):
    """l(f, y) = |f - y|^2, summed over the outputs."""

    code: ClassVar[int] = kernels.SQUARED_ERROR
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


@final
@dataclass(frozen=True)
class Huber(Loss):
    """l(f, y) = r^2 for r = |f - y| up to the threshold c, and 2 c r - c^2 beyond, summed over the outputs."""

    threshold: float = HUBER_SHARE

    code: ClassVar[int] = kernels.HUBER
    error_name: ClassVar[str] = "Huber loss, in squared robust standard deviations,"
    measured: ClassVar[bool] = True

    def values(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the loss of each row, (n,)."""
        r = np.abs(predicted - Y).astype(np.float64)
        clipped = np.minimum(r, self.threshold)
        return (clipped * (2.0 * r - clipped)).sum(axis=1)

    def derivatives(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return twice the residual f - y, clipped at the threshold, (n, outputs)."""
        return 2.0 * np.clip(predicted - Y, -self.threshold, self.threshold)

    def curvatures(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return 2 up to the threshold and less beyond: the parabola that touches the loss here lies above it."""
        return 2.0 * np.minimum(1.0, self.threshold / np.maximum(np.abs(predicted - Y), self.threshold))

    def null_model(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return Huber's estimate of the middle of y."""
        middle = np.median(Y, axis=0).astype(np.float64)
        for _ in range(100):
            clipped = np.clip(Y - middle, -self.threshold, self.threshold)
            share = self.curvatures(np.broadcast_to(middle, Y.shape), Y) * weights[:, None]
            step = 2.0 * (weights @ clipped) / share.sum(axis=0)
            middle = middle + step
            if (np.abs(step) <= 1e-12 * self.threshold).all():
                break
        return middle

    def matched(self, spread: FloatArray) -> "Huber":
        """Return the loss with a threshold of 1.345 robust standard deviations, averaged over the outputs."""
        finite = spread[np.isfinite(spread) & (spread > 0)]
        return replace(self, threshold=HUBER_SHARE * float(finite.mean())) if finite.size else self

    def units(self, Y: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the medians and the robust standard deviations; plain ones where half of the targets are equal."""
        middle = np.median(Y, axis=0)
        spread = robust_spread(Y)
        plain = np.sqrt(np.average((Y - middle) ** 2, axis=0, weights=weights))
        return middle, np.where(np.isfinite(spread), spread, plain)

    def error_unit(self, Y: FloatArray, weights: FloatArray) -> float:
        """Return the squared robust standard deviation, summed over the outputs."""
        return float((self.units(Y, weights)[1] ** 2).sum()) or 1.0

    def in_units(self, scale: FloatArray) -> "Huber":
        """Divide the threshold by the mean scale."""
        return replace(self, threshold=self.threshold / float(scale.mean()))


@final
@dataclass(frozen=True)
class Poisson(Loss):
    """l(f, y) = e^f - y f + y log y - y, half the deviance of a count y whose rate is e^f, summed over the outputs."""

    code: ClassVar[int] = kernels.POISSON
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
        return np.maximum(self.mean(predicted), _SMALLEST_CURVATURE)

    def null_model(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the logarithm of the mean of y."""
        return np.log(np.maximum(np.average(Y.astype(np.float64), axis=0, weights=weights), _RAREST))

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


@final
@dataclass(frozen=True)
class CrossEntropy(Loss):
    """l(f, y) = -sum_k y_k log p_k(f), with y the probabilities of the classes, usually zeros and a one.

    One output is the log-odds of the second of two classes, and y its probability. Several outputs have
    p = softmax(f).
    """

    code: ClassVar[int] = kernels.CROSS_ENTROPY
    error_name: ClassVar[str] = "log loss"
    labels: ClassVar[bool] = True

    def values(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the loss of each row, (n,)."""
        f = predicted.astype(np.float64)
        if f.shape[1] == 1:
            return (np.logaddexp(0.0, f) - Y * f)[:, 0]
        largest = f.max(axis=1, keepdims=True)
        levels = largest + np.log(np.exp(f - largest).sum(axis=1, keepdims=True))
        return (Y * (levels - f)).sum(axis=1)

    def derivatives(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return p - y, (n, outputs)."""
        return self.mean(predicted) - Y

    def curvatures(self, predicted: FloatArray, Y: FloatArray) -> FloatArray:
        """Return p (1 - p) for two classes, and for more a diagonal above diag(p) - p p'.

        That is p, or twice the diagonal of the matrix, which is the smaller one where a class is nearly certain.
        """
        p = self.mean(predicted)
        diagonal = p * (1.0 - p)
        if p.shape[1] > 1:
            diagonal = np.where(p.max(axis=1, keepdims=True) > 0.5, 2.0 * diagonal, p)
        return np.maximum(diagonal, _SMALLEST_CURVATURE)

    def null_model(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the log-odds, or the logarithms of the shares, of the classes."""
        shares = np.average(Y.astype(np.float64), axis=0, weights=weights)
        if shares.size == 1:
            return logit(np.clip(shares, _RAREST, 1.0 - _RAREST))
        return np.log(np.maximum(shares, _RAREST))

    def mean(self, predicted: FloatArray) -> FloatArray:
        """Return the probabilities, (n, outputs)."""
        return expit(predicted) if predicted.shape[1] == 1 else softmax(predicted, axis=1)


def robust_spread(residual: FloatArray) -> FloatArray:
    """Return robust standard deviations of residuals (n, outputs); infinite where half of them are equal."""
    spread = 1.4826 * medians(np.abs(residual - medians(residual)))
    return np.where(spread > 1e-12 * np.abs(residual).max(axis=0), spread, np.inf)


def medians(values: FloatArray) -> FloatArray:
    """Return the median of each column (n, m), the upper middle one of an even number: much quicker than NumPy's."""
    middle = len(values) // 2
    return np.partition(values, middle, axis=0)[middle]


SQUARED = SquaredError()
LOSSES: dict[str, Loss] = {"squared": SQUARED, "huber": Huber(), "poisson": Poisson()}
