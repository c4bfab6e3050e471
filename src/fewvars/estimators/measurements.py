"""Turn trajectories into the data of the search for equations: inputs, and left sides in one of three forms."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.sparse import eye_array

from fewvars._common.validation import FloatArray
from fewvars.estimators.input_columns import InputColumns
from fewvars.series.smoothing import is_discrete, smoother
from fewvars.series.trajectories import FEWEST_ROWS, Trajectories, by_run
from fewvars.series.weak_form import WeakForm

NARROWEST = 3  # samples on each side of the centre of a window
FEWEST_WINDOWS = 8
MOST_ENDS = 0.25  # share of the samples that may be too near to the end of a run for a window around them
COVERED = 0.25  # share of the samples that windows must be laid around
UNEVEN = 0.5  # steps by which an interval that is a window may differ from the others
# Share of the variance of a derivative that averages must keep: wider windows have less noise, but lose what is fast.
VARIANCE_KEPT, VARIANCE_KEPT_IF_NOISY = 0.9, 0.6
NOISY, NOISELESS = 0.01, 1e-3  # share of the variance of the averages that is noise
TARGETS = ("weak", "derivative", "step")


@dataclass(frozen=True, eq=False)
class Measurements:
    """What the right sides of equations are functions of, and what is known of their left sides.

    Equations whose left sides are averaged over the same windows share them.

    Attributes
    ----------
    inputs : (samples, k)
        Smoothed, in their own units.
    labels : (k,)
        The input group of each column: what enters an equation or not.
    windows : (rows, samples) sparse
        The average over samples that each row is about; the identity if rows are samples.
    centres : (rows,)
        The sample in the middle of each window.
    runs : (rows,)
    weight : (rows,)
    targets : (rows, d)
        The left sides, averaged over the windows.
    derivatives : (samples, d)
        Estimates of the left sides at the samples.
    noise : (d,)
        Variance of the errors of the targets, zero where it is not known.
    gap : int
        Rows between what is fitted and what is held out.
    smoothed : bool
    """

    inputs: FloatArray
    labels: np.ndarray
    windows: Any
    centres: np.ndarray
    runs: np.ndarray
    weight: FloatArray
    targets: FloatArray
    derivatives: FloatArray
    noise: FloatArray
    gap: int
    smoothed: bool


@dataclass(frozen=True, eq=False)
class Smooth:
    """Smoothed variables (n, d), their derivatives of order 1 and 2, the variance of the noise and the bandwidth."""

    values: FloatArray
    derivatives: tuple[FloatArray, ...]
    noise: FloatArray
    bandwidth: int

    @classmethod
    def of(cls, runs: Trajectories, X: FloatArray, order: int, smooths: bool) -> "Smooth":
        """Smooth all columns but discrete ones."""
        found = smoother(X, runs.t, trajectory=runs.runs, strength=None if smooths else 0.0)
        discrete = is_discrete(X)
        values = np.where(discrete, X, found.values)
        width = found.bandwidth
        shrunk = np.where(width > 0, 2.0 / np.maximum(width, 2.0), 0.0)  # trace(S) / n
        noise = ((X - values) ** 2).mean(axis=0) / np.maximum(1.0 - shrunk, 0.1)
        derivatives = [np.where(runs.constant(X), 0.0, found.derivative)]  # without rounding errors
        if order == 2:
            derivatives.append(smoother(derivatives[0], runs.t, trajectory=runs.runs, strength=0.0).derivative)
        return cls(values, tuple(derivatives), noise, int(np.ceil(np.max(width[~discrete], initial=0.0))))


def measured(
    columns: InputColumns,
    runs: Trajectories,
    X: FloatArray,
    u: FloatArray,
    weight: FloatArray,
    y: FloatArray | None,
    target: str,
    smoothing: str,
) -> tuple[list[Measurements], FloatArray]:
    """Return what the search for each equation is given, and the states (n, states).

    Parameters
    ----------
    X, u, weight : (n, d), (n, controls), (n,)
    y : (n, d), optional
        Measured derivatives, which are then the left sides.
    target, smoothing : str
        As for `DynamicsRegressor`.
    """
    rows = runs.rows
    X, u, weight = X[rows], u[rows], weight[rows]
    for j in columns.angles:
        X[:, [j]] = by_run(runs.places, X[:, [j]], partial(np.unwrap, axis=0))
    smooths = smoothing == "on" or (smoothing == "auto" and target != "step")
    smooth = Smooth.of(runs, X, columns.order, smooths)
    states = smooth.values if columns.order == 1 else np.column_stack([smooth.values, smooth.derivatives[0]])
    inputs = columns.columns(states, u, runs.t)
    if y is None and target == "weak":
        return in_weak_form(columns, runs, X, inputs, weight, smooth), states
    if y is not None:
        data = at_samples(columns, runs, inputs, weight, y[rows], gap=smooth.bandwidth)
    elif target == "derivative":
        left, gap = smooth.derivatives[-1], smooth.bandwidth
        data = at_samples(columns, runs, inputs, weight, left, gap=gap, smoothed=True)
    else:
        data = of_steps(columns, runs, X, inputs, weight)
    return X.shape[1] * [data], states


def of_steps(
    columns: InputColumns, runs: Trajectories, X: FloatArray, inputs: FloatArray, weight: FloatArray
) -> Measurements:
    """Take the changes over one sampling interval as the left sides."""
    now, then = runs.next_rows()
    if now.size < FEWEST_ROWS:
        raise ValueError(
            f'target="step" needs rows one step of {runs.step:g} apart, and only {now.size} have such a successor: '
            'sample at equal steps, or use target="weak".'
        )
    return at_samples(columns, runs, inputs, weight, X[then] - X[now], places=now)


def in_weak_form(
    columns: InputColumns, runs: Trajectories, X: FloatArray, inputs: FloatArray, weight: FloatArray, smooth: Smooth
) -> list[Measurements]:
    """Average over windows of time; the left sides are averages of derivatives of X as measured."""
    derivative, centred = smooth.derivatives[-1], np.where(runs.constant(X), 0.0, X - X.mean(axis=0))

    @cache
    def averaged(form: WeakForm) -> Measurements:
        reach = np.diff(form.average.indptr).max() + smooth.bandwidth  # samples
        return Measurements(
            inputs=inputs,
            labels=columns.labels,
            windows=form.average,
            centres=form.centres,
            runs=runs.runs[form.centres],
            weight=form.average @ weight,
            targets=form.derivative @ centred,
            derivatives=derivative,
            noise=smooth.noise * form.noise,
            gap=int(np.ceil(reach / 2 / np.median(np.diff(form.centres)))),
            smoothed=True,
        )

    return [averaged(form) for form in widest_windows(runs, derivative, smooth.noise, columns.order)]


def at_samples(
    columns: InputColumns,
    runs: Trajectories,
    inputs: FloatArray,
    weight: FloatArray,
    targets: FloatArray,
    *,
    places: np.ndarray | None = None,
    gap: int = 0,
    smoothed: bool = False,
) -> Measurements:
    """Take the left sides as they are at the samples, or at some places among them."""
    places = np.arange(len(inputs)) if places is None else places
    n = places.size
    return Measurements(
        inputs=inputs[places],
        labels=columns.labels,
        windows=eye_array(n, format="csr"),
        centres=np.arange(n),
        runs=runs.runs[places],
        weight=weight[places],
        targets=targets,
        derivatives=targets,
        noise=np.zeros(targets.shape[1]),
        gap=gap,
        smoothed=smoothed,
    )


def widest_windows(runs: Trajectories, derivative: FloatArray, noise: FloatArray, order: int) -> list[WeakForm]:
    """Return, for each variable, the widest windows that keep most of the variance of its derivative, half overlapping.

    The noise of an average falls with its width, but an average over a wide window tells nothing about what is fast,
    and there are fewer of them. So windows keep less of the variance only where narrower ones would hold much noise,
    and grow no wider where they hold little. Windows do not reach the ends of a run; where runs are so short that a
    good part of them is an end, the sampling intervals are the windows.

    Parameters
    ----------
    derivative : (n, d)
    noise : (d,)
        Variance of the errors of the measurements.
    """
    ends = 2 * (NARROWEST + 1) * len(runs.places)
    if order == 1 and ends > MOST_ENDS * len(runs.t):
        forms = iter([WeakForm.of_intervals(runs.t, *runs.next_rows(UNEVEN))])
    else:
        forms = _covering_windows(runs, order)
    form = next(forms, None)
    if form is None or len(form.centres) < FEWEST_WINDOWS:
        raise ValueError(
            f"The trajectories have room for fewer than {FEWEST_WINDOWS} windows of time: give longer ones, or use "
            'target="derivative".'
        )
    tiny = np.finfo(float).tiny
    total = np.maximum(derivative.var(axis=0), tiny)
    found, growing, variance = [form] * len(total), np.ptp(derivative, axis=0) > 0, total
    for wider in forms:
        before, variance = variance, np.maximum((wider.average @ derivative).var(axis=0), tiny)
        share = form.noise * noise / before
        growing &= share > NOISELESS
        growing &= variance / total >= np.where(share > NOISY, VARIANCE_KEPT_IF_NOISY, VARIANCE_KEPT)
        if not growing.any():
            break
        form = wider
        found = [wider if grows else kept for grows, kept in zip(growing, found, strict=True)]
    return found


def _covering_windows(runs: Trajectories, order: int) -> Iterator[WeakForm]:
    """Yield windows, the narrowest first, as long as there are enough; narrow ones that miss too many samples are not.

    Where rows are missing or times are irregular, few narrow windows have enough samples.
    """
    longest = max(float(np.ptp(runs.t[run])) for run in runs.places)
    widest = max(longest / runs.step / 8, NARROWEST)
    covering = False
    for samples in np.unique(np.rint(np.geomspace(NARROWEST, widest, 24)).astype(int)).tolist():
        stride = max(1, samples // 2)
        form = WeakForm.of(runs.t, runs.places, (samples + 0.5) * runs.step, stride=stride, order=order)
        covering = covering or len(form.centres) * stride >= COVERED * len(runs.t)
        if covering and len(form.centres) < FEWEST_WINDOWS:
            return
        if covering:
            yield form
