"""Heads: which one wins, and that they predict and differentiate in the user's units."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fewvars.engine.samples import Samples
from fewvars.heads import HeadSettings, MeanHead, Networks, Polynomials, StepsHead, Trial, choose_head
from fewvars.search.held_out import HeldOut
from fewvars.series.splits import BlockedSplit

NETWORKS = Networks(ridges=(1e-6, 1e-4), n_networks=2)
KINDS = {"auto": [Polynomials(), NETWORKS], "network": [NETWORKS], "dictionary": [Polynomials()]}


def problem(function, n=400, noise=0.02):
    rng = np.random.default_rng(0)
    X = 100.0 + 10.0 * rng.standard_normal((n, 2))
    Z = (X - 100.0) / 10.0
    y = 1e4 * function(Z) + 1e4 * noise * rng.standard_normal(n)
    splits = list(BlockedSplit(4, n_blocks=10).split(X))[-1:]
    return Trial(X, y[:, None], np.ones(n), HeldOut.of(splits, np.ones(n)))


@pytest.mark.parametrize(
    ("function", "winner"),
    [(lambda Z: Z[:, 0] * Z[:, 1] ** 2, "dictionary"), (lambda Z: np.tanh(4 * Z[:, 0]) * Z[:, 1], "network")],
    ids=["polynomial", "steep"],
)
def test_the_better_head_wins(function, winner):
    trial = problem(function)
    choice = choose_head(KINDS["auto"], trial)
    head = choice.fit(trial.X, trial.y, trial.weight)
    assert choice.name == head.name == winner
    assert set(choice.errors) == {"dictionary", "network"}
    clean = 1e4 * function((trial.X - 100) / 10)
    assert np.mean((head.predict(trial.X)[:, 0] - clean) ** 2) < 0.02 * clean.var()


def test_a_quick_fit_that_fails_in_a_few_pieces_is_scored_again(monkeypatch):
    trial = problem(lambda Z: np.tanh(4 * Z[:, 0]) * Z[:, 1])
    quickly_scored = Networks._quickly_scored

    def with_a_wild_piece(self, *args):
        return [replace(scored, errors=np.r_[10.0, scored.errors[1:]]) for scored in quickly_scored(self, *args)]

    monkeypatch.setattr(Networks, "_quickly_scored", with_a_wild_piece)
    choice = choose_head(KINDS["auto"], trial)
    assert choice.name == "network"
    assert choice.errors["network"].max() < 1.0


@pytest.mark.parametrize("kind", ["network", "dictionary"])
def test_gradients_and_outputs(kind):
    trial = problem(lambda Z: np.sin(Z[:, 0]) + Z[:, 1])
    trial = replace(trial, y=np.column_stack([trial.y, 3 * trial.y]))
    X = trial.X
    choice = choose_head(KINDS[kind], trial)
    head = choice.fit(X, trial.y, trial.weight)
    assert choice.name == kind
    assert (head.n_inputs, head.n_outputs) == (2, 2)
    assert list(choice.errors) == [kind]
    assert head.predict(X).shape == (400, 2)
    assert_allclose(head.predict(X)[:, 1], 3 * head.predict(X)[:, 0], rtol=0.05, atol=500)
    step = 1e-4
    for j in range(2):
        shift = step * (np.arange(2) == j)
        slope = (head.predict(X[:10] + shift) - head.predict(X[:10] - shift)) / (2 * step)
        assert_allclose(head.gradient(X[:10])[:, :, j], slope, rtol=1e-4, atol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("n", [400, 6000])
def test_threads_change_nothing(n):
    trial = problem(lambda Z: np.tanh(4 * Z[:, 0]) * Z[:, 1], n)
    heads = []
    for n_jobs in (1, 2):
        choice = choose_head([replace(NETWORKS, settings=HeadSettings(n_jobs=n_jobs))], trial)
        heads.append(choice.fit(trial.X, trial.y, trial.weight))
    assert heads[0].network == heads[1].network
    assert heads[0].ridge == heads[1].ridge
    assert_array_equal(heads[0].thetas, heads[1].thetas)


def test_of_many_rows_each_network_sees_its_own():
    def function(Z):
        return np.tanh(2 * Z[:, 0]) * Z[:, 1]

    networks = Networks(n_networks=2, rows_per_parameter=4, max_iterations=20)  # one row in two: 1000 of 2000
    trial = problem(function, n=2000)
    odd = np.arange(2000) % 2 == 1
    y = np.where(odd[:, None], 3 * trial.y, trial.y)
    fits = networks.fit(trial.X, y, trial.weight, widths=(10,), ridge=1e-6)
    clean = 1e4 * function((trial.X - 100) / 10)
    for theta, factor in zip(fits.thetas, (1, 3), strict=True):
        predicted = replace(fits, thetas=theta[None]).predict(trial.X)[:, 0]
        assert np.mean((predicted / factor - clean) ** 2) < 0.01 * clean.var()
    # Rows without weight are passed over, and do not count.
    fits = networks.fit(trial.X, y, odd.astype(float), widths=(10,), ridge=1e-6)
    assert np.mean((fits.predict(trial.X)[:, 0] / 3 - clean) ** 2) < 0.01 * clean.var()


@pytest.mark.parametrize(("n", "share"), [(800, 1), (4000, 3)])
def test_the_ridge_suits_the_rows_that_all_networks_see(n, share):
    """Of the 3000 training rows of 4000, the quick fits see one in three; two networks together see all."""
    networks = Networks(widths=((10,),), ridges=(1e-4,), n_networks=2, rows_per_parameter=8, max_iterations=8)
    trial = problem(lambda Z: np.tanh(2 * Z[:, 0]) * Z[:, 1], n=n)
    head = choose_head([networks], trial).fit(trial.X, trial.y, trial.weight)
    assert_allclose(head.ridge, 1e-4 / share)


@pytest.mark.parametrize(("noise", "few_rows", "fitted"), [(0.0, 0, 1), (0.3, 0, 2), (0.3, 1000, 1)])
def test_far_behind_a_rival_only_the_first_widths_are_tried(noise, few_rows, fitted, monkeypatch):
    monkeypatch.setattr("fewvars.heads.network.FEW_ROWS", few_rows)
    trial = problem(lambda Z: Z[:, 0] * Z[:, 1] ** 2, noise=noise)
    calls = []
    networks = replace(NETWORKS, settings=HeadSettings(on_fit=lambda: calls.append(1)))
    rival = Polynomials().choose(trial, None).scored
    networks.choose(trial, rival)
    assert len(calls) == fitted


def test_many_rows_are_thinned_for_the_jacobian():
    trial = problem(lambda Z: Z[:, 0])
    X = trial.X
    samples = Samples.of(X, trial.y, trial.weight)
    assert samples.for_jacobian(41) is samples
    thin = samples.for_jacobian(41, most=41 * len(X) / 4)
    assert_allclose(thin.X, X[::4])
    assert_allclose(thin.weights.mean(), 1.0)


def test_degrees_that_are_affordable():
    X = np.random.default_rng(1).standard_normal((400, 2))
    y = X[:, :1]
    assert Polynomials().degrees(X, y) == [1, 2, 3, 4]
    assert Polynomials(max_degree=2).degrees(X, y) == [1, 2]
    assert Polynomials().degrees(X[:40], y) == [1, 2, 3]  # ten monomials for forty rows
    assert Polynomials().degrees(1e40 * X, y) == [1, 2]  # the others would overflow
    assert Polynomials().degrees(X, 1e200 * y) == []


def test_a_constant_output_adds_nothing_to_the_error():
    rng = np.random.default_rng(0)
    X, y, weight = rng.standard_normal((120, 1)), rng.standard_normal((120, 1)), np.ones(120)
    held_out = HeldOut.of([(np.arange(90), np.arange(90, 120))], weight)
    errors = [
        Trial(X, outputs, weight, held_out).score(MeanHead.fit).errors
        for outputs in (y, np.column_stack([y, np.full(120, 7.0)]))
    ]
    assert_allclose(*errors)


def test_gradient_of_a_sum_of_steps():
    rng = np.random.default_rng(0)
    head = StepsHead(*(rng.standard_normal(shape) for shape in ((2,), (3, 2), (4, 3), (4, 3), (4, 3, 2))))
    X = rng.standard_normal((5, 3))
    assert (head.n_inputs, head.n_outputs) == (3, 2)
    for j in range(3):
        shift = 1e-6 * (np.arange(3) == j)
        slope = (head.predict(X + shift) - head.predict(X - shift)) / 2e-6
        assert_allclose(head.gradient(X)[:, :, j], slope, rtol=1e-6, atol=1e-8)


def test_mean_head():
    head = MeanHead(np.array([1.0, 2.0]))
    assert_allclose(head.predict(np.empty((3, 0))), [[1, 2]] * 3)
    assert head.gradient(np.empty((3, 0))).shape == (3, 2, 0)


def test_without_inputs_the_mean_is_left():
    weight = np.array([1.0, 1.0, 2.0])
    held_out = HeldOut.of([(np.arange(1), np.arange(1, 3))], weight)
    choice = choose_head(KINDS["auto"], Trial(np.empty((3, 0)), np.array([[1.0], [2.0], [3.0]]), weight, held_out))
    assert choice.name == "mean"
    assert choice.errors == {}
    assert choice.fit(np.empty((3, 0)), np.array([[1.0], [2.0], [3.0]]), weight).mean == [2.25]


def test_a_kind_that_was_asked_for_is_fitted_even_if_it_does_not_suit():
    trial = problem(lambda Z: Z[:, 0])
    few = replace(KINDS["dictionary"][0], max_terms=2)
    assert not few.suits(trial.X, trial.y)
    assert choose_head([few], trial).name == "dictionary"
    assert list(choose_head([few, NETWORKS], trial).errors) == ["network"]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda X: 1 + 2 * X[:, 0] - X[:, 1], "linear, with 3 terms"),
        (lambda X: X[:, 0] ** 2 - X[:, 1], "an additive polynomial with 2 terms, each of one variable"),
        (lambda X: X[:, 0] * X[:, 1] - X[:, 1], "a sparse polynomial with 2 terms"),
    ],
)
def test_a_polynomial_says_whether_it_is_linear_or_additive(function, expected):
    X = np.random.default_rng(0).standard_normal((200, 2))
    head = Polynomials().fit(X, function(X)[:, None], np.ones(200), degree=2)
    assert head.describe() == expected
