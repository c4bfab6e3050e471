"""Forward and backward passes of a multilayer perceptron over one block of samples.

Parameters are one flat vector: for each layer its weights (out, in), row by row, then its biases (out,).
`sizes` holds the number of units from the inputs to the outputs, `codes` the activation of each layer
but the input. A block is (units, width): the rows of all layers below each other, inputs first. Columns
beyond the samples at hand are padding, whose weight is zero.
"""

import numpy as np

from fewvars.engine.kernels._jit import jit, part_of_kernel
from fewvars.engine.kernels.activations import IDENTITY, activate
from fewvars.engine.kernels.layers import multiply, multiply_transposed, row_sums, scale

# Samples worked on at once: long enough to vectorise, short enough to stay in the second-level cache.
BLOCK = 256
LANES = 16  # two lanes of single precision, four of double


@part_of_kernel
def padded(count):
    """Round a number of samples up to whole vector registers."""
    return (count + LANES - 1) // LANES * LANES


@jit
def gather(rows, order, start, stop, block):
    """Copy rows[order[start:stop]], transposed, into the block (features, width); pad it with zeros."""
    count = stop - start
    fours = count // 4 * 4
    for s in range(0, fours, 4):
        r0, r1 = rows[order[start + s]], rows[order[start + s + 1]]
        r2, r3 = rows[order[start + s + 2]], rows[order[start + s + 3]]
        for j in range(rows.shape[1]):
            b = block[j]
            b[s], b[s + 1], b[s + 2], b[s + 3] = r0[j], r1[j], r2[j], r3[j]
    for s in range(fours, count):
        r0 = rows[order[start + s]]
        for j in range(rows.shape[1]):
            block[j, s] = r0[j]
    block[:, count:] = 0


@part_of_kernel
def forward(theta, sizes, codes, acts, slopes):
    """Fill the activations (and slopes) of all layers from those of the input."""
    place, row = 0, 0
    for k in range(codes.size):
        n_in, n_out = sizes[k], sizes[k + 1]
        W = theta[place : place + n_in * n_out].reshape(n_out, n_in)
        place += n_in * n_out
        A, Z = acts[row : row + n_in], acts[row + n_in : row + n_in + n_out]
        multiply(W, A, theta[place : place + n_out], Z)
        place += n_out
        row += n_in
        if codes[k] != IDENTITY:
            activate(codes[k], Z, slopes[row : row + n_out])


@part_of_kernel
def backward(theta, sizes, codes, slopes, deltas, lowest):
    """Carry the derivatives with respect to the outputs' pre-activations down to layer `lowest`."""
    place, row = theta.size, deltas.shape[0] - sizes[-1]
    largest = 0
    for k in range(lowest, codes.size):
        largest = max(largest, sizes[k] * sizes[k + 1])
    zeros, room = np.zeros(sizes.max(), theta.dtype), np.empty(largest, theta.dtype)
    for k in range(codes.size - 1, lowest - 1, -1):
        n_in, n_out = sizes[k], sizes[k + 1]
        place -= n_out + n_in * n_out
        W = theta[place : place + n_in * n_out].reshape(n_out, n_in)
        # Transposed by hand: numba would compile `multiply` a second time for a transposed view.
        transposed = room[: n_in * n_out].reshape(n_in, n_out)
        for o in range(n_out):
            for i in range(n_in):
                transposed[i, o] = W[o, i]
        D = deltas[row - n_in : row]
        multiply(transposed, deltas[row : row + n_out], zeros, D)
        row -= n_in
        if k > 0 and codes[k - 1] != IDENTITY:
            scale(D, slopes[row : row + n_in])


@part_of_kernel
def collect(sizes, acts, deltas, grad):
    """Write the gradient with respect to the parameters, summed over the samples of the block."""
    place, row = 0, 0
    for k in range(sizes.size - 1):
        n_in, n_out = sizes[k], sizes[k + 1]
        D = deltas[row + n_in : row + n_in + n_out]
        G = grad[place : place + n_in * n_out].reshape(n_out, n_in)
        multiply_transposed(D, acts[row : row + n_in], G)
        place += n_in * n_out
        row_sums(D, grad[place : place + n_out])
        place += n_out
        row += n_in


@jit
def _write_products(d, a, start, stop, row):
    for s in range(stop - start):
        row[start + s] = d[s] * a[s]


@part_of_kernel
def collect_each(sizes, acts, deltas, start, stop, out):
    """Write the gradient of every sample on its own into out[:, start:stop], (parameters, samples)."""
    place, row = 0, 0
    ones = np.ones(acts.shape[1], acts.dtype)
    for k in range(sizes.size - 1):
        n_in, n_out = sizes[k], sizes[k + 1]
        for o in range(n_out):
            d = deltas[row + n_in + o]
            for i in range(n_in):
                _write_products(d, acts[row + i], start, stop, out[place])
                place += 1
        for o in range(n_out):
            _write_products(deltas[row + n_in + o], ones, start, stop, out[place])
            place += 1
        row += n_in


@part_of_kernel
def workspace(theta, sizes, count):
    """Return flat room for the activations, slopes and derivatives of a block of up to `count` samples."""
    return np.empty((3, sizes.sum() * padded(min(count, BLOCK))), theta.dtype)


@part_of_kernel
def block_views(work, units, width):
    """Cut the three blocks (units, width) from a workspace."""
    size = units * width
    acts = work[0, :size].reshape(units, width)
    slopes = work[1, :size].reshape(units, width)
    deltas = work[2, :size].reshape(units, width)
    return acts, slopes, deltas
