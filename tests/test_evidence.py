"""q-values: the false discovery rate by hand, folds that hold out every row, p-values that keep their word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import fewvars.search.variables.evidence as evidence_module
from fewvars.search.variables.evidence import FEW_ROWS, N_FOLDS, combined, folds, interactions, p_values, q_values
from fewvars.search.variables.terms import Term
from planted import autoregressive, mask, standardised


def benjamini_hochberg(p, level):
    """Return which hypotheses are rejected: those up to the last with p_(k) <= k level / m."""
    order = np.argsort(p)
    below = np.flatnonzero(p[order] <= level * np.arange(1, p.size + 1) / p.size)
    rejected = np.zeros(p.size, bool)
    rejected[order[: below[-1] + 1 if below.size else 0]] = True
    return rejected


class TestQValues:
    def test_by_hand(self):
        everything = np.ones(5, bool)
        found = q_values(np.array([0.01, 0.5, 0.03, 0.02, 0.9]), everything)
        assert_allclose(found, [0.05, 0.625, 0.05, 0.05, 0.9])

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.001, 0.999))
    def test_are_the_levels_at_which_benjamini_and_hochberg_reject(self, p, level):
        p = np.array(p)
        found = q_values(p, np.ones(p.size, bool))
        if np.abs(found - level).min() > 1e-9:  # a tie is a matter of rounding
            assert_array_equal(found <= level, benjamini_hochberg(p, level))
        assert (found >= p - 1e-12).all()
        assert (found <= 1.0).all()

    def test_unusable_groups_are_no_rivals(self):
        p = np.array([0.02, 1e-9, 0.04, 0.9])
        usable = np.array([True, False, True, True])
        assert_allclose(q_values(p, usable), [0.06, 1.0, 0.06, 0.9])


class TestFolds:
    @pytest.mark.parametrize(("n", "time", "k"), [(100, 1.0, N_FOLDS), (101, 9.5, N_FOLDS), (FEW_ROWS + 1, 1.0, 2)])
    def test_hold_out_each_row_once(self, n, time, k):
        found = folds(n, time, np.random.default_rng(0))
        assert len(found) == k
        assert_array_equal(np.sort(np.concatenate([test for _, test in found])), np.arange(n))
        assert np.ptp([test.size for _, test in found]) <= 1
        for train, test in found:
            assert not np.intersect1d(train, test).size
            assert (np.diff(train) > 0).all()
            assert (np.diff(test) > 0).all()

    def test_independent_rows_are_all_used_and_drawn_at_random(self):
        one, other = (folds(100, 1.0, np.random.default_rng(seed)) for seed in (0, 1))
        assert all(train.size + test.size == 100 for train, test in one)
        assert not np.array_equal(one[0][1], other[0][1])
        assert_array_equal(one[0][1], folds(100, 1.0, np.random.default_rng(0))[0][1])

    @pytest.mark.parametrize("time", [2.5, 10.0])
    def test_dependent_rows_are_consecutive_with_gaps_as_wide_as_their_dependence(self, time):
        found = folds(200, time, np.random.default_rng(0))
        # They begin at a random row, and the one that reaches the end goes on at the beginning.
        assert [np.count_nonzero(np.diff(test) > 1) for _, test in found].count(0) >= N_FOLDS - 1
        assert found[0][1][0] != folds(200, time, np.random.default_rng(1))[0][1][0]
        for train, test in found:
            distance = np.abs(train[:, None] - test).min(axis=1)
            assert time < distance.min() <= time + 1


class TestCombined:
    def test_is_twice_the_median_and_one_split_counts_as_it_is(self):
        one = np.array([0.01, 0.7])
        assert_array_equal(combined([one]), one)
        assert_allclose(combined([one, np.array([0.03, 0.2]), np.array([0.5, 0.9])]), [0.06, 1.0])

    @pytest.mark.parametrize("shared", [0.0, 0.7, 1.0])
    def test_is_valid_however_splits_depend_on_each_other(self, shared):
        rng = np.random.default_rng(0)
        z = np.sqrt(shared) * rng.standard_normal(20_000) + np.sqrt(1 - shared) * rng.standard_normal((3, 20_000))
        found = combined(list(stats.norm.sf(z)))
        for level in (0.01, 0.1):
            assert (found <= level).mean() <= level


def evidence(X, y, included=(), excluded=(), seed=0, **options):
    data = standardised(X, y, **options)
    d = data.terms.n_groups
    return p_values(data, ~mask(*excluded, d=d), mask(*included, d=d), seed=seed)


class TestPValues:
    @pytest.mark.slow
    def test_null_ones_are_not_too_small(self):
        found = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            found.append(evidence(rng.standard_normal((80, 5)), rng.standard_normal(80)))
        assert (np.array(found) < 0.05).mean() < 0.08
        assert (np.array(found) < 0.005).mean() < 0.02

    @pytest.mark.slow
    def test_null_ones_beside_planted_ones_are_not_too_small(self):
        found = []
        for seed in range(15):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((100, 5))
            found.append(evidence(X, X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(100)))
        found = np.array(found)
        assert (found[:, 2:] < 0.05).mean() < 0.1
        assert (found[:, :2] < 0.01).mean() > 0.9

    @pytest.mark.slow
    def test_null_ones_in_dependent_rows_are_not_too_small(self):
        found = [
            evidence(autoregressive(0.9, 200, 5, seed=seed), autoregressive(0.9, 200, seed=50 + seed))
            for seed in range(20)
        ]
        assert (np.array(found) < 0.05).mean() < 0.1

    @pytest.mark.parametrize("dependent", [False, True])
    def test_planted_variables_are_sure(self, dependent):
        n, c = 400, 0.8 if dependent else 0.0
        X = autoregressive(c, n, 10, seed=3)
        y = X[:, 1] + X[:, 4] * X[:, 6] + 0.5 * autoregressive(c, n, seed=4)[:, 0]
        found = q_values(evidence(X, y), np.ones(10, bool))
        assert (found[[1, 4, 6]] < 0.05).all()
        assert (np.delete(found, [1, 4, 6]) > 0.05).all()

    @pytest.mark.parametrize("seed", [0, 3])
    def test_rows_mixed_with_the_same_seed_are_drawn_again(self, monkeypatch, seed):
        drawn = []
        monkeypatch.setattr(evidence_module, "folds", lambda *given: drawn.append(folds(*given)) or drawn[-1])
        n = 120
        rng = np.random.default_rng(8)
        X, y = rng.standard_normal((n, 2)), np.sort(rng.standard_normal(n))
        mixed = np.random.default_rng(seed).permutation(n)  # as estimators mix rows that they have sorted first
        evidence(X, y[mixed], seed=seed, ordered=False)
        assert len(drawn) == 3
        means = [[y[mixed][test].mean() for _, test in split] for split in drawn]
        assert np.ptp(means, axis=1).max() < 0.7  # thirds of sorted rows would differ by two

    def test_rows_far_outside_do_not_outweigh_the_others(self):
        rng = np.random.default_rng(3)
        X = rng.standard_normal((80, 6))
        y = 2.0 * X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(80)
        y += 40.0 * rng.standard_normal(80) * (rng.random(80) < 0.08)  # gross errors
        found = evidence(X, y, ordered=False)
        assert (found[:2] < 0.02).all()  # 0.1 if curves may grow outside the training rows
        assert (found[2:] > 0.05).all()

    def test_unusable_groups_have_no_evidence(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((100, 4))
        found = evidence(X, X[:, 0] + X[:, 2] + 0.1 * rng.standard_normal(100), excluded=[2])
        assert found[2] == 1.0
        assert found[0] < 0.01

    def test_groups_and_outputs(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((150, 6))
        Y = np.column_stack([X[:, 0], X[:, 3]]) + 0.3 * rng.standard_normal((150, 2))
        found = evidence(X, Y, labels=[0, 0, 1, 1, 2, 2])
        assert found.shape == (3,)
        assert (found[:2] < 0.001).all()

    def test_are_the_same_for_the_same_seed_and_in_other_units(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((100, 4))
        y = X[:, 0] + rng.standard_normal(100)
        assert_array_equal(evidence(X, y, seed=1), evidence(X, y, seed=1))
        assert_allclose(evidence(X, y, seed=1), evidence(-1e3 * X + 5, 1e6 * y - 1, seed=1), rtol=1e-6)

    def test_one_wild_output_makes_nothing_sure_and_hides_nothing(self):
        rng = np.random.default_rng(5)
        X = rng.standard_normal((200, 8))
        y = X[:, 1] + 0.5 * rng.standard_normal(200)
        y[17] = 1e6
        found = evidence(X, y)
        assert found[1] < 1e-4
        assert (np.delete(found, 1) > 0.005).all()


def test_interactions_are_pairs_of_groups_each_once():
    terms = [Term("line", (0,)), Term("product", (2, 4)), Term("bent product", (2, 4)), Term("product", (0, 1))]
    assert interactions(terms) == ((0, 1), (2, 4))
    assert interactions(terms[:1]) == ()


@pytest.mark.parametrize("n", [100, 3000])
def test_folds_of_a_trend_leave_rows_to_train_on(n):
    for train, test in folds(n, 10.0 * n, np.random.default_rng(0)):
        assert train.size > n // 8
        assert not np.intersect1d(train, test).size
