"""The forward search finds what was planted, keeps to what it is told, and finds nothing in noise."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fewvars.search.variables.forward import forward_search
from fewvars.search.variables.terms import Term
from planted import autoregressive, growing, mask

D = 12


def search(X, y, *, included=(), excluded=(), n_groups=None, **options):
    model = growing(X, y, **options)
    d = model.terms.n_groups
    return forward_search(model, ~mask(*excluded, d=d), mask(*included, d=d), n_groups)


def found(proposal):
    return np.flatnonzero(proposal.mask).tolist()


def normal(n, d=D, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def noise(n, size, seed=200):
    return size * np.random.default_rng(seed).standard_normal(n)


PLANTED = {
    "line": (200, lambda x: x[2] - 0.5 * x[7], [2, 7]),
    "square": (200, lambda x: x[4] ** 2, [4]),
    "cubic": (300, lambda x: 0.3 * x[5] ** 3 - x[5], [5]),
    "product": (300, lambda x: x[3] * x[8], [3, 8]),
    "product of one that is in": (300, lambda x: x[1] + 0.7 * x[1] * x[9], [1, 9]),
    "ratio": (300, lambda x: x[0] / (1 + x[4] ** 2), [0, 4]),
    "surface": (300, lambda x: np.tanh(2 * x[0]) * np.sin(2 * x[4]), [0, 4]),
    "three": (400, lambda x: x[0] + x[1] ** 2 + x[2] * x[3], [0, 1, 2, 3]),
    "wave": (400, lambda x: np.cos(6 * x[6]), [6]),
    "kink": (300, lambda x: np.maximum(x[10], 0), [10]),
    "step": (300, lambda x: np.sign(x[11]), [11]),
    "many": (400, lambda x: x[:8].sum(axis=0), list(range(8))),
    "nothing": (200, lambda x: 0 * x[0], []),
}


@cache
def planted(name, seed):
    n, function, _ = PLANTED[name]
    X = normal(n, seed=seed)
    return search(X, function(X.T) + noise(n, 0.4, 200 + seed))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", PLANTED)
def test_finds_what_was_planted(name, seed):
    proposal = planted(name, seed)
    assert set(PLANTED[name][2]) <= set(found(proposal))
    assert {group for term in proposal.terms for group in term.groups} == set(found(proposal))
    assert not proposal.dependent


def test_finds_little_else():
    extras = [found(planted(name, seed)) != PLANTED[name][2] for name in PLANTED for seed in (0, 1)]
    assert sum(extras) <= 3  # of 22; at a level of 0.025, which rises with what is in, 1 is expected


def test_pure_product_among_many_inputs():
    X = normal(800, 200)
    assert found(search(X, X[:, 17] * X[:, 140] + noise(800, 0.5))) == [17, 140]


def test_terms_tell_what_kind_of_function_it_is():
    X = normal(400)
    proposal = search(X, X[:, 0] + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + noise(400, 0.3))
    assert Term("product", (2, 3)) in proposal.terms
    assert Term("curve", (1,)) in proposal.terms
    assert Term("curve", (0,)) not in proposal.terms


def test_nested_supports_grow_in_the_order_of_entry():
    X = normal(300)
    proposal = search(X, 3 * X[:, 5] + X[:, 2] + 0.4 * X[:, 8] + noise(300, 0.3), included=[0])
    assert proposal.order == (5, 2, 8)
    assert [np.flatnonzero(m).tolist() for m in proposal.nested] == [[0], [0, 5], [0, 2, 5], [0, 2, 5, 8]]


class TestWhatItIsTold:
    def test_included_groups_stay_and_excluded_ones_never_enter(self):
        X = normal(300)
        y = X[:, 2] + X[:, 5] * X[:, 6] + noise(300, 0.3)
        assert found(search(X, y, included=[9, 10])) == [2, 5, 6, 9, 10]
        assert not {2, 5} & set(found(search(X, y, excluded=[2, 5])))
        assert found(search(X, y, included=[9], excluded=[2, 5])) == [9]

    @pytest.mark.parametrize("n_groups", [0, 1, 2, 3, 5, D])
    def test_number_of_groups(self, n_groups):
        X = normal(200)
        y = X[:, 2] - 0.7 * X[:, 4] + 0.5 * X[:, 8] + noise(200, 0.3)
        chosen = found(search(X, y, n_groups=n_groups))
        assert len(chosen) == n_groups
        assert set([2, 4, 8][:n_groups]) <= set(chosen)

    def test_a_pair_does_not_enter_where_there_is_room_for_one(self):
        X = normal(300)
        y = X[:, 3] * X[:, 8] + noise(300, 0.3)
        assert len(found(search(X, y, n_groups=1))) == 1
        assert found(search(X, y, n_groups=2)) == [3, 8]

    def test_number_of_groups_counts_included_ones(self):
        X = normal(200)
        y = X[:, 2] + 0.5 * X[:, 4] + noise(200, 0.3)
        assert found(search(X, y, included=[7], n_groups=2)) == [2, 7]

    def test_number_of_groups_is_that_asked_for_even_with_few_rows(self):
        X = normal(12, d=8)
        assert len(found(search(X, X[:, 0] + noise(12, 1.0), n_groups=7))) == 7


def test_groups_enter_together():
    X = normal(300)
    labels = np.repeat(np.arange(6), 2)
    assert found(search(X, X[:, 2] + X[:, 7] + noise(300, 0.5), labels=labels)) == [1, 3]
    assert found(search(X, X[:, 4] * X[:, 5] + noise(300, 0.5), labels=labels)) == [2]
    assert found(search(X, X[:, 1] * X[:, 10] + noise(300, 0.5), labels=labels)) == [0, 5]


def test_outputs_share_a_support():
    X = normal(300)
    Y = np.column_stack([X[:, 1] + noise(300, 0.5, 1), X[:, 4] ** 2 + noise(300, 0.5, 2), noise(300, 1.0, 3)])
    assert found(search(X, Y)) == [1, 4]


def test_binary_inputs():
    X = np.random.default_rng(0).integers(0, 2, (300, D)).astype(float)
    assert found(search(X, X[:, 2] + X[:, 5] * X[:, 6] + noise(300, 0.3))) == [2, 5, 6]


def test_an_input_that_stands_in_for_others_leaves_again():
    rng = np.random.default_rng(0)
    X = normal(400)
    X[:, 0] = X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(400)  # the best on its own
    proposal = search(X, X[:, 1] + X[:, 2] + noise(400, 0.2))
    assert proposal.order[0] == 0
    assert found(proposal) == [1, 2]


@pytest.mark.parametrize("size", [20.0, 1e6])
def test_wild_outputs_neither_select_nor_hide(size):
    X = normal(200)
    y = X[:, 2] - X[:, 5] + noise(200, 0.5)
    y[[10, 60, 61]] = size, -size, 3 * size
    assert found(search(X, y)) == [2, 5]


class TestDependentRows:
    @pytest.mark.parametrize("seed", range(3))
    def test_truth_is_found(self, seed):
        n, d = 500, 8
        X = autoregressive(0.9, n, d, seed=seed)
        y = X[:, 0] + X[:, 2] * X[:, 3] + autoregressive(0.9, n, seed=50 + seed)[:, 0]
        proposal = search(X, y)
        assert proposal.dependent
        assert found(proposal) == [0, 2, 3]

    def test_nothing_is_found_in_unrelated_series(self):
        n, d = 300, 8
        for seed in range(10):
            X = autoregressive(0.95, n, d, seed=seed)
            assert found(search(X, autoregressive(0.95, n, seed=500 + seed))) == []

    def test_order_that_means_nothing_is_ignored(self):
        X = normal(300)
        order = np.argsort(X[:, 0])
        y = np.sin(X[:, 0]) + noise(300, 0.3)
        proposal = search(X[order], y[order], ordered=False)
        assert not proposal.dependent
        assert found(proposal) == [0]


def test_what_is_beyond_doubt():
    X = normal(200)
    y = X[:, 2] + 0.3 * X[:, 7] + noise(200, 1.0)
    proposal = search(X, y)
    assert found(proposal) == [2, 7]
    assert np.flatnonzero(proposal.sure).tolist() == [2]
    slow = autoregressive(0.9, 200, D)
    dependent = search(slow, slow[:, 2] + 0.3 * autoregressive(0.9, 200, seed=1)[:, 0])
    assert found(dependent) == [2]
    assert not dependent.sure.any()


@pytest.mark.parametrize("n", [40, 60])
def test_products_of_few_rows(n):
    """A ninth of the rows carries the product of two normal inputs."""
    X = normal(n, d=6)
    assert found(search(X, X[:, 0] * X[:, 3] + noise(n, 0.1))) == [0, 3]


def test_products_of_rare_events_need_more_rows():
    """Here five rows carry the product, and one of them would be enough for a small p-value."""
    rng = np.random.default_rng(0)
    X = (rng.random((200, 6)) < 0.15).astype(float)
    both = np.flatnonzero(X[:, 0] * X[:, 3])
    assert 2 <= both.size < 10
    y = noise(200, 0.1)
    y[both] += 0.4 * np.where(np.arange(both.size) % 2, 1.0, 3.0)
    assert not any(term.kind == "product" for term in search(X, y).terms)


def test_pure_noise_selects_rarely():
    wrong = [bool(found(search(normal(100, 30, seed), noise(100, 1.0, 1000 + seed)))) for seed in range(30)]
    assert sum(wrong) <= 3  # 0.75 are expected at a level of 0.025


def test_the_answer_does_not_depend_on_units_or_order():
    X = normal(300)
    y = X[:, 2] + X[:, 5] * X[:, 6] + noise(300, 0.3)
    one = search(X, y)
    other = search(X[:, ::-1] * 1e3 - 7.0, -1e-3 * y + 4.0)
    assert_array_equal(one.mask, other.mask[::-1])
