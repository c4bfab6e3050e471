"""Predictions, loss, gradient, Jacobians and Gauss-Newton matrices against NumPy and finite differences."""

import numpy as np
import pytest

from fewvars.engine.kernels import BLOCK, CODES
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers.least_squares import normal_equations

from .cases import NARROW, NETWORKS, PRECISIONS, assert_close, doubles, parameters, reference, samples

# Below and above one block of samples; none is a multiple of the eight lanes.
COUNTS = [1, 13, BLOCK + 43]
DEPTHS = [Network(3, widths, 2) for widths in [(), (4,), (4, 3), (4, 3, 5), (4, 3, 5, 2)]]


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("name", NETWORKS)
def test_predictions(name, n, dtype):
    network = NETWORKS[name]
    theta, data = parameters(network, dtype), samples(network, n, dtype)
    found = network.predict(theta, data.X)
    assert found.dtype == dtype
    assert_close(found, reference(network).predict(theta.astype(float), data.X.astype(float)), dtype)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("name", NETWORKS)
def test_loss_and_gradient(name, n, weighted, dtype):
    network = NETWORKS[name]
    theta, data = parameters(network, dtype), samples(network, n, dtype, weighted=weighted)
    ridge = np.linspace(0.0, 0.3, network.codes.size) if weighted else np.full(network.codes.size, 0.1)
    value, gradient = network.loss_gradient(theta, data, ridge)
    loss, penalty, expected = reference(network).gradient(theta.astype(float), *doubles(data), ridge)
    assert gradient.dtype == dtype
    assert_close(value, loss + penalty, dtype)
    assert_close(gradient, expected, dtype)
    assert_close(network.loss(theta, data), loss, dtype)


@pytest.mark.parametrize("name", NARROW)
def test_no_ridge_is_a_ridge_of_zero(name):
    network = NETWORKS[name]
    theta, data = parameters(network), samples(network, 13)
    value, gradient = network.loss_gradient(theta, data)
    loss, _, expected = reference(network).gradient(theta, *doubles(data), np.zeros(network.codes.size))
    assert_close(value, loss, np.float64)
    assert_close(gradient, expected, np.float64)


def _differences(function, x, step=1e-5):
    """Return the central finite differences of a function of a vector, stacked along the last axis."""
    columns = []
    for j in range(x.size):
        up, down = x.copy(), x.copy()
        up[j] += step
        down[j] -= step
        columns.append((function(up) - function(down)) / (2.0 * step))
    return np.stack(columns, axis=-1)


# Central differences at step 1e-5 err by step^2 times a third derivative, and by 1e-16 / step in rounding.
DIFFERENCES = {"rtol": 1e-6, "atol": 1e-8}


@pytest.mark.parametrize("activation", CODES)
@pytest.mark.parametrize("shape", DEPTHS, ids=lambda net: f"{len(net.widths)} hidden")
def test_gradient_equals_finite_differences(shape, activation):
    network = Network(shape.n_inputs, shape.widths, shape.n_outputs, activation)
    theta, data = parameters(network), samples(network, 5, weighted=True)
    ridge = np.full(network.codes.size, 0.2)

    def value(vector):
        squares = [(layer.weights**2).sum() for layer in network.layers(vector)]
        return network.loss(vector, data) + ridge @ squares

    _, gradient = network.loss_gradient(theta, data, ridge)
    np.testing.assert_allclose(gradient, _differences(value, theta), **DIFFERENCES)


@pytest.mark.parametrize("activation", CODES)
@pytest.mark.parametrize("shape", DEPTHS, ids=lambda net: f"{len(net.widths)} hidden")
def test_input_jacobian_equals_finite_differences(shape, activation):
    network = Network(shape.n_inputs, shape.widths, shape.n_outputs, activation)
    theta, X = parameters(network), samples(network, 4).X
    found = network.input_jacobian(theta, X)
    for x, jacobian in zip(X, found, strict=True):
        expected = _differences(lambda row: network.predict(theta, row[None])[0], x)
        np.testing.assert_allclose(jacobian, expected, **DIFFERENCES)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("name", NETWORKS)
def test_input_jacobian(name, n, dtype):
    network = NETWORKS[name]
    theta, X = parameters(network, dtype), samples(network, n, dtype).X
    found = network.input_jacobian(theta, X)
    assert found.dtype == dtype
    assert_close(found, reference(network).input_jacobian(theta.astype(float), X.astype(float)), dtype)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("name", NARROW)
def test_parameter_jacobian(name, n, dtype):
    network = NETWORKS[name]
    theta, X = parameters(network, dtype), samples(network, n, dtype).X
    found = network.parameter_jacobian(theta, X)
    assert found.dtype == dtype
    expected = reference(network).parameter_jacobian(theta.astype(float), X.astype(float))
    assert_close(found, expected.transpose(2, 1, 0), dtype)


def _gauss_newton(network, theta, data):
    residual = network.predict(theta, data.X) - data.Y
    weights = np.repeat(data.weights[:, None], network.n_outputs, axis=1)
    return normal_equations(network.parameter_jacobian(theta, data.X), residual, weights)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("name", NARROW)
def test_gauss_newton(name, n, dtype):
    network = NETWORKS[name]
    theta, data = parameters(network, dtype), samples(network, n, dtype, weighted=True)
    gradient, matrix = _gauss_newton(network, theta, data)
    X, Y, weights = doubles(data)
    J = reference(network).parameter_jacobian(theta.astype(float), X)
    residual = reference(network).predict(theta.astype(float), X) - Y
    expected = 2.0 / n * np.einsum("i,icp,icq->pq", weights, J, J)
    assert_close(np.triu(matrix), np.triu(expected), dtype)
    assert_close(gradient, 2.0 / n * np.einsum("i,icp,ic->p", weights, J, residual), dtype)


def test_gauss_newton_of_a_wide_layer_has_the_gradient_of_the_loss():
    network = NETWORKS["wide second layer"]
    theta, data = parameters(network), samples(network, 5)
    gradient, matrix = _gauss_newton(network, theta, data)
    _, expected = network.loss_gradient(theta, data)
    assert_close(gradient, expected, np.float64)
    J = reference(network).parameter_jacobian(theta, data.X)
    assert_close(np.diag(matrix), 2.0 / 5 * (J**2).sum(axis=(0, 1)), np.float64)


# Weight two against a repeated row, and weight zero against no row. Each pair is the same sum in another
# order, so only rounding is allowed.


def _repeated(network, n=11):
    rng = np.random.default_rng(1)
    data, counts = samples(network, n), rng.integers(0, 3, n)
    counts[:3] = [0, 1, 2]
    rows = np.repeat(np.arange(n), counts)
    return Samples.of(data.X, data.Y, counts), Samples.of(data.X[rows], data.Y[rows])


@pytest.mark.parametrize("name", NARROW)
def test_whole_weights_equal_repeated_rows(name):
    network = NETWORKS[name]
    theta = parameters(network)
    weighted, repeated = _repeated(network)
    value, gradient = network.loss_gradient(theta, weighted)
    expected_value, expected = network.loss_gradient(theta, repeated)
    assert_close(value, expected_value, np.float64)
    assert_close(gradient, expected, np.float64)
    assert_close(network.loss(theta, weighted), network.loss(theta, repeated), np.float64)
    for found, wanted in zip(*(_gauss_newton(network, theta, data) for data in (weighted, repeated)), strict=True):
        assert_close(found, wanted, np.float64)


def test_weights_matter_only_up_to_a_factor():
    network = NETWORKS["odd"]
    theta, data = parameters(network), samples(network, 11)
    weights = np.arange(11.0)
    one, other = (Samples.of(data.X, data.Y, factor * weights) for factor in (1.0, 1e6))
    assert_close(one.weights.mean(), 1.0, np.float64)
    assert_close(network.loss_gradient(theta, other)[1], network.loss_gradient(theta, one)[1], np.float64)
