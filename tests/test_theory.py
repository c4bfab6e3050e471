"""The theorems against brute force: constants in every corner, and inequalities along real runs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from fewvars import theory
from fewvars.engine.kernels.activations import CODES, activate
from fewvars.engine.network import Network
from fewvars.engine.penalties import InputGroups, SecondLayerColumns, SingularValues
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Objective, Outcome, adam, monotone
from fewvars.problems.datasets import lorenz96_dataset
from fewvars.problems.targets import lorenz_equation
from kernels.cases import parameters, samples


def _outer(network, theta):
    """Return a view of the outer layer, weights and biases."""
    return theta[-int(network.sizes[-1] * (network.sizes[-2] + 1)) :]


# Activations


@pytest.mark.parametrize("name", theory.SLOPES)
def test_bounds_of_the_activations_are_reached_and_never_exceeded(name):
    z = np.linspace(-20.0, 20.0, 400_001)
    value, slope = z[None].copy(), np.empty((1, z.size))
    activate(CODES[name], value, slope)
    found = [np.abs(a).max() for a in (value, slope, np.gradient(slope[0], z))]
    # Second derivatives by differences, good to the square of the spacing.
    np.testing.assert_allclose(found, theory.SLOPES[name], rtol=1e-6)


# Theorem 3: the rigorous constant


@st.composite
def problems(draw, activations=tuple(theory.SLOPES)):
    """Draw a network, data and a box of all scales."""
    network = Network(
        draw(st.integers(1, 4)), (draw(st.integers(1, 5)),), draw(st.integers(1, 3)), draw(st.sampled_from(activations))
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 6))
    X = 10.0 ** draw(st.sampled_from([-1, 0, 1])) * rng.standard_normal((n, network.n_inputs))
    Y = draw(st.sampled_from([0.0, 1.0, 30.0])) * rng.standard_normal((n, network.n_outputs))
    weights = rng.uniform(0.1, 3.0, n) if draw(st.booleans()) else None
    ridge, first_ridge = draw(st.sampled_from([(0.0, 0.0), (0.7, 0.0), (0.1, 1000.0)]))
    objective = Objective(network, Samples.of(X, Y, weights), ridge=ridge, first_ridge=first_ridge)
    return objective, 10.0 ** draw(st.sampled_from([-2.0, -0.5, 0.0, 1.0])), rng


def _draw_in_the_box(network, bound, corner, scale, rng):
    """Return parameters whose outer layer is in the box, or in one of its corners."""
    theta = scale * rng.standard_normal(network.n_parameters)
    outer = _outer(network, theta)
    entries = rng.uniform(-1.0, 1.0, outer.size)
    outer[:] = bound * (np.sign(entries) if corner else entries)
    return theta


SCALES = st.sampled_from([0.0, 0.1, 1.0, 30.0, 1000.0])


@given(problem=problems(), corner=st.booleans(), scale=SCALES, near=st.sampled_from([1.0, 1e-2, 1e-4]))
def test_gradient_differences_never_exceed_the_constant(problem, corner, scale, near):
    objective, bound, rng = problem
    network, C = objective.network, theory.lipschitz_constant(objective, bound)
    for _ in range(5):
        theta = _draw_in_the_box(network, bound, corner, scale, rng)
        # The box is convex: part of the way to another of its points is inside of it.
        phi = theta + near * (_draw_in_the_box(network, bound, corner, scale, rng) - theta)
        first, second = (objective.smooth(point)[1] for point in (theta, phi))
        rounding = 1e-13 * (np.linalg.norm(first) + np.linalg.norm(second))
        assert np.linalg.norm(first - second) <= C * np.linalg.norm(theta - phi) + rounding


@given(problem=problems(), corner=st.booleans(), scale=st.sampled_from([0.0, 0.1, 1.0, 30.0]))
def test_the_steepest_direction_does_not_exceed_the_constant_either(problem, corner, scale):
    objective, bound, rng = problem
    theta = _draw_in_the_box(objective.network, bound, corner, scale, rng)
    measured = theory.local_lipschitz(objective, theta, max_iterations=100)
    # Its differences reach some 1e-5 beyond the corner, relative to the largest entry.
    assert measured <= theory.lipschitz_constant(objective, bound + 1e-5 * (1.0 + np.abs(theta).max()))


@pytest.mark.parametrize("h", [1, 5])
@pytest.mark.parametrize("outputs", [1, 3])
def test_the_constant_is_attained_where_all_units_are_saturated(h, outputs):
    network = Network(2, (h,), outputs)
    objective = Objective(network, Samples.of(np.ones((3, 2)), np.zeros((3, outputs))))
    theta = np.full(network.n_parameters, 50.0)
    _outer(network, theta)[:] = 0.0
    # 2 (s^ s^T) for each output, s^ = (1, ..., 1), and nothing else as the outer layer vanishes.
    assert theory.local_lipschitz(objective, theta) == pytest.approx(2 * (h + 1), rel=1e-6)
    assert theory.lipschitz_constant(objective, 1e-9) == pytest.approx(2 * (h + 1), rel=1e-6)


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_constant_is_attained_where_residuals_are_large(outputs):
    network = Network(1, (2,), outputs)
    objective = Objective(network, Samples.of([[3.0], [3.0]], np.full((2, outputs), 1e6)))
    theta = np.zeros(network.n_parameters)
    # Slopes of one, outer weights of zero: 2 |y| |x^| couples the layers.
    expected = 2e6 * np.sqrt(10 * outputs)
    assert theory.local_lipschitz(objective, theta) == pytest.approx(expected, rel=1e-4)
    assert theory.lipschitz_constant(objective, 1e-6) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_constant_is_attained_where_the_activation_bends_most(outputs):
    network = Network(1, (2,), outputs, "sin")
    objective = Objective(network, Samples.of([[300.0]], np.full((1, outputs), 1e6)))
    theta = np.zeros(network.n_parameters)
    layers = network.layers(theta)
    layers[0].biases[:] = np.pi / 2
    layers[1].weights[:] = 10.0
    # 2 <W_2, y> |x^|^2: the sines are at their top.
    expected = 2 * 1e7 * outputs * 90001
    assert theory.local_lipschitz(objective, theta) == pytest.approx(expected, rel=1e-2)
    assert theory.lipschitz_constant(objective, 10.0) == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize(("h", "outputs"), [(4, 1), (40, 40)])
def test_the_constant_is_within_a_factor_of_two_where_the_outer_layer_rules(h, outputs):
    network = Network(1, (h,), outputs)
    objective = Objective(network, Samples.of([[10.0]], np.zeros((1, outputs))))
    theta = np.zeros(network.n_parameters)
    network.layers(theta)[-1].weights[:] = 3.0
    measured, constant = theory.local_lipschitz(objective, theta), theory.lipschitz_constant(objective, 3.0)
    assert 0.5 * constant < measured < constant


@given(problem=problems())
def test_a_weight_of_two_is_a_repeated_row_and_of_zero_none(problem):
    objective, bound, _ = problem
    network, data = objective.network, objective.samples
    rows = np.arange(len(data))
    weighted = Samples.of(
        np.vstack([data.X, data.X[:1] + 9]), np.vstack([data.Y, data.Y[:1]]), [2, *(0 * rows[1:] + 1), 0]
    )
    repeated = Samples.of(data.X[[0, *rows]], data.Y[[0, *rows]])
    found = [theory.lipschitz_constant(Objective(network, s), bound) for s in (weighted, repeated)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


# Theorem 3: the printed constant


def test_the_printed_constant_by_hand():
    network = Network(2, (3,), 2)
    objective = Objective(network, Samples.of([[0.0, 1.0], [2.0, 2.0]], [[5.0, 0.0], [1.0, 1.0]]), ridge=1.0)
    # |x^|^2 = 9, h = 3, two outputs, C_1 = 2.
    expected = 2 * 4 * (2 * np.sqrt(2) * 3 + 1) * np.sqrt(4 * 2 * 4 * 9 + 1)
    assert theory.lipschitz_constant(objective, 2.0, form="printed") == pytest.approx(expected, rel=1e-14)


def test_the_printed_constant_fails_when_y_is_large():
    network = Network(1, (1,))
    objective = Objective(network, Samples.of([[0.0], [1.0]], [20.0, 20.0]))
    theta = np.zeros(network.n_parameters)
    measured = theory.local_lipschitz(objective, theta)
    printed, rigorous = (theory.lipschitz_constant(objective, 0.5, form=form) for form in ("printed", "rigorous"))
    assert printed < 0.5 * measured < measured < rigorous


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("h", [1, 2, 7, 40])
def test_without_y_the_printed_constant_is_safe(h, outputs):
    # Its slack makes up for the factor 2. For y = 0 both constants depend on C_1 sqrt(outputs) |x^| and h alone.
    objective = Objective(Network(1, (h,), outputs), Samples.of([[0.0]], np.zeros((1, outputs))))
    for bound in np.logspace(-4, 4, 50):
        printed, rigorous = (theory.lipschitz_constant(objective, bound, form=f) for f in ("printed", "rigorous"))
        assert rigorous <= printed


# The measured constant


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_measured_constant_of_a_linear_network_is_known(ridge):
    network = Network(4, (), 2)
    data = samples(network, 50, weighted=True)
    objective = Objective(network, data, first_ridge=ridge)
    X = np.column_stack([data.X, np.ones(50)])
    hessian = 2 * (X * data.weights[:, None]).T @ X / 50 + 2 * ridge * np.diag([1, 1, 1, 1, 0])
    expected = np.linalg.eigvalsh(hessian)[-1]
    assert theory.local_lipschitz(objective, parameters(network)) == pytest.approx(expected, rel=1e-5)


def test_the_measured_constant_is_the_norm_of_the_hessian():
    network = Network(3, (4, 3), 2, ("sin", "softplus"))
    theta, objective = parameters(network), Objective(network, samples(network, 30), ridge=0.1)
    hessian = np.array(
        [
            (objective.smooth(theta + 1e-5 * e)[1] - objective.smooth(theta - 1e-5 * e)[1]) / 2e-5
            for e in np.eye(theta.size)
        ]
    )
    assert theory.local_lipschitz(objective, theta) == pytest.approx(np.linalg.norm(hessian, 2), rel=1e-4)


# Theorem 1


@pytest.fixture(scope="module")
def lorenz():
    """Every eighth row of a noisy trajectory of Lorenz-96 (not the paper's), and an initial estimate."""
    start = 8.0 + np.random.default_rng(100).standard_normal(40)
    data = lorenz96_dataset(lorenz_equation(7), x0=start, noise_x=0.02, noise_y=0.02, seed=100)
    X, y = data.X_train[::8], data.y_train[::8]
    rows, network = Samples.of(X / X.std(axis=0), y / y.std()), Network(40, (20,))
    first = adam(network, rows, n_updates=1600, batch_size=100, ridge=1e-3)
    W = network.layers(first.theta)[0].weights
    penalty = InputGroups.of(40).adaptive(W)
    return Objective(network, rows, penalty, 0.3 / penalty.value(W), ridge=1e-3), first.theta


@pytest.fixture(scope="module")
def slow_run(lorenz):
    # A box in which the run by backtracking stays as well.
    return theory.check_loss_decay(*lorenz, outer_bound=2.0)


@pytest.mark.slow
def test_theorem_1_holds_along_a_run_on_lorenz(lorenz, slow_run):
    objective, theta = lorenz
    run = slow_run
    assert run.holds
    assert run.inside
    assert run.step == 0.5 / run.constant == 0.5 / theory.lipschitz_constant(objective, 2.0)
    assert run.printed_margins.shape == run.sharp_margins.shape == (2000,)
    # Far above rounding, which is some 256 units in the last place of F: none was needed to hold.
    assert run.rounding.max() < 1e-12 < 1e-9 < run.worst_margin
    assert (run.bregman >= -run.rounding).all()
    assert (np.diff(run.objectives) < 0).all()
    assert not run.variances.any()
    np.testing.assert_allclose(
        run.objectives[[0, -1]], [objective.smooth(t)[0] + objective.rough(t) for t in (theta, run.theta)], rtol=1e-14
    )


@pytest.mark.slow
def test_backtracking_takes_steps_a_hundred_times_larger(lorenz, slow_run):
    objective, theta = lorenz
    fit = monotone(objective, theta, max_iterations=2000)
    assert fit.n_updates == 2000
    assert (np.diff([slow_run.objectives[0], *fit.losses]) < 0).all()
    assert np.median(fit.steps) > 100 * slow_run.step
    assert fit.steps.mean() > 1000 * slow_run.step
    # In the same box, where the constant covers what the run met.
    assert np.abs(_outer(objective.network, fit.theta)).max() < 2.0
    assert fit.constant < slow_run.constant
    assert fit.losses[-1] < 0.5 * slow_run.objectives[-1]


COVERED = {
    "no penalty": (None, 0.0),
    "groups": (InputGroups.of(4, [[0, 1], [2], [3]]), 0.1),
    "singular values": (SingularValues.of(4, 5), 0.1),
    "second layer": (SecondLayerColumns.of(5), 0.1),
}


@pytest.mark.parametrize("activation", theory.SLOPES)
@pytest.mark.parametrize("name", COVERED)
def test_theorem_1_holds_for_every_convex_penalty(name, activation):
    network = Network(4, (5,), 2, activation)
    objective = Objective(network, samples(network, 40, weighted=True), *COVERED[name], ridge=0.01)
    for fraction in (0.1, 1.0):
        run = theory.check_loss_decay(objective, parameters(network), n_iterations=50, fraction=fraction)
        assert run.holds
        assert run.inside


def test_the_check_can_fail():
    network = Network(4, (5,))
    objective = Objective(network, samples(network, 40), *COVERED["groups"])
    local = theory.local_lipschitz(objective, parameters(network))
    assert theory.check_loss_decay(objective, parameters(network), constant=local, n_iterations=50).holds
    run = theory.check_loss_decay(objective, parameters(network), constant=0.2 * local, n_iterations=50)
    assert not run.holds
    assert run.worst_margin < -1e-3
    assert run.outer_bound == np.inf


def test_leaving_the_box_is_reported():
    network = Network(4, (5,))
    objective, theta = Objective(network, samples(network, 40)), parameters(network)
    usual = theory.check_loss_decay(objective, theta, n_iterations=20)
    assert usual.inside
    assert usual.outer_bound == 2 * usual.outer_entries[0] == 2 * np.abs(_outer(network, theta)).max()
    run = theory.check_loss_decay(
        objective, theta, n_iterations=20, outer_bound=0.5 * np.abs(_outer(network, theta)).max()
    )
    assert not run.inside


def test_the_sharp_margin_is_the_descent_lemma():
    network = Network(3, (4,))
    objective = Objective(network, samples(network, 30), InputGroups.of(3), 0.2)
    theta = parameters(network)
    run = theory.check_loss_decay(objective, theta, n_iterations=1)
    (before, gradient), (after, _) = objective.smooth(theta), objective.smooth(run.theta)
    step = run.theta - theta
    expected = run.constant / 2 * step @ step - (after - before - gradient @ step)
    np.testing.assert_allclose(run.sharp_margins, expected, rtol=1e-9)
    np.testing.assert_allclose(run.squared_steps, step @ step, rtol=1e-12)
    # And the printed one leaves out the Bregman distance and half of C |step|^2.
    np.testing.assert_allclose(
        run.printed_margins, run.sharp_margins + run.bregman + run.constant / 2 * run.squared_steps, rtol=1e-9
    )


def test_bregman_distances_by_hand():
    # W_1 = (w_1, w_2) of one group: D = |w| - <w+, w> / |w+|, the new direction's shortfall.
    network = Network(2, (1,))
    penalty = InputGroups(np.zeros(2, int), np.ones(1), np.zeros(1, bool))
    objective = Objective(network, samples(network, 30), penalty, 0.1)
    theta = parameters(network)
    run = theory.check_loss_decay(objective, theta, n_iterations=1, constant=2.0, fraction=1.0)
    old, new = theta[:2], run.theta[:2]
    expected = 0.1 * (np.linalg.norm(old) - new @ old / np.linalg.norm(new))
    assert run.bregman[0] > 1e-6
    np.testing.assert_allclose(run.bregman, expected, rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_theorem_1_holds_in_expectation(weighted):
    network = Network(3, (4,))
    objective = Objective(network, samples(network, 60, weighted=weighted), InputGroups.of(3), 0.05, ridge=0.01)
    run = theory.check_loss_decay(objective, parameters(network), batch_size=6, n_iterations=100, n_runs=5)
    assert run.holds
    assert 0 < run.variance == run.variances.max()
    assert theory.check_stationarity(run).holds
    again = theory.check_loss_decay(objective, parameters(network), batch_size=6, n_iterations=100, n_runs=5)
    np.testing.assert_array_equal(again.printed_margins, run.printed_margins)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_variance_is_that_of_sampling_without_replacement(weighted):
    network = Network(3, (4,))
    data, theta, n, b = samples(network, 12, weighted=weighted), parameters(network), 12, 5
    objective = Objective(network, data, ridge=0.1)
    each = [network.loss_gradient(theta, Samples(data.X[[i]], data.Y[[i]], data.weights[[i]]))[1] for i in range(n)]
    spread = ((np.array(each) - np.mean(each, axis=0)) ** 2).sum(axis=1).mean()
    run = theory.check_loss_decay(objective, theta, batch_size=b, n_iterations=1, n_runs=600)
    # The mean of 600 squares that scatter by about their own size.
    assert run.variance == pytest.approx(spread * (n - b) / (b * (n - 1)), rel=0.15)
    whole = theory.check_loss_decay(objective, theta, batch_size=n, n_iterations=1, n_runs=1)
    assert whole.variance < 1e-25


# Theorem 2


def test_theorem_2_holds_along_a_run_on_lorenz(lorenz, slow_run):
    objective, _ = lorenz
    bound = theory.check_stationarity(slow_run)
    assert bound.holds
    assert (bound.sharp_bounds < bound.printed_bounds).all()
    assert bound.means.shape == (2000,)
    C, fallen = slow_run.constant, slow_run.objectives[0] - slow_run.objectives[-1]
    # At tau = 1 / (2C): B = (4 + 1) C^2 / C, and (2 + 1)^2 C^2 / (3/2 C).
    assert bound.printed_bounds[-1] == pytest.approx(15 * C * fallen / 2000)
    assert bound.sharp_bounds[-1] == pytest.approx(6 * C * fallen / 2000)
    assert theory.stationarity(objective, slow_run.theta) ** 2 == pytest.approx(slow_run.squared_distances[-1])


def test_theorem_2_can_fail():
    network = Network(4, (5,))
    objective = Objective(network, samples(network, 40), *COVERED["groups"])
    run = theory.check_loss_decay(objective, parameters(network), constant=0.1, n_iterations=50)
    assert not theory.check_stationarity(run).holds


# Distance to stationarity


SMALL = {
    "groups": (InputGroups.of(2), 0.1),
    "one group": (InputGroups.of(2, [[0, 1]]), 0.1),
    "adaptive groups": (InputGroups(np.arange(2), np.array([0.5, 3.0]), np.zeros(2, bool)), 0.1),
    "singular values": (SingularValues.of(2, 2), 0.1),
    "second layer": (SecondLayerColumns.of(2), 0.1),
}


@pytest.mark.parametrize("dead", ["nothing", "one", "all"])
@pytest.mark.parametrize("name", SMALL)
def test_stationarity_is_the_steepest_slope(name, dead):
    penalty, strength = SMALL[name]
    network = Network(2, (2,))
    objective = Objective(network, samples(network, 20), penalty, strength)
    theta = parameters(network, seed=3)
    W = objective.penalised(theta)
    if dead == "one":
        W[:, 1] = 0.0 if name != "singular values" else 2 * W[:, 0]
    elif dead == "all":
        W[:] = 0.0
    _, gradient = objective.smooth(theta)

    G = objective.penalised(gradient).copy()
    objective.penalised(gradient)[:] = 0.0  # the rest of F is smooth: its steepest slope is its gradient

    def slope(direction, shift=1e-6):
        """F along a direction to first order plus 1/2 |direction|^2: its minimum is -1/2 dist(0, subdifferential)^2."""
        V = direction.reshape(W.shape)
        rise = strength * (penalty.value(W + shift * V) - penalty.value(W)) / shift
        return (G * V).sum() + rise + 0.5 * (V**2).sum()

    options = {"xatol": 1e-8, "fatol": 1e-13, "maxiter": 5000, "maxfev": 5000}
    start = -G.ravel()
    for _ in range(3):  # restarts: the simplex of Nelder and Mead collapses at kinks
        start = optimize.minimize(slope, start, method="Nelder-Mead", options=options).x
    steepest = np.hypot(np.linalg.norm(gradient), np.sqrt(max(0.0, -2 * slope(start))))
    # The shift bends the rise by 1e-6 / |W|, and its rounding is 1e-16 over the shift.
    assert theory.stationarity(objective, theta) == pytest.approx(steepest, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("penalty", [InputGroups.of(5), SingularValues.of(5, 6)], ids=["groups", "singular values"])
def test_a_small_problem_converges(penalty):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 5))
    y = np.tanh(X[:, 0]) * X[:, 2] + 0.1 * rng.standard_normal(100)
    network = Network(5, (6,))
    objective = Objective(network, Samples.of(X, y), penalty, 0.02, ridge=0.01)
    fit = monotone(objective, network.initialise(0), max_iterations=20_000, tolerance=1e-6)
    assert fit.outcome is Outcome.CONVERGED
    assert theory.stationarity(objective, fit.theta) == pytest.approx(fit.distance, rel=1e-12)
    assert fit.distance <= 1e-6
    assert theory.stationarity(objective, network.initialise(0)) > 0.1


# Bad input


NETWORK = Network(4, (5,))
DATA, THETA = samples(NETWORK, 20), parameters(NETWORK)
PLAIN = Objective(NETWORK, DATA)
ADAPTIVE = Objective(NETWORK, DATA, SingularValues(np.array([1.0, 2.0, 3.0, 4.0])), 0.1)
FROZEN = Objective(NETWORK, DATA, InputGroups(np.arange(4), np.ones(4), np.arange(4) == 1), 0.1)
DEEP = Objective(Network(4, (5, 5)), DATA)
RELU = Objective(Network(4, (5,), activation="relu"), DATA)
OTHER_LOSS = replace(DATA, loss="Huber")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.lipschitz_constant(PLAIN, -1.0), "outer_bound=-1.0"),
        (lambda: theory.lipschitz_constant(Objective(PLAIN.network, OTHER_LOSS), 1.0), "is for squared error"),
        (lambda: theory.lipschitz_constant(PLAIN, 1.0, form="loose"), "form='loose'.*'rigorous', 'printed'"),
        (lambda: theory.lipschitz_constant(DEEP, 1.0), "2 hidden layers: Theorem 3 is for one.*local_lipschitz"),
        (lambda: theory.lipschitz_constant(Objective(Network(4, ()), DATA), 1.0), "0 hidden layers"),
        *(
            (lambda name=name: theory.lipschitz_constant(Objective(Network(4, (5,), 1, name), DATA), 1.0), message)
            for name, message in [
                ("relu", "'relu'.*unbounded and has a kink.*Choose one of 'tanh', 'sigmoid', 'sin'"),
                ("softplus", "'softplus'.*unbounded"),
                ("identity", "'identity'.*unbounded"),
            ]
        ),
        (lambda: theory.local_lipschitz(RELU, THETA), "activation='relu'.*jumps"),
        (lambda: theory.local_lipschitz(PLAIN, THETA[1:]), "theta has shape"),
        (lambda: theory.local_lipschitz(PLAIN, THETA, max_iterations=0), "max_iterations=0"),
        (lambda: theory.check_loss_decay(ADAPTIVE, THETA), "not convex.*Bregman distance can be negative"),
        (lambda: theory.check_loss_decay(FROZEN, THETA), "not zero where the penalty is frozen"),
        (lambda: theory.check_loss_decay(DEEP, parameters(DEEP.network)), "2 hidden layers"),
        (lambda: theory.check_loss_decay(PLAIN, THETA, fraction=1.5), "fraction=1.5.*at most 1 / C"),
        (lambda: theory.check_loss_decay(PLAIN, THETA, fraction=0.0), "fraction=0.0"),
        (lambda: theory.check_loss_decay(PLAIN, THETA, constant=0.0), "constant=0.0"),
        (lambda: theory.check_loss_decay(PLAIN, THETA, constant=1.0, outer_bound=1.0), "give only one of them"),
        (lambda: theory.check_loss_decay(PLAIN, THETA, batch_size=21), "batch_size=21: there are only 20 samples"),
        (lambda: theory.check_loss_decay(PLAIN, THETA, batch_size=2, n_runs=0), "n_runs=0"),
        (lambda: theory.check_loss_decay(PLAIN, THETA, n_iterations=0), "n_iterations=0"),
        (lambda: theory.stationarity(ADAPTIVE, THETA), "not convex and has no subdifferential"),
        (
            lambda: theory.check_stationarity(theory.check_loss_decay(PLAIN, THETA, n_iterations=1, fraction=1.0)),
            "steps of 1 / C: Theorem 2 needs steps strictly below",
        ),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
