"""The cross-entropy of class labels."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import expit, logit, softmax

from fewvars._common.validation import FloatArray
from fewvars.engine.kernels.losses import CROSS_ENTROPY
from fewvars.engine.losses.loss import RAREST, SMALLEST_CURVATURE, Loss


@final
@dataclass(frozen=True)
class CrossEntropy(Loss):
    """l(f, y) = -sum_k y_k log p_k(f), with y the probabilities of the classes, usually zeros and a one.

    One output is the log-odds of the second of two classes, and y its probability. Several outputs have
    p = softmax(f).
    """

    code: ClassVar[int] = CROSS_ENTROPY
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
        return np.maximum(diagonal, SMALLEST_CURVATURE)

    def null_model(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the log-odds, or the logarithms of the shares, of the classes."""
        shares = np.average(Y.astype(np.float64), axis=0, weights=weights)
        if shares.size == 1:
            return logit(np.clip(shares, RAREST, 1.0 - RAREST))
        return np.log(np.maximum(shares, RAREST))

    def mean(self, predicted: FloatArray) -> FloatArray:
        """Return the probabilities, (n, outputs)."""
        return expit(predicted) if predicted.shape[1] == 1 else softmax(predicted, axis=1)
