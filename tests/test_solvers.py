"""Solvers: determinism, threads, divergence, proximal steps, monotone descent and agreement with peers."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.linear_model import MultiTaskLasso, Ridge

from fewvars.engine import kernels
from fewvars.engine.network import Network
from fewvars.engine.penalties import InputGroups, SecondLayerColumns, SingularValues
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import (
    SCHEDULES,
    Objective,
    Outcome,
    Trainer,
    adam,
    learning_rates,
    levenberg_marquardt,
    monotone,
    training,
)
from kernels.cases import parameters, samples

PRECISIONS = [np.float32, np.float64]
NARROW, WIDE = Network(6, (7, 5), 2), Network(10, (64, 64))


# Determinism


def _train(network, dtype, seed=0, n_updates=150):
    """Return the bytes of the parameters after some Adam and some proximal updates."""
    trainer = Trainer(
        network,
        network.initialise(1, dtype),
        samples(network, 200, dtype),
        batch_size=33,
        ridge=1e-3,
        seed=seed,
    )
    trainer.adam(learning_rates(0.01, n_updates, "cosine"))
    trainer.forget()
    trainer.proximal(np.full(n_updates, 0.01), InputGroups.of(network.n_inputs), 0.01, momentum=0.9)
    assert trainer.outcome is Outcome.FINISHED
    return trainer.theta.tobytes()


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("network", [NARROW, WIDE], ids=["narrow", "wide"])
def test_the_same_seed_gives_the_same_bits_in_any_number_of_threads(network, dtype):
    alone = _train(network, dtype)
    assert _train(network, dtype, seed=1) != alone
    for n_threads in (2, 5):
        with ThreadPoolExecutor(n_threads) as pool:
            found = list(pool.map(lambda _: _train(network, dtype), range(n_threads)))
        assert set(found) == {alone}


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("chunk", [1.0, 1e4, 1e5])
def test_chunks_do_not_change_a_bit(monkeypatch, chunk, dtype):
    monkeypatch.setattr(training, "_CHUNK", 1e15)
    expected = _train(NARROW, dtype)
    monkeypatch.setattr(training, "_CHUNK", chunk)
    assert _train(NARROW, dtype) == expected


def test_calls_one_after_the_other_continue_each_other():
    network, data = NARROW, samples(NARROW, 50)
    rates = learning_rates(0.01, 40, "linear")
    whole, parts = (Trainer(network, parameters(network), data, batch_size=8) for _ in range(2))
    losses = whole.adam(rates)
    found = [parts.adam(rates[:7]), parts.adam(rates[7:8]), parts.adam(rates[8:])]
    np.testing.assert_array_equal(np.concatenate(found), losses)
    np.testing.assert_array_equal(parts.theta, whole.theta)


def test_the_starting_point_is_not_touched():
    theta = parameters(NARROW)
    before = theta.copy()
    fit = adam(NARROW, samples(NARROW, 50), theta=theta, n_updates=20)
    np.testing.assert_array_equal(theta, before)
    assert (fit.theta != before).any()


def test_adam_draws_its_start_from_the_seed():
    data = samples(NARROW, 50, np.float32)
    fit = adam(NARROW, data, n_updates=20, seed=3)
    assert fit.theta.dtype == np.float32
    again = adam(NARROW, data, theta=NARROW.initialise(3, np.float32), n_updates=20, seed=3)
    np.testing.assert_array_equal(fit.theta, again.theta)


# Learning rates


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [0.5, 0.5, 0.5, 0.5]),
        ("linear", [0.5, 0.375, 0.25, 0.125]),
        ("cosine", [0.5, 0.25 + 0.25 * np.sqrt(0.5), 0.25, 0.25 - 0.25 * np.sqrt(0.5)]),
    ],
)
def test_schedules(schedule, expected):
    np.testing.assert_allclose(learning_rates(0.5, 4, schedule), expected, rtol=1e-14)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules_fall_and_stay_positive(schedule):
    rates = learning_rates(0.1, 1000, schedule)
    assert rates[0] == 0.1
    assert (rates > 0).all()
    assert (np.diff(rates) <= 0).all()
    assert learning_rates(0.1, 0, schedule).size == 0


# Compilation and threads


def _exercise(dtype):
    for network, n, batch_size in [
        (Network(1, ()), 5, 2),
        (Network(3, (4,), 2, "relu"), 40, 7),
        (Network(9, (3, 8, 2, 5), 3, ("identity", "sin", "softplus", "sigmoid")), 301, 300),
        (WIDE, 20, 20),
    ]:
        theta, data = parameters(network, dtype), samples(network, n, dtype, weighted=True)
        trainer = Trainer(network, theta, data, batch_size=batch_size, ridge=0.1)
        trainer.adam(learning_rates(0.001, 3, "cosine")[1:])
        penalty = InputGroups.of(network.n_inputs)
        trainer.proximal(np.full(3, 1e-3), penalty, 0.1, momentum=0.9)
        if network.widths:
            trainer.proximal(np.full(3, 1e-3), SecondLayerColumns.of(network.widths[0]), 0.1)
        if network.n_inputs > 2:
            alive = np.arange(network.n_inputs) > 0
            trainer.keep_inputs(alive)
            trainer.proximal(np.full(3, 1e-3), penalty.restrict(alive), 0.1)
        network.predict(theta, data.X)
        network.input_jacobian(theta, data.X[::2])
        network.loss_gradient(theta, data.rows(np.arange(n) > 0))
        if network.n_parameters < 500:
            network.parameter_jacobian(theta, data.X)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_new_shapes_compile_nothing(dtype):
    compiled = [
        kernels.train,
        kernels.predict,
        kernels.input_jacobian,
        kernels.full_gradient,
        kernels.parameter_jacobian,
    ]
    network = Network(2, (3,))
    theta, data = parameters(network, dtype), samples(network, 9, dtype)
    Trainer(network, theta, data).adam(np.full(2, 0.01))
    network.predict(theta, data.X)
    network.input_jacobian(theta, data.X)
    network.loss_gradient(theta, data)
    network.parameter_jacobian(theta, data.X)
    before = [len(kernel.signatures) for kernel in compiled]
    _exercise(dtype)
    assert [len(kernel.signatures) for kernel in compiled] == before
    assert max(before) <= len(PRECISIONS)


def test_python_goes_on_while_a_kernel_runs(monkeypatch):
    monkeypatch.setattr(training, "_CHUNK", 1e15)  # one call into the kernel
    network = Network(40, (20, 20, 20))
    trainer = Trainer(network, network.initialise(0), samples(network, 500), batch_size=100)
    trainer.adam(np.full(10, 1e-4))
    ticks, stop = [], threading.Event()

    def count():
        while not stop.wait(0.001):
            ticks.append(time.perf_counter())

    counter = threading.Thread(target=count)
    counter.start()
    n_updates, seconds = 4_000, 0.0
    try:
        while seconds < 0.2:  # on any machine
            n_updates *= 2
            start = time.perf_counter()
            trainer.adam(np.full(n_updates, 1e-4))
            seconds = time.perf_counter() - start
    finally:
        stop.set()
        counter.join()
    # Not at the edges, where the interpreter may switch threads before the kernel starts. With the lock
    # held there would be no tick at all; without, some hundred.
    assert sum(0.25 * seconds < tick - start < 0.75 * seconds for tick in ticks) >= 3


# Divergence


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("activation", ["tanh", "relu", "identity"])
@pytest.mark.parametrize("optimiser", ["adam", "gradient", "momentum"])
def test_a_huge_learning_rate_diverges_in_good_order(optimiser, activation, dtype):
    network = Network(4, (6, 6), activation=activation)
    trainer = Trainer(network, network.initialise(0, dtype), samples(network, 60, dtype), batch_size=20)
    rates = np.full(60, 100.0)
    if optimiser == "adam":
        losses = trainer.adam(rates)
    else:
        momentum = 0.9 if optimiser == "momentum" else 0.0
        losses = trainer.proximal(rates, InputGroups.of(4), 1e-6, momentum=momentum)
    fit = trainer.fit(losses)
    assert fit.outcome is Outcome.DIVERGED
    assert np.isfinite(fit.theta).all()
    assert np.isfinite(fit.losses).all()
    assert fit.n_updates == len(fit.losses) <= 60


@pytest.mark.parametrize("optimiser", ["adam", "proximal"])
def test_numbers_too_large_for_single_precision(optimiser):
    network = Network(4, (5,), activation="relu")
    rng = np.random.default_rng(0)
    data = Samples.of(1e30 * rng.normal(size=(50, 4)), 1e30 * rng.normal(size=50), dtype=np.float32)
    theta = network.initialise(0, np.float32)
    trainer = Trainer(network, theta, data)
    if optimiser == "adam":
        trainer.adam(np.full(20, 0.01))
    else:
        trainer.proximal(np.full(20, 0.01), InputGroups.of(4), 0.1, momentum=0.9)
    assert trainer.outcome is Outcome.DIVERGED
    np.testing.assert_array_equal(trainer.theta, theta)


def test_a_strong_penalty_after_a_perfect_start_is_no_divergence():
    network = Network(3, ())
    theta = np.array([1.0, -2.0, 0.5, 0.0])
    X = np.random.default_rng(0).normal(size=(100, 3))
    trainer = Trainer(network, theta, Samples.of(X, network.predict(theta, X)), batch_size=10)
    losses = trainer.proximal(np.full(200, 0.01), InputGroups.of(3), 100.0)
    assert losses[0] < 1e-20
    assert trainer.outcome is Outcome.FINISHED
    np.testing.assert_array_equal(network.layers(trainer.theta)[0].weights, 0.0)


# Proximal steps, inside and outside of the compiled loop


@pytest.fixture(scope="module")
def three_of_eight():
    """y depends on inputs 0, 3 and 6 of eight."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    y = X[:, 0] - 1.5 * X[:, 3] + np.sin(2.0 * X[:, 6])
    return Samples.of(X, (y - y.mean()) / y.std())


@pytest.mark.parametrize("seed", range(4))
def test_weights_from_adam_make_proximal_steps_find_the_inputs(three_of_eight, seed):
    network, options = Network(8, (12,)), {"batch_size": 50, "seed": seed}
    first = adam(network, three_of_eight, n_updates=1000, learning_rate=0.01, **options)
    penalty = InputGroups.of(8).adaptive(network.layers(first.theta)[0].weights)
    trainer = Trainer(network, first.theta, three_of_eight, **options)
    fit = trainer.fit(trainer.proximal(np.full(6000, 0.01), penalty, 0.7))
    assert fit.outcome is Outcome.FINISHED
    assert fit.n_updates == 6000
    found = penalty.support(network.layers(fit.theta)[0].weights)
    np.testing.assert_array_equal(np.flatnonzero(found), [0, 3, 6])
    assert network.loss(fit.theta, three_of_eight) < 0.2  # of a variance of one


@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_singular_values_are_thresholded_every_four_updates(momentum):
    network, rates = Network(5, (6,)), np.linspace(0.02, 0.01, 10)
    data, penalty = samples(network, 40), SingularValues.of(5, 6)
    trainer, plain = (Trainer(network, parameters(network), data, batch_size=9) for _ in range(2))
    losses, expected = trainer.proximal(rates, penalty, 0.5, momentum=momentum), []
    W = network.layers(plain.theta)[0].weights
    for part in (rates[:4], rates[4:8], rates[8:]):
        expected.append(plain.proximal(part, InputGroups.of(5), 0.0, momentum=momentum))
        W[:] = penalty.prox(W, 0.5 * part.sum() / (1.0 - momentum))
    np.testing.assert_allclose(losses, np.concatenate(expected), rtol=1e-12)
    np.testing.assert_allclose(trainer.theta, plain.theta, atol=1e-13)


# Monotone descent


MONOTONE = {
    "no penalty": (Network(4, (5,)), None, 0.0),
    "groups": (Network(4, (5,)), InputGroups.of(4, [[0, 1], [2], [3]]), 0.05),
    "groups, deep": (Network(4, (5, 4, 3), 2, ("identity", "tanh", "softplus")), InputGroups.of(4), 0.02),
    "groups, relu": (Network(4, (6, 6), activation="relu"), InputGroups.of(4), 0.05),
    "second layer": (Network(4, (5, 4)), SecondLayerColumns.of(5), 0.05),
    "singular values": (Network(4, (5,)), SingularValues.of(4, 5), 0.05),
    "adaptive singular values": (Network(4, (5,)), SingularValues(np.array([0.5, 1.0, 2.0, 8.0])), 0.05),
    "linear": (Network(4, (), 2), InputGroups.of(4), 0.1),
}


@pytest.mark.parametrize("ridge", [0.0, 0.01])
@pytest.mark.parametrize("name", MONOTONE)
def test_the_objective_never_increases(name, ridge):
    network, penalty, strength = MONOTONE[name]
    data, theta = samples(network, 60, weighted=True), parameters(network)
    objective = Objective(network, data, penalty, strength, ridge=ridge, first_ridge=0.1 * ridge)
    fit = monotone(objective, theta, max_iterations=150)
    start = objective.smooth(theta)[0] + objective.rough(theta)
    values = np.array([start, *fit.losses])
    assert fit.n_updates == len(fit.losses) == len(fit.steps) > 10
    assert (np.diff(values) <= 0).all()
    assert values[-1] < 0.9 * start

    layers = network.layers(fit.theta)
    strengths = [0.1 * ridge] + [ridge] * len(network.widths)
    expected = network.loss(fit.theta, data)
    expected += sum(s * (layer.weights**2).sum() for s, layer in zip(strengths, layers, strict=True))
    if penalty is not None:
        expected += strength * penalty.value(layers[penalty.layer].weights)
    assert values[-1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [("linear", 1e-7), ("groups", 1e-4), ("singular values", 1e-3), ("adaptive singular values", 1e-3)],
)
def test_monotone_descent_reaches_its_tolerance(name, tolerance):
    network, penalty, strength = MONOTONE[name]
    objective = Objective(network, samples(network, 60), penalty, strength, ridge=0.01, first_ridge=0.01)
    fit = monotone(objective, parameters(network), max_iterations=20_000, tolerance=tolerance)
    assert fit.outcome is Outcome.CONVERGED
    assert fit.distance <= tolerance
    # The distance bounds proximal steps of any size, where the penalty is convex.
    _, gradient = objective.smooth(fit.theta)
    for tau in (1e-3, 1e-1, 10.0) if name != "adaptive singular values" else ():
        moved = np.linalg.norm(objective.step(fit.theta, gradient, tau) - fit.theta)
        assert moved <= fit.distance * tau + 1e-12


def test_the_certificate_of_a_linear_network():
    network = Network(4, (), 2)
    data = samples(network, 60, weighted=True)
    objective = Objective(network, data, InputGroups.of(4), 0.1)
    fit = monotone(objective, parameters(network), tolerance=1e-7)
    X = np.column_stack([data.X, np.ones(60)])
    eigenvalues = np.linalg.eigvalsh(2 * (X * data.weights[:, None]).T @ X / 60)
    # The gradient is linear, so every ratio of changes is between the eigenvalues; some is near the largest.
    assert 0.8 * eigenvalues[-1] < fit.constant <= eigenvalues[-1] * (1 + 1e-9)
    # After the first step the sizes are inverse curvatures, which backtracking only makes smaller.
    assert (fit.steps[1:] <= (1 + 1e-9) / eigenvalues[0]).all()
    assert fit.distance == objective.distance(fit.theta, objective.smooth(fit.theta)[1], 1.0) <= 1e-7
    assert monotone(objective, parameters(network), max_iterations=0).constant == 0.0


def test_the_two_step_sizes_in_turn_need_few_gradients(monkeypatch):
    network, penalty, strength = MONOTONE["groups"]
    objective = Objective(network, samples(network, 60), penalty, strength, ridge=1e-3)
    count, smooth = [], objective.smooth
    monkeypatch.setattr(objective, "smooth", lambda theta: count.append(1) or smooth(theta))
    fit = monotone(objective, parameters(network), max_iterations=20_000, tolerance=1e-4)
    assert fit.outcome is Outcome.CONVERGED
    assert len(count) < 2.0 * fit.n_updates


def test_convergence_in_the_last_iteration_counts():
    network, penalty, strength = MONOTONE["linear"]
    objective = Objective(network, samples(network, 60), penalty, strength)
    fit = monotone(objective, parameters(network))
    last = monotone(objective, parameters(network), max_iterations=fit.n_updates)
    assert fit.outcome is last.outcome is Outcome.CONVERGED
    np.testing.assert_array_equal(last.theta, fit.theta)
    short = monotone(objective, parameters(network), max_iterations=fit.n_updates - 1)
    assert short.outcome is Outcome.EXHAUSTED


def test_small_gradients_are_not_lost_beside_large_ones():
    X, Y = _linear(1)
    network, penalty = Network(7, ()), InputGroups.of(7)
    theta = np.zeros(8)
    theta[-1] = Y.mean() + 5e-11
    objective = Objective(network, Samples.of(X, Y), penalty, 100.0)
    _, gradient = objective.smooth(theta)
    assert np.linalg.norm(gradient) > 0.1
    # The derivative by the bias, twice its error; the weights are stationary at this strength.
    assert objective.distance(theta, gradient, 1.0) == pytest.approx(1e-10, rel=1e-4)


def test_monotone_descent_says_when_it_runs_out():
    network, penalty, strength = MONOTONE["groups"]
    objective = Objective(network, samples(network, 60), penalty, strength)
    fit = monotone(objective, parameters(network), max_iterations=3)
    assert fit.outcome is Outcome.EXHAUSTED
    assert fit.n_updates == 3
    assert fit.distance > 1e-6
    none = monotone(objective, parameters(network), max_iterations=0)
    assert none.outcome is Outcome.EXHAUSTED
    np.testing.assert_array_equal(none.theta, parameters(network))


def test_monotone_descent_says_when_it_stalls():
    network, penalty, strength = MONOTONE["linear"]
    objective = Objective(network, samples(network, 60), penalty, strength)
    fit = monotone(objective, parameters(network), max_iterations=10_000, tolerance=0.0)
    assert fit.outcome is Outcome.STALLED
    # As far as double precision goes: the value is flat to 1e-16, so the gradient is known to its root.
    assert fit.distance < 1e-6


def test_monotone_descent_does_not_start_from_infinity():
    network = Network(4, ())
    theta = np.full(network.n_parameters, 1e200)
    fit = monotone(Objective(network, samples(network, 60)), theta)
    assert fit.outcome is Outcome.DIVERGED
    assert fit.n_updates == len(fit.losses) == len(fit.steps) == 0
    np.testing.assert_array_equal(fit.theta, theta)


def test_a_frozen_input_stays_out():
    network = Network(4, (5,))
    theta = parameters(network)
    W = network.layers(theta)[0].weights
    W[:, 2] = 0.0
    penalty = InputGroups.of(4).adaptive(W)
    fit = monotone(Objective(network, samples(network, 60), penalty, 0.0), theta, max_iterations=50)
    assert fit.losses[-1] < fit.losses[0]
    np.testing.assert_array_equal(network.layers(fit.theta)[0].weights[:, 2], 0.0)


# Levenberg and Marquardt


def test_a_linear_network_is_ridge_regression():
    X, Y = _linear(3)
    network = Network(7, (), 3)
    start = network.initialise(0)
    fit = levenberg_marquardt(network, Samples.of(X, Y), theta=start, ridge=0.05, tolerance=1e-14)
    # Its loss is |Y - XW|^2, n times ours.
    peer = Ridge(alpha=0.05 * len(X)).fit(X, Y)
    layer = network.layers(fit.theta)[0]
    # The objective stops falling in its last digits, which are the root of those of its argument.
    np.testing.assert_allclose(layer.weights, peer.coef_, atol=1e-6)
    np.testing.assert_allclose(layer.biases, peer.intercept_, atol=1e-6)


@pytest.mark.parametrize(("activation", "growth"), [("tanh", 4.0), ("sin", 4.0), ("tanh", 2.0)])
def test_damped_steps_descend_to_a_stationary_point(activation, growth):
    network = Network(3, (4, 3), 2, activation)
    data, theta, ridge = samples(network, 60, weighted=True), parameters(network), 1e-3
    fit = levenberg_marquardt(
        network, data, theta=theta, ridge=ridge, max_iterations=500, tolerance=1e-8, damping_factor=growth
    )
    objective = Objective(network, data, ridge=ridge, first_ridge=ridge)
    value, gradient = objective.smooth(fit.theta)
    assert fit.outcome in (Outcome.CONVERGED, Outcome.STALLED)
    assert fit.n_updates == len(fit.losses)
    assert (np.diff([objective.smooth(theta)[0], *fit.losses]) < 0).all()
    assert fit.losses[-1] == pytest.approx(value, rel=1e-12)
    assert np.linalg.norm(gradient) < 1e-4 * np.linalg.norm(objective.smooth(theta)[1])


def test_damped_steps_run_out():
    network = Network(3, (4,))
    fit = levenberg_marquardt(network, samples(network, 60), theta=network.initialise(0), max_iterations=2)
    assert fit.outcome is Outcome.EXHAUSTED
    assert fit.n_updates == 2


# Linear networks against peers


def _linear(n_outputs, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 7)) @ (np.eye(7) + 0.3 * rng.normal(size=(7, 7)))
    coefficients = rng.normal(size=(7, n_outputs)) * (np.arange(7) % 3 == 0)[:, None]
    return X, X @ coefficients + 2.0 + 0.3 * rng.normal(size=(60, n_outputs))


def _solve(X, Y, penalty, strength):
    network = Network(X.shape[1], (), Y.shape[1])
    objective = Objective(network, Samples.of(X, Y), penalty, strength)
    fit = monotone(objective, parameters(network), max_iterations=20_000, tolerance=1e-9)
    assert fit.outcome in (Outcome.CONVERGED, Outcome.STALLED)
    return network.layers(fit.theta)[0]


GROUPS = [[0, 1], [2], [3, 4, 5], [6]]


PEER = """
import sys
import numpy as np
from skglm import GroupLasso

given = np.load(sys.argv[1])
groups = [np.flatnonzero(given["labels"] == g).tolist() for g in range(len(given["weights"]))]
coefficients, intercepts = [], []
for alpha in given["alphas"]:
    model = GroupLasso(groups, alpha=alpha, weights=given["weights"], tol=1e-10)
    model.fit(given["X"], given["y"])
    coefficients.append(model.coef_)
    intercepts.append(model.intercept_)
np.savez(sys.argv[2], coefficients=coefficients, intercepts=intercepts)
"""


@pytest.mark.slow
def test_group_lasso_agrees_with_skglm(tmp_path):
    X, Y = _linear(1)
    penalty, strengths = InputGroups.of(7, GROUPS), np.array([0.02, 0.3, 1.0])
    given, found = tmp_path / "given.npz", tmp_path / "found.npz"
    # Its loss is 1/(2n) |y - Xw|^2, half of ours.
    np.savez(given, X=X, y=Y[:, 0], labels=penalty.labels, weights=penalty.weights, alphas=strengths / 2.0)
    # Seven coefficients take skglm a moment in plain Python, and a quarter of a minute to compile.
    subprocess.run([sys.executable, "-c", PEER, given, found], env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=True)
    peer = np.load(found)
    assert len({int((row != 0).sum()) for row in peer["coefficients"]}) > 1
    for strength, coefficients, intercept in zip(strengths, peer["coefficients"], peer["intercepts"], strict=True):
        layer = _solve(X, Y, penalty, strength)
        # Both are stationary to about 1e-9; their distance is that over the smallest curvature, some 0.1.
        np.testing.assert_allclose(layer.weights[0], coefficients, atol=1e-7)
        np.testing.assert_allclose(layer.biases[0], intercept, atol=1e-7)
        np.testing.assert_array_equal(layer.weights[0] != 0, coefficients != 0)


@pytest.mark.parametrize("strength", [0.1, 1.0])
def test_several_outputs_agree_with_the_multi_task_lasso(strength):
    X, Y = _linear(3)
    # Its loss is 1/(2n) |Y - XW|^2, half of ours, and its groups are our columns.
    peer = MultiTaskLasso(alpha=strength / 2.0, tol=1e-12, max_iter=100_000).fit(X, Y)
    layer = _solve(X, Y, InputGroups.of(7), strength)
    np.testing.assert_allclose(layer.weights, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(layer.biases, peer.intercept_, atol=1e-5)
    np.testing.assert_array_equal((layer.weights != 0).any(axis=0), (peer.coef_ != 0).any(axis=0))


@pytest.mark.parametrize(
    "penalty",
    [InputGroups.of(7), InputGroups.of(7, GROUPS), SingularValues.of(7, 3)],
    ids=["columns", "groups", "singular values"],
)
def test_everything_dies_at_the_critical_strength(penalty):
    X, Y = _linear(3)
    network = Network(7, (), 3)
    theta = np.zeros(network.n_parameters)
    network.layers(theta)[0].biases[:] = Y.mean(axis=0)
    _, gradient = network.loss_gradient(theta, Samples.of(X, Y))
    G = network.layers(gradient)[0].weights
    norms = np.linalg.svd(G, compute_uv=False) if isinstance(penalty, SingularValues) else penalty.norms(G)
    critical = (norms / penalty.weights).max()
    np.testing.assert_allclose(network.layers(gradient)[0].biases, 0.0, atol=1e-14)
    assert not _solve(X, Y, penalty, critical * 1.001).weights.any()
    assert np.abs(_solve(X, Y, penalty, critical * 0.999).weights).max() > 1e-6


# Bad input

NETWORK = Network(2, (3,))
THETA = NETWORK.initialise(0)
DATA = Samples.of(np.ones((4, 2)), np.ones(4))
RATES = np.full(3, 0.1)
SINGLE = Samples.of(np.ones((4, 2)), np.ones(4), dtype=np.float32)


def _trainer(**options):
    return Trainer(NETWORK, THETA, DATA, **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _trainer(batch_size=0), "batch_size=0"),
        (lambda: _trainer(batch_size=2.5), "batch_size=2.5"),
        (lambda: _trainer(ridge=-1e-4), "ridge=-0.0001"),
        (lambda: _trainer(first_ridge=np.nan), "first_ridge=nan"),
        (lambda: Trainer(NETWORK, THETA[:-1], DATA), r"theta has shape \(12,\)"),
        (lambda: Trainer(NETWORK, THETA.astype(int), DATA), "dtype int64"),
        (lambda: Trainer(NETWORK, THETA, SINGLE), "samples are float32, parameters float64"),
        (lambda: Trainer(NETWORK, THETA, Samples.of(np.ones((4, 3)), np.ones(4))), "X has 3 columns"),
        (lambda: Trainer(NETWORK, THETA, Samples.of(np.ones((4, 2)), np.ones((4, 2)))), "y has 2 columns"),
        (lambda: _trainer().proximal(RATES, InputGroups.of(2), -0.1), "strength=-0.1"),
        (lambda: _trainer().proximal(RATES, InputGroups.of(2), np.inf), "strength=inf"),
        (lambda: _trainer().proximal(RATES, InputGroups.of(2), 0.1, momentum=1.0), "momentum=1.0"),
        (lambda: _trainer().proximal(RATES, InputGroups.of(2), 0.1, momentum=-0.1), "momentum=-0.1"),
        (lambda: _trainer().proximal(RATES, InputGroups.of(5), 0.1), r"W has shape \(3, 2\): .* 5 columns"),
        (lambda: _trainer().proximal(RATES, SecondLayerColumns.of(2), 0.1), r"W has shape \(1, 3\): .* 2 "),
        (lambda: _trainer().proximal(RATES, SingularValues.of(5, 5), 0.1), "5 singular values"),
        (
            lambda: Trainer(Network(2, ()), np.zeros(3), DATA).proximal(RATES, SecondLayerColumns.of(2), 0.1),
            "penalty=SecondLayerColumns.* for layer 2: this network has 1",
        ),
        (lambda: _trainer().keep_inputs(np.zeros(2, bool)), "n_inputs=0"),
        (lambda: learning_rates(0.0, 5), "learning_rate=0.0"),
        (lambda: learning_rates(-0.1, 5), "learning_rate=-0.1"),
        (lambda: learning_rates(0.1, -5), "n_updates=-5"),
        (lambda: learning_rates(0.1, 2.5), "n_updates=2.5"),
        (lambda: learning_rates(0.1, 5, "step"), "schedule='step': choose one of 'constant', 'linear'"),
        (lambda: adam(NETWORK, DATA, n_updates=-1), "n_updates=-1"),
        (lambda: adam(NETWORK, DATA, n_updates=5, schedule="step"), "schedule='step'"),
        (lambda: Objective(NETWORK, DATA, InputGroups.of(2), -0.1), "strength=-0.1"),
        (lambda: Objective(NETWORK, DATA, ridge=-1.0), "ridge=-1.0"),
        (lambda: levenberg_marquardt(NETWORK, DATA, theta=THETA, ridge=-1.0), "ridge=-1.0"),
        (lambda: levenberg_marquardt(NETWORK, DATA, theta=THETA, damping_factor=1.0), "damping_factor=1.0"),
        (lambda: levenberg_marquardt(NETWORK, DATA, theta=THETA[1:]), "theta has shape"),
        (lambda: levenberg_marquardt(NETWORK, SINGLE, theta=THETA), "samples are float32, parameters float64"),
        (lambda: monotone(Objective(NETWORK, DATA), THETA[1:]), r"theta has shape \(12,\)"),
        (lambda: monotone(Objective(NETWORK, SINGLE), THETA), "samples are float32, parameters float64"),
        (lambda: monotone(Objective(NETWORK, DATA), THETA, initial_step=0.0), "initial_step=0.0"),
        (lambda: monotone(Objective(NETWORK, DATA), THETA, max_iterations=-1), "max_iterations=-1"),
        (lambda: monotone(Objective(NETWORK, DATA, InputGroups.of(5), 1.0), THETA), "5 columns"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
