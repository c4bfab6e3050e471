"""Fill missing values along a trajectory with a smooth curve through the neighbouring values."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator

from fewvars._common.validation import FloatArray
from fewvars._common.wording import first_few
from fewvars.series.smoothing import is_discrete, smooth
from fewvars.series.splits import sample_times, trajectory_rows


class Gaps(NamedTuple):
    """The number of missing values of a column, and the length of the longest gap."""

    column: int
    n_missing: int
    longest: int


def bridge_gaps(X: FloatArray, t: Any, trajectory: ArrayLike | None = None) -> tuple[FloatArray, list[Gaps]]:
    """Fill in NaN by curves through the smoothed values of the same run, and return the gaps.

    Before the first value of a run and after the last, that value is repeated. Discrete columns keep their last
    value. A run without any value is left as it is.
    """
    runs = trajectory_rows(trajectory, len(X))
    times = sample_times(t, runs)
    filled, gaps = X.copy(), []
    for j in np.flatnonzero(np.isnan(X).any(axis=0)).tolist():
        missing = np.isnan(X[:, j])
        present = [run[~missing[run]] for run in runs]
        present = [run for run in present if run.size]
        if not present:
            continue
        values = X[:, j].copy()
        rows = np.concatenate(present)
        holds = bool(is_discrete(values[rows]))
        if not holds:
            labels = np.repeat(np.arange(len(present)), [run.size for run in present])
            values[rows] = smooth(values[rows], times[rows], trajectory=labels)
        for run in runs:
            gone = run[missing[run]]
            filled[gone, j] = _along(times[gone], times[run][~missing[run]], values[run][~missing[run]], holds)
        gaps.append(Gaps(j, int(missing.sum()), max(_longest(missing[run]) for run in runs)))
    return filled, gaps


def _along(when: FloatArray, times: FloatArray, values: FloatArray, holds: bool) -> FloatArray:
    """Return values at some times, interpolated by a curve or by steps."""
    if not times.size:
        return np.full(when.size, np.nan)
    if holds:
        return values[np.maximum(np.searchsorted(times, when) - 1, 0)]
    inside = np.clip(when, times[0], times[-1])
    return PchipInterpolator(times, values)(inside) if times.size > 1 else np.full(when.size, values[0])


def _longest(missing: np.ndarray) -> int:
    """Return the largest number of consecutive rows that are missing."""
    edges = np.flatnonzero(np.diff(np.r_[False, missing, False]))
    return int(np.diff(edges)[::2].max(initial=0))


def gaps_in_words(gaps: Sequence[Gaps], names: Sequence[str], most: int = 4) -> str:
    """Return a sentence about the gaps that were filled."""
    texts = [f"{names[gap.column]!r} {gap.n_missing} values (the longest gap has {gap.longest} rows)" for gap in gaps]
    return f"Missing values are bridged in time: {first_few(texts, most, 'columns')}."
