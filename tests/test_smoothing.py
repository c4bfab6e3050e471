"""The smoother against its objective, GCV by brute force, scipy's smoothing spline and known signals."""

import datetime
import functools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import make_smoothing_spline

from fewvars.estimators import FewVariablesRegressor
from fewvars.series.discrete_spline import IrregularSpline, UniformSpline
from fewvars.series.smoothing import is_discrete, smooth, smoother

GRIDS = {
    "uniform": np.arange(30) * 0.01,
    "float32": (np.arange(30, dtype=np.float32) * np.float32(0.01)),
    "jittered": np.arange(30) + np.random.default_rng(1).uniform(-0.4, 0.4, 30),
    "gaps": np.delete(np.arange(60.0), np.r_[8:20, 25:43]),
    "random": np.sort(np.random.default_rng(2).uniform(0, 5, 30)),
}


def dense_penalty(t, order):
    """P with x' P x = sum_i w_i (x_i^(m) - mean)^2, by the recursion of divided differences."""
    t = np.asarray(t, dtype=float) / np.median(np.diff(t))
    differences = np.eye(len(t))
    for m in range(1, order + 1):
        differences = (differences[1:] - differences[:-1]) / (t[m:] - t[:-m])[:, None]
    derivative = math.factorial(order) * differences
    width = (t[order:] - t[:-order]) / order
    centred = derivative - width @ derivative / width.sum()
    return centred.T @ (width[:, None] * centred)


def dense_smoother(t, order, strength):
    return np.linalg.inv(np.eye(len(t)) + strength * dense_penalty(t, order))


@functools.cache
def lorenz96():
    """2000 rows of 8 variables on the attractor, step 0.01, and their time derivatives."""

    def field(_, x):
        return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + 8.0

    start = 8.0 + np.random.default_rng(0).standard_normal(8)
    t = 10.0 + 0.01 * np.arange(2000)
    X = solve_ivp(field, (0, t[-1]), start, "DOP853", t_eval=t, rtol=1e-9, atol=1e-9).y.T
    return X, np.array([field(0, x) for x in X])


def relative_error(estimate, truth):
    return np.sqrt(np.sum((estimate - truth) ** 2) / np.sum(truth**2))


@pytest.mark.parametrize("strength", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("grid", GRIDS)
def test_minimises_the_stated_objective(grid, order, strength):
    t = GRIDS[grid]
    Y = np.random.default_rng(0).standard_normal((len(t), 3)).cumsum(axis=0)
    S = dense_smoother(t, order, strength)
    result = smoother(Y, t, strength=strength, order=order)
    # the dense inverse is the less accurate of the two; float32 times are off the grid by 1e-6 of a step
    tolerance = 1e-4 if grid == "float32" else 1e-7
    np.testing.assert_allclose(result.values, S @ Y, atol=tolerance)
    np.testing.assert_allclose(result.bandwidth, 2 * len(t) / np.trace(S), rtol=tolerance)


@pytest.mark.parametrize("grid", GRIDS)
def test_polynomials_and_their_derivative_come_back_whatever_the_strength(grid):
    t = GRIDS[grid].astype(float)
    powers = (t - t[0])[:, None] / (t[-1] - t[0])
    coefficients = np.array([[1, -2, 3, 0.5, -1], [0, 1, 0, 0, 0]]).T
    X = powers ** np.arange(5) @ coefficients
    slope = powers ** np.arange(4) @ (coefficients[1:] * np.arange(1, 5)[:, None]) / (t[-1] - t[0])
    for strength in (None, 1e-2, 1e3, 1e12):
        result = smoother(X, t, strength=strength)
        # float32 times are off the uniform grid by 1e-6 of a step
        np.testing.assert_allclose(result.values, X, atol=1e-7 if grid == "float32" else 1e-9)
        np.testing.assert_allclose(result.derivative, slope, rtol=1e-5, atol=1e-5 * np.abs(slope).max())


@pytest.mark.parametrize("strength", [1e2, 1e10, 1e16])
def test_both_methods_agree_at_strengths_where_the_normal_equations_fail(strength):
    n = 1500
    Y = np.sin(np.arange(n) / 150)[:, None] + 0.1 * np.random.default_rng(0).standard_normal((n, 2))
    uniform, irregular = UniformSpline(Y, 1.0, 4), IrregularSpline(Y, np.arange(n, dtype=float), 4)
    (r, trace), (s, estimate) = (
        uniform.residual(strength, slice(None)),
        irregular.residual(strength, slice(None)),
    )
    np.testing.assert_allclose(uniform.in_time(r), irregular.in_time(s), atol=1e-7)
    # random signs: the standard error is about sqrt(2 * degrees of freedom / 32)
    assert abs(trace - estimate) < 3 * np.sqrt(2 * (n - trace) / 32)


def dense_gcv(runs, order, strength):
    """GCV of a column over runs (t, y), times in a common unit, from dense matrices."""
    squares = trace = 0.0
    for t, y in runs:
        R = np.eye(len(t)) - np.linalg.inv(np.eye(len(t)) + strength * dense_penalty_in_unit(t, order))
        squares, trace = squares + np.sum((R @ y) ** 2), trace + np.trace(R)
    return squares / trace**2


def dense_penalty_in_unit(t, order):
    return dense_penalty(t, order) * np.median(np.diff(t)) ** (1 - 2 * order)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("noise", [0.02, 0.3])
@pytest.mark.parametrize("steps", [(1.0,), (1.0, 1.0, 2.0)], ids=["one run", "three runs"])
def test_strength_minimises_gcv(order, noise, steps):
    rng = np.random.default_rng(3)
    times = [step * np.arange(45.0) for step in steps]
    data = [np.sin(t / 6) + noise * rng.standard_normal(len(t)) for t in times]
    labels = np.repeat(np.arange(len(steps)), 45)
    chosen = smoother(np.concatenate(data), np.concatenate(times), trajectory=labels, order=order).strength
    runs = list(zip(times, data, strict=True))
    brute_force = min(dense_gcv(runs, order, 10.0**k) for k in np.arange(-4, 9, 0.1))
    # the last step of the search interpolates between exact values of GCV
    assert dense_gcv(runs, order, chosen) <= 1.01 * brute_force


def test_second_order_is_the_cubic_smoothing_spline():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 4 * np.pi, 250))
    y = np.sin(t) + 0.2 * rng.standard_normal(len(t))
    unit, strength = np.median(np.diff(t)), 1e5
    ours = smooth(y, t, strength=strength, order=2)
    spline = make_smoothing_spline(t, y, lam=strength * unit**3)(t)
    # theirs penalises the integral of the squared second derivative, ours a sum over the rows
    assert relative_error(ours, spline) < 0.01


@pytest.mark.parametrize("rows", [np.arange(150), np.sort(np.random.default_rng(0).permutation(225)[:150])])
def test_errs_less_than_the_cubic_smoothing_spline(rows):
    truth, t = lorenz96()[0][rows, :3], 0.01 * rows
    Y = truth + 0.2 * np.random.default_rng(1).standard_normal(truth.shape)
    spline = np.array([make_smoothing_spline(t, y)(t) for y in Y.T]).T
    assert relative_error(smooth(Y, t), truth) < relative_error(spline, truth)


def test_noise_falls_by_three_and_the_derivative_is_useful():
    X, field = lorenz96()
    Y = X + 0.02 * np.abs(X).max() * np.random.default_rng(1).standard_normal(X.shape)
    result = smoother(Y, 0.01)
    assert relative_error(result.values, X) < 0.32 * relative_error(Y, X)
    assert relative_error(result.derivative, field) < 0.08
    assert np.all((result.bandwidth > 10) & (result.bandwidth < 40))


@pytest.mark.parametrize("strength", [1.0, 1e4, 1e8])
def test_bandwidth_holds_nearly_all_of_the_weights(strength):
    impulse = np.zeros(801)
    impulse[400] = 1.0
    result = smoother(impulse, strength=strength)
    outside = np.abs(np.arange(801) - 400) > result.bandwidth
    assert 0 < np.sum(result.values[outside] ** 2) < 0.003 * np.sum(result.values**2)


ENDS = [("ramp", lambda t: t, np.ones_like), ("sine", np.sin, np.cos), ("growth", np.exp, np.exp)]


@pytest.mark.parametrize(("name", "signal", "slope"), ENDS, ids=[case[0] for case in ENDS])
def test_ends_are_not_biased(name, signal, slope):
    t = np.linspace(0, 2, 400)
    rng = np.random.default_rng(0)
    Y = signal(t)[:, None] + 0.05 * rng.standard_normal((400, 200))
    result = smoother(Y, t)
    # mean over 200 data sets: reflection at the ends would pull the slope to zero
    bias = result.derivative[[0, -1]].mean(axis=1) - slope(t)[[0, -1]]
    error = result.derivative[[0, -1]].std(axis=1) / np.sqrt(200)
    assert np.all(np.abs(bias) < 4 * error + 0.02 * np.abs(slope(t)).max())
    assert relative_error(result.values[[0, -1]].mean(axis=1), signal(t)[[0, -1]]) < 0.01


NOISELESS = {
    "sine": lambda t: np.sin(t),
    "coarse sine": lambda t: np.sin(60 * t / np.ptp(t)),
    "growth": lambda t: np.exp(3 * t / np.ptp(t)),
    "large offset": lambda t: 1e6 + np.sin(t),
    "constant": lambda t: np.full_like(t, 0.1),
    "ramp": lambda t: 0.3 * t - 7.0,
}


@pytest.mark.parametrize("grid", ["uniform", "jittered", "gaps"])
@pytest.mark.parametrize("signal", NOISELESS)
def test_noiseless_columns_come_back_unchanged(signal, grid):
    t = 0.1 * np.arange(300.0)
    if grid == "jittered":
        t += np.random.default_rng(0).uniform(-0.03, 0.03, 300)
    if grid == "gaps":
        t = np.delete(t, np.r_[50:80, 200:210])
    x = NOISELESS[signal](t)
    np.testing.assert_allclose(smooth(x, t), x, rtol=1e-9, atol=1e-9 * np.abs(x).max())
    if signal in ("constant", "ramp"):
        np.testing.assert_array_equal(smooth(x, t), x)


def test_noiseless_lorenz_comes_back_with_its_derivative():
    X, field = lorenz96()
    result = smoother(X, 0.01)
    np.testing.assert_allclose(result.values, X, rtol=0, atol=1e-6 * np.abs(X).max())
    assert relative_error(result.derivative, field) < 1e-4


def test_rows_that_are_no_trajectory_are_destroyed_as_documented():
    X = np.random.default_rng(0).standard_normal((1000, 4))
    assert np.all(smooth(X).var(axis=0) < 0.05)


def test_smoothing_is_equivariant_to_scale_offset_and_unit_of_time():
    rng = np.random.default_rng(0)
    t = np.linspace(0, 6, 80)
    Y = np.sin(t)[:, None] + 0.1 * rng.standard_normal((80, 2))
    one, other = smoother(Y, t), smoother(5 - 3 * Y, 1000 * t)
    np.testing.assert_allclose(other.values, 5 - 3 * one.values, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(other.derivative, -0.003 * one.derivative, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.strength, one.strength, rtol=1e-6)


@pytest.mark.parametrize("labels", [("a", "b"), (7, 3), (0.5, -1.0)])
def test_interleaved_trajectories_are_smoothed_apart(labels):
    rng = np.random.default_rng(0)
    first, second = (rng.standard_normal((40, 2)).cumsum(axis=0) for _ in range(2))
    mixed = np.stack([first, second], axis=1).reshape(80, 2)
    result = smoother(mixed, 0.5, trajectory=np.tile(labels, 40), strength=[1.0, 50.0])
    for k, alone in enumerate((first, second)):
        expected = smoother(alone, 0.5, strength=[1.0, 50.0])
        np.testing.assert_allclose(result.values[k::2], expected.values, atol=1e-12)
        np.testing.assert_allclose(result.derivative[k::2], expected.derivative, atol=1e-11)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_short_trajectories_are_left_alone(n):
    rng = np.random.default_rng(0)
    X, t = rng.standard_normal((n, 2)), np.sort(rng.uniform(0, 1, n))
    result = smoother(X, t, strength=1e3)
    np.testing.assert_array_equal(result.values, X)
    expected = np.gradient(X, t, axis=0) if n > 1 else np.full((1, 2), np.nan)
    np.testing.assert_array_equal(result.derivative, expected)
    assert not result.strength.any()
    assert not result.bandwidth.any()


START = datetime.datetime(2024, 3, 1, tzinfo=datetime.UTC)
MINUTES = [START + datetime.timedelta(minutes=k) for k in range(50)]
SAME_TIMES = {
    "seconds": 60.0 * np.arange(50),
    "step": 60,
    "timedelta": datetime.timedelta(minutes=1),
    "timedelta64": np.timedelta64(1, "m"),
    "aware datetimes": MINUTES,
    "datetime64": np.datetime64("2024-03-01T00:00", "m") + np.arange(50),
    "pandas": pd.date_range("2024-03-01", periods=50, freq="min", tz="Asia/Tokyo"),
    "polars": pl.Series([m.replace(tzinfo=None) for m in MINUTES]),
}


@pytest.mark.parametrize("form", SAME_TIMES)
def test_times_in_any_form_give_the_derivative_per_second(form):
    X = np.column_stack([np.arange(50.0), np.random.default_rng(0).standard_normal(50).cumsum()])
    expected = smoother(X, SAME_TIMES["seconds"])
    result = smoother(X, SAME_TIMES[form])
    np.testing.assert_allclose(result.derivative[:, 0], 1 / 60, rtol=1e-9)
    np.testing.assert_allclose(result.derivative, expected.derivative, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame, np.ndarray.tolist])
def test_vectors_frames_and_lists(make):
    X = np.random.default_rng(0).standard_normal((30, 2)).cumsum(axis=0)
    kept, result, column = X.copy(), smoother(make(X)), smoother(X[:, 0])
    np.testing.assert_array_equal(result.values, smooth(X))
    np.testing.assert_allclose(column.values, result.values[:, 0], atol=1e-12)
    assert column.values.shape == column.derivative.shape == (30,)
    assert column.strength.shape == column.bandwidth.shape == ()
    np.testing.assert_array_equal(X, kept)


def test_discrete_columns_are_told_apart():
    rng = np.random.default_rng(0)
    columns = {
        "switch": (rng.integers(0, 2, 200), True),
        "ten levels": (np.arange(200) % 10, True),
        "eleven levels": (np.arange(200) % 11, False),
        "constant": (np.zeros(200), True),
        "signal": (rng.standard_normal(200), False),
        "rounded signal": (np.round(10 * np.sin(np.arange(200) / 9)), False),
    }
    data, expected = zip(*columns.values(), strict=True)
    np.testing.assert_array_equal(is_discrete(np.column_stack(data)), expected)
    assert is_discrete(columns["switch"][0]).shape == ()
    assert not is_discrete([0.0, 1.0, 2.0])


X5 = np.zeros((5, 2))
BAD = {
    "three axes": ({"X": np.zeros((2, 2, 2))}, r"X has shape \(2, 2, 2\)"),
    "no rows": ({"X": np.zeros((0, 2))}, "at least one row"),
    "missing value": ({"X": [[0, 1], [2, np.nan]]}, "X is not finite in row 1, column 1"),
    "too few times": ({"X": X5, "t": [0, 1, 2, 3]}, r"t has shape \(4,\)"),
    "missing time": ({"X": X5, "t": [0, 1, np.nan, 3, 4]}, "t is not finite in row 2"),
    "repeated time": ({"X": X5, "t": [0, 1, 2, 2, 1]}, "does not increase at row 3: 2 follows 2"),
    "negative step": ({"X": X5, "t": -0.1}, "t=-0.1 is not a positive step"),
    "text": ({"X": X5, "t": ["1 May"] * 5}, "numbers or datetimes"),
    "too few labels": ({"X": X5, "trajectory": [0, 1]}, r"trajectory has shape \(2,\)"),
    "missing label": ({"X": X5, "trajectory": [0, 0, np.nan, 1, 1]}, "trajectory is NaN in row 2"),
    "negative strength": ({"X": X5, "strength": -1.0}, "strength=-1.0 is negative"),
    "too many strengths": ({"X": X5, "strength": [1, 2, 3]}, r"strength has shape \(3,\)"),
    "order zero": ({"X": X5, "order": 0}, "order=0"),
}


@pytest.mark.parametrize("case", BAD)
def test_mistakes_are_named(case):
    arguments, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        smooth(**arguments)
    with pytest.raises(ValueError, match=message):
        smoother(**arguments)


def test_times_need_only_increase_within_each_trajectory():
    X, t = np.random.default_rng(0).standard_normal(24), np.tile(np.arange(12.0), 2)
    with pytest.raises(ValueError, match=r"row 12: 0\.0 follows 11\.0"):
        smooth(X, t)
    assert smooth(X, t, trajectory=np.repeat([0, 1], 12)).shape == (24,)


def test_steps_shorter_than_the_median_allow_for_weaker_penalties():
    t = np.logspace(0, 3, 300)
    truth = np.sin(10 * np.log(t))
    y = truth + 0.05 * np.random.default_rng(0).standard_normal(300)
    result = smoother(y, t)
    assert 0 < result.strength < 1e-4
    assert relative_error(result.values, truth) < 0.95 * relative_error(y, truth)


@pytest.mark.parametrize("rows_per_burst", [5, 20])
def test_bursts_an_hour_apart_do_not_break_the_search(rows_per_burst):
    t = (3600.0 * np.arange(30)[:, None] + 1e-3 * np.arange(rows_per_burst)).ravel()
    truth = np.sin(t / 20000)
    y = truth + 0.1 * np.random.default_rng(0).standard_normal(len(t))
    # steps that differ by a factor of 4e6 limit the strength that can be resolved: it helps, if not fully
    assert relative_error(smooth(y, t), truth) < 0.7 * relative_error(y, truth)


def test_fits_and_predictions_do_not_differentiate(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("nobody asked for a derivative")

    monkeypatch.setattr("fewvars.series.smoothing.make_interp_spline", refuse)
    rng = np.random.default_rng(0)
    t = 0.05 * np.arange(300)
    X = np.column_stack([np.sin(t), np.cos(1.7 * t), np.sin(0.6 * t)]) + 0.05 * rng.standard_normal((300, 3))
    model = FewVariablesRegressor(head="dictionary", random_state=0).fit(X, X[:, 0] ** 2, t=t)
    model.predict(X, t=t)
    with pytest.raises(AssertionError, match="nobody asked"):
        smoother(X, t).derivative  # noqa: B018
