"""Networks: layout, initialisation, inputs taken out and put back, and what is said about bad input."""

import numpy as np
import pytest

from fewvars.engine import kernels as _kernels
from fewvars.engine.network import ACTIVATIONS, Network
from fewvars.engine.samples import Samples
from kernels.cases import NETWORKS, parameters

networks = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS.keys())


# Layout


@networks
def test_layers_cover_the_parameters_once(network):
    theta = np.arange(float(network.n_parameters))
    layers = network.layers(theta)
    assert len(layers) == len(network.widths) + 1
    assert layers[0].weights.shape[1] == network.n_inputs
    assert layers[-1].biases.shape == (network.n_outputs,)
    seen = np.concatenate([part.ravel() for layer in layers for part in layer])
    np.testing.assert_array_equal(seen, theta)


def test_layers_are_views():
    network = Network(2, (3,))
    theta = np.zeros(network.n_parameters)
    network.layers(theta)[0].weights[1, 0] = 7.0
    network.layers(theta)[1].biases[0] = 5.0
    assert theta[2] == 7.0
    assert theta[-1] == 5.0
    assert np.count_nonzero(theta) == 2


def test_a_linear_network_by_hand():
    network = Network(2, (), 2)
    theta = np.array([1.0, 2.0, 3.0, 4.0, 10.0, 20.0])
    np.testing.assert_array_equal(network.predict(theta, [[1.0, 1.0], [0.0, 2.0]]), [[13.0, 27.0], [14.0, 28.0]])
    np.testing.assert_array_equal(network.input_jacobian(theta, [[5.0, 6.0]]), [[[1.0, 2.0], [3.0, 4.0]]])


def test_the_loss_is_the_weighted_mean_of_squares():
    network = Network(1, ())
    samples = Samples.of([[0.0], [1.0], [2.0]], [1.0, 3.0, 0.0], [1.0, 1.0, 2.0])
    theta = np.array([1.0, 0.0])
    # Residuals -1, -2 and 2.
    assert network.loss(theta, samples) == pytest.approx((1.0 + 4.0 + 2.0 * 4.0) / 4.0)
    value, gradient = network.loss_gradient(theta, samples, np.array([0.5]))
    assert value == pytest.approx(13.0 / 4.0 + 0.5)
    np.testing.assert_allclose(gradient, [2.0 * (-2.0 + 2.0 * 4.0) / 4.0 + 1.0, 2.0 * (-1.0 - 2.0 + 4.0) / 4.0])


def test_networks_compare_by_shape():
    assert Network(3, [4, 5], activation="tanh") == Network(3, (4, np.int64(5)), activation=("tanh", "tanh"))
    assert hash(Network(3, [4])) == hash(Network(3, (4,)))
    assert Network(3, (4,)) != Network(3, (4,), activation="relu")
    assert Network(3, (4,)).with_inputs(7) == Network(7, (4,))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_memory_layout_is_accepted(dtype):
    network = NETWORKS["odd"]
    rng = np.random.default_rng(0)
    theta, X = parameters(network, dtype), rng.normal(size=(9, 5)).astype(dtype)
    expected = network.predict(theta, X)
    scattered = np.repeat(theta, 2)[::2]
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.tolist()):
        np.testing.assert_array_equal(network.predict(scattered, same), expected)


# Initialisation


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_initial_weights_have_the_stated_variance(activation):
    network = Network(60, (50,), activation=activation)
    first, last = network.layers(network.initialise(0))
    variance = 2.0 / 60 if activation in ("relu", "softplus") else 2.0 / 110
    # 3000 uniform draws: the variance's standard deviation is 0.9 / sqrt(3000) = 1.6% of it.
    assert first.weights.var() == pytest.approx(variance, rel=0.08)
    assert abs(first.weights.mean()) < 4.0 * np.sqrt(variance / 3000)
    assert np.abs(first.weights).max() <= np.sqrt(3.0 * variance)
    assert np.abs(last.weights).max() <= np.sqrt(3.0 * 2.0 / 51)
    assert not first.biases.any()
    assert not last.biases.any()


def test_initial_parameters_depend_on_the_seed_alone():
    network = Network(3, (4,))
    np.testing.assert_array_equal(network.initialise(1), network.initialise(1))
    np.testing.assert_array_equal(network.initialise(1), network.initialise(np.random.default_rng(1)))
    assert (network.initialise(1) != network.initialise(2)).any()
    single = network.initialise(1, np.float32)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, network.initialise(1).astype(np.float32))


# Inputs taken out and put back


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "chosen", [[True, False, True, True, False], [0, 2, 3], [3, 0]], ids=["mask", "indices", "other order"]
)
def test_inputs_out_and_in_again(chosen, dtype):
    network, chosen = NETWORKS["odd"], np.array(chosen)
    theta, X = parameters(network, dtype), np.random.default_rng(0).normal(size=(9, 5)).astype(dtype)
    alive = np.zeros(5, bool)
    alive[chosen] = True
    network.layers(theta)[0].weights[:, ~alive] = 0.0
    small = network.with_inputs(int(alive.sum()))
    chosen_theta = network.select_inputs(theta, chosen)
    assert chosen_theta.dtype == dtype
    np.testing.assert_array_equal(small.restore_inputs(chosen_theta, chosen, 5), theta)
    # The same sum without its zeros, in another order.
    np.testing.assert_allclose(
        small.predict(chosen_theta, X[:, chosen]),
        network.predict(theta, X),
        rtol=0,
        atol=10 * np.finfo(dtype).eps,
    )


# Samples


def test_samples_are_converted():
    samples = Samples.of([[1, 2], [3, 4]], [5, 6], [1, 3], dtype=np.float32)
    assert samples.X.dtype == samples.Y.dtype == samples.weights.dtype == np.float32
    assert samples.Y.shape == (2, 1)
    assert len(samples) == 2
    np.testing.assert_array_equal(samples.weights, [0.5, 1.5])
    np.testing.assert_array_equal(Samples.of([[1], [2]], [[5, 6], [7, 8]]).weights, [1.0, 1.0])


def test_columns_and_rows_of_samples():
    samples = Samples.of(np.arange(12.0).reshape(4, 3), np.arange(4.0), [1.0, 1.0, 3.0, 3.0], dtype=np.float32)
    columns = samples.columns([2, 0])
    np.testing.assert_array_equal(columns.X, samples.X[:, [2, 0]])
    assert columns.X.flags.c_contiguous
    assert columns.Y is samples.Y
    rows = samples.rows(np.array([False, True, True, False]))
    np.testing.assert_array_equal(rows.X, samples.X[1:3])
    np.testing.assert_array_equal(rows.Y, samples.Y[1:3])
    np.testing.assert_array_equal(rows.weights, [0.5, 1.5])
    assert rows.weights.dtype == np.float32


# Bad input

X, Y = np.ones((4, 2)), np.ones(4)
NETWORK = Network(2, (3,))
THETA = NETWORK.initialise(0)
SAMPLES = Samples.of(X, Y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Network(0), "n_inputs=0"),
        (lambda: Network(2.5), "n_inputs=2.5"),
        (lambda: Network(2, 20), "widths=20: give a sequence"),
        (lambda: Network(2, (3, 0)), "widths=0"),
        (lambda: Network(2, (-3,)), "widths=-3"),
        (lambda: Network(2, (2.5,)), "widths=2.5"),
        (lambda: Network(2, (3,), 0), "n_outputs=0"),
        (lambda: Network(2, (3,), activation="elu"), "activation='elu': choose one of 'tanh'"),
        (lambda: Network(2, (3, 3), activation=("tanh", "elu")), "activation='elu'"),
        (lambda: Network(2, (3, 3), activation=("tanh",)), r"activation=\('tanh',\): give one for each of"),
        (lambda: NETWORK.with_inputs(0), "n_inputs=0"),
        (lambda: NETWORK.layers(THETA[:-1]), r"theta has shape \(12,\) .* needs \(13,\)"),
        (lambda: NETWORK.predict(THETA[:-1], X), r"theta has shape \(12,\)"),
        (lambda: NETWORK.predict(THETA[None], X), r"theta has shape \(1, 13\)"),
        (lambda: NETWORK.predict(THETA.astype(int), X), "dtype int64: .* float32 or float64"),
        (lambda: NETWORK.predict(THETA.astype(np.float16), X), "dtype float16"),
        (lambda: NETWORK.predict(THETA, np.ones((4, 3))), "X has 3 columns: this model needs 2"),
        (lambda: NETWORK.predict(THETA, np.ones((0, 2))), "X has no samples"),
        (lambda: NETWORK.predict(THETA, [[1.0, np.nan]]), "X holds nan in row 0, column 1"),
        (lambda: NETWORK.input_jacobian(THETA, np.ones((4, 3))), "X has 3 columns"),
        (lambda: NETWORK.input_jacobian(THETA[1:], X), r"theta has shape \(12,\)"),
        (lambda: NETWORK.loss_gradient(THETA[1:], SAMPLES), r"theta has shape \(12,\)"),
        (lambda: NETWORK.loss_gradient(THETA, SAMPLES, np.ones(3)), r"ridge has shape \(3,\): give 2"),
        (lambda: NETWORK.loss_gradient(THETA, SAMPLES, 0.1), r"ridge has shape \(\)"),
        (lambda: NETWORK.loss_gradient(THETA, Samples.of(np.ones((4, 3)), Y)), "X has 3 columns"),
        (lambda: NETWORK.loss_gradient(THETA, Samples.of(X, np.ones((4, 2)))), "y has 2 columns: .* 1 out"),
        (
            lambda: NETWORK.loss_gradient(THETA.astype(np.float32), SAMPLES),
            "samples are float64, parameters float32",
        ),
        (lambda: NETWORK.parameter_jacobian(THETA[1:], X), r"theta has shape \(12,\)"),
        (lambda: NETWORK.parameter_jacobian(THETA, np.ones((4, 3))), "X has 3 columns"),
        (lambda: Samples.of(np.ones(4), Y), r"X has shape \(4,\)"),
        (lambda: Samples.of(np.ones((0, 2)), np.ones(0)), "X has no samples"),
        (lambda: Samples.of(X, np.ones(3)), "y has 3 rows and X has 4"),
        (lambda: Samples.of(X, np.ones((4, 1, 1))), r"y has shape \(4, 1, 1\)"),
        (lambda: Samples.of([[np.inf]], [1.0]), "X holds inf in row 0"),
        (lambda: Samples.of([[1.0]], [np.nan]), "y holds nan in row 0"),
        (lambda: Samples.of([[1e39]], [1.0], dtype=np.float32), "X holds inf .* float32: .* rescale"),
        (lambda: Samples.of(X, Y, np.ones(3)), r"sample_weight has shape \(3,\)"),
        (lambda: Samples.of(X, Y, np.ones((4, 1))), r"sample_weight has shape \(4, 1\)"),
        (lambda: Samples.of(X, Y, [1.0, -2.0, 1.0, 1.0]), "sample_weight holds -2.0 in row 1"),
        (lambda: Samples.of(X, Y, [1.0, 1.0, 1.0, np.nan]), "sample_weight holds nan in row 3"),
        (lambda: Samples.of(X, Y, [np.inf, 1.0, 1.0, 1.0]), "sample_weight holds inf in row 0"),
        (lambda: Samples.of(X, Y, np.zeros(4)), "sample_weight is 0 in all rows"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_read_only_arrays_compile_nothing():
    NETWORK.predict(THETA, X)
    before = len(_kernels.predict.signatures)
    frozen_X, frozen_theta = np.array(X), THETA.copy()
    frozen_X.flags.writeable = frozen_theta.flags.writeable = False
    NETWORK.predict(frozen_theta, frozen_X)
    assert len(_kernels.predict.signatures) == before
