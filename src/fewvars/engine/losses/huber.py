"""Huber's loss: squared for small residuals, and linear for large ones, which may be outliers."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.kernels.losses import HUBER
from fewvars.engine.losses.loss import Loss

HUBER_SHARE = 1.345  # robust standard deviations of the residual: 95% efficient for normal errors (Huber, 1964)


@final
@dataclass(frozen=True)
class Huber(Loss):
    """l(f, y) = r^2 for r = |f - y| up to the threshold c, and 2 c r - c^2 beyond, summed over the outputs."""

    threshold: float = HUBER_SHARE

    code: ClassVar[int] = HUBER
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


def robust_spread(residual: FloatArray) -> FloatArray:
    """Return robust standard deviations of residuals (n, outputs); infinite where half of them are equal."""
    spread = 1.4826 * medians(np.abs(residual - medians(residual)))
    return np.where(spread > 1e-12 * np.abs(residual).max(axis=0), spread, np.inf)


def medians(values: FloatArray) -> FloatArray:
    """Return the median of each column (n, m), the upper middle one of an even number: much quicker than NumPy's."""
    middle = len(values) // 2
    return np.partition(values, middle, axis=0)[middle]
