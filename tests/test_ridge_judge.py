"""The judge in closed form equals ridge regressions that are fitted split by split."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fewvars.engine.samples import Samples
from fewvars.search.held_out import HeldOut
from fewvars.search.variables.ridge_judge import FAMILIES, STRENGTHS, RidgeJudge
from fewvars.search.variables.terms import Term, Terms
from fewvars.series.splits import BlockedSplit
from planted import mask

D = 5


def make_judge(weight=None, labels=None, n=240, n_jobs=None):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    y = X[:, 1] * X[:, 3] + np.sin(3 * X[:, 2]) + 0.2 * rng.standard_normal(n)
    samples = Samples.of(X, np.column_stack([y, X[:, 0]]), weight)
    splits = BlockedSplit(4, n_blocks=4, gap=2).split(X)  # the rows in the gaps are neither fitted nor scored
    labels = np.arange(D) if labels is None else np.array(labels)
    return RidgeJudge(samples, labels, HeldOut.of(splits, samples.weights), n_jobs)


def columns(judge, family, groups):
    """Return a constant and the terms of a family, each with mean square one."""
    single, paired = FAMILIES[family]
    terms = Terms.of(judge.samples.X, judge.labels)
    chosen = [Term(kind, (group,)) for group in groups for kind in single]
    chosen += [Term(kind, pair) for pair in combinations(groups, 2) for kind in paired]
    F = np.column_stack([np.ones(len(judge.samples)), *map(terms.columns, chosen)])
    return F / np.sqrt((F**2).mean(axis=0))


def refitted(judge, family, strength, groups):
    """Return the losses (one array for each split) of ridge regressions fitted to the training rows of each."""
    F, Y, weights = columns(judge, family, groups), judge.samples.Y, judge.samples.weights
    losses = []
    for train, test in judge.held_out.splits:
        weighted = F[train].T * weights[train]
        slopes = np.linalg.solve(weighted @ F[train] + strength * len(train) * np.eye(F.shape[1]), weighted @ Y[train])
        losses.append(((Y[test] - F[test] @ slopes) ** 2).sum(axis=1))
    return losses


WEIGHT = np.random.default_rng(1).integers(1, 4, 240).astype(float)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
@pytest.mark.parametrize("groups", [(1,), (1, 3), (0, 1, 3), (0, 1, 2, 3)])
def test_is_the_best_of_all_explicit_refits(groups, weight):
    judge = make_judge(weight)
    verdict = judge.judge([mask(*groups, d=D)])[0]
    best = refitted(judge, verdict.state.family, verdict.state.strength, groups)
    for found, expected in zip(verdict.losses, best, strict=True):
        assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    assert_allclose(verdict.errors, judge.held_out.piece_errors(best, judge.samples.weights), rtol=1e-6)
    typical = [
        judge.held_out.typical(
            judge.held_out.piece_errors(refitted(judge, family, strength, groups), judge.samples.weights)
        )
        for family in judge.families(mask(*groups, d=D))
        for strength in STRENGTHS
    ]
    assert_allclose(judge.held_out.typical(verdict.errors), min(typical), rtol=1e-6)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
def test_nothing_selected_is_the_mean(weight):
    judge = make_judge(weight)
    verdict = judge.judge([mask(d=D)])[0]
    Y, weights = judge.samples.Y, judge.samples.weights
    for (train, test), found in zip(judge.held_out.splits, verdict.losses, strict=True):
        mean = np.average(Y[train], axis=0, weights=weights[train])
        # The ridge shrinks the mean, which is near zero.
        shrunken = mean * weights[train].sum() / (weights[train].sum() + verdict.state.strength * len(train))
        assert_allclose(shrunken, mean, atol=0.05)
        assert_allclose(found, ((Y[test] - shrunken) ** 2).sum(axis=1))


def test_weight_two_equals_a_repeated_row():
    judge = make_judge(weight := np.where(np.arange(240) < 100, 2.0, 1.0))
    rows = np.r_[np.arange(240), np.arange(100)]
    samples = judge.samples
    copies = Samples.of(samples.X[rows], samples.Y[rows])
    train, test = judge.held_out.splits[0]
    repeated = np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(np.arange(340), test))
    one = judge.on(HeldOut.of([(train, test)], weight)).judge([mask(1, d=D)])[0]
    other = RidgeJudge(copies, judge.labels, HeldOut.of([repeated], np.ones(340))).judge([mask(1, d=D)])[0]
    # Columns are scaled, and strengths counted, over rows: a difference within the ridge.
    assert one.state.family == other.state.family
    assert_allclose(one.losses[0], other.losses[0], rtol=0.05)


def test_ranks_the_truth_first():
    judge = make_judge()
    truth = mask(0, 1, 2, 3, d=D)
    masks = [truth, *(truth ^ mask(j, d=D) for j in range(D))]
    typical = [judge.held_out.typical(verdict.errors) for verdict in judge.judge(masks)]
    assert np.argmin(typical) == 0
    assert min(typical[1:5]) > 1.5 * typical[0]  # without one of the four
    assert judge.judge([mask(1, 3, d=D)])[0].state.family in ("pairs", "bent pairs")


def test_groups_enter_whole():
    judge = make_judge(labels=[0, 1, 1, 2, 0])
    verdict = judge.judge([mask(1, d=3)])[0]
    expected = refitted(judge, verdict.state.family, verdict.state.strength, (1,))
    assert_allclose(np.concatenate(verdict.losses), np.concatenate(expected), rtol=1e-6, atol=1e-8)


def test_families_must_be_affordable():
    judge = make_judge(n=60)  # fifteen columns at most
    few, many = mask(0, d=D), mask(0, 1, 2, 3, 4, d=D)
    assert judge.families(few) == [family for family in FAMILIES if family != "steps"]  # which terms lack here
    assert judge.families(many) == judge.families(mask(d=D)) == ["linear"]


def test_a_verdict_does_not_depend_on_the_supports_judged_before():
    judge = make_judge(WEIGHT)
    masks = [mask(1, d=D), mask(0, 1, 3, d=D), mask(2, 4, d=D), mask(1, 3, d=D)]
    together = judge.judge(masks)
    for alone, found in zip(masks, together, strict=True):
        fresh = make_judge(WEIGHT).judge([alone])[0]
        assert_allclose(found.errors, fresh.errors, rtol=1e-8)
        assert_allclose(judge.judge([alone])[0].errors, fresh.errors, rtol=1e-8)


def test_residuals_are_those_of_the_first_split():
    judge = make_judge()
    verdict = judge.judge([mask(1, 3, d=D)])[0]
    test = judge.held_out.splits[0][1]
    assert_allclose((judge.residuals(verdict, test) ** 2).sum(axis=1), verdict.losses[0], rtol=1e-6)


def test_threads_and_other_splits_do_not_change_a_verdict():
    masks = [mask(*groups, d=D) for groups in combinations(range(D), 2)]
    for one, other in zip(make_judge(n_jobs=1).judge(masks), make_judge(n_jobs=2).judge(masks), strict=True):
        assert_array_equal(one.errors, other.errors)
    judge = make_judge()
    first = judge.on(judge.held_out.first())
    verdict, again = first.judge(masks[:1])[0], first.tuned(masks[0])
    assert len(verdict.losses) == 1
    assert again[0] is first
    assert_array_equal(again[1].errors, verdict.errors)
