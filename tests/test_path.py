"""The path from dense to empty: it ends empty, nests, and costs nothing for the dead."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fewvars.engine.network import Network
from fewvars.engine.penalties import InputGroups
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Objective, Outcome, adam
from fewvars.search.path import Path, starting_strength
from fewvars.search.variables.path import dense_to_empty


@pytest.fixture(scope="module")
def run():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6))
    samples = Samples.of(X, (X[:, 1] * X[:, 4] + X[:, 2]) / np.sqrt(2), dtype=np.float32)
    network = Network(6, (10, 10))
    first = adam(network, samples, n_updates=400, ridge=1e-4)
    penalty = InputGroups.of(6).adaptive(network.layers(first.theta)[0].weights)
    seen = []
    path = dense_to_empty(
        network, first.theta, samples, penalty, factor=1.3, updates=60, on_strength=lambda n: seen.append(np.sum(n > 0))
    )
    return network, first, samples, penalty, path, seen


def test_ends_empty_and_true_inputs_die_last(run):
    *_, path, seen = run
    assert path.outcome is Outcome.FINISHED
    assert path.sizes[-1] == 0
    assert seen == path.sizes.tolist()
    assert (np.diff(path.sizes) <= 0).all()  # the dead stay dead
    died = (path.magnitudes > 0).sum(axis=0)
    assert died[[1, 2, 4]].min() > died[[0, 3, 5]].max()


def test_steps_are_wider_where_no_input_dies(run):
    path = run[-2]
    idle = np.diff(path.sizes)[:-1] == 0
    assert 0 < idle.sum() < idle.size
    assert_allclose(path.strengths[2:] / path.strengths[1:-1], np.where(idle, 1.3**2, 1.3))


def test_one_support_for_each_size(run):
    path = run[-2]
    masks = path.nested_supports()
    assert [int(m.sum()) for m in masks] == [6, 5, 4, 3, 2, 1, 0]
    assert all((small <= large).all() for large, small in itertools.pairwise(masks))
    assert_array_equal(np.flatnonzero(masks[3]), [1, 2, 4])


def test_first_strength_is_found_from_the_data(run):
    network, first, samples, penalty, path, _ = run
    value = penalty.value(network.layers(first.theta)[0].weights)
    assert_allclose(path.strengths[0] * value, 0.01 * samples.Y.var(), rtol=1e-4)


def test_rows_of_little_weight_do_not_count_in_the_variance():
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.standard_normal(500), 10 + rng.standard_normal(500)])
    weight = np.repeat([1.0, 1e-9], 500)
    samples = Samples.of(np.zeros((1000, 1)), y, weight)
    assert_allclose(starting_strength(samples, 1.0), 0.01 * y[:500].var(), rtol=1e-5)


def test_unfinished_and_diverged_paths_say_so(run):
    network, first, samples, penalty, *_ = run
    short = dense_to_empty(network, first.theta, samples, penalty, updates=5, max_strengths=2)
    assert short.outcome is Outcome.EXHAUSTED
    assert len(short.strengths) == 2
    wild = dense_to_empty(network, first.theta, samples, penalty, updates=50, learning_rate=1e3)
    assert wild.outcome is Outcome.DIVERGED


@pytest.fixture(scope="module")
def certified(run):
    network, first, samples, penalty, *_ = run
    return dense_to_empty(
        network, first.theta, samples, penalty, factor=1.5, updates=300, solver="monotone", ridge=1e-2, tolerance=1e-2
    )


def test_a_monotone_path_ends_every_strength_with_a_certificate(run, certified):
    assert run[-2].distances is None
    assert certified.outcome is Outcome.FINISHED
    assert certified.distances.shape == certified.strengths.shape
    assert (np.diff(certified.sizes) <= 0).all()
    died = (certified.magnitudes > 0).sum(axis=0)
    assert died[[1, 2, 4]].min() > died[[0, 3, 5]].max()
    # Inputs that were dropped count: none of them wants back in.
    assert (certified.distances <= 1e-2).mean() > 0.8


def test_the_certificate_is_that_of_the_whole_problem(run):
    network, first, samples, penalty, *_ = run
    start = first.theta.astype(np.float64)
    double = Samples.of(samples.X, samples.Y)
    options = {"updates": 0, "max_strengths": 1, "ridge": 1e-3, "solver": "monotone"}
    for strength in (0.1, 1.0):
        path = dense_to_empty(network, start, samples, penalty, first_strength=strength, **options)
        objective = Objective(network, double, penalty, strength, ridge=1e-3)
        expected = objective.distance(start, objective.smooth(start)[1], 1.0)
        assert_allclose(path.distances, expected, rtol=1e-12)
        assert_allclose(path.losses, network.loss(start, double), rtol=1e-12)


def test_unknown_solvers_are_refused(run):
    network, first, samples, penalty, *_ = run
    with pytest.raises(ValueError, match=r"solver='newton'.*'momentum', 'monotone'"):
        dense_to_empty(network, first.theta, samples, penalty, solver="newton")


def test_groups_die_together(run):
    network, first, samples, *_ = run
    labels = [0, 0, 1, 1, 2, 2]
    penalty = InputGroups.of(6, labels).adaptive(network.layers(first.theta)[0].weights)
    path = dense_to_empty(network, first.theta, samples, penalty, factor=2.0, updates=20)
    assert path.magnitudes.shape[1] == 3
    assert_array_equal(path.supports[:, ::2], path.supports[:, 1::2])


def test_ties_are_broken_by_the_norms_before_death():
    norms = np.array([[1.0, 3.0, 2.0], [0.5, 0.4, 0.0], [0.0, 0.0, 0.0]])
    path = Path(np.array([1.0, 2.0, 3.0]), norms, np.zeros(3), Outcome.FINISHED, np.arange(3))
    assert [np.flatnonzero(m).tolist() for m in path.nested_supports()] == [[0, 1, 2], [0, 1], [0], []]
