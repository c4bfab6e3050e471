"""A polynomial plus curves: chosen where a function of one variable is too sharp for a polynomial, and only there."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fewvars as fv
from fewvars.heads import Curves, CurvesHead, HeadSettings, Polynomials, StepsHead, Trial, choose_head, kinds_of
from fewvars.polynomials.polynomial import Polynomial
from fewvars.search.held_out import HeldOut
from fewvars.series.splits import BlockedSplit


def wave_and_product(X):
    return np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3]


def trial_of(function, n=300, seed=0, units=(1.0, 0.0)):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    y = function(X) + 0.3 * rng.standard_normal(n)
    splits = BlockedSplit(4, n_blocks=8).split(X)
    return Trial(units[0] * X + units[1], y[:, None], np.ones(n), HeldOut.of(splits, np.ones(n)))


@pytest.fixture(scope="module")
def wave():
    trial = trial_of(wave_and_product)
    choice = choose_head([Polynomials(), Curves()], trial)
    return choice, choice.fit(trial.X, trial.y, trial.weight)


def new_error(head, function, units=(1.0, 0.0)):
    X = np.random.default_rng(99).standard_normal((2000, 4))
    y = function(X)
    return np.mean((head.predict(units[0] * X + units[1])[:, 0] - y) ** 2) / y.var()


def test_follows_a_wave_beside_a_product(wave):
    choice, head = wave
    assert choice.name == head.name == "curves"
    assert_array_equal(head.curved, [True, False, False, False])
    assert head.interactions(np.arange(4)) == ((1, 2),)
    assert new_error(head, wave_and_product) < 0.05
    polynomial = choose_head([Polynomials()], trial_of(wave_and_product))
    trial = polynomial.trial
    assert new_error(polynomial.fit(trial.X, trial.y, trial.weight), wave_and_product) > 0.15


def test_text_names_the_curve(wave):
    _, head = wave
    [text] = head.text(["a", "b", "c", "d"])
    assert "b*c" in text
    assert text.endswith("+ curve(a)")
    assert "1 curve" in head.describe()


@pytest.mark.parametrize("units", [(1e-6, 0.0), (1e5, 1e6)], ids=["small", "large"])
def test_units_do_not_matter(wave, units):
    trial = trial_of(wave_and_product, units=units)
    choice = choose_head([Polynomials(), Curves()], trial)
    head = choice.fit(trial.X, trial.y, trial.weight)
    assert choice.name == "curves"
    assert_array_equal(head.curved, wave[1].curved)
    assert new_error(head, wave_and_product, units) < 0.05


@pytest.mark.parametrize(
    "function",
    [lambda X: X[:, 0] - X[:, 1] * X[:, 2] + X[:, 3], lambda X: X[:, 0] ** 3 - X[:, 1]],
    ids=["pair", "cubic"],
)
def test_is_not_tried_where_a_polynomial_leaves_only_noise(function):
    assert list(choose_head([Polynomials(), Curves()], trial_of(function)).errors) == ["dictionary"]


def test_uses_every_variable():
    trial = trial_of(lambda X: np.sin(3 * X[:, 0]))
    head = Curves().fit(trial.X, trial.y, trial.weight, degree=2)
    assert_array_equal(head.curved | head.polynomial.support, [True] * 4)


def test_inputs_of_two_values_have_no_curves():
    trial = trial_of(lambda X: np.sign(X[:, 0]) + X[:, 1])
    head = Curves().fit(np.sign(trial.X), trial.y, trial.weight, degree=2)
    assert not head.curved.any()


def test_gradient_and_several_outputs():
    trial = trial_of(wave_and_product)
    both = replace(trial, y=np.column_stack([trial.y, -1e3 * trial.y]))
    head = Curves().fit(both.X, both.y, both.weight, degree=2)
    assert (head.n_inputs, head.n_outputs) == (4, 2)
    assert_allclose(head.predict(both.X)[:, 1], -1e3 * head.predict(both.X)[:, 0], atol=100)
    for j in range(4):
        shift = 1e-6 * (np.arange(4) == j)
        slope = (head.predict(both.X + shift) - head.predict(both.X - shift)) / 2e-6
        assert_allclose(head.gradient(both.X)[:, :, j], slope, rtol=1e-5, atol=1e-4)


def test_rows_of_weight_zero_do_not_count():
    trial = trial_of(wave_and_product)
    fitted = Curves().fit(trial.X, trial.y, trial.weight, degree=2)
    wild = np.where(np.arange(300)[:, None] < 20, 1e3, trial.y)
    weight = (np.arange(300) >= 20).astype(float)
    head = Curves().fit(trial.X, wild, weight, degree=2)
    assert_allclose(head.predict(trial.X), fitted.predict(trial.X), atol=0.6)


def lines_and_a_wave(n=150, d=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X[:, :8] @ [1, -1, 0.8, 0.7, -0.9, 0.6, 1, -0.5] + 2 * np.sin(3 * X[:, 8])
    return X, y + 0.7 * rng.standard_normal(n)


def test_a_wave_beside_eight_lines_is_found_in_few_rows(tmp_path):
    X, y = lines_and_a_wave(seed=2)
    model = fv.FewVariablesRegressor(random_state=0).fit(X, y)
    assert_array_equal(np.flatnonzero(model.support_), np.arange(9))
    assert model.head_ == "curves"
    assert model.equation_.endswith("curve(x8)")
    assert model.interactions_ == ()
    fv.save(model, tmp_path / "model")
    assert_array_equal(fv.load(tmp_path / "model").predict(X), model.predict(X))


def test_needs_squared_error():
    X, y = lines_and_a_wave()
    with pytest.raises(ValueError, match="squared error"):
        fv.FewVariablesRegressor(head="curves", loss="poisson").fit(X, np.round(np.abs(y)))
    with pytest.raises(ValueError, match="squared error"):
        fv.FewVariablesClassifier(head="curves").fit(X, y > 0)
    with pytest.raises(ValueError, match="head"):
        fv.DynamicsRegressor(head="curves").fit(X, t=0.1)
    assert "curves" not in [kind.head.name for kind in kinds_of("auto", HeadSettings(loss=_poisson()))]


def _poisson():
    return fv.FewVariablesRegressor(loss="poisson")._loss


def test_parts_must_fit():
    polynomial = Polynomial(np.array([[0, 0], [1, 0]]), np.ones((2, 1)))
    shapes = (1,), (3, 1), (4, 3), (4, 3), (4, 3, 1)
    with pytest.raises(ValueError, match="does not fit"):
        CurvesHead(polynomial, StepsHead(*map(np.ones, shapes)), 0.1).check()
