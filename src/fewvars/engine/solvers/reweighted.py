"""Iteratively reweighted least squares: linear models under any loss."""

import numpy as np
from scipy.linalg.lapack import dposv

from fewvars._common.validation import FloatArray
from fewvars.engine.losses import Loss

_SMALLEST_STEP = 2.0**-20


def reweighted_least_squares(
    F: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    loss: Loss,
    *,
    ridge: float | FloatArray,
    start: FloatArray | None = None,
    max_iterations: int = 30,
    tolerance: float = 1e-6,
) -> FloatArray:
    """Return the B, (columns, outputs), that minimises sum_i w_i l(F_i B, y_i) + sum_j ridge_j |B_j|^2.

    A step solves, for each output, least squares with the weights w c / 2 and the working response f - l' / c, where
    l' and c are the derivative and the curvature of the loss at f = F B (Green, 1984). It is halved until the objective
    falls. The run ends when a step lowers the objective by less than the relative tolerance.

    Parameters
    ----------
    F : (n, columns)
    Y : (n, outputs)
    weights : (n,)
    ridge : float or (columns,)
    start : (columns, outputs), optional
    """
    B = np.zeros((F.shape[1], Y.shape[1])) if start is None else start
    ridges = np.broadcast_to(np.asarray(ridge, np.float64), F.shape[1])

    def objective(B: FloatArray, predicted: FloatArray) -> float:
        with np.errstate(over="ignore", invalid="ignore"):  # a step that goes too far is halved
            return float(weights @ loss.values(predicted, Y) + ridges @ (B**2).sum(axis=1))

    predicted = F @ B
    value = objective(B, predicted)
    for _ in range(max_iterations):
        halves = 0.5 * weights[:, None] * loss.curvatures(predicted, Y)
        slopes = F.T @ (0.5 * weights[:, None] * loss.derivatives(predicted, Y)) + ridges[:, None] * B
        step = np.column_stack([_solved(F, own, slope, ridges) for own, slope in zip(halves.T, slopes.T, strict=True)])
        along, size = F @ step, 1.0
        while (new := objective(B - size * step, predicted - size * along)) > value or not np.isfinite(new):
            size /= 2.0
            if size < _SMALLEST_STEP:
                return B
        B, predicted = B - size * step, predicted - size * along
        if value - new <= tolerance * abs(new):
            break
        value = new
    return B


def _solved(F: FloatArray, weights: FloatArray, slope: FloatArray, ridges: FloatArray) -> FloatArray:
    """Return (F' W F + diag(ridges))^-1 slope, with a larger diagonal if rounding requires it."""
    gram, more = F.T @ (weights[:, None] * F) + np.diag(ridges), 0.0
    while True:
        _, solution, failed = dposv(gram + more * np.eye(len(gram)), slope)
        if not failed:
            return solution
        more = max(10.0 * more, 1e-12 * float(np.trace(gram)) / len(gram) + 1e-300)
