"""Refine a support on the held-out blocks: add inputs that help, and drop those that are not needed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.samples import Samples
from fewvars.search.held_out import TIE, HeldOut
from fewvars.search.judge import Judge, Verdict
from fewvars.search.variables.suspicion import explained_shares

LeftOut = tuple[Verdict, dict[int, Verdict]]


@dataclass(frozen=True, eq=False)
class SupportSearch:
    """Compares supports, which are masks over groups of inputs, by the verdicts of a judge.

    Parameters
    ----------
    judge : Judge
    samples : Samples
        Standardised data: all rows, all inputs.
    labels : (inputs,) group of each input
    reserve : HeldOut, optional
        More held-out rows, to settle what remains in doubt.
    """

    judge: Judge
    samples: Samples
    labels: np.ndarray
    reserve: HeldOut | None = None

    @property
    def held_out(self) -> HeldOut:
        """The rows on which supports are compared."""
        return self.judge.held_out

    def error(self, verdict: Verdict) -> float:
        """Return the typical held-out error, by which supports are ranked."""
        return self.held_out.typical(verdict.errors)

    def smallest_not_worse(self, verdicts: Sequence[Verdict]) -> Verdict:
        """Return the first of supports, ordered by size, that is not worse than the best."""
        return verdicts[self.held_out.smallest_not_worse([v.errors for v in verdicts])]

    def on_first_split(self) -> "SupportSearch":
        """Return the search on the first split only, which is quicker."""
        return replace(self, judge=self.judge.on(self.held_out.first()))

    def on_reserve(self) -> "SupportSearch":
        """Return the search on all held-out rows, to settle what remains in doubt."""
        return replace(self, judge=self.judge.on(self.reserve or self.held_out), reserve=None)

    def tuned(self, mask: np.ndarray, effort: int = 3) -> tuple["SupportSearch", Verdict]:
        """Return the search with the judge that suits this support best, and its verdict."""
        judge, verdict = self.judge.tuned(mask, effort)
        return replace(self, judge=judge), verdict

    def leave_one_out(self, base: Verdict) -> LeftOut:
        """Judge the base again, and without each of its groups in turn."""
        members = np.flatnonzero(base.mask)
        if not members.size:
            return base, {}
        same, *without = self.judge.judge([base.mask, *(switched(base.mask, g) for g in members)], like=base)
        return same, dict(zip(members.tolist(), without, strict=True))

    def prune(self, base: Verdict, always: np.ndarray, tolerance: float = TIE) -> tuple[Verdict, LeftOut]:
        """Drop, one by one, the group whose removal raises the error least, while that is within some standard errors.

        Return the remaining support, and what `leave_one_out` says about it.
        """
        while True:
            same, without = self.leave_one_out(base)
            idle = [
                candidate
                for group, candidate in without.items()
                if not always[group] and self.held_out.not_worse(candidate.errors, same.errors, tolerance)
            ]
            if not idle:
                return base, (same, without)
            base = min(idle, key=self.error)

    def in_doubt(self, left_out: LeftOut, always: np.ndarray) -> bool:
        """Return whether leaving out some group is not significantly worse, and more rows could settle it."""
        same, without = left_out
        more = self.reserve is not None and len(self.reserve.splits) > len(self.held_out.splits)
        return more and not all(
            always[group] or self.held_out.worse(candidate.errors, same.errors) for group, candidate in without.items()
        )

    def suspects(self, base: Verdict, usable: np.ndarray, n_most: int = 4) -> np.ndarray:
        """Return the usable groups outside the support that could explain most of the residual."""
        scores = self.suspicion(base, usable & ~base.mask)
        return np.argsort(-scores, kind="stable")[: min(n_most, int((usable & ~base.mask).sum()))]

    def add_back(self, base: Verdict, usable: np.ndarray) -> tuple["SupportSearch", Verdict]:
        """Add left-out groups, the most suspicious first, while one of them lowers the error significantly.

        The most suspicious is also tried from scratch with a judge tuned to it: a strongly nonlinear variable may be
        out of reach of a fit that has settled without it. Return the search with that judge.
        """
        while (usable & ~base.mask).any():
            grown = [switched(base.mask, g) for g in self.suspects(base, usable)]
            same, *more = self.judge.judge([base.mask, *grown], like=base)
            found = [(self, verdict) for verdict in more] + [self.tuned(grown[0], effort=2)]
            better = [pair for pair in found if self._helps(pair[1], same)]
            if not better:
                return self, base
            search, base = min(better, key=lambda pair: self.error(pair[1]))
            if search is not self:
                return search.add_back(base, usable)
        return self, base

    def _helps(self, candidate: Verdict, base: Verdict) -> bool:
        """Return whether a candidate is better on all splits, and on the first, whose rows raised no suspicion."""
        first = self.held_out.first()
        count = first.weights.size
        return self.held_out.better(candidate.errors, base.errors) and not first.not_worse(
            base.errors[:count], candidate.errors[:count]
        )

    def suspicion(self, base: Verdict, groups: np.ndarray, max_rows: int = 4000) -> FloatArray:
        """Return the share of the training residual that each group of a mask could explain; -1 for other groups."""
        train = self.held_out.splits[0][0]
        rows = train[:: -(-len(train) // max_rows)]
        support = np.flatnonzero(base.mask[self.labels])
        members = {int(g): np.flatnonzero(self.labels == g) for g in np.flatnonzero(groups)}
        scores = np.full(base.mask.size, -1.0)
        X, weights = self.samples.X[rows], self.samples.weights[rows]
        scores[list(members)] = explained_shares(
            X, self.judge.residuals(base, rows), weights, support, members.values()
        )
        return scores


def switched(mask: np.ndarray, group: int | np.integer[Any]) -> np.ndarray:
    """Return the mask with one group added or left out."""
    other = mask.copy()
    other[group] = ~other[group]
    return other
