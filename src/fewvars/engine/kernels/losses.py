"""The loss at the outputs of a network, and its derivative there: where the backward pass begins."""

import math

import numpy as np

from fewvars.engine.kernels._jit import jit

SQUARED_ERROR, HUBER, POISSON, CROSS_ENTROPY = range(4)


@jit
def _squared_error(outputs, targets, weights, factor, deltas):
    total = 0.0
    two = deltas.dtype.type(2.0 * factor)
    for o in range(outputs.shape[0]):
        f, y, d = outputs[o], targets[o], deltas[o]
        part = deltas.dtype.type(0)
        for s in range(f.size):
            r = f[s] - y[s]
            d[s] = two * weights[s] * r
            part += weights[s] * r * r
        total += part
    return total


@jit
def _huber(outputs, targets, weights, threshold, factor, deltas):
    real = deltas.dtype.type
    total, most, two = 0.0, real(threshold), real(2.0)
    for o in range(outputs.shape[0]):
        f, y, d = outputs[o], targets[o], deltas[o]
        part = real(0)
        for s in range(f.size):
            r = f[s] - y[s]
            clipped = min(max(r, -most), most)
            d[s] = two * real(factor) * weights[s] * clipped
            part += weights[s] * clipped * (two * r - clipped)
        total += part
    return total


@jit
def _poisson(outputs, targets, weights, factor, deltas):
    real = deltas.dtype.type
    total = 0.0
    for o in range(outputs.shape[0]):
        f, y, d = outputs[o], targets[o], deltas[o]
        part = real(0)
        for s in range(f.size):
            rate = np.exp(f[s])
            d[s] = real(factor) * weights[s] * (rate - y[s])
            least = y[s] * np.log(y[s]) - y[s] if y[s] > 0 else real(0)
            part += weights[s] * (rate - y[s] * f[s] + least)
        total += part
    return total


@jit
def _two_classes(f, y, weights, factor, d):
    real = d.dtype.type
    one, total = real(1), real(0)
    for s in range(f.size):
        small = np.exp(-abs(f[s]))
        p = one / (one + small) if f[s] >= 0 else small / (one + small)
        d[s] = real(factor) * weights[s] * (p - y[s])
        total += weights[s] * (max(f[s], real(0)) - y[s] * f[s] + np.log1p(small))
    return float(total)


@jit
def _many_classes(outputs, targets, weights, factor, deltas):
    real = deltas.dtype.type
    total = real(0)
    for s in range(outputs.shape[1]):
        largest = outputs[0, s]
        for o in range(1, outputs.shape[0]):
            largest = max(largest, outputs[o, s])
        whole = real(0)
        for o in range(outputs.shape[0]):
            deltas[o, s] = np.exp(outputs[o, s] - largest)
            whole += deltas[o, s]
        scale = real(factor) * weights[s]
        level = largest + np.log(whole)
        for o in range(outputs.shape[0]):
            deltas[o, s] = scale * (deltas[o, s] / whole - targets[o, s])
            total += weights[s] * targets[o, s] * (level - outputs[o, s])
    return float(total)


@jit
def output_error(loss, outputs, targets, weights, factor, deltas):
    """Return sum_i w_i l(f_i, y_i), and write factor times its derivative by the outputs.

    Parameters
    ----------
    loss : float array (2,)
        One of the codes above, and the threshold of Huber's loss. An unknown code gives NaN, which the training loop
        reports as divergence.
    outputs, targets : float arrays (outputs, samples)
    weights : float array (samples,)
    factor : float
    deltas : float array (outputs, samples)
        Receives the derivatives.
    """
    code = loss[0]
    if code == SQUARED_ERROR:
        return _squared_error(outputs, targets, weights, factor, deltas)
    if code == HUBER:
        return _huber(outputs, targets, weights, loss[1], factor, deltas)
    if code == POISSON:
        return _poisson(outputs, targets, weights, factor, deltas)
    if code == CROSS_ENTROPY and outputs.shape[0] == 1:
        return _two_classes(outputs[0], targets[0], weights, factor, deltas[0])
    if code == CROSS_ENTROPY:
        return _many_classes(outputs, targets, weights, factor, deltas)
    return math.nan
