"""Matrix products of one layer: hand-blocked loops where layers are narrow, BLAS where they are wide.

A block of activations is (units, samples), so that every inner loop runs over contiguous samples.
"""

import numpy as np

from fewvars.engine.kernels._jit import jit
from fewvars.engine.kernels.lanes import BYTES, load, multiply_add, spread, store

# Units on both sides of a layer from which BLAS beats the loops below, measured by `benchmarks/crossover.py`.
BLAS_FROM = 64


@jit
def multiply(W, A, start, Z):
    """Z = start + W A, with W (out, in), A (in, samples), start (out,), Z (out, samples).

    The number of samples is a multiple of two lanes. Sums over the inputs stay in registers: four outputs by two
    lanes of samples at a time.
    """
    n_out, n_in = W.shape
    samples = A.shape[1]
    if min(n_out, n_in) >= BLAS_FROM:
        np.dot(W, A, Z)
        for o in range(n_out):
            z0, c0 = Z[o], start[o]
            for s in range(samples):
                z0[s] += c0
        return
    width = BYTES // A.itemsize
    fours = n_out // 4 * 4
    for s in range(0, samples, 2 * width):
        t = s + width
        like = load(A, 0, s)
        for o in range(0, fours, 4):
            y0, y1, y2, y3 = (
                spread(start[o], like), spread(start[o + 1], like),
                spread(start[o + 2], like), spread(start[o + 3], like),
            )  # fmt: skip
            z0, z1, z2, z3 = y0, y1, y2, y3
            for i in range(n_in):
                a, b = load(A, i, s), load(A, i, t)
                w = spread(W[o, i], like)
                y0, z0 = multiply_add(w, a, y0), multiply_add(w, b, z0)
                w = spread(W[o + 1, i], like)
                y1, z1 = multiply_add(w, a, y1), multiply_add(w, b, z1)
                w = spread(W[o + 2, i], like)
                y2, z2 = multiply_add(w, a, y2), multiply_add(w, b, z2)
                w = spread(W[o + 3, i], like)
                y3, z3 = multiply_add(w, a, y3), multiply_add(w, b, z3)
            store(y0, Z, o, s)
            store(y1, Z, o + 1, s)
            store(y2, Z, o + 2, s)
            store(y3, Z, o + 3, s)
            store(z0, Z, o, t)
            store(z1, Z, o + 1, t)
            store(z2, Z, o + 2, t)
            store(z3, Z, o + 3, t)
        for o in range(fours, n_out):
            y0 = spread(start[o], like)
            z0 = y0
            for i in range(n_in):
                w = spread(W[o, i], like)
                y0, z0 = multiply_add(w, load(A, i, s), y0), multiply_add(w, load(A, i, t), z0)
            store(y0, Z, o, s)
            store(z0, Z, o, t)


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
    if min(n_out, n_in) >= BLAS_FROM:
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
