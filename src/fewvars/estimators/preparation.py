"""Combine standardised inputs and a target into the input of a search, with the rows to hold out."""

from dataclasses import dataclass, replace

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
from fewvars.series.row_order import repeats_itself, simple_residual
from fewvars.series.scaling import Scaling
from fewvars.series.splits import BlockedSplit

# Random quarters of fewer rows than this are drawn several times: which rows they hold out should not decide.
FEW_ROWS, REPEATS = 1000, 3
QUARTERS = 4
FOLDS = 5  # parts of the rows; the whole search is repeated without each


@dataclass(frozen=True)
class Plan:
    """Which rows to hold out, for which loss.

    Attributes
    ----------
    n_blocks : int
        Blocks of consecutive rows; a quarter of each is held out.
    n_splits : int
        How many of the four quarters the search uses; the others are kept in reserve.
    random_parts : bool
        Whether it is drawn which quarter of each block is held out first, second, ...
    shuffle : bool
        Whether random rows are held out instead of parts of blocks.
    repeats : int
        Draws of random rows, if there are few rows.
    own_past : tuple of int
        The inputs that are earlier values of the target, if the model forecasts.
    seed : int
    loss : Loss
    """

    n_blocks: int = 20
    n_splits: int = 2
    random_parts: bool = False
    shuffle: bool = False
    repeats: int = REPEATS
    own_past: tuple[int, ...] = ()
    seed: int = 0
    loss: Loss = SQUARED

    def __post_init__(self) -> None:
        check_whole("n_blocks", self.n_blocks)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Inputs and a target, with the rows to hold out.

    Attributes
    ----------
    inputs : Inputs
    target : Target
    plan : Plan
    problem : Problem
        What the search is given.
    gap : int
        Rows between what is fitted and what is held out.
    """

    inputs: Inputs
    target: Target
    plan: Plan
    problem: Problem
    gap: int

    @classmethod
    def of(cls, inputs: Inputs, y: FloatArray, plan: Plan) -> "Prepared":
        """Choose the rows to hold out: those of the splits in the rows, or those that the plan asks for."""
        rows, loss, target = inputs.rows, plan.loss, Target.of(inputs, y, plan.loss)
        splits, gap = _splits(inputs, target, plan)
        by_ratio = loss.measured and not any(map(repeats_itself, y.T))
        reserve = HeldOut.of(splits, rows.sample_weight, rows.trajectory, by_ratio=by_ratio)
        held_out = reserve
        if rows.splits is None:
            held_out = HeldOut.of(splits[: plan.n_splits], rows.sample_weight, rows.trajectory, by_ratio=by_ratio)
        units = loss.in_units(target.scaling.scale)
        samples = Samples.of(inputs.Z, target.Y, rows.sample_weight, loss=units, dtype=np.float32)
        starts = np.zeros(len(rows), bool)
        starts[[run[0] for run in rows.runs]] = True
        problem = Problem(
            samples,
            held_out,
            reserve,
            inputs.scaling.constant,
            constant=bool(target.scaling.constant.all()),
            starts=starts,
            ordered=not (plan.shuffle or plan.own_past),
            smoothed=inputs.smooths_target,
        )
        return cls(inputs, target, plan, problem, gap)

    def part(self, places: np.ndarray) -> "Prepared":
        """Return some of the rows, by their places, prepared in the same way, with one draw of random rows."""
        whole = self.inputs
        inputs = Inputs.of(
            whole.rows.only(places),
            whole.X[places],
            smoothed=whole.smoothed,
            smooths_target=whole.smooths_target,
            gap=whole.gap,
        )
        return Prepared.of(inputs, self.target.y[places], replace(self.plan, repeats=1))

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
        if self.plan.own_past:
            return self.later()
        if len(self.target.y) < FEW_ROWS:
            return self.problem.reserve.first(QUARTERS)
        return self.held_out.first() if self.plan.loss.measured else self.held_out  # labels say less than numbers

    def for_whole_search(self) -> HeldOut:
        """Return rows to hold out of the whole search: the user's, later ones, random ones, or blocks."""
        rows = self.inputs.rows
        if self.plan.own_past and rows.splits is None:
            return self.later()
        if rows.splits is not None or not self.plan.shuffle:
            return self.problem.reserve
        folds = KFold(FOLDS, shuffle=True, random_state=self.plan.seed)
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


def _splits(inputs: Inputs, target: Target, plan: Plan) -> tuple[list[Split], int]:
    """Return the splits, and the gap between training and held-out rows.

    Gaps are as wide as the bandwidth of the smoother. Where nothing was smoothed, but what linear functions leave of
    the outputs depends on the rows before and is not smooth, they are as wide as its autocorrelation time, and blocks
    are at least eight times that.
    """
    gap, n_blocks = max(inputs.gap, target.gap), plan.n_blocks
    if not (plan.shuffle or gap):
        left = simple_residual(inputs.Z, target.Y)
        time = max(map(autocorrelation_time, left.T))
        if time > DEPENDENT and not all(map(is_smooth, left.T)):
            gap = int(np.ceil(time))
            n_blocks = max(2, min(n_blocks, len(inputs.rows) // (8 * gap)))
    splits = inputs.rows.splits or _four_quarters(inputs.rows, n_blocks, gap, plan)
    return splits if plan.loss.measured else _informative(splits, target.Y), gap


def _four_quarters(rows: Rows, n_blocks: int, gap: int, plan: Plan) -> list[Split]:
    """Hold out each quarter in turn: of random rows, of whole runs if they are short, or of blocks, the last first.

    Whole runs are also held out if rows depend on each other over half a run or more. This does not apply to class
    labels, because each class may have a run of its own.
    """
    n = len(rows)
    nothing = np.empty((n, 1))
    if plan.shuffle:
        repeats = plan.repeats if n < FEW_ROWS else 1
        return list(RepeatedKFold(n_splits=QUARTERS, n_repeats=repeats, random_state=plan.seed).split(nothing))
    length, count = _typical_length(rows), len(rows.runs)
    dependent_throughout = plan.loss.measured and count >= QUARTERS and 2 * gap >= length
    if max(map(len, rows.runs)) < QUARTERS or dependent_throughout:
        return list(GroupKFold(min(QUARTERS, count)).split(nothing, groups=rows.trajectory))[::-1]
    gap = min(gap, n // 16, length // 8)  # a wider one would leave nothing, or nothing of most runs
    seed = plan.seed if plan.random_parts else None
    splitter = BlockedSplit(QUARTERS, n_blocks=n_blocks, gap=gap, random_state=seed)
    return list(splitter.split(nothing, groups=rows.trajectory))[::-1]


def _typical_length(rows: Rows) -> int:
    """Return the length of the run that the median row belongs to when runs are sorted by length."""
    lengths = np.sort([len(run) for run in rows.runs])
    return int(lengths[np.searchsorted(np.cumsum(lengths), 0.5 * len(rows))])


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
