"""From a user's samples to what the search works on: time, smoothing, blocks and scaling."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, check_cv

from ._validation import FloatArray, check_choice, check_whole
from .held_out import HeldOut
from .network import Samples
from .scaling import Scaling
from .selection import Refit, SupportSearch
from .smoothing import is_discrete, smoother
from .splits import BlockedSplit

SMOOTHING = ("auto", "on", "off")


@dataclass(frozen=True, eq=False)
class Prepared:
    """Samples in both units, with the rows to hold out.

    Attributes
    ----------
    X : (n, d) inputs in their own units, smoothed if that was accepted
    y : (n, k) outputs in their own units, never smoothed
    sample_weight : (n,)
    held_out : HeldOut
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
    inputs: Scaling
    outputs: Scaling
    samples: Samples
    smoothed: bool
    gap: int

    def resampled(self, rng: np.random.Generator, n_blocks: int) -> "Prepared":
        """Return the same rows with the weights of a block bootstrap: each block counts 0, 1, 2, ... times."""
        n = len(self.X)
        blocks = np.arange(n) * min(n_blocks, n) // n
        while True:
            counts = np.bincount(rng.integers(blocks[-1] + 1, size=blocks[-1] + 1), minlength=blocks[-1] + 1)
            weight = self.sample_weight * counts[blocks]
            splits = [(a[weight[a] > 0], b[weight[b] > 0]) for a, b in self.held_out.splits]
            if all(len(a) and len(b) for a, b in splits):
                break
        samples = replace(self.samples, weights=(self.samples.weights * counts[blocks]).astype(np.float32))
        return replace(self, sample_weight=weight, samples=samples, held_out=HeldOut.of(splits, weight))


def smooth_inputs(X: FloatArray, t: Any, trajectory: Any) -> tuple[FloatArray, int]:
    """Smooth all columns but discrete ones; return them and the widest bandwidth in rows."""
    found = smoother(X, t, trajectory=trajectory)
    keep = is_discrete(X)
    values = np.where(keep, X, found.values)
    return values, int(np.ceil(np.max(found.bandwidth[~keep], initial=0.0)))


def prepare(
    X: FloatArray,
    y: FloatArray,
    sample_weight: FloatArray,
    *,
    t: Any = None,
    trajectory: Any = None,
    smoothing: str = "auto",
    cv: Any = None,
    n_blocks: int = 20,
    n_splits: int = 2,
    shuffle: bool = False,
    seed: int = 0,
) -> list[Prepared]:
    """Smooth, choose the rows to hold out, and standardise.

    Return one version of the data, or two between which the held-out blocks must decide: smoothed, measured.

    Without `cv` there are `n_splits` splits, at most four: the first holds out the last quarter, the second the
    third quarter, ..., of each of `n_blocks` blocks of consecutive rows, with gaps wider than the smoother's
    bandwidth; with `shuffle`, random quarters of the rows.
    """
    check_choice("smoothing", smoothing, SMOOTHING)
    check_whole("n_blocks", n_blocks)
    candidates = smoothing == "on" or (smoothing == "auto" and t is not None)
    smooth_X, gap = smooth_inputs(X, t, trajectory) if candidates else (X, 0)
    changed = not np.array_equal(smooth_X, X)
    smooth_y, y_gap = smooth_inputs(y, t, trajectory) if candidates else (y, 0)
    gap = max(gap, y_gap)

    def standardised(inputs: FloatArray, outputs: FloatArray, smoothed: bool, gap: int) -> Prepared:
        splits = _splits(X, y, trajectory, cv, n_blocks, n_splits, gap, shuffle, seed)
        held_out = HeldOut.of(splits, sample_weight, trajectory)
        scaled_X, scaled_y = Scaling.of(inputs, sample_weight), Scaling.of(outputs, sample_weight)
        total = np.sqrt(max(int((~scaled_y.constant).sum()), 1))  # so that the variances add up to one
        scaled_y = replace(scaled_y, scale=scaled_y.scale * total)
        samples = Samples.of(scaled_X.apply(inputs), scaled_y.apply(outputs), sample_weight, dtype=np.float32)
        return Prepared(inputs, y, sample_weight, held_out, scaled_X, scaled_y, samples, smoothed, gap)

    if not candidates:
        return [standardised(X, y, False, 0)]
    if not changed:  # a trajectory without noise in its inputs may still have noise in its outputs
        return [standardised(X, smooth_y, False, gap)]
    if smoothing == "on":
        return [standardised(smooth_X, smooth_y, True, gap)]
    return [standardised(smooth_X, smooth_y, True, gap), standardised(X, y, False, 0)]


def predicts_better(first: Prepared, second: Prepared, labels: np.ndarray, groups: np.ndarray, refit: Refit) -> bool:
    """Return whether a support predicts the held-out outputs, as measured, better from the first's inputs."""

    def error(data: Prepared) -> float:
        samples = replace(data.samples, Y=first.outputs.apply(data.y).astype(np.float32))
        search = SupportSearch(samples, labels, first.held_out.first(), refit)
        return search.error(search.refits([groups], n_starts=2)[0])

    return bool(groups.any()) and error(first) < error(second)


def _splits(
    X: FloatArray,
    y: FloatArray,
    trajectory: Any,
    cv: Any,
    n_blocks: int,
    n_splits: int,
    gap: int,
    shuffle: bool,
    seed: int,
) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    if cv is not None:
        return list(check_cv(cv).split(X, y, trajectory))
    if shuffle:
        return list(KFold(4, shuffle=True, random_state=seed).split(X))[:n_splits]
    splitter = BlockedSplit(max(2, min(4, len(X) // 2)), n_blocks=n_blocks, gap=min(gap, len(X) // 16))
    return list(splitter.split(X, y, trajectory))[::-1][:n_splits]
