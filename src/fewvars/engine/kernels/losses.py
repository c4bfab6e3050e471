"""The loss at the outputs of a network, and its derivative there: where the backward pass begins."""

import math

from fewvars.engine.kernels._jit import jit

(SQUARED_ERROR,) = range(1)


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
def output_error(code, outputs, targets, weights, factor, deltas):
    """Return sum_i w_i l(f_i, y_i), and write factor times its derivative by the outputs.

    Parameters
    ----------
    code : int
        One of the codes above. An unknown one gives NaN, which the training loop reports as divergence.
    outputs, targets : float arrays (outputs, samples)
    weights : float array (samples,)
    factor : float
    deltas : float array (outputs, samples)
        Receives the derivatives.
    """
    if code == SQUARED_ERROR:
        return _squared_error(outputs, targets, weights, factor, deltas)
    return math.nan
