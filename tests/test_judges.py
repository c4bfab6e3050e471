"""A judge from outside the package: one class and one entry of `JUDGES`, and the search uses it."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fewvars._common.progress import Progress
from fewvars.engine.samples import Samples
from fewvars.search.held_out import HeldOut
from fewvars.search.judge import Verdict
from fewvars.search.problem import Problem
from fewvars.search.variables.judges import JUDGES
from fewvars.search.variables.network_judge import NetworkJudge
from fewvars.search.variables.search import closed_search, find_variables
from fewvars.search.variables.settings import Groups, VariableSettings
from fewvars.series.splits import BlockedSplit


@dataclass(frozen=True)
class LinearFunction:
    slopes: np.ndarray

    def predict(self, X):
        return X @ self.slopes


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Judges by linear least squares, which needs neither starts nor tuning."""

    samples: Samples
    labels: np.ndarray
    held_out: HeldOut
    seen: list

    name: ClassVar[str] = "least squares"
    fewest_rows: ClassVar[int] = 4

    def on(self, held_out):
        return replace(self, held_out=held_out)

    def tuned(self, mask, effort=1):
        return self, self.judge([mask])[0]

    def judge(self, masks, like=None, effort=1):
        return [self._verdict(mask) for mask in masks]

    def residuals(self, verdict, rows):
        return self.samples.Y[rows] - verdict.state.predict(self.samples.X[rows] * verdict.mask[self.labels])

    def _verdict(self, mask):
        X, Y, weights = self.samples.X * mask[self.labels], self.samples.Y, self.samples.weights
        scored = self.held_out.score(
            lambda _, train: LinearFunction(np.linalg.lstsq(X[train], Y[train], rcond=None)[0]), X, Y, weights
        )
        self.seen.append(mask)
        return Verdict(mask, scored.losses, scored.errors, scored.models[0])


def make_problem(n=300, d=5):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X[:, 1] - 0.7 * X[:, 3] + 0.1 * rng.standard_normal(n)
    splits = list(BlockedSplit(4, n_blocks=6).split(X))[::-1]
    held_out = HeldOut.of(splits[:2], np.ones(n))
    samples = Samples.of(X, (y - y.mean()) / y.std(), dtype=np.float32)
    reserve = HeldOut.of(splits, np.ones(n))
    return Problem(samples, held_out, reserve, np.zeros(d, bool), False, starts=np.arange(n) == 0)


SETTINGS = VariableSettings(first_updates=60, path_updates=20, path_factor=1.5, refit_updates=100)
GROUPS = Groups(np.arange(5), np.ones(5, bool), np.zeros(5, bool))


@pytest.fixture
def seen(monkeypatch):
    masks = []
    monkeypatch.setitem(
        JUDGES,
        LeastSquares.name,
        lambda problem, labels, *_: LeastSquares(problem.samples, labels, problem.held_out, masks),
    )
    return masks


def test_the_search_asks_a_judge_from_outside(seen, monkeypatch):
    def unused(*_, **__):
        raise AssertionError("the search asked the network judge")

    monkeypatch.setattr(NetworkJudge, "judge", unused)
    with Progress(0) as progress:
        found = find_variables(make_problem(), GROUPS, replace(SETTINGS, judge="least squares"), progress)
    assert_array_equal(found.inputs, [False, True, False, True, False])
    assert len(seen) > 5
    assert found.support.held_out_error < 0.05


def test_a_judge_says_how_many_rows_it_needs(seen, monkeypatch):
    monkeypatch.setattr(LeastSquares, "fewest_rows", 1000)
    with (
        Progress(0) as progress,
        pytest.raises(ValueError, match="X has 300 rows: the least squares judge needs at least 1000"),
    ):
        find_variables(make_problem(), GROUPS, replace(SETTINGS, judge="least squares"), progress)


def test_losses_of_rows_add_up_to_errors_of_pieces():
    problem = make_problem()
    verdict = NetworkJudge.of(problem, GROUPS.labels, SETTINGS).judge([np.arange(5) == 1])[0]
    pieces = np.concatenate(problem.held_out.labels)
    means = np.bincount(pieces, np.concatenate(verdict.losses)) / np.bincount(pieces)
    assert_allclose(verdict.errors, means, rtol=1e-6)


def test_one_row_in_three_keeps_its_splits_its_pieces_and_its_run():
    whole = make_problem()
    thin = whole.thinned(3)
    kept = np.arange(0, 300, 3)
    assert_array_equal(thin.samples.Y, whole.samples.Y[kept])
    assert_array_equal(np.flatnonzero(thin.starts), [0])
    for before, after in ((whole.held_out, thin.held_out), (whole.reserve, thin.reserve)):
        for old, new in zip(before.splits, after.splits, strict=True):
            for all_rows, some_rows in zip(old, new, strict=True):
                assert_array_equal(kept[some_rows], np.intersect1d(all_rows, kept))
        row_losses = np.arange(300.0)
        expected = before.piece_errors(
            [np.where(test % 3, 0.0, row_losses[test]) for _, test in before.splits], np.ones(300)
        )
        found = after.piece_errors([row_losses[kept[test]] for _, test in after.splits], np.ones(100))
        assert_allclose(found * after.weights, expected * before.weights)


def test_the_closed_form_judges_many_rows_by_some_of_them(monkeypatch):
    monkeypatch.setattr("fewvars.search.variables.search.MOST_ROWS", 100)
    problem = make_problem()
    search = closed_search(problem, GROUPS.labels, SETTINGS)
    assert len(search.samples) == 100
    sparse = [(np.arange(1, 300), np.array([0, 1])), (np.arange(3, 300), np.array([1, 2]))]  # the second keeps no row
    few = HeldOut.of(sparse, np.ones(300))
    assert len(closed_search(replace(problem, reserve=few), GROUPS.labels, SETTINGS).samples) == 300
