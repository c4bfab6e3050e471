"""Held-out comparison, the rule of the smallest support, refits, and mending."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fewvars.engine.samples import Samples
from fewvars.search.held_out import HeldOut
from fewvars.search.judge import Verdict
from fewvars.search.variables.network_judge import NetworkJudge, Refit
from fewvars.search.variables.selection import SupportSearch
from fewvars.search.variables.support import candidate_sizes, choose_support
from fewvars.series.scaling import Scaling, duplicated_columns
from fewvars.series.splits import BlockedSplit

RECIPE = Refit(widths=(12, 12), n_updates=600)


def held_out(n, n_blocks=6, weight=None, n_splits=2):
    splits = list(BlockedSplit(4, n_blocks=n_blocks).split(np.zeros((n, 1))))[::-1][:n_splits]
    return HeldOut.of(splits, np.ones(n) if weight is None else weight)


def make_search(seed=0, n=480, d=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X[:, 1] * X[:, 3] + 0.3 * np.cos(2 * X[:, 4]) + 0.05 * rng.standard_normal(n)
    samples = Samples.of(X, (y - y.mean()) / y.std(), dtype=np.float32)
    return search_on(samples)


def search_on(samples, n_jobs=None, reserve=None):
    labels = np.arange(samples.X.shape[1])
    judge = NetworkJudge(samples, labels, held_out(len(samples)), RECIPE, n_jobs)
    return SupportSearch(judge, samples, labels, reserve)


def mask(*members, d=6):
    return np.isin(np.arange(d), members)


class TestHeldOut:
    def test_pieces_are_contiguous_and_counted_on(self):
        found = held_out(240)
        assert len(found.splits) == len(found.labels) == 2
        assert found.labels[0].min() == 0
        assert found.labels[1].min() == found.labels[0].max() + 1
        for (_, test), label in zip(found.splits, found.labels, strict=True):
            for piece in np.unique(label):
                assert (np.diff(test[label == piece]) == 1).all()

    def test_mean_is_that_over_rows_with_their_weights(self):
        rng = np.random.default_rng(0)
        weight = rng.integers(0, 3, 240).astype(float)
        found = held_out(240, weight=weight)
        squared = [rng.random(len(test)) for _, test in found.splits]
        rows = np.concatenate([test for _, test in found.splits])
        expected = np.average(np.concatenate(squared), weights=weight[rows])
        assert_allclose(found.mean(found.piece_errors(squared, weight)), expected)

    def test_excess_is_the_paired_difference(self):
        found = held_out(240).first()
        rng = np.random.default_rng(1)
        one, two = rng.random(found.weights.size), rng.random(found.weights.size)
        mean, spread = found.excess(one, two)
        assert_allclose(mean, (one - two).mean())
        assert_allclose(spread, (one - two).std(ddof=1) / np.sqrt(one.size))

    def test_ratios_see_what_differences_do_not(self):
        found = held_out(480, n_blocks=20).first()
        reference = np.geomspace(1e-4, 1.0, found.weights.size)
        worse = 1.2 * reference  # in every piece, by the same factor
        worse[-1] = 0.7 * reference[-1]  # but for the hardest
        mean, spread = found.excess(worse, reference)
        assert mean < spread
        assert found.better(reference, worse)

    @pytest.mark.parametrize(
        ("levels", "chosen"),
        [([1.0, 0.5, 0.1, 0.1, 0.12], 2), ([1.0, 1.01, 1.02], 0), ([1.0, 0.98, 0.2], 2), ([0.0, 0.0], 0)],
    )
    def test_smallest_that_is_not_worse(self, levels, chosen):
        found = held_out(480, n_blocks=20).first()
        wobble = 1 + 0.05 * np.random.default_rng(2).standard_normal((len(levels), found.weights.size))
        assert found.smallest_not_worse(np.array(levels)[:, None] * wobble) == chosen

    def test_one_piece_is_cut_and_many_are_merged(self):
        whole = HeldOut.of([(np.arange(60), np.arange(60, 100))], np.ones(100))
        assert whole.weights.size > 1
        scattered = HeldOut.of([(np.arange(0, 400, 2), np.arange(1, 400, 2))], np.ones(400), max_pieces=30)
        assert scattered.weights.size == 30


class TestRefits:
    def test_true_support_beats_smaller_and_larger(self):
        search = make_search()
        true, small, large = search.judge.judge([mask(1, 3, 4), mask(1, 3), np.ones(6, bool)])
        assert search.error(true) < search.error(small)
        assert search.error(true) < search.error(large)
        empty = search.judge.judge([mask()])[0]
        assert_allclose(search.held_out.mean(empty.errors), 1.0, atol=0.2)

    def test_threads_change_nothing(self):
        masks = [mask(1), mask(1, 3), mask(0, 1, 3)]
        serial = make_search().judge.judge(masks)
        threaded = search_on(make_search().samples, n_jobs=2).judge.judge(masks)
        for one, two in zip(serial, threaded, strict=True):
            assert_array_equal(one.errors, two.errors)

    def test_best_of_several_starts_by_training_objective(self):
        search = make_search()
        rows = search.samples.columns(np.array([1, 3])).rows(search.held_out.splits[0][0])
        single = search.judge.judge([mask(1, 3)])[0].state[0]
        best = search.judge.judge([mask(1, 3)], effort=3)[0].state[0]
        assert RECIPE.objective(rows, best) <= RECIPE.objective(rows, single)

    def test_suspicion_finds_interactions_and_even_functions(self):
        search = make_search()
        base = search.judge.judge([mask(1)])[0]
        assert set(np.argsort(-search.suspicion(base, ~mask(1)))[:2]) == {3, 4}

    def test_suspicion_is_that_of_the_rows_with_weight(self):
        search = make_search()
        weights = np.where(np.arange(480) < 240, 2.0, 0.0).astype(np.float32)
        Y = search.samples.Y.copy()
        Y[240:] = 10 * search.samples.X[240:, :1]  # in the rows that do not count, x0 explains everything
        samples = replace(search.samples, Y=Y, weights=weights)
        weighted = search_on(samples)
        assert np.argmax(weighted.suspicion(weighted.judge.judge([mask(1)])[0], ~mask(1))) == 3

    def test_mending_adds_what_is_missing_and_drops_what_is_idle(self):
        search, base = make_search().tuned(mask(0, 1, 3))
        search, grown = search.add_back(base, np.ones(6, bool))
        assert grown.mask[[1, 3, 4]].all()
        assert_array_equal(search.prune(grown, mask())[0].mask, mask(1, 3, 4))
        assert_array_equal(search.prune(grown, mask(0))[0].mask, mask(0, 1, 3, 4))


class TestDoubt:
    """A group whose absence is worse by one to two standard errors is decided on more rows."""

    def left_out(self, search, *standard_errors):
        wobble = np.tile([-1.0, 1.0], search.held_out.weights.size // 2)
        wobble *= 0.01 / search.held_out.measured(wobble)[1]
        errors = [np.exp(0.01 * z + wobble) for z in standard_errors]
        same = Verdict(mask(1, 3), (), np.ones(wobble.size))
        return same, {g: Verdict(mask(g), (), e) for g, e in zip((1, 3), errors, strict=True)}

    @pytest.mark.parametrize(
        ("standard_errors", "doubt"), [((4.0, 2.5), False), ((4.0, 1.5), True), ((1.2, 4.0), True)]
    )
    def test_only_between_one_and_two_standard_errors(self, standard_errors, doubt):
        search = replace(make_search(), reserve=held_out(480, n_splits=4))
        found = self.left_out(search, *standard_errors)
        assert search.in_doubt(found, mask()) == doubt
        assert not search.in_doubt(found, mask(1, 3))  # what is always kept is not in question
        assert not replace(search, reserve=search.held_out).in_doubt(found, mask())  # there are no more rows
        merged = HeldOut.of(held_out(480, n_splits=4).splits, np.ones(480), max_pieces=12)  # more rows in fewer pieces
        assert replace(search, reserve=merged).in_doubt(found, mask()) == doubt

    def test_weak_variable_is_kept_on_the_evidence_of_all_rows(self):
        rng = np.random.default_rng(8)
        X = rng.standard_normal((480, 6))
        y = X[:, 1] * X[:, 3] + 0.3 * X[:, 4] + 0.9 * rng.standard_normal(480)
        samples = Samples.of(X, (y - y.mean()) / y.std(), dtype=np.float32)
        search = search_on(samples)
        nested = [mask(), mask(1), mask(1, 3), mask(1, 3, 4), np.ones(6, bool)]
        some = choose_support(search, nested, mask(), np.ones(6, bool), max_candidates=16)
        search = replace(search, reserve=held_out(480, n_splits=4))
        every = choose_support(search, nested, mask(), np.ones(6, bool), max_candidates=16)
        assert_array_equal(every.groups, mask(1, 3, 4))
        assert (every.importances_se[every.groups] < 0.8 * some.importances_se[every.groups]).all()


class TestSupport:
    def nested(self):
        order = [1, 3, 0, 4, 2, 5]
        return [mask(*order[:k]) for k in range(7)]

    def test_choice_is_mended_and_weighed(self):
        support = choose_support(make_search(), self.nested(), mask(), np.ones(6, bool), max_candidates=16)
        assert_array_equal(support.groups, mask(1, 3, 4))
        assert (support.importances[[1, 3, 4]] > 0).all()
        assert not support.importances[[0, 2, 5]].any()
        assert support.sizes.tolist() == list(range(7))

    def test_unusable_groups_are_not_added(self):
        support = choose_support(make_search(), [mask(), mask(1), mask(1, 3)], mask(), ~mask(4), max_candidates=16)
        assert_array_equal(support.groups, mask(1, 3))

    def test_asked_for_number_is_exchanged_not_changed(self):
        support = choose_support(make_search(), [mask(0, 1)], mask(), np.ones(6, bool), n_groups=2, max_candidates=16)
        assert_array_equal(support.groups, mask(1, 3))

    @pytest.mark.parametrize("n_groups", [1, 5, 40, 1000])
    def test_candidate_sizes(self, n_groups):
        sizes = candidate_sizes(n_groups, 24)
        assert sizes[0] == 0
        assert sizes[-1] == n_groups
        assert len(sizes) <= 24
        assert sizes[1] == 1


class TestScaling:
    def test_weighted_moments_and_round_trip(self):
        rng = np.random.default_rng(3)
        X, weight = rng.standard_normal((50, 3)) * [1e-200, 1.0, 1e200], rng.integers(0, 3, 50).astype(float)
        scaling = Scaling.of(X, weight)
        Z = scaling.apply(X)
        assert_allclose(np.average(Z, axis=0, weights=weight), 0, atol=1e-12)
        assert_allclose(np.average(Z**2, axis=0, weights=weight), 1)
        assert_allclose(scaling.undo(Z), X, rtol=1e-10, atol=1e-212)

    def test_constant_columns(self):
        scaling = Scaling.of(np.column_stack([np.full(5, 1e9), np.zeros(5), np.arange(5.0)]))
        assert_array_equal(scaling.constant, [True, True, False])
        assert_array_equal(scaling.scale[:2], 1.0)

    def test_duplicates_up_to_sign(self):
        Z = np.random.default_rng(4).standard_normal((30, 2))
        assert_array_equal(
            duplicated_columns(np.column_stack([Z[:, 0], Z[:, 1], -Z[:, 0], Z[:, 1]])), [False, False, True, True]
        )

    def test_duplicates_that_lost_digits(self):
        X = np.random.default_rng(4).standard_normal((30, 3))
        X = np.column_stack([X, 1.8 * X[:, 2] + 1e6, 1e6 - X[:, 1] / 3, X[:, 0] + 1e-4 * X[:, 1]])
        found = duplicated_columns(Scaling.of(X).apply(X))
        assert_array_equal(found, [False, False, False, True, True, False])
