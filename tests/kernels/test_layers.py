"""The matrix products and loops of one layer against NumPy."""

import numpy as np
import pytest

from fewvars.engine.kernels import layers, passes

from .cases import NETWORKS, PRECISIONS, assert_close

# (out, in, samples): every remainder of the unrolled loops, then sizes on both sides of the change to BLAS.
# Samples come in multiples of LANES.
WIDE = layers.BLAS_FROM
SHAPES = [(o, i, 16) for o in (1, 2, 3, 4, 5) for i in range(1, 10)]
SHAPES += [(6, 9, 48), (WIDE, WIDE - 1, 16), (WIDE, WIDE, 16), (WIDE + 1, WIDE + 2, 32)]


def _random(*shape, dtype):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_multiply(shape, transposed, dtype):
    n_out, n_in, n = shape
    W = _random(n_in, n_out, dtype=dtype).T if transposed else _random(n_out, n_in, dtype=dtype)
    A, Z = _random(n_in, n, dtype=dtype), np.full((n_out, n), np.nan, dtype)
    start = _random(n_out, dtype=dtype)
    layers.multiply(W, A, start, Z)
    assert_close(Z, start[:, None] + W.astype(float) @ A.astype(float), dtype)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_multiply_transposed(shape, dtype):
    n_out, n_in, n = shape
    D, A = _random(n_out, n, dtype=dtype), _random(n_in, n, dtype=dtype)
    G = np.full((n_out, n_in), np.nan, dtype)
    layers.multiply_transposed(D, A, G)
    assert_close(G, D.astype(float) @ A.astype(float).T, dtype)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_sums_and_factors(dtype):
    Z, F = _random(5, 11, dtype=dtype), _random(5, 11, dtype=dtype)
    sums = np.empty(5, dtype)
    layers.row_sums(Z, sums)
    assert_close(sums, Z.astype(float).sum(axis=1), dtype)
    found = Z.copy()
    layers.scale(found, F)
    np.testing.assert_array_equal(found, Z * F)


@pytest.mark.parametrize("count", range(1, 10))
def test_gather_transposes_in_the_given_order_and_pads_with_zeros(count):
    rows = _random(12, 3, dtype=np.float64)
    order = np.random.default_rng(0).permutation(12).astype(np.uint32)
    block = np.full((3, 16), np.nan)
    passes.gather(rows, order, 2, 2 + count, block)
    np.testing.assert_array_equal(block[:, :count], rows[order[2 : 2 + count]].T)
    np.testing.assert_array_equal(block[:, count:], 0.0)


def test_the_case_list_reaches_both_kinds_of_products():
    widest = {name: np.minimum(net.sizes[:-1], net.sizes[1:]).max() for name, net in NETWORKS.items()}
    wide = {name for name, units in widest.items() if units >= layers.BLAS_FROM}
    assert wide == {"wide first layer", "wide second layer"}
