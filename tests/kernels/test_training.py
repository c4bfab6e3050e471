"""The training loop against NumPy: order, batches, Adam, momentum and prox, dead inputs, divergence."""

import numpy as np
import pytest

from fewvars.engine.network import Network
from fewvars.engine.penalties import InputGroups, SecondLayerColumns
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, Trainer

from .cases import NETWORKS, PRECISIONS, TOLERANCE, parameters, reference, samples
from .reference import Order, Training, soft_threshold_groups

RATES = np.linspace(0.02, 0.01, 12)
# Twelve updates carry the rounding of one on: in single precision Adam, whose steps do not shrink with the
# gradient, turns the relative error 1e-6 of a small gradient into that of a step.
AFTER_TRAINING = {np.float64: 1e-10, np.float32: 2e-4}


def _pair(network, dtype, *, n=37, batch_size=10, ridge=0.01, first_ridge=0.003, seed=3):
    """Return a trainer and its reference, in the same state."""
    theta, data = parameters(network, dtype), samples(network, n, dtype, weighted=True)
    trainer = Trainer(network, theta, data, batch_size=batch_size, ridge=ridge, first_ridge=first_ridge, seed=seed)
    strengths = [first_ridge] + [ridge] * len(network.widths)
    plain = Training(
        reference(network), theta, data.X, data.Y, data.weights,
        batch_size=batch_size, ridge=strengths, seed=seed,
    )  # fmt: skip
    return trainer, plain


def _assert_same(trainer, plain, losses, expected, dtype):
    tolerance = AFTER_TRAINING[dtype]
    assert trainer.theta.dtype == dtype
    np.testing.assert_allclose(losses, expected, rtol=tolerance)
    np.testing.assert_allclose(trainer.theta, plain.theta, rtol=0, atol=tolerance * np.abs(plain.theta).max())


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", NETWORKS)
def test_adam(name, dtype):
    trainer, plain = _pair(NETWORKS[name], dtype)
    losses = trainer.adam(RATES)
    _assert_same(trainer, plain, losses, [plain.adam(rate) for rate in RATES], dtype)
    assert trainer.outcome is Outcome.FINISHED


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("name", NETWORKS)
def test_proximal_gradient(name, momentum, dtype):
    network = NETWORKS[name]
    trainer, plain = _pair(network, dtype)
    penalty = InputGroups.of(network.n_inputs, np.arange(network.n_inputs) // 2)
    rates, strength = 0.2 * RATES, 0.3
    losses = trainer.proximal(rates, penalty, strength, momentum=momentum)
    expected = [plain.proximal(r, momentum, 0, penalty.labels, strength * penalty.weights) for r in rates]
    _assert_same(trainer, plain, losses, expected, dtype)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", ["odd", "no multiples of four", "wide second layer"])
def test_prox_of_the_second_layer(name, dtype):
    network = NETWORKS[name]
    trainer, plain = _pair(network, dtype)
    width = network.widths[0]
    penalty = SecondLayerColumns(np.arange(width), np.linspace(0.0, 20.0, width), np.zeros(width, bool))
    losses = trainer.proximal(RATES, penalty, 0.7)
    expected = [plain.proximal(rate, 0.0, 1, penalty.labels, 0.7 * penalty.weights) for rate in RATES]
    _assert_same(trainer, plain, losses, expected, dtype)
    assert 0 < penalty.support(network.layers(trainer.theta)[1].weights).sum() < width


@pytest.mark.parametrize(("n", "batch_size"), [(1, 1), (9, 1), (13, 8), (16, 8), (13, 100), (600, 290), (601, 600)])
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_any_batch_size(n, batch_size, dtype):
    # The last two have batches of more than one block.
    trainer, plain = _pair(Network(3, (4,)), dtype, n=n, batch_size=batch_size)
    losses = trainer.adam(RATES[:7])
    _assert_same(trainer, plain, losses, [plain.adam(rate) for rate in RATES[:7]], dtype)
    assert trainer.n_batches == -(-n // batch_size)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("n_inputs", [1, 5])
@pytest.mark.parametrize("strength", [0.0, 0.1, 1.0])
def test_the_prox_of_the_loop_is_that_of_the_penalty(strength, n_inputs, dtype):
    # Without a residual the gradient is zero, and only the prox moves the weights.
    network = Network(n_inputs, (4,))
    theta, X = parameters(network, dtype), samples(network, 9, dtype).X
    W = network.layers(theta)[0].weights
    W[:, 0] *= 0.01
    penalty = InputGroups.of(n_inputs, np.arange(n_inputs) // 2).adaptive(W)
    trainer = Trainer(network, theta, Samples.of(X, network.predict(theta, X), dtype=dtype))
    trainer.proximal(np.array([0.3]), penalty, strength, momentum=0.5)
    expected = penalty.prox(W, strength * 0.3 / (1.0 - 0.5))
    found = network.layers(trainer.theta)[0].weights
    np.testing.assert_allclose(found, expected, rtol=10 * np.finfo(dtype).eps, atol=TOLERANCE[dtype] * 1e-2)
    np.testing.assert_array_equal(penalty.support(found), penalty.support(expected))
    np.testing.assert_allclose(
        expected,
        soft_threshold_groups(W, penalty.labels, strength * 0.6 * penalty.weights),
        rtol=1e-6,
        atol=1e-12,
    )


def _visits(n, batch_size, n_epochs, seed):
    """Return the trainer's visits (epochs, n): with single samples and rates of zero, each loss names one."""
    network = Network(1, ())
    data = Samples.of(np.zeros((n, 1)), np.sqrt(np.arange(n)))
    trainer = Trainer(network, np.zeros(2), data, batch_size=batch_size, seed=seed)
    losses = trainer.adam(np.zeros(n_epochs * trainer.n_batches))
    return losses.reshape(n_epochs, -1)


def test_an_epoch_visits_every_sample_once():
    visits = np.rint(_visits(29, 1, 4, seed=0)).astype(int)
    np.testing.assert_array_equal(np.sort(visits, axis=1), np.tile(np.arange(29), (4, 1)))
    assert len(np.unique(visits, axis=0)) == 4
    order = Order(29, 1, seed=0)
    np.testing.assert_array_equal(visits.ravel(), [order.next_batch()[0] for _ in range(4 * 29)])


def test_the_order_depends_on_the_seed_alone():
    first = _visits(29, 1, 2, seed=5)
    np.testing.assert_array_equal(first, _visits(29, 1, 2, seed=5))
    assert (first != _visits(29, 1, 2, seed=6)).any()


def test_every_sample_is_equally_likely_to_come_first():
    # Over 600 seeds each of six samples is expected first 100 times, with a standard deviation of 9.
    first = [int(np.rint(_visits(6, 1, 1, seed=seed)[0, 0])) for seed in range(600)]
    counts = np.bincount(first, minlength=6)
    assert np.abs(counts - 100).max() < 4 * 9.2


@pytest.mark.parametrize("batch_size", [2, 5, 7, 28, 29])
def test_batches_differ_by_one_sample_at_most(batch_size):
    n_batches = -(-29 // batch_size)
    order = Order(29, batch_size, seed=1)
    expected = [order.next_batch() for _ in range(2 * n_batches)]
    sizes = [len(batch) for batch in expected]
    assert max(sizes) <= batch_size
    assert max(sizes) - min(sizes) <= 1
    means = [np.mean(batch) for batch in expected]
    np.testing.assert_allclose(_visits(29, batch_size, 2, seed=1).ravel(), means, rtol=1e-14)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("optimiser", ["adam", "proximal"])
def test_training_goes_on_without_the_dead_inputs(optimiser, dtype):
    network = Network(6, (5, 3))
    trainer, plain = _pair(network, dtype)
    penalty = InputGroups(np.arange(6), np.linspace(0.0, 5.0, 6), np.zeros(6, bool))
    rates = np.full(12, 0.02)
    trainer.proximal(rates, penalty, 1.0, momentum=0.5)
    for rate in rates:
        plain.proximal(rate, 0.5, 0, penalty.labels, penalty.weights)
    alive = penalty.support(network.layers(trainer.theta)[0].weights)
    assert 0 < alive.sum() < 6

    trainer.keep_inputs(alive)
    plain.keep_inputs(alive)
    kept = penalty.restrict(alive)
    if optimiser == "adam":
        trainer.forget()
        plain.first[:] = plain.second[:] = plain.updates = 0
        losses, expected = trainer.adam(RATES), [plain.adam(rate) for rate in RATES]
    else:
        losses = trainer.proximal(rates, kept, 0.1, momentum=0.5)
        expected = [plain.proximal(rate, 0.5, 0, kept.labels, 0.1 * kept.weights) for rate in rates]
    _assert_same(trainer, plain, losses, expected, dtype)

    full = trainer.network.restore_inputs(trainer.theta, alive, 6)
    np.testing.assert_array_equal(network.layers(full)[0].weights[:, ~alive], 0.0)
    np.testing.assert_array_equal(network.select_inputs(full, alive), trainer.theta)
    X = samples(network, 20, dtype, seed=9).X
    np.testing.assert_allclose(
        network.predict(full, X), trainer.network.predict(trainer.theta, X[:, alive]), atol=TOLERANCE[dtype]
    )


def test_dropped_inputs_train_like_frozen_ones():
    network, alive = Network(5, (4,)), np.array([True, False, True, False, True])
    theta, data = parameters(network), samples(network, 23)
    network.layers(theta)[0].weights[:, ~alive] = 0.0
    penalty = InputGroups.of(5).adaptive(network.layers(theta)[0].weights)
    whole, shrunk = (Trainer(network, theta, data, batch_size=5) for _ in range(2))
    shrunk.keep_inputs(alive)
    whole.proximal(RATES, penalty, 1e-3, momentum=0.9)
    shrunk.proximal(RATES, penalty.restrict(alive), 1e-3, momentum=0.9)
    np.testing.assert_array_equal(network.layers(whole.theta)[0].weights[:, ~alive], 0.0)
    np.testing.assert_allclose(network.select_inputs(whole.theta, alive), shrunk.theta, atol=1e-12)


@pytest.mark.parametrize("chosen", [[0, 3], [False, True, True, False]], ids=["indices", "mask"])
def test_inputs_kept_by_index_or_by_mask(chosen):
    network = Network(4, (3,))
    trainer = Trainer(network, parameters(network), samples(network, 9))
    trainer.keep_inputs(np.array(chosen))
    assert trainer.network.n_inputs == trainer.samples.X.shape[1] == 2
    assert trainer.theta.size == trainer.network.n_parameters
    assert np.isfinite(trainer.adam(RATES)).all()


@pytest.mark.parametrize("strength", [0.0, 0.1])
def test_frozen_inputs_stay_zero_at_a_rate_of_zero(strength):
    network = Network(3, (4,))
    theta = parameters(network)
    W = network.layers(theta)[0].weights
    W[:, 1] = 0.0
    trainer = Trainer(network, theta, samples(network, 9))
    with np.errstate(invalid="ignore"):  # zero times an infinite threshold, in plain Python
        losses = trainer.proximal(np.array([0.0, 0.1, 0.0]), InputGroups.of(3).adaptive(W), strength)
    assert np.isfinite(losses).all()
    assert np.isfinite(trainer.theta).all()
    np.testing.assert_array_equal(network.layers(trainer.theta)[0].weights[:, 1], 0.0)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("place", range(4))
def test_the_last_finite_parameters_are_kept(place, dtype):
    # A step of this size overflows some parameters only: those whose gradient is not zero.
    network = Network(4, ())
    theta, X = np.zeros(5, dtype), np.zeros((6, 4))
    X[:, place] = 1.0
    theta[place] = 1.0
    penalty = InputGroups(np.arange(4), np.ones(4), np.zeros(4, bool))
    trainer = Trainer(network, theta, Samples.of(X, np.full(6, 2.0), dtype=dtype))
    huge = float(np.finfo(dtype).max)
    with np.errstate(over="ignore", invalid="ignore"):
        losses = trainer.proximal(np.array([1e-3, huge]), penalty, 100.0)
    assert trainer.outcome is Outcome.DIVERGED
    assert len(losses) == 1
    # 1 + 0.002, thresholded by 0.1: what the first update left behind, prox included.
    np.testing.assert_allclose(trainer.theta[place], 0.902, rtol=1e-6)


def test_a_diverged_trainer_rests():
    network = Network(2, (3,))
    trainer = Trainer(network, parameters(network), samples(network, 9))
    trainer.outcome = Outcome.DIVERGED
    before = trainer.theta.copy()
    assert trainer.adam(RATES).size == 0
    np.testing.assert_array_equal(trainer.theta, before)
