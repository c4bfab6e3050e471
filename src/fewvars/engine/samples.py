"""Training data for the kernels: inputs, targets, weights, and the loss."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fewvars._common.validation import FloatArray, check_matrix
from fewvars.engine.losses import SQUARED, Loss


@dataclass(frozen=True, eq=False)
class Samples:
    """Training data and their loss; build them with `Samples.of`.

    Attributes
    ----------
    X : (n, d)
    Y : (n, outputs)
    weights : (n,)
        Sample weights, scaled to mean one.
    loss : Loss
        What all solvers minimise, squared error by default.
    """

    X: FloatArray
    Y: FloatArray
    weights: FloatArray
    loss: Loss = SQUARED

    @staticmethod
    def of(
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        loss: Loss = SQUARED,
        dtype: DTypeLike = np.float64,
    ) -> "Samples":
        """Check and convert the data; `y` may be (n,) or (n, outputs)."""
        X = check_matrix("X", X, dtype=dtype)
        y = np.asarray(y)
        Y = check_matrix("y", y[:, None] if y.ndim == 1 else y, dtype=dtype)
        if len(Y) != len(X):
            raise ValueError(f"y has {len(Y)} rows and X has {len(X)}: give one row of y for each row of X.")
        if sample_weight is None:
            return Samples(X, Y, np.ones(len(X), dtype), loss)
        weights = _check_weights(sample_weight, len(X))
        return Samples(X, Y, (weights / weights.mean()).astype(dtype), loss)

    def __len__(self) -> int:
        return len(self.X)

    def mean_loss(self, predicted: FloatArray) -> float:
        """Return L = sum_i w_i l(f_i, y_i) / sum_i w_i of predictions (n, outputs)."""
        return float(np.average(self.loss.values(predicted, self.Y), weights=self.weights))

    def null_loss(self) -> float:
        """Return the smallest L of a constant prediction."""
        return self.loss.null_loss(self.Y, self.weights)

    def astype(self, dtype: DTypeLike) -> "Samples":
        """Return the same samples in another precision."""
        return Samples(self.X.astype(dtype), self.Y.astype(dtype), self.weights.astype(dtype), self.loss)

    def columns(self, chosen: np.ndarray) -> "Samples":
        """Keep only the chosen input columns (indices or a mask)."""
        return replace(self, X=np.ascontiguousarray(self.X[:, chosen]))

    def rows(self, chosen: np.ndarray) -> "Samples":
        """Keep only the chosen rows (indices or a mask), and scale their weights to mean one again."""
        return Samples.of(self.X[chosen], self.Y[chosen], self.weights[chosen], loss=self.loss, dtype=self.X.dtype)

    def for_jacobian(self, n_parameters: int, most: float = 4e7) -> "Samples":
        """Keep every k-th row, with k so large that a Jacobian has at most `most` entries."""
        every = int(np.ceil(self.Y.size * n_parameters / most))
        return self if every <= 1 else self.rows(np.arange(0, len(self), every))


def _check_weights(sample_weight: ArrayLike, n: int) -> FloatArray:
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}: give one weight for each of {n} rows.")
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if bad.size:
        row = bad[0]
        raise ValueError(f"sample_weight holds {weights[row]} in row {row}: give finite weights, 0 or more.")
    if not weights.any():
        raise ValueError("sample_weight is 0 in all rows: give at least one positive weight.")
    return weights
