"""Matrix products of one layer: hand-blocked loops where layers are narrow, BLAS where they are wide.

A block of activations is (units, samples), so that every inner loop runs over contiguous samples.
"""

import numpy as np

from ._jit import jit

# Multiplications per sample from which BLAS beats the loops below, measured by `benchmarks/crossover.py`.
BLAS_FROM = 3000


@jit
def multiply(W, A, Z):
    """Z = W A, with W (out, in) of any layout, A (in, samples), Z (out, samples)."""
    n_out, n_in = W.shape
    if n_out * n_in >= BLAS_FROM:
        np.dot(W, A, Z)
        return
    samples = A.shape[1]
    for o in range(0, n_out - 1, 2):
        z0, z1 = Z[o], Z[o + 1]
        z0[:] = 0
        z1[:] = 0
        for i in range(0, n_in - 3, 4):
            a0, a1, a2, a3 = A[i], A[i + 1], A[i + 2], A[i + 3]
            v0, v1, v2, v3 = W[o, i], W[o, i + 1], W[o, i + 2], W[o, i + 3]
            w0, w1, w2, w3 = W[o + 1, i], W[o + 1, i + 1], W[o + 1, i + 2], W[o + 1, i + 3]
            for s in range(samples):
                z0[s] += v0 * a0[s] + v1 * a1[s] + v2 * a2[s] + v3 * a3[s]
                z1[s] += w0 * a0[s] + w1 * a1[s] + w2 * a2[s] + w3 * a3[s]
        for i in range(n_in // 4 * 4, n_in):
            a0, v0, w0 = A[i], W[o, i], W[o + 1, i]
            for s in range(samples):
                z0[s] += v0 * a0[s]
                z1[s] += w0 * a0[s]
    if n_out % 2 == 1:
        z0 = Z[n_out - 1]
        z0[:] = 0
        for i in range(n_in):
            a0, v0 = A[i], W[n_out - 1, i]
            for s in range(samples):
                z0[s] += v0 * a0[s]


@jit
def _dots(d0, A, row):
    """Write the dot product of one row of samples with each row of A."""
    zero = row.dtype.type(0)
    n_in, samples = A.shape
    for i in range(0, n_in - 3, 4):
        a0, a1, a2, a3 = A[i], A[i + 1], A[i + 2], A[i + 3]
        g0, g1, g2, g3 = zero, zero, zero, zero
        for s in range(samples):
            g0 += d0[s] * a0[s]
            g1 += d0[s] * a1[s]
            g2 += d0[s] * a2[s]
            g3 += d0[s] * a3[s]
        row[i], row[i + 1], row[i + 2], row[i + 3] = g0, g1, g2, g3
    for i in range(n_in // 4 * 4, n_in):
        a0 = A[i]
        g0 = zero
        for s in range(samples):
            g0 += d0[s] * a0[s]
        row[i] = g0


@jit
def multiply_transposed(D, A, G):
    """G = D A^T, with D (out, samples), A (in, samples), G (out, in)."""
    n_out, n_in = G.shape
    if n_out * n_in >= BLAS_FROM:
        np.dot(D, A.T, G)
        return
    zero = G.dtype.type(0)
    samples = A.shape[1]
    for o in range(0, n_out - 1, 2):
        d0, d1 = D[o], D[o + 1]
        for i in range(0, n_in - 3, 4):
            a0, a1, a2, a3 = A[i], A[i + 1], A[i + 2], A[i + 3]
            g0, g1, g2, g3 = zero, zero, zero, zero
            h0, h1, h2, h3 = zero, zero, zero, zero
            for s in range(samples):
                g0 += d0[s] * a0[s]
                g1 += d0[s] * a1[s]
                g2 += d0[s] * a2[s]
                g3 += d0[s] * a3[s]
                h0 += d1[s] * a0[s]
                h1 += d1[s] * a1[s]
                h2 += d1[s] * a2[s]
                h3 += d1[s] * a3[s]
            G[o, i], G[o, i + 1], G[o, i + 2], G[o, i + 3] = g0, g1, g2, g3
            G[o + 1, i], G[o + 1, i + 1], G[o + 1, i + 2], G[o + 1, i + 3] = h0, h1, h2, h3
        for i in range(n_in // 4 * 4, n_in):
            a0 = A[i]
            g0, h0 = zero, zero
            for s in range(samples):
                g0 += d0[s] * a0[s]
                h0 += d1[s] * a0[s]
            G[o, i], G[o + 1, i] = g0, h0
    if n_out % 2 == 1:
        _dots(D[n_out - 1], A, G[n_out - 1])


@jit
def add_bias(Z, b):
    """Z += b, one bias for each row."""
    for o in range(Z.shape[0]):
        z = Z[o]
        bias = b[o]
        for s in range(z.size):
            z[s] += bias


@jit
def row_sums(D, g):
    """Write the sum of each row of D into g."""
    for o in range(D.shape[0]):
        d = D[o]
        total = g.dtype.type(0)
        for s in range(d.size):
            total += d[s]
        g[o] = total


@jit
def scale(D, factors):
    """D *= factors, entry by entry."""
    d, f = D.reshape(D.size), factors.reshape(factors.size)
    for i in range(d.size):
        d[i] *= f[i]
