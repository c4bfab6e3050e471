"""From a user's samples to what the search works on: time, smoothing, blocks and scaling."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, check_cv

from fewvars._common.validation import FloatArray, check_choice, check_whole
from fewvars.engine.samples import Samples
from fewvars.search.held_out import HeldOut
from fewvars.search.variables.selection import Refit, SupportSearch
from fewvars.series.scaling import Scaling
from fewvars.series.smoothing import is_discrete, smoother
from fewvars.series.splits import BlockedSplit, sample_times, trajectory_rows

SMOOTHING = ("auto", "on", "off")
FEWEST_ROWS = 8
Splits = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Measured:
    """A user's samples: the rows that count, one run after the other, with weights of mean one.

    Attributes
    ----------
    X, y : (n, d) and (n, k)
    sample_weight : (n,)
    t : (n,) times, or the step between the rows of a run, or None
    trajectory : (n,) labels of runs, or None
    splits : list of (train, test) row numbers, or None to have them chosen
    """

    X: FloatArray
    y: FloatArray
    sample_weight: FloatArray
    t: Any
    trajectory: np.ndarray | None
    splits: Splits | None

    @classmethod
    def of(
        cls,
        X: FloatArray,
        y: FloatArray,
        sample_weight: FloatArray,
        t: Any = None,
        trajectory: Any = None,
        cv: Any = None,
    ) -> "Measured":
        """Leave out the rows of weight zero, and put those of each run together."""
        counted = sample_weight > 0
        if counted.sum() < FEWEST_ROWS:
            raise ValueError(f"sample_weight leaves {counted.sum()} rows: give at least {FEWEST_ROWS} positive ones.")
        weight = sample_weight / sample_weight.max()  # first, as sums of huge weights overflow
        labels = None if trajectory is None else np.asarray(trajectory)
        runs = trajectory_rows(labels, len(X))
        rows = np.concatenate(runs)
        rows = rows[counted[rows]]
        if t is not None and np.ndim(t):
            t = np.asarray(t)
            if t.shape != counted.shape:
                raise ValueError(f"t has shape {t.shape}: give one value for each of the {counted.size} rows of X.")
            t = t[rows]
        elif t is not None and not counted.all():
            t = sample_times(t, runs)[rows]  # the rows that are left out leave a gap in time
        splits = None if cv is None else _checked_splits(cv, X, y, labels, rows)
        kept = None if labels is None else labels[rows]
        return cls(X[rows], y[rows], weight[rows] / weight[rows].mean(), t, kept, splits)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Samples in both units, with the rows to hold out.

    Attributes
    ----------
    X : (n, d) inputs in their own units, smoothed if that was accepted
    y : (n, k) outputs in their own units, never smoothed
    sample_weight : (n,)
    held_out : HeldOut
    reserve : HeldOut
        The same rows and more, for what stays in doubt.
    inputs, outputs : Scaling
    samples : Samples
        Standardised, float32, for the search: outputs smoothed where inputs are, total variance one.
    smoothed : bool
    gap : int
        Rows between what is fitted and what is held out.
    """

    X: FloatArray
    y: FloatArray
    sample_weight: FloatArray
    held_out: HeldOut
    reserve: HeldOut
    inputs: Scaling
    outputs: Scaling
    samples: Samples
    smoothed: bool
    gap: int

    def resampled(self, rng: np.random.Generator, n_blocks: int) -> "Prepared":
        """Return the same rows with the weights of a block bootstrap: each block counts 0, 1, 2, ... times."""
        n = len(self.X)
        blocks = np.arange(n) * min(n_blocks, n) // n

        def drawn(held_out: HeldOut) -> Splits:
            pairs = ((a[weight[a] > 0], b[weight[b] > 0]) for a, b in held_out.splits)
            return [(a, b) for a, b in pairs if len(a) > 1 and len(b) > 1]

        splits: Splits = []
        while not splits:  # those that keep rows on both sides
            counts = np.bincount(rng.integers(blocks[-1] + 1, size=blocks[-1] + 1), minlength=blocks[-1] + 1)
            weight = self.sample_weight * counts[blocks]
            splits = drawn(self.held_out)
        return replace(
            self,
            sample_weight=weight,
            samples=replace(self.samples, weights=(self.samples.weights * counts[blocks]).astype(np.float32)),
            held_out=HeldOut.of(splits, weight),
            reserve=HeldOut.of(drawn(self.reserve), weight),
        )


def smooth_inputs(X: FloatArray, t: Any, trajectory: Any) -> tuple[FloatArray, int]:
    """Smooth all columns but discrete ones; return them and the widest bandwidth in rows."""
    found = smoother(X, t, trajectory=trajectory)
    keep = is_discrete(X)
    values = np.where(keep, X, found.values)
    return values, int(np.ceil(np.max(found.bandwidth[~keep], initial=0.0)))


def prepare(
    data: Measured,
    *,
    smoothing: str = "auto",
    n_blocks: int = 20,
    n_splits: int = 2,
    shuffle: bool = False,
    seed: int = 0,
) -> list[Prepared]:
    """Smooth, choose the rows to hold out, and standardise.

    Return one version of the data, or two between which the held-out blocks must decide: smoothed, measured.

    Without splits in the data there are four, of which `n_splits` are used and the others kept in reserve: the first
    holds out the last quarter, the second the third quarter, ..., of each of `n_blocks` blocks of consecutive rows,
    with gaps as wide as the smoother's bandwidth (but a sixteenth of the rows at most, or nothing would be left); with
    `shuffle`, random quarters.
    """
    check_choice("smoothing", smoothing, SMOOTHING)
    check_whole("n_blocks", n_blocks)
    X, y, t, trajectory = data.X, data.y, data.t, data.trajectory
    if t is not None:
        sample_times(t, trajectory_rows(trajectory, len(X)))  # complains, whether or not they are used
    candidates = smoothing == "on" or (smoothing == "auto" and t is not None)
    smooth_X, gap = smooth_inputs(X, t, trajectory) if candidates else (X, 0)
    changed = not np.array_equal(smooth_X, X)
    smooth_y, y_gap = smooth_inputs(y, t, trajectory) if candidates else (y, 0)
    gap = max(gap, y_gap)

    def standardised(inputs: FloatArray, outputs: FloatArray, smoothed: bool, gap: int) -> Prepared:
        splits = data.splits or _splits(X, y, trajectory, n_blocks, gap, shuffle, seed)
        reserve = HeldOut.of(splits, data.sample_weight, trajectory)
        held_out = reserve
        if data.splits is None:
            held_out = HeldOut.of(splits[:n_splits], data.sample_weight, trajectory)
        scaled_X, scaled_y = Scaling.of(inputs, data.sample_weight), Scaling.of(outputs, data.sample_weight)
        total = np.sqrt(max(int((~scaled_y.constant).sum()), 1))  # so that the variances add up to one
        scaled_y = replace(scaled_y, scale=scaled_y.scale * total)
        samples = Samples.of(scaled_X.apply(inputs), scaled_y.apply(outputs), data.sample_weight, dtype=np.float32)
        return Prepared(inputs, y, data.sample_weight, held_out, reserve, scaled_X, scaled_y, samples, smoothed, gap)

    if not candidates:
        return [standardised(X, y, False, 0)]
    if not changed:  # a trajectory without noise in its inputs may still have noise in its outputs
        return [standardised(X, smooth_y, False, gap)]
    if smoothing == "on":
        return [standardised(smooth_X, smooth_y, True, gap)]
    return [standardised(smooth_X, smooth_y, True, gap), standardised(X, y, False, 0)]


def smoothing_helps(
    smoothed: Prepared, measured: Prepared, refit: Refit, found: Callable[[Prepared], FloatArray]
) -> bool:
    """Return whether what was found on smoothed data predicts outputs as measured better than its three rivals do.

    These are the same form on measured inputs, a network on all measured inputs, and, beyond doubt, the mean. Rows
    that are no trajectory lose their contents when they are smoothed. What is found then is worth nothing on either
    kind of input, and only the other two rivals tell.

    Parameters
    ----------
    found : callable
        Returns the held-out errors (pieces,) of what was found, refitted to other data.
    """
    held_out, outputs = smoothed.held_out.first(), smoothed.outputs

    def judged(data: Prepared) -> Prepared:
        samples = replace(data.samples, Y=outputs.apply(data.y).astype(np.float32))
        return replace(data, samples=samples, outputs=outputs, held_out=held_out)

    smoothed, measured = judged(smoothed), judged(measured)
    live = ~measured.inputs.constant
    search = SupportSearch(measured.samples, np.arange(live.size), held_out, refit)
    errors = found(smoothed)
    if not held_out.better(errors, search.refits([np.zeros_like(live)])[0].errors):
        return False
    rivals = found(measured), search.refits([live])[0].errors
    return held_out.typical(errors) < min(map(held_out.typical, rivals))


def _splits(
    X: FloatArray,
    y: FloatArray,
    trajectory: Any,
    n_blocks: int,
    gap: int,
    shuffle: bool,
    seed: int,
) -> Splits:
    if shuffle:
        return list(KFold(4, shuffle=True, random_state=seed).split(X))
    runs = trajectory_rows(trajectory, len(X))
    if max(map(len, runs)) < 4:  # too short to be cut: hold out whole runs
        return list(GroupKFold(min(4, len(runs))).split(X, y, trajectory))[::-1]
    splitter = BlockedSplit(4, n_blocks=n_blocks, gap=min(gap, len(X) // 16))
    return list(splitter.split(X, y, trajectory))[::-1]


def _checked_splits(
    cv: Any, X: FloatArray, y: FloatArray, trajectory: np.ndarray | None, counted: np.ndarray
) -> Splits:
    """Return the splits of a user's `cv`, by the places of their rows among those that are counted (row numbers)."""
    n = len(X)
    place = np.full(n, -1)
    place[counted] = np.arange(counted.size)
    splits = []
    for k, pair in enumerate(check_cv(cv).split(X, y, trajectory)):
        sides = []
        for side, rows in zip(("training", "held-out"), map(np.asarray, pair), strict=True):
            rows = np.flatnonzero(rows) if rows.dtype == bool and rows.shape == (n,) else rows
            whole = rows.ndim == 1 and (rows.dtype.kind in "iu" or not rows.size)
            if not whole or np.any((rows < 0) | (rows >= n)):
                raise ValueError(f"cv: the {side} rows of split {k} are no row numbers from 0 to {n - 1}, nor a mask.")
            if side == "held-out" and np.unique(rows).size < rows.size:
                raise ValueError(f"cv: split {k} holds out a row twice; name every held-out row once.")
            kept = place[rows.astype(int)]
            sides.append(np.sort(kept[kept >= 0]))
            if sides[-1].size < 2:
                raise ValueError(
                    f"cv: split {k} has {sides[-1].size} {side} rows of positive weight; give every split at least "
                    "two, better many."
                )
        splits.append((sides[0], sides[1]))
    if not splits:
        raise ValueError("cv holds no split: give at least one pair of training and held-out rows, or a splitter.")
    return splits
