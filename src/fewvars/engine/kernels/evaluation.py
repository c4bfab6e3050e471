"""Predictions, loss, gradient and Jacobians of a network over many samples."""

import numpy as np

from fewvars.engine.kernels._jit import jit, part_of_kernel
from fewvars.engine.kernels.losses import output_error
from fewvars.engine.kernels.passes import (
    BLOCK,
    backward,
    block_views,
    collect,
    collect_each,
    forward,
    gather,
    padded,
    workspace,
)


@jit
def predict(theta, sizes, codes, X, out):
    """Write F(X) (n, outputs)."""
    n, units = X.shape[0], sizes.sum()
    order = np.arange(n).astype(np.uint32)
    work = workspace(theta, sizes, n)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        acts, slopes, _ = block_views(work, units, padded(stop - start))
        gather(X, order, start, stop, acts[: sizes[0]])
        forward(theta, sizes, codes, acts, slopes)
        outputs = acts[units - sizes[-1] :]
        for s in range(stop - start):
            for o in range(sizes[-1]):
                out[start + s, o] = outputs[o, s]


@part_of_kernel
def _block_gradient(theta, sizes, codes, X, Y, weights, loss, order, start, stop, factor, work, grad):
    """Return the weighted sum of the losses of samples order[start:stop]; write factor times its gradient."""
    count, units, n_out = stop - start, sizes.sum(), sizes[-1]
    acts, slopes, deltas = block_views(work, units, padded(count))
    gather(X, order, start, stop, acts[: sizes[0]])
    forward(theta, sizes, codes, acts, slopes)
    targets = np.empty((n_out, acts.shape[1]), theta.dtype)
    gather(Y, order, start, stop, targets)
    sample_weights = np.zeros(acts.shape[1], theta.dtype)
    for s in range(count):
        sample_weights[s] = weights[order[start + s]]
    total = output_error(loss, acts[units - n_out :], targets, sample_weights, factor, deltas[units - n_out :])
    backward(theta, sizes, codes, slopes, deltas, 1)
    collect(sizes, acts, deltas, grad)
    return total


@part_of_kernel
def loss_gradient(theta, sizes, codes, X, Y, weights, loss, order, start, stop, work, grad, part):
    """Return the loss over samples order[start:stop] and write its gradient.

    L = 1/m sum_i w_i l(F(x_i), y_i), with m = stop - start, weights of mean one over all the data, and the loss l
    that `loss` selects.
    """
    count = stop - start
    factor = 1.0 / count
    blocks = (count + BLOCK - 1) // BLOCK
    total = 0.0
    for k in range(blocks):
        low, high = start + k * count // blocks, start + (k + 1) * count // blocks
        target = grad if k == 0 else part
        total += _block_gradient(theta, sizes, codes, X, Y, weights, loss, order, low, high, factor, work, target)
        if k > 0:
            for i in range(grad.size):
                grad[i] += part[i]
    return total * factor


@part_of_kernel
def add_ridge(theta, sizes, ridge, grad):
    """Add the gradient of sum_k ridge_k |W_k|^2 to `grad` and return that sum."""
    place, value = 0, 0.0
    for k in range(sizes.size - 1):
        size = sizes[k] * sizes[k + 1]
        if ridge[k] > 0.0:
            strength = theta.dtype.type(ridge[k])
            squares = theta.dtype.type(0)
            for i in range(place, place + size):
                squares += theta[i] * theta[i]
                grad[i] += (strength + strength) * theta[i]
            value += ridge[k] * squares
        place += size + sizes[k + 1]
    return value


@jit
def full_gradient(theta, sizes, codes, X, Y, weights, loss, ridge, grad):
    """Return (L, ridge value) over all samples, and write the gradient of their sum."""
    n = X.shape[0]
    order = np.arange(n).astype(np.uint32)
    work = workspace(theta, sizes, n)
    part = np.empty_like(theta)
    value = loss_gradient(theta, sizes, codes, X, Y, weights, loss, order, 0, n, work, grad, part)
    return value, add_ridge(theta, sizes, ridge, grad)


@jit
def input_jacobian(theta, sizes, codes, X, out):
    """Write dF_c / dx_j at every sample: out (n, outputs, inputs)."""
    n, units, n_out = X.shape[0], sizes.sum(), sizes[-1]
    order = np.arange(n).astype(np.uint32)
    work = workspace(theta, sizes, n)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        acts, slopes, deltas = block_views(work, units, padded(stop - start))
        gather(X, order, start, stop, acts[: sizes[0]])
        forward(theta, sizes, codes, acts, slopes)
        for c in range(n_out):
            deltas[units - n_out :] = 0
            deltas[units - n_out + c] = 1
            backward(theta, sizes, codes, slopes, deltas, 0)
            for s in range(stop - start):
                for j in range(sizes[0]):
                    out[start + s, c, j] = deltas[j, s]


@jit
def parameter_jacobian(theta, sizes, codes, X, out):
    """Write dF_c / dtheta_p at every sample: out (parameters, outputs, n)."""
    n, units, n_out = X.shape[0], sizes.sum(), sizes[-1]
    order = np.arange(n).astype(np.uint32)
    work = workspace(theta, sizes, n)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        acts, slopes, deltas = block_views(work, units, padded(stop - start))
        gather(X, order, start, stop, acts[: sizes[0]])
        forward(theta, sizes, codes, acts, slopes)
        for c in range(n_out):
            deltas[units - n_out :] = 0
            deltas[units - n_out + c] = 1
            backward(theta, sizes, codes, slopes, deltas, 1)
            collect_each(sizes, acts, deltas, start, stop, out[:, c])
