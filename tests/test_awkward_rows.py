"""Rows that could hide variables: sorted by an input, with outliers, very few, or fast inputs beside a slow one."""

import numpy as np
import pytest

import fewvars as fv
from fewvars.series.row_order import neighbours_depend, simple_residual
from fewvars.series.scaling import Scaling


def found(X, y, **known):
    model = fv.FewVariablesRegressor(random_state=0).fit(X, y, **known)
    return model, np.flatnonzero(model.support_).tolist()


@pytest.mark.parametrize(
    "function", [lambda x: np.sin(2 * np.pi * x), lambda x: 2.0 * (x > 0.3), lambda x: 12 * (x - 0.5) ** 2]
)
def test_rows_sorted_by_an_input(function):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 10))
    X = X[X[:, 0].argsort()]
    y = function(X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(150)
    assert found(X, y)[1] == [0, 1]


def test_errors_that_depend_on_each_other_still_show_in_sorted_rows():
    rng = np.random.default_rng(0)
    drift, e = np.zeros(250), rng.standard_normal(250)
    for i in range(1, 250):
        drift[i] = 0.8 * drift[i - 1] + e[i]
    years = np.arange(250.0)[:, None]
    Z, white = Scaling.of(years).apply(years), np.sin(years / 40) + 0.3 * e[:, None]
    assert neighbours_depend(simple_residual(Z, drift[:, None])[:, 0])
    assert not neighbours_depend(simple_residual(Z, white)[:, 0])


def test_levels_that_rows_are_sorted_by():
    batch = np.repeat(np.arange(6.0), 50)[:, None]
    y = np.array([3.0, -1.0, 2.0, 0.0, 5.0, 1.0])[batch[:, 0].astype(int)]
    assert np.abs(simple_residual(batch, y[:, None])).max() < 1e-9


def test_inputs_whose_effects_nearly_cancel():
    rng = np.random.default_rng(1001)
    Z = rng.standard_normal((300, 20))
    Z[:, 1] = 0.95 * Z[:, 0] + (1 - 0.95**2) ** 0.5 * Z[:, 1]
    y = Z[:, 0] - Z[:, 1] + 0.5 * Z[:, 3] + 0.3 * rng.standard_normal(300)
    assert found(Z, y)[1] == [0, 1, 3]


def test_outliers_on_one_side_neither_hide_variables_nor_go_unmentioned():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 20))
    y = X[:, 3] + 0.7 * X[:, 7] + 0.5 * rng.standard_normal(500) + 50 * (rng.random(500) < 0.02)
    model, selected = found(X, y)
    assert selected == [3, 7]
    assert any("outliers" in note for note in model.notes_)


def test_fast_inputs_beside_a_slow_one():
    rng = np.random.default_rng(0)
    t = np.arange(500.0)
    slow = 2 * np.sin(2 * np.pi * t / 25)
    X = rng.standard_normal((500, 10))
    X[:, 0] = slow + 0.6 * rng.standard_normal(500)
    y = slow + 0.5 * X[:, 7] + 0.5 * X[:, 4] + 0.5 * rng.standard_normal(500)
    model, selected = found(X, y, t=t)
    assert selected == [0, 4, 7]
    assert not model.smoothed_


@pytest.mark.parametrize("n", [8, 11])
def test_very_few_rows(n):
    X = np.random.default_rng(0).standard_normal((n, 3))
    assert 0 in found(X, 2 * X[:, 0] + 1e-3 * X[:, 1])[1]


def test_repeated_conditions_are_mentioned():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((40, 5)), 5, axis=0)[rng.permutation(200)]
    model, _ = found(X, X[:, 0] + rng.standard_normal(200))
    assert any("160 rows repeat" in note for note in model.notes_)
    X = rng.integers(2, size=(200, 5)).astype(float)
    coded, _ = found(X, X[:, 0] + 0.3 * rng.standard_normal(200))
    assert not any("repeat" in note for note in coded.notes_)
