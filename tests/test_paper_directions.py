from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewvars.engine.penalties import SecondLayerColumns
from fewvars.engine.solvers import Outcome
from fewvars.paper import AdaptiveDirectionsRegressor, Configuration
from fewvars.paper.first_stage import Standardised, clear_idle, first_stage, initial_parameters
from fewvars.paper.second_stage import second_stage
from fewvars.problems.metrics import principal_angles
from paper_models import literal

QUICK = Configuration(hidden_layer_sizes=(8, 8, 8), n_first=800, n_second=800, n_strengths=12)
TINY = Configuration(
    hidden_layer_sizes=(3, 3), n_first=300, n_second=300, n_strengths=5, last_strength=5.0, precision="float64"
)
D = 8
TRUE = np.random.default_rng(5).standard_normal((2, D))


@pytest.fixture(scope="module")
def easy():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, D)) * np.geomspace(0.1, 10.0, D)
    z = (X / X.std(axis=0)) @ TRUE.T / np.linalg.norm(TRUE, axis=1)
    return X, 2.0 * np.tanh(z[:, 0]) + 0.5 * z[:, 1] ** 2 + 0.05 * rng.standard_normal(500)


@pytest.fixture(scope="module")
def fitted(easy):
    return literal(AdaptiveDirectionsRegressor, QUICK, random_state=0).fit(*easy)


def standardised(X, y, configuration=TINY):
    return Standardised.of(X, y[:, None], None, configuration)


def network_of(configuration, n_inputs=D):
    return configuration.network(n_inputs, 1, "identity")


# In single precision two orders of summation differ by more than scikit-learn's tolerance of 1e-7.
ROUNDING = {"check_sample_weight_equivalence_on_dense_data": "single precision"}


@parametrize_with_checks(
    [
        literal(AdaptiveDirectionsRegressor, TINY),
        literal(AdaptiveDirectionsRegressor, replace(TINY, precision="float32")),
    ],
    expected_failed_checks=lambda model: ROUNDING if model.precision == "float32" else {},
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_the_directions_of_an_easy_problem(easy, fitted):
    X, y = easy
    assert fitted.n_directions_ == fitted.rank_ == 2
    assert fitted.directions_.shape == (2, D)
    assert principal_angles(TRUE / X.std(axis=0), fitted.directions_, X.std(axis=0))[0] < 6.0
    assert fitted.score(X, y) > 0.95
    assert fitted.outcome_ is Outcome.FINISHED


def test_a_cold_start_begins_every_strength_with_all_columns(easy):
    cold = replace(TINY, start="cold", first_strength=0.5)
    one, all_of_them = (
        literal(AdaptiveDirectionsRegressor, configuration, random_state=0).fit(*easy).path_
        for configuration in (replace(cold, first_strength=5.0, n_strengths=1), cold)
    )
    assert all_of_them.strengths[-1] == pytest.approx(one.strengths[0])
    assert all_of_them.losses[-1] == pytest.approx(one.losses[0], rel=1e-9)


def test_the_function_sees_the_inputs_through_the_directions_alone(easy, fitted):
    X, _ = easy
    blind = np.linalg.svd(fitted.directions_)[2][fitted.n_directions_ :]
    moved = X + np.random.default_rng(1).standard_normal((500, len(blind))) @ blind
    assert np.abs(moved - X).max() > 1.0
    np.testing.assert_allclose(fitted.predict(moved), fitted.predict(X), atol=1e-8)


def test_the_directions_are_in_the_units_of_the_inputs(easy, fitted):
    X, y = easy
    units = 2.0 ** np.arange(-4, 4)  # powers of two: the standardised data are the same to the last bit
    other = clone(fitted).fit(X * units, y)
    np.testing.assert_array_equal(other.directions_ * units, fitted.directions_)
    np.testing.assert_array_equal(other.singular_values_, fitted.singular_values_)


def test_the_first_hidden_layer_is_linear(easy, fitted):
    X, y = easy
    first, second, third, last = fitted.network_.layers(fitted.parameters_)
    values = (X / X.std(axis=0, ddof=1)) @ first.weights.T + first.biases
    values = np.tanh(values @ second.weights.T + second.biases)
    values = np.tanh(values @ third.weights.T + third.biases)
    expected = (values @ last.weights[0] + last.biases[0]) * y.std(ddof=1)
    np.testing.assert_allclose(fitted.predict(X), expected, atol=1e-10)


def test_one_update_is_the_formula_of_the_paper(easy):
    data = standardised(*easy)
    three = replace(TINY, hidden_layer_sizes=(3, 3, 3), n_second=1, n_strengths=1)
    one = replace(three, second_batch_size=500, last_strength=0.5, threshold=0.0)
    network = network_of(one)
    initial = first_stage(network, data.samples, one, 0, 1)
    W = network.layers(initial.theta)[1].weights
    penalty = AdaptiveDirectionsRegressor()._penalty(W)
    found, path = second_stage(network, initial, data.samples, penalty, one, n=500.0, seed=0)
    expected = initial.theta - 0.005 * network.loss_gradient(initial.theta, data.samples)[1]
    columns = network.layers(expected)[1].weights
    norms = np.linalg.norm(columns, axis=0)
    columns *= np.maximum(0.0, norms - path.strengths[0] * 0.005 / np.linalg.norm(W, axis=0) ** 2) / norms
    np.testing.assert_allclose(found.theta, clear_idle(network, expected, 1), atol=1e-12)
    # The unit of lambda: at 1 the penalty of the initial estimate is the variance of y.
    assert 2.0 * path.strengths[0] * penalty.value(W) == pytest.approx(data.samples.Y.var())


def test_the_sum_runs_over_the_columns_of_the_second_layer():
    # The paper writes j = 1..d; W2 (here 2 x 3) has as many columns as the first layer has units.
    W = np.array([[3.0, 0.0, 1.0], [4.0, 2.0, 0.0]])
    np.testing.assert_allclose(AdaptiveDirectionsRegressor()._penalty(W).weights, [1 / 25, 1 / 4, 1.0])


def test_bic_counts_no_parameters_that_nothing_reads(easy, fitted):
    X, y = easy
    residual = (fitted.predict(X) - y) / y.std(ddof=1)
    path, k = fitted.path_, fitted.n_directions_
    expected = 500 * np.log(np.mean(residual**2)) + np.log(500) * np.count_nonzero(fitted.parameters_)
    # The path was computed in single precision.
    assert path.bic.min() == pytest.approx(expected, rel=1e-4)
    assert np.count_nonzero(fitted.parameters_) <= k * D + k + 8 * k + 8 + 8 * 8 + 8 + 8 + 1
    assert fitted.lambda_ == path.strengths[path.best]
    assert path.sizes[path.best] == k
    assert path.supports.shape == (len(path.sizes), 8)
    assert fitted.initial_norms_.shape == (8,)


def test_units_that_nothing_reads_are_cleared():
    network = Configuration(hidden_layer_sizes=(3, 3, 3)).network(2, 1, "identity")
    theta = np.ones(network.n_parameters)
    network.layers(theta)[1].weights[:, 1] = 0.0
    first, second, *_ = network.layers(clear_idle(network, theta, 1))
    np.testing.assert_array_equal(first.weights, [[1, 1], [0, 0], [1, 1]])
    np.testing.assert_array_equal(first.biases, [1, 0, 1])
    np.testing.assert_array_equal(second.weights, [[1, 0, 1]] * 3)
    np.testing.assert_array_equal(clear_idle(network, theta, 0), theta)
    assert network.layers(theta)[0].weights.all()  # the argument is left alone


def test_columns_that_died_stay_out(easy):
    path = literal(AdaptiveDirectionsRegressor, replace(QUICK, threshold=0.0), random_state=1).fit(*easy).path_
    assert path.sizes[0] > path.sizes[-1]
    assert not (path.supports[1:] & ~path.supports[:-1]).any()


def test_the_path_ends_where_nothing_is_left(easy):
    model = literal(AdaptiveDirectionsRegressor, replace(QUICK, last_strength=1e4, n_strengths=20), random_state=0).fit(
        *easy
    )
    assert model.path_.sizes[-1] == 0
    assert len(model.path_.sizes) < 20
    assert model.n_directions_ == 2


def test_the_first_two_layers_begin_small(easy):
    samples = standardised(*easy).samples
    small, usual = (
        network_of(TINY).layers(initial_parameters(network_of(TINY), samples, replace(TINY, first_layer_scale=s), 0, 1))
        for s in (0.25, 1.0)
    )
    for layer, factor in enumerate((0.25, 0.25, 1.0)):
        np.testing.assert_array_equal(small[layer].weights, factor * usual[layer].weights)


def test_the_penalty_is_scale_degenerate(easy, fitted):
    # Erratum: growing W1 and shrinking W2 leaves the function as it is and lowers the penalty.
    X, _ = easy
    theta = fitted.parameters_.copy()
    first, second, *_ = fitted.network_.layers(theta)
    penalty = SecondLayerColumns.of(8)
    before = penalty.value(second.weights)
    first.weights[:] *= 2.0
    first.biases[:] *= 2.0
    second.weights[:] /= 2.0
    scaled = X / fitted.x_scale_
    np.testing.assert_allclose(
        fitted.network_.predict(theta, scaled), fitted.network_.predict(fitted.parameters_, scaled), rtol=1e-10
    )
    assert penalty.value(second.weights) == pytest.approx(before / 2.0)


def test_the_penalty_counts_columns_and_not_rank(easy):
    # Erratum: a direction split over two units costs the penalty nothing and is counted twice.
    X, y = easy
    model = literal(AdaptiveDirectionsRegressor, QUICK, random_state=0).fit(X, y)
    values, predicted = model.singular_values_, model.predict(X)
    first, second, *_ = model.network_.layers(model.parameters_)
    penalty = SecondLayerColumns.of(8).value(second.weights)
    living = second.weights.any(axis=0)
    one, idle = np.flatnonzero(living)[0], np.flatnonzero(~living)[0]
    first.weights[idle], first.biases[idle] = first.weights[one], first.biases[one]
    second.weights[:, one] /= 2.0
    second.weights[:, idle] = second.weights[:, one]
    model._interpret()
    np.testing.assert_allclose(model.predict(X), predicted, rtol=1e-10)
    assert SecondLayerColumns.of(8).value(second.weights) == pytest.approx(penalty)
    assert (model.n_directions_, model.rank_) == (3, 2)
    np.testing.assert_allclose(model.singular_values_, [*values, 0.0], atol=1e-12)


def test_a_seed_gives_one_result(easy):
    first, second, other = (
        literal(AdaptiveDirectionsRegressor, TINY, random_state=seed).fit(*easy) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.parameters_, second.parameters_)
    assert not np.array_equal(first.parameters_, other.parameters_)


def test_several_outputs_share_the_directions(easy):
    X, _ = easy
    z = X / X.std(axis=0)
    Y = np.stack([z[:, 0] + z[:, 1] + 100.0, 1e-3 * np.tanh(z[:, 3])], axis=1)
    model = literal(AdaptiveDirectionsRegressor, QUICK, random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) > 0.9
    assert model.rank_ >= 2


def test_constant_inputs_are_in_no_direction(easy):
    X, y = easy[0].copy(), easy[1]
    X[:, 2], X[:, 5] = 0.0, 1e6 / 3
    model = literal(AdaptiveDirectionsRegressor, QUICK, random_state=0).fit(X, y)
    assert not model.directions_[:, [2, 5]].any()
    assert model.directions_.any()
    assert np.isfinite(model.predict(X + 1.0)).all()


@pytest.mark.parametrize("value", [0.0, -3.0, 1e10])
def test_a_constant_output(easy, value):
    X, _ = easy
    model = literal(AdaptiveDirectionsRegressor, QUICK, random_state=0).fit(X, np.full(500, value))
    np.testing.assert_allclose(model.predict(X), value, atol=1e-3 * max(1.0, abs(value)))
    assert model.outcome_ is Outcome.FINISHED


def test_nothing_to_go_by():
    y = np.arange(6.0)
    model = literal(AdaptiveDirectionsRegressor, TINY, random_state=0).fit(np.ones((6, 3)), y)
    assert not model.directions_.any()
    np.testing.assert_allclose(model.predict(np.ones((2, 3))), y.mean(), atol=0.1)


def test_no_direction_at_all(easy):
    X, y = easy
    nothing = replace(QUICK, first_strength=1e6, last_strength=1e6, n_strengths=1)
    model = literal(AdaptiveDirectionsRegressor, nothing, random_state=0).fit(X, y)
    assert model.n_directions_ == model.rank_ == 0
    assert model.directions_.shape == (0, D)
    assert model.singular_values_.shape == (0,)
    assert np.ptp(model.predict(X)) < 1e-12


def test_two_samples_and_one_hidden_layer_are_enough():
    model = literal(AdaptiveDirectionsRegressor, replace(TINY, hidden_layer_sizes=(3,)), random_state=0)
    model.fit([[0.0, 1.0], [1.0, 1.0]], [3.0, 4.0])
    assert np.isfinite(model.predict([[0.5, 1.0]])).all()


def test_it_selects_no_inputs(fitted):
    assert not hasattr(fitted, "support_")
    assert not hasattr(fitted, "get_support")


def test_divergence_is_told(easy):
    with pytest.warns(ConvergenceWarning, match="Lower the learning rate"):
        model = literal(AdaptiveDirectionsRegressor, replace(TINY, learning_rate=1e6), random_state=0).fit(*easy)
    assert model.outcome_ is Outcome.DIVERGED
    assert np.isfinite(model.predict(easy[0])).all()


def test_bad_input(easy):
    X, y = easy
    with pytest.raises(ValueError, match=r"sample_weight sums to 0\.5: a weight counts"):
        literal(AdaptiveDirectionsRegressor, TINY).fit(X, y, sample_weight=np.full(500, 1 / 1000))
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        literal(AdaptiveDirectionsRegressor, TINY).fit(X[:1], y[:1])
