"""DynamicsRegressor: runs, gaps, controls, second order, maps, angles, prior knowledge, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import fewvars as fv
from fewvars.estimators.simulation import Bounds, SimulationOutcome, integrate
from fewvars.systems import Kuramoto, Lorenz63, simulate

T = np.arange(0, 10, 0.01)
CIRCLE = np.column_stack([np.sin(T), np.cos(T)])


@pytest.fixture(scope="module")
def lorenz():
    return simulate(Lorenz63(), T)


@pytest.fixture(scope="module")
def circle():
    """A model of dx/dt = y, dy/dt = -x."""
    return model().fit(CIRCLE, t=T)


def model(**options):
    return fv.DynamicsRegressor(head="dictionary", random_state=0, **options)


def solved(field, x0, t):
    return solve_ivp(lambda time, x: field(time, x), (t[0], t[-1]), x0, t_eval=t, rtol=1e-9, atol=1e-9).y.T


@pytest.mark.slow
def test_runs_of_unequal_length_in_any_order(lorenz):
    starts, lengths = ([1.0, 2.0, 20.0], [-5.0, 3.0, 30.0], [8.0, 8.0, 10.0]), (400, 300, 500)
    parts = [simulate(Lorenz63(), T[:n], start) for start, n in zip(starts, lengths, strict=True)]
    labels, t = np.repeat(["a", "b", "c"], lengths), np.concatenate([T[:n] for n in lengths])
    order = np.argsort(t, kind="stable")  # runs measured at the same time, row by row
    found = model().fit(np.concatenate(parts)[order], t=t[order], trajectory=labels[order])
    np.testing.assert_array_equal(found.graph_, Lorenz63().graph)


def test_many_short_noisy_runs():
    rng = np.random.default_rng(0)
    t, starts = np.arange(0, 4, 0.2), rng.uniform(0.5, 2.0, (24, 2))
    X = np.concatenate([np.exp(-t)[:, None] * start for start in starts]) + 0.05 * rng.standard_normal((480, 2))
    found = model().fit(X, t=np.tile(t, 24), trajectory=np.repeat(np.arange(24), 20))
    assert found.graph_.shape == (2, 2)
    assert np.isfinite(found.predict(X)).all()


@pytest.mark.slow
def test_irregular_times_gaps_and_missing_stretches():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 12, 1500))
    X = simulate(Lorenz63(), t)
    X[400:430, 1] = np.nan
    kept = (t < 8) | (t > 8.5)
    found = model().fit(X[kept], t=t[kept])
    np.testing.assert_array_equal(found.graph_, Lorenz63().graph)


def test_controls_and_time():
    t = np.arange(0, 20, 0.02)

    def control(s):
        return np.array([np.sin(1.3 * s) + np.cos(3.1 * s), np.cos(2.2 * s) + np.sin(0.5 * s)])

    u = control(t).T
    X = solved(lambda s, x: [-x[0] + 2 * control(s)[0], 0.5 * x[0] - x[1] + 0.1 * s], [1.0, 0.0], t)
    found = model(time=True).fit(X, t=t, u=u)
    assert found.inputs_ == ("x0", "x1", "u0", "u1", "t")
    expected = np.array([[1, 0, 1, 0, 0], [1, 1, 0, 0, 1]], bool)
    np.testing.assert_array_equal(found.input_graph_, expected)
    np.testing.assert_array_equal(found.graph_, expected[:, :2])
    by_values = found.simulate(X[0], t[:300], u=u[:300])
    by_function = found.simulate(X[0], t[:300], u=control)
    np.testing.assert_allclose(by_values.X, by_function.X, atol=1e-3)
    np.testing.assert_allclose(by_function.X, X[:300], atol=0.02)
    with pytest.raises(ValueError, match="u is missing"):
        found.predict(X, t=t)
    with pytest.raises(ValueError, match="t is missing"):
        found.predict(X, u=u)


def test_second_order_from_positions_alone():
    t = np.arange(0, 40, 0.05)
    X = solved(lambda _, s: [s[2], s[3], -2 * s[0] + s[1], s[0] - 2 * s[1] - 0.3 * s[3]], [1.0, -0.5, 0.0, 1.0], t)
    noisy = X[:, :2] + 0.003 * np.random.default_rng(0).standard_normal((len(t), 2))
    found = model(order=2).fit(noisy, t=t)
    assert found.inputs_ == ("x0", "x1", "dx0/dt", "dx1/dt")
    np.testing.assert_array_equal(found.input_graph_, np.array([[1, 1, 0, 0], [1, 1, 0, 1]], bool))
    assert found.graph_.shape == (2, 2)
    ahead = found.simulate(X[0], t[:100])
    np.testing.assert_allclose(ahead.X, X[:100], atol=0.1)
    assert found.predict(X).shape == (len(t), 2)


def test_the_map_over_one_step():
    """The Hénon map: not a flow, so that only steps make sense."""
    X = np.empty((400, 2))
    X[0] = 0.1, 0.1
    for k in range(399):
        X[k + 1] = 1 - 1.4 * X[k, 0] ** 2 + X[k, 1], 0.3 * X[k, 0]
    found = model(target="step").fit(X)
    np.testing.assert_array_equal(found.graph_, [[True, True], [True, True]])  # of the change over a step
    np.testing.assert_allclose(found.predict(X[:-1]), X[1:], atol=1e-6)
    np.testing.assert_allclose(found.simulate(X[0], np.arange(5.0)).X, X[:5], atol=1e-4)
    with pytest.raises(ValueError, match="1 apart"):
        found.simulate(X[0], [0.0, 0.5])
    with pytest.raises(ValueError, match="y was given"):
        found.score(X, X)


@pytest.mark.slow
def test_angles_go_round():
    system = Kuramoto([[0, 0.8, 0], [0, 0, 0.8], [0.8, 0, 0]], [1.0, 2.3, -0.6])
    t = np.arange(0, 60, 0.05)
    X = np.mod(simulate(system, t), 2 * np.pi)  # wrapped
    found = model(angles="all").fit(X, t=t)
    np.testing.assert_array_equal(found.graph_, system.graph)
    assert "sin(x0)*cos(x1)" in found.equations_[0] or "cos(x0)*sin(x1)" in found.equations_[0].replace("`", "")
    assert found.simulate(X[0], t[:200]).finished


def turned(x):
    """Return angles within half a turn of zero."""
    return np.angle(np.exp(1j * x))


def test_wrapped_angles_are_valid_for_as_long():
    """A rotor whose speed depends on its angle: it goes round six times."""
    t = np.arange(0, 20, 0.02)
    X = solved(lambda _, x: 2 + 0.5 * np.sin(x), [0.3], t)
    found = model(angles=[0]).fit(turned(X), t=t)
    for data in (X, turned(X), np.mod(X, 2 * np.pi)):
        assert found.valid_time(data, t) == pytest.approx(t[-1])
        # With these times the data turn 1% more slowly than the model, and lag behind it more and more.
        assert found.valid_time(data, 1.01 * t, threshold=0.05) == pytest.approx(
            found.valid_time(X, 1.01 * t, threshold=0.05)
        )
    assert 0 < found.valid_time(X, 1.01 * t, threshold=0.05) < 19


@pytest.mark.slow
def test_prior_knowledge(lorenz):
    found = model(include=[("x0", "x2")], exclude=[(1, "x0")]).fit(lorenz, t=T)
    assert found.graph_[0, 2]
    assert not found.graph_[1, 0]
    assert found.edge_q_values_[1, 0] == 1.0
    mask = np.zeros((3, 3), bool)
    mask[2, 2] = True
    assert not model(exclude=mask).fit(lorenz[:500], t=T[:500]).graph_[2, 2]


@pytest.mark.slow
def test_resamples_vote(lorenz):
    found = model(n_resamples=3).fit(lorenz, t=T)
    assert (found.edge_frequencies_[found.graph_] == 1.0).all()
    assert found.edge_frequencies_[0, 2] < 1.0


def test_one_variable_and_blow_up():
    t = np.arange(0, 0.8, 0.01)
    runs = [1 / (1 / x0 - t) for x0 in (0.2, 0.4, 0.6, 0.8, 1.0)]  # dx/dt = x^2
    X = np.concatenate(runs)[:, None]
    found = model().fit(X, t=np.tile(t, 5), trajectory=np.repeat(np.arange(5), t.size))
    np.testing.assert_allclose(found.predict([[0.5], [1.5]])[:, 0], [0.25, 2.25], rtol=1e-3)
    left = found.simulate([1.0], np.linspace(0, 3, 50))
    assert left.outcome is SimulationOutcome.LEFT_RANGE
    assert left.variable == "x0"
    assert 0.8 < left.stopped_at < 1.0
    assert np.isnan(left.X[-1]).all()


def test_solutions_that_do_not_exist_for_ever():
    t, bounds = np.linspace(0, 3, 50), Bounds(np.array([-np.inf]), np.array([np.inf]), ("x0",))
    endless = integrate(lambda _, x: x**2, np.array([1.0]), t, bounds, 1e-6, np.array([1e-6]))
    assert endless.outcome in (SimulationOutcome.NOT_FINITE, SimulationOutcome.TOO_MANY_STEPS)
    assert endless.stopped_at == pytest.approx(1.0, abs=1e-3)
    assert "at t = 1" in endless.describe() or "at t = 0.99" in endless.describe()


@pytest.mark.slow
def test_constant_and_repeated_columns(lorenz):
    found = model().fit(np.column_stack([lorenz, np.ones(len(T)), lorenz[:, 0]]), t=T)
    np.testing.assert_array_equal(found.graph_[:3, :3], Lorenz63().graph)
    assert not found.graph_[:, 3:].any()
    assert found.equations_[3] == "0"
    assert found.equations_[4] == found.equations_[0]


@pytest.mark.parametrize("target", ["weak", "derivative", "step"])
def test_a_constant_has_the_equation_zero(target):
    X = np.column_stack([CIRCLE, np.full(len(T), 3.7)])
    found = model(target=target, include=[(2, 0)]).fit(X, t=T)
    assert found.equations_[2] == "0"
    assert found.graph_[2].tolist() == [True, False, False]
    assert found.simulate(X[0], T[:50]).X[-1, 2] == 3.7
    assert found.score(X[:300], t=T[:300]) > 0.999


def test_a_constant_of_each_run_has_the_equation_zero():
    X = np.column_stack([CIRCLE, np.repeat([3.7, 0.1], 500)])
    found = model().fit(X, t=T, trajectory=np.repeat([0, 1], 500))
    assert found.equations_[2] == "0"


@pytest.mark.slow
def test_weights_of_zero_are_missing_rows(lorenz):
    weight = np.ones(len(T))
    weight[500:] = 0.0
    weighted = model().fit(lorenz, t=T, sample_weight=weight)
    alone = model().fit(lorenz[:500], t=T[:500])
    np.testing.assert_allclose(weighted.predict(lorenz), alone.predict(lorenz))


@pytest.mark.parametrize(
    ("options", "data", "complaint"),
    [
        ({}, {"t": -T}, "t does not increase"),
        ({}, {"u": ["a"] * len(T)}, "u holds something other than numbers"),
        ({}, {"u": np.ones(7)}, r"u has shape \(7,\)"),
        ({}, {"y": np.ones((len(T), 2))}, "y has shape"),
        ({}, {"X": np.ones((1, 3)), "t": None}, "1 sample"),
        ({}, {"X": np.full((50, 3), np.nan), "t": None}, "no number in column x0"),
        ({}, {"X": np.ones((9, 3)), "t": None}, "has 9 rows"),
        ({}, {"X": np.full((50, 2), np.inf), "t": None}, "infinity"),
        ({"target": "strong"}, {}, "target='strong'"),
        ({"order": 3}, {}, "order=3"),
        ({"order": 2, "target": "step"}, {}, "do not go together"),
        ({"target": "step"}, {"y": np.ones((len(T), 3))}, "y was given, but with target="),
        ({}, {"u": np.where(np.arange(len(T)) == 7, np.inf, T)}, "u contains infinity in row 7"),
        ({}, {"u": pd.DataFrame({"x1": T})}, "both have a column 'x1'"),
        ({"time": True}, {"X": pd.DataFrame({"t": T, "v": T})}, "column 't', which is the name of time"),
        ({"time": True}, {"u": pd.DataFrame({"t": T})}, "column 't', which is the name of time"),
        ({"order": 2}, {"u": pd.DataFrame({"dx1/dt": T})}, "column 'dx1/dt', which is the name of a velocity"),
        ({"angles": ["x9"]}, {}, "angles='x9'"),
        ({"include": [(0, 9)]}, {}, "include=9"),
        ({"include": [(0, 1)], "exclude": [(0, 1)]}, {}, "both name the edge"),
        ({"exclude": np.ones((2, 2), bool)}, {}, "mask of shape"),
        ({"n_resamples": -1}, {}, "n_resamples=-1"),
    ],
)
def test_bad_input_is_refused_by_name(lorenz, options, data, complaint):
    given = {"X": lorenz, "t": T} | data
    with pytest.raises(ValueError, match=complaint):
        model(**options).fit(**given)


def test_bad_simulations_are_refused(lorenz):
    found = model().fit(lorenz[:400], t=T[:400])
    with pytest.raises(ValueError, match="give 3 finite numbers"):
        found.simulate([1.0], T)
    with pytest.raises(ValueError, match="increasing times"):
        found.simulate(lorenz[0], [1.0, 1.0])
    with pytest.raises(ValueError, match="t has shape"):
        found.valid_time(lorenz, T[:-1])
    outside = found.simulate(lorenz[0] + 1e3, T)
    assert outside.outcome is SimulationOutcome.LEFT_RANGE
    assert outside.stopped_at == 0.0


def test_the_score_counts_a_bias(circle):
    derivatives = np.column_stack([np.cos(T), -np.sin(T)])
    assert circle.score(CIRCLE, derivatives, t=T) > 0.999
    assert circle.score(CIRCLE, derivatives + 100, t=T) < -1000


@pytest.mark.parametrize("name", ["graph_", "edge_scores_", "edge_q_values_", "edge_frequencies_", "equations_"])
def test_attributes_need_a_fit(name):
    assert not hasattr(model(), name)
    with pytest.raises(NotFittedError):
        getattr(model(), name)


def test_methods_need_a_fit():
    for method in (model().valid_time, model().simulate, model().score):
        with pytest.raises(NotFittedError):
            method(CIRCLE, T)
    with pytest.raises(NotFittedError):
        model().predict(CIRCLE)


def test_bad_input_of_a_fitted_model_is_refused_by_name(circle):
    assert not hasattr(circle, "edge_frequencies_")
    with pytest.raises(AttributeError, match="set n_resamples and fit again"):
        circle.edge_frequencies_  # noqa: B018
    with pytest.raises(ValueError, match=r"t has shape \(3,\): give one time, or one for each of 1000 rows"):
        circle.predict(CIRCLE, t=T[:3])


DAY = np.datetime64("2024-03-01T06:00", "ms")


@pytest.fixture(scope="module")
def forced():
    """States of dx/dt = -x + 0.2 t, and models of them whose times were seconds and datetimes."""
    X = (np.exp(-T) + 0.2 * (T - 1 + np.exp(-T)))[:, None]
    dates = DAY + np.rint(1000 * T).astype("timedelta64[ms]")
    return X, dates, model(time=True).fit(X, t=T), model(time=True).fit(X, t=dates)


@pytest.mark.parametrize(
    "given",
    [
        lambda dates: dates,
        lambda dates: dates.astype(object).tolist(),  # Python's datetimes
        lambda dates: pd.Series(dates),
        lambda dates: pd.DatetimeIndex(dates).tz_localize("UTC").tz_convert("Asia/Tokyo"),
    ],
    ids=["numpy", "python", "pandas", "time zone"],
)
def test_datetimes_are_counted_as_in_fit(forced, given):
    X, dates, by_seconds, by_dates = forced
    assert by_dates.start_ == "2024-03-01T06:00:00.000"
    assert by_dates.equations_ == by_seconds.equations_
    rows = slice(300, 800)
    t, x = given(dates[rows]), X[rows]
    np.testing.assert_allclose(by_dates.predict(x, t=t), by_seconds.predict(x, t=T[rows]), rtol=1e-9)
    ahead, expected = by_dates.simulate(x[0], t), by_seconds.simulate(x[0], T[rows])
    np.testing.assert_allclose(ahead.t, T[rows], rtol=1e-12)
    np.testing.assert_allclose(ahead.X, expected.X, rtol=1e-6)
    assert by_dates.valid_time(x, t) == pytest.approx(T[799] - T[300])
    assert by_dates.score(x, t=t) == pytest.approx(by_seconds.score(x, t=T[rows]))


def test_datetimes_for_a_model_of_numbers(forced, circle):
    X, dates, by_seconds, by_dates = forced
    for method in (by_seconds.simulate, by_seconds.valid_time):
        with pytest.raises(ValueError, match="t holds datetimes, but the model was fitted with time=True"):
            method(X[0] if method == by_seconds.simulate else X, dates)
    with pytest.raises(ValueError, match="t holds datetimes"):
        by_seconds.predict(X, t=dates)
    with pytest.raises(ValueError, match="missing or not finite"):
        by_dates.predict(X[:2], t=np.array([dates[0], "NaT"], "datetime64[ms]"))
    np.testing.assert_allclose(circle.simulate(CIRCLE[0], dates).X, circle.simulate(CIRCLE[0], T).X, atol=1e-6)
    assert not hasattr(circle, "start_")


def test_no_date_is_left_of_an_earlier_fit(forced):
    X, dates, *_ = forced
    assert not hasattr(model().fit(X, t=dates).fit(X, t=T), "start_")


class WithoutDerivatives(fv.DynamicsRegressor):
    """The checks of scikit-learn pass one target; here y would be the derivative of every column of X."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, sample_weight=sample_weight)

    def score(self, X, y=None):
        return super().score(X)


@pytest.mark.slow
@parametrize_with_checks(
    [WithoutDerivatives(target="derivative", head="dictionary")],
    expected_failed_checks=lambda model: {
        "check_estimators_nan_inf": "rows with NaN are left out",
        "check_sample_weight_equivalence_on_dense_data": "a row that is repeated is no longer part of a trajectory",
    },
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
def test_data_without_an_equation_and_extreme_units(lorenz):
    walk = np.random.default_rng(1).standard_normal((300, 2)).cumsum(axis=0)
    assert not model().fit(walk, t=0.1).graph_.any()
    for scale in (1e-20, 1e20):
        np.testing.assert_array_equal(model().fit(scale * lorenz, t=T).graph_, Lorenz63().graph)


def test_errors_of_smoothed_inputs_are_not_taken_for_terms():
    """A damped spring: cubic terms lower the error a little, since they follow the errors of smoothed positions."""
    t = np.arange(0, 30, 0.05)
    x = np.exp(-0.02 * t) * np.cos(2.5 * t)
    X = (x + 0.01 * np.random.default_rng(1).standard_normal(t.size))[:, None]
    model = fv.DynamicsRegressor(order=2, random_state=0).fit(X, t=t)
    assert sorted(model.heads_[0].as_polynomial().exponents.tolist()) == [[0, 1], [1, 0]]
