"""Few directions: the polynomial of combinations, the path of ranks, the search and the estimator."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import fewvars as fv
from fewvars.engine.network import Network
from fewvars.engine.penalties import SingularValues
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, levenberg_marquardt
from fewvars.estimators.comparison import Comparison, _prepared
from fewvars.search.directions.choice import choose_directions
from fewvars.search.directions.path import full_to_zero_rank
from fewvars.search.directions.ranks import RankSearch
from fewvars.search.directions.ridge_functions import NetworkForm, PolynomialForm
from fewvars.search.directions.ridge_polynomial import RidgePolynomial
from fewvars.search.directions.starts import low_rank
from fewvars.search.held_out import HeldOut
from fewvars.search.path import Path
from problems import TINY_NETWORKS, failures_by_held_out_rows

# The directions are found before the head is fitted, and networks would take most of the time.
QUICK = {"first_updates": 400, "path_updates": 100, "refit_updates": 600, "path_factor": 1.3, "head": "dictionary"}


def problem(g, k, n=800, d=8, noise=0.05, seed=0):
    """Return X, y and orthonormal directions (k, d)."""
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.standard_normal((d, k)))[0].T
    X = rng.standard_normal((n, d))
    return X, g(X @ A.T) + noise * rng.standard_normal(n), A


def degrees(found, truth):
    return np.degrees(subspace_angles(np.atleast_2d(found).T, truth.T).max())


def assert_gradient(model, X):
    """Compare the derivatives by the fourth input with finite differences."""
    step = 1e-5 * np.eye(X.shape[1])[3]
    numeric = (model.predict(X + step) - model.predict(X - step)) / 2e-5
    assert_allclose(model.gradient(X)[:, 3], numeric, rtol=1e-4, atol=1e-6)


def two(Z):
    return np.tanh(2.0 * Z[:, 0]) + Z[:, 0] * Z[:, 1]


@pytest.fixture(scope="module")
def fitted():
    X, y, A = problem(two, 2)
    return X, y, A, fv.FewDirectionsRegressor(random_state=0, **QUICK).fit(X, y)


class TestRidgePolynomial:
    @pytest.mark.parametrize("outputs", [1, 3])
    def test_the_parameter_jacobian_is_that_of_finite_differences(self, outputs):
        rng = np.random.default_rng(1)
        model = RidgePolynomial.of(4, 2, 3, outputs)
        theta = rng.standard_normal(model.n_parameters)
        X = rng.standard_normal((20, 4))
        steps = 1e-6 * np.eye(theta.size)
        expected = [(model.predict(theta + h, X) - model.predict(theta - h, X)).T / 2e-6 for h in steps]
        assert_allclose(model.parameter_jacobian(theta, X), expected, rtol=1e-6, atol=1e-6)

    def test_last_combination_may_be_linear_only(self):
        exponents = RidgePolynomial.of(5, 2, 2, last_linear=True).exponents.tolist()
        assert sorted(exponents) == [[0, 0], [0, 1], [1, 0], [2, 0]]

    def test_start_is_the_least_squares_fit(self):
        X, y, A = problem(lambda Z: 1.0 + Z[:, 0] - 2.0 * Z[:, 0] * Z[:, 1], 2, noise=0.0)
        model = RidgePolynomial.of(8, 2, 2)
        theta = model.start(A, Samples.of(X, y))
        assert_allclose(model.predict(theta, X)[:, 0], y, atol=1e-10)

    def test_levenberg_marquardt_finds_the_directions(self):
        X, y, A = problem(lambda Z: Z[:, 0] ** 2 - Z[:, 1] + 3.0, 2, noise=0.0)
        model, samples = RidgePolynomial.of(8, 2, 2), Samples.of(X, y)
        start = model.start(A + 0.3 * np.random.default_rng(2).standard_normal(A.shape), samples)
        fit = levenberg_marquardt(model, samples, theta=start, ridge=0.0, max_iterations=50)
        assert degrees(model.layers(fit.theta)[0].weights, A) < 0.01

    def test_shapes_must_fit(self):
        with pytest.raises(ValueError, match="this polynomial needs"):
            levenberg_marquardt(RidgePolynomial.of(2, 1, 2), Samples.of(np.eye(2), np.ones(2)), theta=np.ones(3))


class TestPath:
    def run(self, seed=0):
        X, y, _ = problem(two, 2)
        samples = Samples.of(X, y / y.std(), dtype=np.float32)
        network = Network(8, (6, 6))
        theta = network.initialise(seed, np.float32)
        penalty = SingularValues.of(8, 6).adaptive(network.layers(theta)[0].weights)
        return network, full_to_zero_rank(network, theta, samples, penalty, factor=1.5, updates=60, seed=seed)

    def test_it_ends_without_directions(self):
        network, (path, thetas) = self.run()
        assert path.outcome is Outcome.FINISHED
        assert path.sizes[-1] == 0
        assert (np.diff(path.strengths) > 0).all()
        for rank, theta in thetas.items():
            values = np.linalg.svd(network.layers(theta)[0].weights, compute_uv=False)
            assert (values > 1e-4 * max(values[0], 1e-30)).sum() == rank

    def test_it_is_deterministic(self):
        assert_array_equal(self.run()[1][0].magnitudes, self.run()[1][0].magnitudes)

    def test_empty(self):
        assert Path.empty(3).sizes.shape == (0,)


def test_cutting_to_full_rank_changes_nothing():
    network = Network(5, (4, 3), 2)
    theta = network.initialise(0)
    X = np.random.default_rng(0).standard_normal((10, 5))
    factored, parameters = low_rank(network, theta, 4)
    assert_allclose(factored.predict(parameters, X), network.predict(theta, X), atol=1e-12)


class TestForms:
    @pytest.mark.parametrize("form", [PolynomialForm(3), NetworkForm()])
    def test_joint_fits_mend_the_directions(self, form):
        X, y, A = problem(two, 2, noise=0.01)
        start = A + 0.1 * np.random.default_rng(3).standard_normal(A.shape)
        function = form.fit(Samples.of(X, y), start)
        assert degrees(function.directions, A) < min(3.0, degrees(start, A))
        numeric = (function.predict(X[:5] + 1e-6 * np.eye(8)[2]) - function.predict(X[:5])) / 1e-6
        assert_allclose(function.gradient(X[:5])[:, :, 2], numeric, rtol=1e-3, atol=1e-4)

    def test_a_linear_rest_is_evident(self):
        X, y, A = problem(lambda Z: Z[:, 0] ** 2 + 0.05 * Z[:, 1], 2, n=2000, noise=0.2)
        rows = np.arange(2000)
        held_out = HeldOut.of([(rows[rows % 4 != k], rows[rows % 4 == k]) for k in range(4)], np.ones(2000))
        search = RankSearch(Samples.of(X, y), held_out)
        direction, evidence = search.linear_rest(search.candidate(PolynomialForm(2), A[:1]))
        assert evidence > 2.0
        assert degrees(direction, A[1:]) < 45.0
        without = RankSearch(Samples.of(X, y - 0.05 * X @ A[1]), held_out)
        assert without.linear_rest(without.candidate(PolynomialForm(2), A[:1]))[1] < 2.0


@pytest.mark.slow
class TestEstimator:
    def test_it_finds_the_directions(self, fitted):
        X, y, A, model = fitted
        assert model.n_directions_ == 2
        assert degrees(model.directions_ * X.std(axis=0), A * X.std(axis=0)) < 1.0
        assert model.score(X, y) > 0.96  # a polynomial follows the tanh so well

    def test_transform(self, fitted):
        X, _, _, model = fitted
        Z = model.transform(X)
        assert_allclose(Z, (X - model.mean_) @ model.directions_.T)
        assert_array_equal(model.get_feature_names_out(), ["fewdirectionsregressor0", "fewdirectionsregressor1"])
        assert model.set_output(transform="pandas").transform(X).shape == (800, 2)
        model.set_output(transform="default")

    def test_order_sign_and_scale(self, fitted):
        X, _, _, model = fitted
        loadings = model.directions_ * X.std(axis=0)
        assert_allclose(loadings @ loadings.T, np.eye(2), atol=1e-8)
        assert (np.diff(model.singular_values_) <= 0).all()
        assert (loadings[np.arange(2), np.abs(loadings).argmax(axis=1)] > 0).all()

    def test_gradient(self, fitted):
        X, _, _, model = fitted
        assert_gradient(model, X[:6])

    def test_evidence_is_kept(self, fitted):
        *_, model = fitted
        assert 2 in model.ranks_
        assert model.rank_errors_.shape == model.rank_errors_se_.shape == model.ranks_.shape
        assert 0 < model.held_out_error_ < 0.1
        assert model.path_.sizes[model.path_.strengths == model.lambda_][0] >= 2

    def test_findings_say_it_all_in_one_record(self, fitted):
        model = fitted[-1]
        found = model.findings()
        assert (found.kind, found.count, found.names) == ("directions", 2, ("z0", "z1"))
        assert_array_equal(found.importances, model.singular_values_)
        assert_array_equal(found.sizes, model.ranks_)
        assert found.chosen_size == 2
        assert np.isnan(found.importances_se).all()

    def test_pickle(self, fitted):
        X, _, _, model = fitted
        assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))

    def test_same_seed_same_model_whatever_the_threads(self):
        X, y, _ = problem(two, 2, n=200)
        one, other = (fv.FewDirectionsRegressor(random_state=3, n_jobs=n, **QUICK).fit(X, y) for n in (1, 2))
        assert_array_equal(one.directions_, other.directions_)
        assert_array_equal(one.predict(X), other.predict(X))

    def test_a_function_of_the_mean(self):
        X, _, _ = problem(two, 2, n=600)
        model = fv.FewDirectionsRegressor(random_state=0, **QUICK).fit(X, np.sin(X.mean(axis=1) * 4.0))
        assert model.n_directions_ == 1
        assert degrees(model.directions_, np.ones((1, 8))) < 3.0

    @pytest.mark.parametrize("noise", [0.0, 0.01])
    @pytest.mark.parametrize("slope", [1.0, 3.0])
    def test_one_direction_that_networks_see_as_several(self, slope, noise):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((500, 6))
        y = np.tanh(slope * X.mean(axis=1) * np.sqrt(6)) + noise * rng.standard_normal(500)
        model = fv.FewDirectionsRegressor(random_state=0, **QUICK).fit(X, y)
        assert model.n_directions_ == 1
        assert degrees(model.directions_, np.ones((1, 6))) < 2

    @pytest.mark.parametrize("limit", [{"max_rank": 1}, {"hidden_layer_sizes": (1, 8)}], ids=str)
    def test_no_more_directions_than_considered(self, limit):
        X = np.random.default_rng(0).standard_normal((500, 6))
        y = (X[:, 0] + X[:, 1]) ** 2 + 0.15 * (X[:, 2] - X[:, 3])
        model = fv.FewDirectionsRegressor(random_state=0, **QUICK, **limit).fit(X, y)
        assert model.n_directions_ == 1
        assert max(model.ranks_) == 1

    def test_trajectory_is_smoothed_and_rows_without_weight_do_not_count(self):
        rng = np.random.default_rng(5)
        t = np.tile(np.arange(400) * 0.05, 2)
        label = np.repeat(["a", "b"], 400)
        phase = np.where(label == "a", 0.0, 2.0)
        clean = np.column_stack([np.sin((1 + 0.37 * j) * t + j + phase) for j in range(6)])
        truth = (clean[:, 1] + clean[:, 3]) ** 2
        X, y = clean + 0.15 * rng.standard_normal(clean.shape), truth + 0.02 * rng.standard_normal(800)
        weight = (rng.random(800) < 0.9).astype(float)
        y[weight == 0] = 1e3
        model = fv.FewDirectionsRegressor(random_state=0, **QUICK).fit(X, y, weight, t=t, trajectory=label)
        assert model.smoothed_
        assert model.n_directions_ == 1
        assert degrees(model.directions_, np.eye(6)[[1]] + np.eye(6)[[3]]) < 8
        error = model.predict(X, t=t, trajectory=label) - truth
        assert np.sqrt(np.mean(error**2)) < 0.2 * truth.std()

    def test_rounding_is_no_direction(self):
        X = np.random.default_rng(0).standard_normal((500, 6))
        assert fv.FewDirectionsRegressor(random_state=0, **QUICK).fit(X, X.sum(axis=1)).n_directions_ == 1

    def test_rows_in_no_order_of_time_are_not_smoothed(self):
        X, y, _ = problem(two, 2)
        model = fv.FewDirectionsRegressor(random_state=0, **QUICK).fit(X, y, t=np.arange(800))
        assert not model.smoothed_
        assert model.n_directions_ == 2

    @pytest.mark.filterwarnings("ignore:The first stage", "ignore:No direction")
    def test_a_path_that_diverges_finds_nothing(self):
        X, y, _ = problem(two, 2, n=300)
        model = fv.FewDirectionsRegressor(random_state=0, learning_rate=1e6, **QUICK).fit(X, y)
        assert model.n_directions_ == 0

    def test_more_directions_than_the_path_began_with(self):
        X, y, _ = problem(two, 2, n=300)
        starts = {1: np.eye(1, 8)}
        samples = Samples.of(X, y[:, None])
        held_out = HeldOut.of([(np.arange(200), np.arange(200, 300))], np.ones(300))
        found = choose_directions(RankSearch(samples, held_out), starts, 1, max_rank=10, n_directions=3)
        assert found.best.rank == 3

    def test_pure_noise(self):
        X, _, _ = problem(two, 2, n=400)
        with pytest.warns(UserWarning, match="no directions were found"):
            model = fv.FewDirectionsRegressor(random_state=0, **QUICK).fit(X, np.random.default_rng(9).normal(size=400))
        assert model.n_directions_ == 0
        assert model.head_ == "mean"
        assert model.transform(X).shape == (400, 0)
        assert np.ptp(model.predict(X)) == 0

    def test_asking_for_a_number(self):
        X, y, _ = problem(two, 2, n=400)
        model = fv.FewDirectionsRegressor(n_directions=1, random_state=0, **QUICK).fit(X, y)
        assert model.directions_.shape == (1, 8)
        assert fv.FewDirectionsRegressor(n_directions=0, **QUICK).fit(X, y).n_directions_ == 0

    def test_equation_of_a_polynomial(self):
        X, _, A = problem(two, 2, n=500)
        model = fv.FewDirectionsRegressor(random_state=0, **QUICK | {"head": "auto"}).fit(X, (X @ A[0]) ** 2 - 1.0)
        assert model.head_ == "dictionary"
        assert "z0^2" in model.equation_
        assert "u^2" in model.equation(["u"])

    def test_constant_columns_have_no_loading(self):
        X, y, _ = problem(two, 2, n=400)
        X[:, 4] = 7.0
        model = fv.FewDirectionsRegressor(random_state=0, **QUICK).fit(X, y)
        assert (model.directions_[:, 4] == 0).all()
        with pytest.raises(ValueError, match="n_directions=8: X has only 7 columns that are not constant"):
            fv.FewDirectionsRegressor(n_directions=8, **QUICK).fit(X, y)

    def test_several_outputs_share_directions(self):
        X, y, A = problem(two, 2, n=600)
        model = fv.FewDirectionsRegressor(random_state=0, **QUICK).fit(X, np.column_stack([y, X @ A[0]]))
        assert model.predict(X).shape == (600, 2)
        assert model.gradient(X).shape == (600, 2, 8)
        assert model.n_directions_ == 2

    def test_resamples(self):
        X, y, _ = problem(lambda Z: Z[:, 0] ** 2, 1, n=300)
        model = fv.FewDirectionsRegressor(random_state=0, n_resamples=2, max_rank=3, **QUICK).fit(X, y)
        assert model.selection_frequencies_.shape == (4,)
        assert_allclose(model.selection_frequencies_.sum(), 1.0)
        assert model.selection_frequencies_.argmax() == 1

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_directions": 9}, "n_directions=9: X has only 8 columns"),
            ({"n_directions": 5, "hidden_layer_sizes": (4,)}, "the first hidden layer has 4 units"),
            ({"n_directions": -1}, "n_directions=-1"),
            ({"max_rank": 0}, "max_rank=0"),
            ({"head": "tree"}, "head='tree'"),
        ],
    )
    def test_bad_parameters(self, parameters, message):
        X, y, _ = problem(two, 2, n=50)
        with pytest.raises(ValueError, match=message):
            fv.FewDirectionsRegressor(**parameters).fit(X, y)

    def test_clone(self):
        model = fv.FewDirectionsRegressor(n_directions=2, max_rank=4)
        assert clone(model).get_params() == model.get_params()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the checks fit noise, constants and ten rows, and some say so
@parametrize_with_checks(
    [fv.FewDirectionsRegressor(**TINY_NETWORKS, max_rank=2, hidden_layer_sizes=(4,), head="dictionary", max_degree=2)],
    expected_failed_checks=failures_by_held_out_rows,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
class TestCompare:
    def test_directions_where_no_variable_will_do(self):
        X, y, _ = problem(two, 2, n=600, d=12)
        found = fv.compare(X, y, **QUICK)
        assert found.recommendation == "directions"
        assert found.forms == ("mean", "variables", "directions", "network")
        assert found.log_ratios.min() == 0.0
        assert "Recommended: directions" in str(found)

    def test_variables_where_they_suffice(self):
        rng = np.random.default_rng(4)
        X = rng.standard_normal((600, 6))
        y = X[:, 1] ** 2 + np.tanh(X[:, 4]) + 0.05 * rng.standard_normal(600)
        found = fv.compare(X, y, **QUICK | {"head": "network"})
        assert found.recommendation == "variables"
        assert found.numbers[list(found.forms).index("variables")] == 2
        assert found.directions.head_ == "network"
        assert_gradient(found.directions, X[:6])

    def test_on_a_trajectory_with_rows_that_do_not_count(self):
        rng = np.random.default_rng(6)
        t = np.arange(600) * 0.05
        clean = np.column_stack([np.sin((1 + 0.37 * j) * t + j) for j in range(6)])
        X, y = clean + 0.1 * rng.standard_normal(clean.shape), clean[:, 1] ** 2 + 0.02 * rng.standard_normal(600)
        weight = (rng.random(600) < 0.9).astype(float)
        y[weight == 0] = 1e3
        found = fv.compare(X, y, sample_weight=weight, t=t, trajectory=np.zeros(600), **QUICK)
        assert found.recommendation == "variables"
        assert found.variables.get_support(indices=True).tolist() == [1]
        assert found.errors[found.forms.index("variables")] < 0.05

    def test_noise(self):
        rng = np.random.default_rng(5)
        X = rng.standard_normal((300, 4))
        with pytest.warns(UserWarning, match="better than its mean does"):
            found = fv.compare(X, rng.standard_normal(300), **QUICK)
        assert found.recommendation == "mean"

    def test_all_inputs_are_not_few(self):
        X = np.random.default_rng(0).standard_normal((300, 4))
        splits = (pair for pair in KFold(4).split(X))
        found = fv.compare(X, np.tanh(X.sum(axis=1)), cv=splits, **QUICK)
        assert found.variables.support_.all()
        assert found.forms == ("mean", "variables", "directions", "network")
        assert found.recommendation == "directions"
        assert "The variables are not a candidate" in str(found)
        assert str(found).endswith("y is a function of few linear combinations of the inputs.")

    def test_the_table_says_what_decides(self):
        model = fv.FewVariablesRegressor()
        model.support_, model.n_features_in_ = np.array([True, False]), 2
        other = fv.FewDirectionsRegressor()
        other.n_directions_ = 1
        pair = np.array([0.1, 0.2])
        text = str(Comparison(("mean", "variables"), np.array([0, 1]), *[pair] * 4, "variables", model, other))
        assert "mean held-out error" in text
        assert "mean log ratio to the best" in text
        assert "log ratios" in text
        assert "not a candidate" not in text

    def test_only_parameters_of_both(self):
        with pytest.raises(ValueError, match=r"max_candidates=4: compare takes parameters that both .* n_blocks"):
            fv.compare(np.zeros((20, 2)), np.zeros(20), max_candidates=4)

    def test_the_splits_are_those_of_the_estimators(self):
        X, y, _ = problem(two, 2, n=40)
        model = fv.FewVariablesRegressor(shuffle=True, random_state=3)
        model.smoothed_ = False
        (_, held), *_ = _prepared(model, X, y, None, None, None).held_out.splits
        wanted = KFold(4, shuffle=True, random_state=model._settings().seed).split(X)
        assert_array_equal(held, next(wanted)[1])
