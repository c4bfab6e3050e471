"""Combine standardised inputs and a target into the input of a search, with the rows to hold out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold

from fewvars._common.cv import Split
from fewvars._common.validation import FloatArray, check_whole
from fewvars.engine.losses import SQUARED, Loss
from fewvars.engine.samples import Samples
from fewvars.estimators.rows import Rows
from fewvars.estimators.standardised import Inputs, Target
from fewvars.search.held_out import HeldOut
from fewvars.search.problem import Problem
from fewvars.series.dependence import DEPENDENT, autocorrelation_time, is_smooth
from fewvars.series.row_order import linear_residual, repeats_itself
from fewvars.series.scaling import Scaling
from fewvars.series.splits import BlockedSplit

# Random quarters of fewer rows than this are drawn several times: which rows they hold out should not decide.
FEW_ROWS, REPEATS = 1000, 3
QUARTERS = 4
FOLDS = 5  # parts of the rows; the whole search is repeated without each


@dataclass(frozen=True, eq=False)
class Prepared:
    """Inputs and a target, with the rows to hold out.

    Attributes
    ----------
    inputs : Inputs
    target : Target
    problem : Problem
        What the search is given.
    gap : int
        Rows between what is fitted and what is held out.
    plan : mapping
        The options of `of`.
    """

    inputs: Inputs
    target: Target
    problem: Problem
    gap: int
    plan: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        y: FloatArray,
        *,
        n_blocks: int = 20,
        n_splits: int = 2,
        random_parts: bool = False,
        shuffle: bool = False,
        own_past: tuple[int, ...] = (),
        repeats: int = REPEATS,
        seed: int = 0,
        loss: Loss = SQUARED,
    ) -> "Prepared":
        """Choose the rows to hold out.

        Without splits in the rows there are four, of which `n_splits` are used and the others kept in reserve: the
        first holds out the last quarter, the second the third quarter, ..., of each of `n_blocks` blocks of
        consecutive rows, with gaps as wide as the smoother's bandwidth (but a sixteenth of the rows at most, or
        nothing would be left); with `random_parts`, which quarter of a block is held out is drawn; with `shuffle`,
        random quarters, and if there are few rows, several draws of them.
        `own_past` are the inputs that are earlier values of the target, if the model forecasts.
        Where what linear functions leave of the outputs depends on the rows before and is not smooth, gaps are as wide
        as its autocorrelation time, and blocks at least eight times that.
        """
        check_whole("n_blocks", n_blocks)
        plan = {
            "n_blocks": n_blocks,
            "n_splits": n_splits,
            "random_parts": random_parts,
            "shuffle": shuffle,
            "own_past": own_past,
            "seed": seed,
            "loss": loss,
        }
        rows, target = inputs.rows, Target.of(inputs, y, loss)
        gap = max(inputs.gap, target.gap)
        if not (shuffle or gap):
            left = linear_residual(inputs.Z, target.Y)
            time = max(map(autocorrelation_time, left.T))
            if time > DEPENDENT and not all(map(is_smooth, left.T)):
                gap = int(np.ceil(time))
                n_blocks = max(2, min(n_blocks, len(rows) // (8 * gap)))
        splits = rows.splits or _splits(rows, n_blocks, gap, random_parts, shuffle, repeats, seed)
        if not loss.measured:
            splits = _informative(splits, target.Y)
        by_ratio = loss.measured and not any(map(repeats_itself, y.T))
        reserve = HeldOut.of(splits, rows.sample_weight, rows.trajectory, by_ratio=by_ratio)
        held_out = reserve
        if rows.splits is None:
            held_out = HeldOut.of(splits[:n_splits], rows.sample_weight, rows.trajectory, by_ratio=by_ratio)
        units = loss.in_units(target.scaling.scale)
        samples = Samples.of(inputs.Z, target.Y, rows.sample_weight, loss=units, dtype=np.float32)
        constant = bool(target.scaling.constant.all())
        starts = np.zeros(len(rows), bool)
        starts[[run[0] for run in rows.runs]] = True
        problem = Problem(
            samples,
            held_out,
            reserve,
            inputs.scaling.constant,
            constant,
            starts=starts,
            ordered=not (shuffle or own_past),
            smoothed=inputs.smooths_target,
        )
        return cls(inputs, target, problem, gap, plan)

    def part(self, places: np.ndarray) -> "Prepared":
        """Return some of the rows, by their places, prepared in the same way."""
        whole = self.inputs
        inputs = Inputs.of(
            whole.rows.only(places),
            whole.X[places],
            smoothed=whole.smoothed,
            smooths_target=whole.smooths_target,
            gap=whole.gap,
        )
        return Prepared.of(inputs, self.target.y[places], repeats=1, **self.plan)

    @property
    def sample_weight(self) -> FloatArray:
        """Weights of mean one, (n,)."""
        return self.inputs.rows.sample_weight

    @property
    def held_out(self) -> HeldOut:
        """The rows on which the search compares."""
        return self.problem.held_out

    def later(self) -> HeldOut:
        """Return splits for a forecast, in which all held-out rows are later than the training rows."""
        rows = self.inputs.rows
        return HeldOut.of(rows.later(FOLDS), rows.sample_weight, rows.trajectory)

    def for_heads(self) -> HeldOut:
        """Return the rows on which functions are compared: a quarter of many, all of few, later ones for a forecast."""
        if self.plan["own_past"]:
            return self.later()
        if len(self.target.y) < FEW_ROWS:
            return self.problem.reserve.first(QUARTERS)
        return self.held_out.first() if self.plan["loss"].measured else self.held_out  # labels say less than numbers

    def for_whole_search(self) -> HeldOut:
        """Return rows to hold out of the whole search: the user's, later ones, random ones, or blocks."""
        rows = self.inputs.rows
        if self.plan["own_past"] and rows.splits is None:
            return self.later()
        if rows.splits is not None or not self.plan["shuffle"]:
            return self.problem.reserve
        folds = KFold(FOLDS, shuffle=True, random_state=self.plan["seed"])
        return HeldOut.of(folds.split(self.target.y), rows.sample_weight)

    def as_measured(self, outputs: Scaling, dtype: DTypeLike = np.float64) -> Problem:
        """Return the problem with outputs as measured, in this scaling and precision."""
        Y = outputs.apply(self.target.y).astype(dtype)
        return replace(self.problem, samples=replace(self.problem.samples, Y=Y))

    def resampled(self, rng: np.random.Generator, n_blocks: int) -> Problem:
        """Return the problem with the weights of a block bootstrap: each block counts 0, 1, 2, ... times."""
        rows, problem = self.inputs.rows, self.problem
        blocks = rows.blocks(n_blocks)
        n = int(blocks.max()) + 1

        def drawn(held_out: HeldOut) -> list[Split]:
            pairs = ((a[weight[a] > 0], b[weight[b] > 0]) for a, b in held_out.splits)
            return [(a, b) for a, b in pairs if len(a) > 1 and len(b) > 1]

        splits: list[Split] = []
        while not splits:  # those that keep rows on both sides
            counts = np.bincount(rng.integers(n, size=n), minlength=n)[blocks]
            weight = rows.sample_weight * counts
            splits = drawn(problem.held_out)
        samples = replace(problem.samples, weights=(problem.samples.weights * counts).astype(np.float32))
        by_ratio = problem.held_out.by_ratio
        held_out = HeldOut.of(splits, weight, rows.trajectory, by_ratio=by_ratio)
        reserve = HeldOut.of(drawn(problem.reserve), weight, rows.trajectory, by_ratio=by_ratio)
        return replace(problem, samples=samples, held_out=held_out, reserve=reserve)


def _splits(
    rows: Rows, n_blocks: int, gap: int, random_parts: bool, shuffle: bool, repeats: int, seed: int
) -> list[Split]:
    n = len(rows)
    nothing = np.empty((n, 1))
    if shuffle:
        repeats = repeats if n < FEW_ROWS else 1
        return list(RepeatedKFold(n_splits=QUARTERS, n_repeats=repeats, random_state=seed).split(nothing))
    if max(map(len, rows.runs)) < 4:  # runs too short to be cut: hold out whole runs
        return list(GroupKFold(min(QUARTERS, len(rows.runs))).split(nothing, groups=rows.trajectory))[::-1]
    splitter = BlockedSplit(
        QUARTERS, n_blocks=n_blocks, gap=min(gap, n // 16), random_state=seed if random_parts else None
    )
    return list(splitter.split(nothing, groups=rows.trajectory))[::-1]


def _informative(splits: list[Split], Y: FloatArray) -> list[Split]:
    """Return the splits whose training rows contain every class (more generally, where every output varies)."""
    varying = np.ptp(Y, axis=0) > 0
    kept = [(train, test) for train, test in splits if (np.ptp(Y[train], axis=0) > 0)[varying].all()]
    if not kept:
        raise ValueError(
            "y: a class occurs in only one part of the rows, so nothing can be learned about it if that is held out; "
            "give more rows of it, merge it with another, or use shuffle=True."
        )
    return kept
