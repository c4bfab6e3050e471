"""Activations and slopes against NumPy."""

import numpy as np
import pytest

from fewvars.engine.kernels import CODES, activations

from .cases import PRECISIONS
from .reference import ACTIVATIONS, DERIVATIVES

CURVED = [name for name in CODES if name != "identity"]


def _activate(name, z):
    block = np.atleast_2d(z).copy()
    slopes = np.full_like(block, np.nan)
    activations.activate(CODES[name], block, slopes)
    return block[0], slopes[0]


def _arguments(dtype, largest):
    """Both signs, from the smallest to the largest magnitude, and zero."""
    size = np.concatenate([np.linspace(0.0, 25.0, 10_001), np.logspace(-30, np.log10(largest), 2_001)])
    return np.concatenate([-size, size]).astype(dtype)


def test_tanh_in_single_precision():
    z = _arguments(np.float32, 1e30)
    found, slopes = _activate("tanh", z)
    exact = np.tanh(z.astype(float))
    assert found.dtype == np.float32
    assert np.abs(found - exact).max() < 5e-7
    assert np.abs(found).max() < 1.0 + 5e-7
    # 1 - tanh^2 doubles the error of tanh.
    assert np.abs(slopes - (1.0 - exact**2)).max() < 1e-6


def test_tanh_in_double_precision():
    z = _arguments(np.float64, 1e300)
    found, slopes = _activate("tanh", z)
    # Where long double is longer than double, NumPy's own rounding does not blur the comparison.
    exact = np.tanh(z.astype(np.longdouble))
    assert np.abs(found[z == 0]).max() == 0.0
    there = z != 0
    assert np.abs(found[there] / exact[there] - 1.0).max() < 2e-15
    assert np.abs(slopes - (1.0 - exact**2)).max() < 4e-15


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", CURVED)
def test_values_and_slopes(name, dtype):
    z = np.linspace(-20.0, 20.0, 1_000).astype(dtype)
    found, slopes = _activate(name, z)
    tolerance = 1e-14 if dtype == np.float64 else 1e-6
    np.testing.assert_allclose(found, ACTIVATIONS[name](z.astype(float)), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(slopes, DERIVATIVES[name](z.astype(float)), rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", ["tanh", "sigmoid", "softplus"])
def test_large_arguments_stay_finite(name, dtype):
    largest = np.finfo(dtype).max
    found, slopes = _activate(name, np.array([-largest, largest], dtype))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0], -1.0 if name == "tanh" else 0.0, atol=5e-7)
    np.testing.assert_allclose(found[1], largest if name == "softplus" else 1.0, rtol=5e-7)
    np.testing.assert_allclose(slopes, [0.0, 1.0 if name == "softplus" else 0.0], atol=1e-6)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", CURVED)
def test_nan_passes_through(name, dtype):
    # In the vectorised part of the loop and in its remainder.
    for place in (0, 5, 36):
        z = np.linspace(-2.0, 2.0, 37).astype(dtype)
        z[place] = np.nan
        found, _ = _activate(name, z)
        assert np.isnan(found[place])
        assert np.isfinite(np.delete(found, place)).all()


def test_the_identity_leaves_its_block_alone():
    z = np.linspace(-2.0, 2.0, 37)
    found, _ = _activate("identity", z)
    np.testing.assert_array_equal(found, z)
