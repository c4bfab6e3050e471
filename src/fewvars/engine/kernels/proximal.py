"""The proximal step of group lasso, in place: soft-thresholding of the norms of groups of columns."""

import math

import numpy as np

from fewvars.engine.kernels._jit import part_of_kernel


@part_of_kernel
def shrink_groups(W, labels, thresholds, tau):
    """Scale the columns of group g by max(0, 1 - tau thresholds[g] / norm_g), with norm_g the group's norm."""
    squares = np.zeros(thresholds.size, W.dtype)
    factors = np.empty(labels.size, W.dtype)
    for h in range(W.shape[0]):
        for j in range(labels.size):
            squares[labels[j]] += W[h, j] * W[h, j]
    for j in range(labels.size):
        norm = math.sqrt(squares[labels[j]])
        threshold = tau * thresholds[labels[j]]
        # A step of zero times an infinite threshold is NaN: compared in this order, zero stays zero.
        factors[j] = 1.0 - threshold / norm if norm > threshold else 0.0
    for h in range(W.shape[0]):
        for j in range(labels.size):
            W[h, j] *= factors[j]
