"""Smooth a sampled trajectory by penalised least squares, choosing the strength by generalised cross-validation.

With time in units of the median step, a column y of a trajectory sampled at t_1 < ... < t_n becomes the
minimiser x of

    sum_i (y_i - x_i)^2 + strength * sum_i w_i (x_i^(m) - mean x^(m))^2,

where m is the `order`; x_i^(m) is m! times the divided difference of x over t_i, ..., t_{i+m}, that is, an
m-th derivative; w_i = (t_{i+m} - t_i) / m; and the mean is weighted by w. This is Whittaker's (1923)
discrete spline with the mean taken out of the penalty: polynomials of degree <= m cost nothing and come
back as they were, up to the very ends. The strength, one per column and shared by all trajectories,
minimises generalised cross-validation (Craven and Wahba 1979) over the N rows of the trajectories r:

    GCV = N * sum_r |y_r - S_r y_r|^2 / (sum_r trace(I - S_r))^2,    S_r the smoother of r.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline, make_interp_spline

from fewvars.series.discrete_spline import DiscreteSpline, FloatArray, discrete_spline
from fewvars.series.splits import IntArray, sample_times, trajectory_rows

__all__ = ["Smoothed", "is_discrete", "smooth", "smoother"]

WEAKEST = 1e-4  # a weaker penalty of order 4 damps the highest frequency by less than 2.6% and counts as none


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Smoothed columns. Where `X` was a vector, all arrays lack the axis of the columns.

    Attributes
    ----------
    values : ndarray of float64, shape (n, d)
        The smoothed columns.
    strength : ndarray of float64, shape (d,)
        The weight of the penalty; zero where a column was left unchanged.
    bandwidth : ndarray of float64, shape (d,)
        2 n / trace(S), in rows; zero where a column was left unchanged. At order 4, all but 0.2% of the
        squared weights in a smoothed value belong to rows within this distance: rows held out of a fit
        should be farther than this from the rows fitted.
    derivative : ndarray of float64, shape (n, d)
        Their derivative per unit of `t`, or per second where `t` holds datetimes; computed when first asked for.
    """

    values: FloatArray
    strength: FloatArray
    bandwidth: FloatArray
    _rows: Sequence[IntArray] = field(repr=False)
    _times: FloatArray = field(repr=False)
    _order: int = field(repr=False)

    @cached_property
    def derivative(self) -> FloatArray:
        """Differentiate the quintic spline through the values of each trajectory."""
        derivative = np.empty_like(self.values)
        for run in self._rows:
            derivative[run] = _differentiate(self.values[run], self._times[run], self._order)
        return derivative


def smoother(
    X: ArrayLike,
    t: Any = None,
    *,
    trajectory: ArrayLike | None = None,
    strength: ArrayLike | None = None,
    order: int = 4,
) -> Smoothed:
    """Smooth the columns of sampled trajectories; the result can also be differentiated.

    The module docstring states the objective. The noise is assumed to be independent from row to row. Do not
    smooth rows that are not samples of a smooth trajectory: they would lose nearly all their variance.
    Columns without noise come back unchanged. So do trajectories of fewer than 2 * order + 2 rows; their
    derivative is `numpy.gradient`, and NaN for a single row. O(n log n) per column.

    Parameters
    ----------
    X : array-like of shape (n,) or (n, d)
        Rows are samples, columns are variables.
    t : array-like of shape (n,), or scalar, optional
        Sample times (numbers or datetimes), strictly increasing within each trajectory, with any steps
        and gaps; or the step between rows. Without it the step is 1.
    trajectory : array-like of shape (n,), optional
        Rows with the same label are one run, in the order given, contiguous or not.
    strength : float or array-like of shape (d,), optional
        The weight of the penalty, per column. Chosen by generalised cross-validation if not given.
    order : int, default=4
        The order m of the derivative that is penalised.

    Returns
    -------
    Smoothed
        The smoothed values, the strength and bandwidth used, and on demand the derivative.
    """
    data, rows, times = _validated(X, t, trajectory, order)
    values, chosen, bandwidth = _smooth(data, rows, times, strength, order)
    shape = np.shape(X)
    return Smoothed(values.reshape(shape), chosen.reshape(shape[1:]), bandwidth.reshape(shape[1:]), rows, times, order)


def smooth(
    X: ArrayLike,
    t: Any = None,
    *,
    trajectory: ArrayLike | None = None,
    strength: ArrayLike | None = None,
    order: int = 4,
) -> FloatArray:
    """Return the smoothed values alone, an array of the shape of `X`; the parameters are those of `smoother`."""
    return smoother(X, t, trajectory=trajectory, strength=strength, order=order).values


def is_discrete(X: ArrayLike, *, max_levels: int = 10) -> NDArray[np.bool_]:
    """Return which columns take few distinct values (switches, counts, labels) and must not be smoothed.

    Parameters
    ----------
    X : array-like of shape (n,) or (n, d)
        Rows are samples, columns are variables.
    max_levels : int, default=10
        A column is discrete if it takes at most `max_levels` values, each five times on average.

    Returns
    -------
    ndarray of bool, shape (d,), or () where `X` is a vector
    """
    data = np.sort(_columns(X), axis=0)
    levels = 1 + np.count_nonzero(np.diff(data, axis=0), axis=0)
    return (levels <= min(max_levels, len(data) // 5)).reshape(np.shape(X)[1:])


def _columns(X: ArrayLike) -> FloatArray:
    """`X` as finite float64 of shape (n, d)."""
    data = np.array(X, dtype=np.float64)
    if data.ndim not in (1, 2) or len(data) == 0:
        raise ValueError(f"X has shape {data.shape}; it must be (n,) or (n, d) with at least one row.")
    data = data.reshape(len(data), -1)
    if not np.isfinite(data).all():
        row, column = np.argwhere(~np.isfinite(data))[0]
        raise ValueError(f"X is not finite in row {row}, column {column} ({data[row, column]}); drop or impute it.")
    return data


def _validated(
    X: ArrayLike, t: Any, trajectory: ArrayLike | None, order: int
) -> tuple[FloatArray, list[IntArray], FloatArray]:
    data = _columns(X)
    if not isinstance(order, int | np.integer) or not 1 <= order <= 6:
        raise ValueError(f"order={order!r} is not a whole number from 1 to 6; the usual choice is 4.")
    rows = trajectory_rows(trajectory, len(data))
    return data, rows, sample_times(t, rows)


def _smooth(
    data: FloatArray, rows: Sequence[IntArray], times: FloatArray, strength: ArrayLike | None, order: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the smoothed values (n, d), and the strength and bandwidth used (d,)."""
    d = data.shape[1]
    given = None if strength is None else _given_strength(strength, d)
    rows = [run for run in rows if len(run) >= 2 * order + 2]
    if not rows:
        return data, np.zeros(d), np.zeros(d)
    steps = np.concatenate([np.diff(times[run]) for run in rows])
    unit, finest = np.median(steps), np.quantile(steps, 0.1)
    splines = [discrete_spline(data[run], times[run] / unit, order) for run in rows]
    # At the lower end even the shortest steps are hardly smoothed; at the upper end only polynomials are left.
    lowest = np.log10(WEAKEST) + (2 * order - 1) * np.log10(finest / unit)
    highest = 2 * order * np.log10(max(np.ptp(times[run]) for run in rows) / unit / np.pi) + 2
    # From each point to the next the smoother widens by a third.
    grid = np.arange(lowest, highest, order / 4)
    chosen = _best_strength(splines, d, sum(map(len, rows)), grid) if given is None else given
    return _apply(data, rows, splines, chosen)


def _best_strength(splines: Sequence[DiscreteSpline], d: int, n: int, grid: FloatArray) -> FloatArray:
    """Minimise GCV per column on a grid of log10(strength), then along a spline around its best point."""
    squares, traces = [], []
    for strength in 10.0**grid:
        parts = [spline.residual(strength, slice(None)) for spline in splines]
        trace = sum(part[1] for part in parts)
        if not 0 < trace < n:
            break  # round-off: the steps are too uneven for a penalty as strong as this
        traces.append(trace)
        squares.append(sum(np.einsum("ij,ij->i", part[0], part[0]) for part in parts))
    if len(traces) < 2:
        return np.zeros(d)
    score = np.log(np.maximum(squares, np.finfo(float).tiny)) - 2 * np.log(traces)[:, None]
    grid, spacing, best = grid[: len(traces)], grid[1] - grid[0], np.argmin(score, axis=0)
    between = np.arange(grid[0], grid[-1], spacing / 20)
    curve = CubicSpline(grid, score)(between)
    curve[np.abs(between[:, None] - grid[best]) >= spacing] = np.inf
    unchanged = (best == 0) | (squares[-1] == 0)
    return np.where(unchanged, 0.0, 10.0 ** between[np.argmin(curve, axis=0)])


def _apply(
    data: FloatArray, rows: Sequence[IntArray], splines: Sequence[DiscreteSpline], strength: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Smooth each column with its strength: the values (n, d), the strength and the bandwidth (d,)."""
    values, n = data.copy(), sum(map(len, rows))
    bandwidth = np.zeros(len(strength))
    for weight in np.unique(strength[strength > 0]):
        columns, trace = np.flatnonzero(strength == weight), 0.0
        for run, spline in zip(rows, splines, strict=True):
            residual, part = spline.residual(weight, columns)
            values[np.ix_(run, columns)] -= spline.in_time(residual)
            trace += part
        bandwidth[columns] = 2 * n / max(n - trace, 1.0)
    return values, strength, bandwidth


def _given_strength(strength: ArrayLike, d: int) -> FloatArray:
    given = np.asarray(strength, dtype=np.float64)
    if given.shape not in ((), (d,)):
        raise ValueError(f"strength has shape {given.shape}; give one number, or one per column, shape ({d},).")
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError(f"strength={strength!r} is negative or not finite; 0 leaves a column unchanged.")
    return np.broadcast_to(given, (d,)).copy()


def _differentiate(values: FloatArray, t: FloatArray, order: int) -> FloatArray:
    """Differentiate the quintic spline through the values, and short runs by finite differences."""
    if len(t) == 1:
        return np.full_like(values, np.nan)
    if len(t) < max(2 * order + 2, 6):
        return np.gradient(values, t, axis=0)
    return make_interp_spline(t, values, k=5).derivative()(t)
