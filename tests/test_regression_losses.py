"""Regression under other losses than squared error: counts and outliers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.base import clone

from fewvars import FewDirectionsRegressor, FewVariablesRegressor
from fewvars.engine.losses import CrossEntropy, Huber, Poisson
from fewvars.engine.solvers.reweighted import reweighted_least_squares
from fewvars.heads import HeadSettings, Polynomials, Trial
from fewvars.polynomials.reweighted import fit_polynomial_under
from fewvars.search.held_out import HeldOut
from fewvars.series.splits import BlockedSplit
from problems import QUICK_DIRECTIONS


def counts(n=400, d=10, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, rng.poisson(scale * np.exp(0.4 + X[:, 2] - 0.6 * X[:, 5])).astype(float)


@pytest.mark.parametrize("scale", [0.2, pytest.param(100.0, marks=pytest.mark.slow)])
def test_counts(scale):
    X, y = counts(scale=scale)
    model = FewVariablesRegressor(loss="poisson", head="dictionary", random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [2, 5]
    new = np.zeros((2, 10))
    new[1, 2] = 1.0
    rates = model.predict(new)
    assert_allclose(rates, scale * np.exp([0.4, 1.4]), rtol=0.4 if scale < 1 else 0.05)  # few rows hold a count
    assert "x2" in model.equation_  # the logarithm of the rate
    assert model.held_out_error_ < 0.9  # of the deviance of the mean
    assert model.head_errors_["dictionary"] == pytest.approx(model.held_out_error_, abs=0.1)


@pytest.mark.slow
def test_networks_learn_rates():
    X, y = counts(scale=5.0)
    model = FewVariablesRegressor(loss="poisson", head="network", n_variables=2, random_state=0).fit(X, y)
    truth = 5.0 * np.exp(0.4 + X[:, 2] - 0.6 * X[:, 5])
    assert np.abs(np.log(model.predict(X) / truth)).mean() < 0.1


@pytest.mark.slow
def test_outliers_have_little_weight():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8))
    clean = X[:, 1] * X[:, 4] + 0.5 * X[:, 6]
    y = clean + 0.1 * rng.standard_normal(400)
    bad = rng.random(400) < 0.05
    y[bad] += 20.0 * np.abs(rng.standard_normal(int(bad.sum())))  # on both sides, squared error clips them
    squared = FewVariablesRegressor(head="dictionary", random_state=0).fit(X, y)
    huber = clone(squared).set_params(loss="huber").fit(X, y)
    assert huber.get_support(indices=True).tolist() == [1, 4, 6]
    errors = [np.sqrt(((model.predict(X) - clean) ** 2).mean()) for model in (huber, squared)]
    assert errors[0] < 0.05
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("loss", ["huber", "poisson"])
def test_directions(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    z = (X[:, 0] + X[:, 1] - X[:, 2]) / np.sqrt(3)
    if loss == "poisson":
        truth = np.exp(0.5 + z)
        y = rng.poisson(truth).astype(float)
    else:
        truth = z**2
        y = truth + 0.1 * rng.standard_normal(400)
        y[::20] += 20.0
    model = FewDirectionsRegressor(loss=loss, head="dictionary", random_state=0, **QUICK_DIRECTIONS).fit(X, y)
    assert model.n_directions_ == 1
    assert np.abs(np.corrcoef(model.transform(X)[:, 0], z))[0, 1] > 0.99
    assert ((model.predict(X) - truth) ** 2).mean() < 0.05 * truth.var()
    assert model.expected_error_ < 0.8


def test_negative_counts():
    X, y = counts()
    y[7] = -1.0
    with pytest.raises(ValueError, match="holds -1 in row 7"):
        FewVariablesRegressor(loss="poisson").fit(X, y)


def test_unknown_loss():
    with pytest.raises(ValueError, match=r"loss='absolute'.*'huber'"):
        FewVariablesRegressor(loss="absolute").fit(*counts())


@pytest.mark.parametrize(
    ("loss", "outputs"), [(Poisson(), 2), (CrossEntropy(), 1), (CrossEntropy(), 3), (Huber(0.3), 1)]
)
def test_reweighted_least_squares_ends_where_the_gradient_vanishes(loss, outputs):
    rng = np.random.default_rng(0)
    F, weights = rng.standard_normal((80, 3)), rng.uniform(0.5, 2.0, 80)
    Y = rng.poisson(1.0, (80, outputs)).astype(float)
    if isinstance(loss, CrossEntropy):
        labels = rng.integers(0, max(outputs, 2), 80)
        Y = (labels[:, None] == np.arange(outputs)).astype(float)
    B = reweighted_least_squares(F, Y, weights, loss, ridge=0.5, tolerance=1e-15, max_iterations=500)
    gradient = F.T @ (weights[:, None] * loss.derivatives(F @ B, Y)) + 2 * 0.5 * B
    assert_allclose(gradient, 0.0, atol=1e-5)


def test_polynomial_far_from_the_origin():
    # Around 300 with a spread of 1, x and x^2 are the same to nine digits: the monomials are those of x - 300.
    rng = np.random.default_rng(0)
    X = 300.0 + rng.standard_normal((500, 1))
    y = rng.poisson(np.exp(1.0 + 0.5 * (X - 300.0) ** 2)).astype(float)
    cv = list(BlockedSplit(4).split(X))
    found = fit_polynomial_under(Poisson(), X, y, max_degree=2, cv=cv, sample_weight=np.ones(500))
    assert found.origin == [300.0]
    assert_allclose(found.predict([[300.0], [301.0]])[:, 0], [1.0, 1.5], atol=0.1)


@pytest.mark.parametrize("seed", [0, 4, 5])
def test_the_logarithm_of_a_rate_contains_a_product(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 4))
    y = rng.poisson(np.exp(0.3 + 0.8 * X[:, 0] - 0.6 * X[:, 1] + 0.5 * X[:, 2] * X[:, 3])).astype(float)[:, None]
    weight = np.ones(300)
    trial = Trial(X, y, weight, HeldOut.of(BlockedSplit(4).split(X), weight, by_ratio=False), Poisson())
    kind = Polynomials.of(HeadSettings(loss=Poisson()))
    assert kind.degrees(X, y) == [1, 2, 3, 4]
    found = kind.choose(trial).fit(X, y, weight).as_polynomial()
    assert sorted(map(tuple, found.exponents)) == [(0, 0, 0, 0), (0, 0, 1, 1), (0, 1, 0, 0), (1, 0, 0, 0)]


def test_polynomials_have_no_powers_of_indicators():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(300), rng.random(300) < 0.4])
    y = (rng.random(300) < expit(3.0 * X[:, 0] * X[:, 1] - X[:, 1])).astype(float)[:, None]
    cv = list(BlockedSplit(4).split(X))
    found = fit_polynomial_under(CrossEntropy(), X, y, max_degree=3, cv=cv, sample_weight=np.ones(300))
    assert found.exponents[:, 1].max() == 1
    assert (found.exponents == [1, 1]).all(axis=1).any()


def test_rates_are_counts_over_exposure_with_its_weight():
    # The deviance of rates, weighted by exposure, is that of the counts whose log rate has log exposure as an offset.
    rng = np.random.default_rng(0)
    X, exposure = rng.standard_normal((600, 3)), rng.choice([0.5, 2.0, 8.0], 600)
    y = rng.poisson(exposure * np.exp(0.5 + X[:, 1]))
    model = FewVariablesRegressor(loss="poisson", head="dictionary", max_degree=1, random_state=0)
    model.fit(X, y / exposure, sample_weight=exposure)
    assert model.get_support(indices=True).tolist() == [1]
    assert_allclose(np.log(model.predict([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])), [0.5, 1.5], atol=0.1)
