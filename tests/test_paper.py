from dataclasses import FrozenInstanceError, asdict, replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewvars.engine.penalties import InputGroups
from fewvars.engine.solvers import Outcome, adam
from fewvars.paper import AdaptiveDirectionsRegressor, AdaptiveGroupLassoRegressor, Configuration
from fewvars.paper.baselines import GroupLassoRegressor, NeuralRegressor
from fewvars.paper.first_stage import Stage, Standardised, cut, first_stage, initial_parameters
from fewvars.paper.second_stage import bic_of_losses, second_stage
from paper_models import literal

ALL = (AdaptiveGroupLassoRegressor, GroupLassoRegressor, NeuralRegressor)
QUICK = Configuration(hidden_layer_sizes=(10, 10, 10), n_first=800, n_second=300, n_strengths=12)
TINY = Configuration(hidden_layer_sizes=(5, 5), n_first=300, n_second=20, n_strengths=5, precision="float64")


@pytest.fixture(scope="module")
def easy():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8))
    return X, X[:, 1] * X[:, 4] - 2.0 * X[:, 6] + 0.1 * rng.standard_normal(400)


@pytest.fixture(scope="module")
def adaptive(easy):
    return literal(AdaptiveGroupLassoRegressor, QUICK, random_state=0).fit(*easy)


def standardised(X, y, configuration=TINY, sample_weight=None):
    return Standardised.of(X, y.reshape(len(y), -1), sample_weight, configuration)


# In single precision two orders of summation differ by more than scikit-learn's tolerance of 1e-7.
ROUNDING = {"check_sample_weight_equivalence_on_dense_data": "single precision"}


# Some checks have inputs of mean 100 and deviation 1, from which so small a budget learns nothing.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [
        literal(AdaptiveGroupLassoRegressor, TINY),
        literal(GroupLassoRegressor, TINY),
        literal(NeuralRegressor, TINY),
        literal(AdaptiveGroupLassoRegressor, replace(TINY, precision="float32")),
    ],
    expected_failed_checks=lambda model: ROUNDING if model.precision == "float32" else {},
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_the_data_are_scaled_by_sample_deviations_and_not_centred(easy):
    X, y = easy[0] * 3.0 + 5.0, easy[1] * 0.1 - 7.0
    data = standardised(X, y)
    np.testing.assert_allclose(data.samples.X, X / X.std(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(data.samples.Y[:, 0] + data.offset, y / y.std(ddof=1), rtol=1e-12)
    np.testing.assert_allclose(data.offset, y.mean() / y.std(ddof=1))
    assert standardised(X, y, replace(TINY, bias_at_mean=False)).offset == 0


def test_weights_count_rows(easy):
    X, y = easy[0][:20], easy[1][:20]
    counts = np.arange(20) % 4
    weighted, repeated = (
        standardised(X, y, sample_weight=counts.astype(float)),
        standardised(X.repeat(counts, axis=0), y.repeat(counts)),
    )
    np.testing.assert_allclose(weighted.x_scale, repeated.x_scale)
    np.testing.assert_allclose(weighted.y_scale, repeated.y_scale)
    np.testing.assert_allclose(weighted.offset, repeated.offset)
    assert weighted.n == repeated.n == counts.sum()


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_deviations_do_not_overflow(easy, scale):
    X, y = easy
    np.testing.assert_allclose(standardised(X * scale, y).x_scale, X.std(axis=0, ddof=1) * scale)


def test_the_offset_is_an_output_bias_that_begins_at_the_mean(easy):
    X, y = easy[0], easy[1] + 30.0
    data, plain = standardised(X, y), standardised(X, y, replace(TINY, bias_at_mean=False))
    network = TINY.network(8, 1)
    shifted = first_stage(network, data.samples, TINY, 3).theta
    theta = initial_parameters(network, plain.samples, TINY, 3)
    network.layers(theta)[-1].biases[:] = data.offset
    direct = adam(network, plain.samples, theta=theta, n_updates=300, batch_size=100, seed=3).theta
    network.layers(shifted)[-1].biases[:] += data.offset
    np.testing.assert_allclose(shifted, direct, atol=1e-8)


def test_one_update_is_the_formula_of_the_paper(easy):
    data = standardised(*easy)
    one = replace(TINY, n_second=1, n_strengths=1, second_batch_size=400, last_strength=0.5, threshold=0.0)
    network = one.network(8, 1)
    initial = first_stage(network, data.samples, one, 0)
    W = network.layers(initial.theta)[0].weights
    penalty = InputGroups.of(8).adaptive(W)
    found, path = second_stage(network, initial, data.samples, penalty, one, n=400.0, seed=0)
    expected = initial.theta - 0.005 * network.loss_gradient(initial.theta, data.samples)[1]
    column = network.layers(expected)[0].weights
    norms = np.linalg.norm(column, axis=0)
    shrunk = np.maximum(0.0, norms - path.strengths[0] * 0.005 / np.linalg.norm(W, axis=0) ** 2)
    column *= shrunk / norms
    np.testing.assert_allclose(found.theta, expected, atol=1e-12)
    # The unit of lambda: at 1 the penalty of the initial estimate is the variance of y.
    assert 2.0 * path.strengths[0] * penalty.value(W) == pytest.approx(data.samples.Y.var())


def test_the_weights_are_inverse_squared_norms():
    W = np.array([[3.0, 0.0, 1.0], [4.0, 2.0, 0.0]])
    np.testing.assert_allclose(AdaptiveGroupLassoRegressor()._penalty(W).weights, [1 / 25, 1 / 4, 1.0])
    np.testing.assert_allclose(GroupLassoRegressor()._penalty(W).weights, [1.0, 1.0, 1.0])


def test_bic_against_a_forward_pass_by_hand(easy, adaptive):
    X, y = easy
    values, path = X / X.std(axis=0, ddof=1), adaptive.path_
    layers = adaptive.network_.layers(adaptive.parameters_)
    for weights, biases in layers[:-1]:
        values = np.tanh(values @ weights.T + biases)
    residual = values @ layers[-1].weights[0] + layers[-1].biases[0] - y / y.std(ddof=1)
    expected = 400 * np.log(np.mean(residual**2)) + np.log(400) * np.count_nonzero(adaptive.parameters_)
    # The path was computed in single precision.
    assert path.bic.min() == pytest.approx(expected, rel=1e-4)
    assert adaptive.lambda_ == path.strengths[path.bic.argmin()]
    assert path.sizes[path.best] == adaptive.support_.sum()
    assert (path.supports.sum(axis=1) == path.sizes).all()


def test_bic_with_several_outputs_and_other_readings():
    losses, df = np.array([0.5, 0.2]), np.array([10, 20])
    np.testing.assert_allclose(bic_of_losses(losses, df, 50.0, 2), 100 * np.log(losses / 2) + df * np.log(50))
    np.testing.assert_allclose(bic_of_losses(losses, df, 50.0, 1, likelihood="unit"), 50 * losses + df * np.log(50))
    assert np.isfinite(bic_of_losses(np.zeros(1), np.ones(1), 50.0, 1)).all()


def test_the_degrees_of_freedom_may_count_inputs(easy):
    path = literal(AdaptiveGroupLassoRegressor, replace(TINY, degrees_of_freedom="inputs")).fit(*easy).path_
    np.testing.assert_array_equal(path.degrees_of_freedom, path.sizes)


def test_small_parameters_are_cut_one_by_one(adaptive):
    np.testing.assert_array_equal(cut(np.array([9e-5, -9e-5, 1.1e-4, -1.0]), 1e-4), [0.0, 0.0, 1.1e-4, -1.0])
    size = np.abs(adaptive.parameters_[:-1])  # the last is the output bias, to which the mean was added
    assert (size[size > 0] >= 1e-4).all()


@pytest.mark.parametrize("start", ["warm", "cold"])
def test_the_support_of_an_easy_problem(easy, start):
    X, y = easy
    model = literal(AdaptiveGroupLassoRegressor, replace(QUICK, start=start), random_state=1).fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), [1, 4, 6])
    np.testing.assert_array_equal(model.transform(X), X[:, [1, 4, 6]])
    assert model.score(X, y) > 0.9
    assert model.outcome_ is Outcome.FINISHED
    assert not model.network_.layers(model.parameters_)[0].weights[:, ~model.support_].any()


def test_the_baselines(easy):
    X, y = easy
    plain = literal(NeuralRegressor, QUICK, random_state=0).fit(X, y)
    lasso = literal(GroupLassoRegressor, QUICK, random_state=0).fit(X, y)
    assert plain.support_.all()
    assert lasso.support_[[1, 4, 6]].all()
    assert plain.score(X, y) > 0.9
    assert lasso.score(X, y) > 0.9
    assert plain.n_iter_ == 800
    assert 800 < lasso.n_iter_ <= 800 + 12 * 300
    assert not hasattr(plain, "lambda_")


def test_the_path_ends_where_no_input_is_left(easy):
    model = literal(AdaptiveGroupLassoRegressor, replace(QUICK, last_strength=1e6), random_state=0).fit(*easy)
    sizes = model.path_.sizes
    assert sizes[-1] == 0
    assert len(sizes) < 12
    assert (np.diff(sizes) <= 0).all()
    np.testing.assert_array_equal(model.get_support(indices=True), [1, 4, 6])


@pytest.mark.parametrize("kind", ALL)
def test_a_seed_gives_one_result(easy, kind):
    first, second, other = (literal(kind, TINY, random_state=seed).fit(*easy) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.parameters_, second.parameters_)
    assert not np.array_equal(first.parameters_, other.parameters_)


@pytest.mark.parametrize("kind", ALL)
def test_several_outputs(easy, kind):
    X, _ = easy
    Y = np.stack([X[:, 0] + 100.0, -1e-3 * X[:, 3]], axis=1)
    model = literal(kind, QUICK, random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) > 0.9
    assert model.support_[[0, 3]].all()


@pytest.mark.parametrize("kind", ALL)
def test_constant_inputs_are_never_selected(easy, kind):
    X, y = easy[0].copy(), easy[1]
    X[:, 2], X[:, 5] = 0.0, 1e6 / 3
    model = literal(kind, QUICK, random_state=0).fit(X, y)
    assert not model.support_[[2, 5]].any()
    assert model.support_[[1, 4, 6]].all()
    assert np.isinf(model.x_scale_[[2, 5]]).all()
    assert np.isfinite(model.predict(X + 1.0)).all()


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("value", [0.0, -3.0, 1e10])
def test_a_constant_output(easy, kind, value):
    X, _ = easy
    model = literal(kind, QUICK, random_state=0).fit(X, np.full(400, value))
    np.testing.assert_allclose(model.predict(X), value, atol=0.05 * max(1.0, abs(value)))


@pytest.mark.parametrize("kind", ALL)
def test_nothing_to_go_by(kind):
    y = np.arange(6.0)
    model = literal(kind, TINY, random_state=0).fit(np.ones((6, 3)), y)
    assert not model.support_.any()
    np.testing.assert_allclose(model.predict(np.ones((2, 3))), y.mean(), atol=0.1)


@pytest.mark.parametrize("kind", ALL)
def test_two_samples_are_enough(kind):
    model = literal(kind, TINY, random_state=0).fit([[0.0, 1.0], [1.0, 1.0]], [3.0, 4.0])
    assert np.isfinite(model.predict([[0.5, 1.0]])).all()


def test_a_large_mean_of_the_output_costs_no_digits(easy):
    X, y = easy
    model = literal(AdaptiveGroupLassoRegressor, QUICK, random_state=0).fit(X, y + 1e9)
    assert model.score(X, y + 1e9) > 0.9


def test_names(easy):
    X = pd.DataFrame(easy[0], columns=list("abcdefgh"))
    model = literal(AdaptiveGroupLassoRegressor, QUICK, random_state=0).fit(X, easy[1])
    assert model.get_feature_names_out().tolist() == ["b", "e", "g"]
    assert model.set_output(transform="pandas").transform(X).columns.tolist() == ["b", "e", "g"]


@pytest.mark.parametrize("kind", ALL)
def test_divergence_is_told(easy, kind):
    with pytest.warns(ConvergenceWarning, match="Lower the learning rate"):
        model = literal(kind, replace(TINY, learning_rate=1e6), random_state=0).fit(*easy)
    assert model.outcome_ is Outcome.DIVERGED
    assert np.isfinite(model.predict(easy[0])).all()


def test_a_diverged_first_stage_is_remembered(easy):
    data, network = standardised(*easy), TINY.network(8, 1)
    initial = Stage(first_stage(network, data.samples, TINY, 0).theta, 300, Outcome.DIVERGED)
    found, _ = second_stage(network, initial, data.samples, InputGroups.of(8), TINY, n=400.0, seed=0)
    assert found.outcome is Outcome.DIVERGED


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_layer_sizes": (5, 0)}, "hidden_layer_sizes=0"),
        ({"hidden_layer_sizes": ()}, r"hidden_layer_sizes=\(\)"),
        ({"hidden_layer_sizes": 20}, "hidden_layer_sizes=20: give the width of each hidden layer"),
        ({"n_first": -1}, "n_first=-1"),
        ({"n_second": 1.5}, "n_second=1.5"),
        ({"learning_rate": 0.0}, "learning_rate=0.0"),
        ({"threshold": -1.0}, "threshold=-1.0"),
        ({"last_strength": 0.1}, "last_strength=0.1"),
        ({"initialisation": "zero"}, "choose one of 'glorot', 'fan_in'"),
        ({"start": "hot"}, "start='hot'"),
        ({"likelihood": "none"}, "likelihood='none'"),
        ({"degrees_of_freedom": 3}, "degrees_of_freedom=3"),
        ({"precision": "half"}, "precision='half'"),
        ({"bias_at_mean": None}, "bias_at_mean=None"),
    ],
)
def test_bad_choices(easy, changes, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **changes)
    with pytest.raises(ValueError, match=message):
        literal(AdaptiveGroupLassoRegressor, TINY).set_params(**changes).fit(*easy)


@pytest.mark.parametrize("kind", [*ALL, AdaptiveDirectionsRegressor])
def test_the_parameters_are_the_choices_of_the_configuration(kind):
    choices, parameters = asdict(Configuration()), kind().get_params()
    assert parameters.pop("random_state", "missing") is None
    assert parameters == {name: choices[name] for name in parameters}
    assert kind is NeuralRegressor or parameters.keys() == choices.keys()


def test_grid_search_reaches_every_choice(easy):
    model = literal(NeuralRegressor, TINY, random_state=0)
    search = GridSearchCV(model, {"n_first": [0, 300], "hidden_layer_sizes": [(3,), (5, 5)]}, cv=2).fit(*easy)
    assert search.best_params_["n_first"] == 300
    assert len(set(search.cv_results_["mean_test_score"])) > 2


def test_the_configuration_is_frozen():
    with pytest.raises(FrozenInstanceError):
        TINY.n_first = 3


@pytest.mark.parametrize("kind", ALL)
def test_bad_input(easy, kind):
    X, y = easy
    with pytest.raises(ValueError, match="sample_weight sums to 1: a weight counts"):
        literal(kind, TINY).fit(X, y, sample_weight=np.full(400, 1 / 400))
    with pytest.raises(ValueError, match=r"sums to 1\.5: a weight counts how often .* at least two rows"):
        literal(kind, TINY).fit(X, y, sample_weight=np.full(400, 1.5 / 400))
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        literal(kind, TINY).fit(X[:1], y[:1])


def test_the_other_initialisation(easy):
    configuration = replace(TINY, initialisation="fan_in", first_layer_scale=1.0)
    theta = initial_parameters(configuration.network(8, 1), standardised(*easy).samples, configuration, 0)
    first = configuration.network(8, 1).layers(theta)[0]
    assert 0.9 / np.sqrt(8) < np.abs(first.weights).max() < 1 / np.sqrt(8)
    assert first.biases.all()
