"""Smooth a sampled trajectory by penalised least squares, its strength cross-validated, and differentiate it.

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

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import ArrayLike, NDArray
from scipy.fft import dct, idct
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.linalg.lapack import dgbtrf, dgbtrs

from fewvars.splits import IntArray, sample_times, trajectory_rows

__all__ = ["Smoothed", "is_discrete", "smooth", "smoother"]

FloatArray = NDArray[np.float64]

UNIFORM_TOLERANCE = 1e-3  # of a step: float32 time stamps still count as uniform
WEAKEST = 1e-4  # a weaker penalty of order 4 takes less than 2.6% off the highest frequency: taken as none
PROBES = 32  # vectors for the trace on irregular grids, which is exact up to this many rows
ROUND_OFF = 1e-14  # relative size of a remainder that is not data


@dataclass(frozen=True)
class Smoothed:
    """Smoothed columns, with d = 1 and its axis dropped where `X` was a vector.

    Attributes
    ----------
    values : ndarray of float64, shape (n, d)
        The smoothed columns.
    derivative : ndarray of float64, shape (n, d)
        Their derivative per unit of `t`; per second where `t` holds datetimes.
    strength : ndarray of float64, shape (d,)
        The weight of the penalty; zero where a column was left unchanged.
    bandwidth : ndarray of float64, shape (d,)
        2 n / trace(S), in rows; zero where a column was left unchanged. At order 4, all but 0.2% of the
        squared weights in a smoothed value belong to rows within this distance: rows held out of a fit
        should be farther than this from the rows fitted.
    """

    values: FloatArray
    derivative: FloatArray
    strength: FloatArray
    bandwidth: FloatArray


def smoother(
    X: ArrayLike,
    t: Any = None,
    *,
    trajectory: ArrayLike | None = None,
    strength: ArrayLike | None = None,
    order: int = 4,
) -> Smoothed:
    """Smooth the columns of sampled trajectories and differentiate the result.

    The module states the objective. The noise is taken to be independent from row to row. Rows that are
    not samples of a smooth trajectory should not be smoothed: they would lose nearly all their variance.
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
        The values, the derivative, and the strength and bandwidth used.
    """
    data, rows, times = _validated(X, t, trajectory, order)
    values, chosen, bandwidth = _smooth(data, rows, times, strength, order)
    derivative = np.empty_like(values)
    for run in rows:
        derivative[run] = _differentiate(values[run], times[run], order)
    shape = np.shape(X)
    return Smoothed(
        values.reshape(shape),
        derivative.reshape(shape),
        chosen.reshape(shape[1:]),
        bandwidth.reshape(shape[1:]),
    )


def smooth(
    X: ArrayLike,
    t: Any = None,
    *,
    trajectory: ArrayLike | None = None,
    strength: ArrayLike | None = None,
    order: int = 4,
) -> FloatArray:
    """Return only the smoothed values of `smoother`, an array of the shape of `X`; same parameters."""
    data, rows, times = _validated(X, t, trajectory, order)
    return _smooth(data, rows, times, strength, order)[0].reshape(np.shape(X))


def is_discrete(X: ArrayLike, *, max_levels: int = 10) -> NDArray[np.bool_]:
    """Tell which columns take few distinct values (switches, counts, labels) and must not be smoothed.

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
        raise ValueError(
            f"X is not finite in row {row}, column {column} ({data[row, column]}); drop or impute it."
        )
    return data


def _validated(
    X: ArrayLike, t: Any, trajectory: ArrayLike | None, order: int
) -> tuple[FloatArray, list[IntArray], FloatArray]:
    data = _columns(X)
    if not isinstance(order, int | np.integer) or not 1 <= order <= 6:
        raise ValueError(f"order={order!r} is not a whole number from 1 to 6; the usual choice is 4.")
    rows = trajectory_rows(trajectory, len(data))
    return data, rows, sample_times(t, rows)


class _UniformRun:
    """Uniform steps: the penalty is diagonal in the cosine basis once polynomials are fitted along with it.

    Cosines reflect the data at both ends, where any slope becomes a kink. With the polynomials of degree 1
    to m left free, the rows of the m-th difference that straddle the ends can be cancelled exactly and the
    objective of the module remains. With G = diag(g / (1 + g)), g_k = strength (2 - 2 cos(pi k / n))^m, and Q
    an orthonormal basis of G^1/2 times the polynomials: R = G^1/2 (I - Q Q') G^1/2.
    """

    def __init__(self, data: FloatArray, step: float, order: int):
        n = len(data)
        remainder, polynomials = _detrend(data, np.arange(n, dtype=np.float64), order)
        self.data = dct(remainder.T, norm="ortho")
        self.polynomials = dct(polynomials[:, 1:], axis=0, norm="ortho")
        # (2 sin(a / 2))^2 = 2 - 2 cos(a) without cancellation; the step enters through w and the derivative
        self.penalty = step ** (1 - 2 * order) * (2 * np.sin(np.pi * np.arange(n) / (2 * n))) ** (2 * order)

    def residual(self, strength: float, columns: IntArray | slice) -> tuple[FloatArray, float]:
        shrink = strength * self.penalty / (1 + strength * self.penalty)
        root = np.sqrt(shrink)[:, None]
        free = root * np.linalg.qr(root * self.polynomials)[0]
        residual = self.data[columns] * shrink
        residual -= (self.data[columns] @ free) @ free.T
        return residual, float(shrink.sum() - (free**2).sum())

    def in_time(self, residual: FloatArray) -> FloatArray:
        return idct(residual, norm="ortho").T


class _IrregularRun:
    """Any steps: with A = strength^1/2 D, D the weighted divided differences, R y solves a banded system.

    The residual r and u = (I + A A')^-1 A y solve [I, A'; A, -I] [r; -u] = [0; A y], whose condition is that
    of A and not its square: a bandwidth of hundreds of rows is no trouble. Interleaved, it is banded. The
    mean of the m-th derivative is taken out of the penalty by a rank-one correction, with A p = strength^1/2
    w^1/2 for a polynomial p of degree m. The trace is estimated from vectors of random signs on rows so far
    apart that the smoother hardly mixes them.
    """

    def __init__(self, data: FloatArray, t: FloatArray, order: int):
        n, m = len(t), order
        window = np.arange(n - m)[:, None] + np.arange(m + 1)
        apart = t[window][:, :, None] - t[window][:, None, :] + np.eye(m + 1)
        self.root_width = np.sqrt((t[m:] - t[:-m]) / m)
        self.table = (
            math.factorial(m) * self.root_width[:, None] / apart.prod(axis=2)
        )  # D, its band, (n - m, m + 1)
        probes = min(n, PROBES)
        self.probes = np.zeros((n, probes))
        self.probes[np.arange(n), np.arange(n) % probes] = np.random.default_rng(0).choice([-1.0, 1.0], n)
        self.differences = self._differences(_detrend(data, t, m)[0])
        self.probe_differences = self._differences(self.probes)
        place = np.argsort(np.argsort(np.concatenate([2.0 * np.arange(n), 2.0 * np.arange(n - m) + m + 0.5])))
        self.r_place, self.u_place = place[:n], place[n:]
        self.window_place = self.r_place[window]
        self.band = int(np.abs(self.window_place - self.u_place[:, None]).max())

    def _differences(self, data: FloatArray) -> FloatArray:
        n, m = len(data), self.table.shape[1] - 1
        return sum(self.table[:, j, None] * data[j : n - m + j] for j in range(m + 1))

    def residual(self, strength: float, columns: IntArray | slice) -> tuple[FloatArray, float]:
        root, data = math.sqrt(strength), self.differences[:, columns]
        right = [data, self.root_width[:, None], self.probe_differences]
        r, u = self._solve(root, root * np.concatenate(right, axis=1))
        d = data.shape[1]
        bend, cost = r[:, d], root * self.root_width @ u[:, d]  # R p and p' R p
        residual = r[:, :d] - np.outer(bend, root * (u[:, d] @ data) / cost)
        return residual.T, float(np.sum(self.probes * r[:, d + 1 :]) - bend @ bend / cost)

    def _solve(self, root: float, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return r and u of the augmented system for the right-hand sides A y, (n - m, k)."""
        band, size = self.band, len(self.r_place) + len(self.u_place)
        matrix, unknowns = (
            np.zeros((3 * band + 1, size), order="F"),
            np.zeros((size, right.shape[1]), order="F"),
        )
        matrix[2 * band, self.r_place], matrix[2 * band, self.u_place] = 1.0, -1.0
        offset = self.window_place - self.u_place[:, None]
        matrix[2 * band + offset, self.u_place[:, None]] = root * self.table
        matrix[2 * band - offset, self.window_place] = root * self.table
        unknowns[self.u_place] = right
        factors, pivots, _ = dgbtrf(matrix, band, band, overwrite_ab=1)
        unknowns, _ = dgbtrs(factors, band, band, unknowns, pivots, overwrite_b=1)
        return unknowns[self.r_place], -unknowns[self.u_place]

    def in_time(self, residual: FloatArray) -> FloatArray:
        return residual.T


def _detrend(data: FloatArray, t: FloatArray, order: int) -> tuple[FloatArray, FloatArray]:
    """Take out polynomials of degree <= m, which S leaves alone: returns the remainder and their basis."""
    basis = np.linalg.qr(legvander(2 * (t - t[0]) / (t[-1] - t[0]) - 1, order))[0]
    remainder = data - basis @ (basis.T @ data)
    remainder[:, np.linalg.norm(remainder, axis=0) <= ROUND_OFF * np.linalg.norm(data, axis=0)] = 0.0
    return remainder, basis


_Run = _UniformRun | _IrregularRun


def _run(data: FloatArray, t: FloatArray, order: int) -> _Run:
    even = np.linspace(t[0], t[-1], len(t))
    step = even[1] - even[0]
    if np.abs(t - even).max() <= UNIFORM_TOLERANCE * step:
        return _UniformRun(data, step, order)
    return _IrregularRun(data, t, order)


def _smooth(
    data: FloatArray, rows: Sequence[IntArray], times: FloatArray, strength: ArrayLike | None, order: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the smoothed values (n, d), and the strength and bandwidth used (d,)."""
    d = data.shape[1]
    rows = [run for run in rows if len(run) >= 2 * order + 2]
    unit = np.median(np.concatenate([np.diff(times[run]) for run in rows])) if rows else 1.0
    runs = [_run(data[run], times[run] / unit, order) for run in rows]
    longest = max((np.ptp(times[run]) / unit for run in rows), default=0.0)
    chosen = _best_strength(runs, d, longest, order) if strength is None else _given_strength(strength, d)
    values, n, traces = data.copy(), sum(map(len, rows)), np.zeros(d)
    for weight in np.unique(chosen[chosen > 0]):
        columns = np.flatnonzero(chosen == weight)
        for run, system in zip(rows, runs, strict=True):
            residual, trace = system.residual(weight, columns)
            values[np.ix_(run, columns)] -= system.in_time(residual)
            traces[columns] += trace
    changed = traces > 0
    bandwidth = np.where(changed, 2 * n / np.maximum(n - traces, 1.0), 0.0)
    return values, np.where(changed, chosen, 0.0), bandwidth


def _best_strength(runs: Sequence[_Run], d: int, longest: float, order: int) -> FloatArray:
    """Minimise GCV per column: a grid in the logarithm of the strength, and a spline around its best point."""
    if not runs:
        return np.zeros(d)
    # One point of the grid to the next widens the smoother by a third. Past the last, only polynomials are left.
    spacing = order / 4
    decades = np.arange(np.log10(WEAKEST), 2 * order * np.log10(longest / np.pi) + 2, spacing)
    squares, traces = np.zeros((len(decades), d)), np.zeros(len(decades))
    for i, strength in enumerate(10.0**decades):
        for run in runs:
            residual, trace = run.residual(strength, slice(None))
            squares[i] += np.einsum("ij,ij->i", residual, residual)
            traces[i] += trace
    score = np.log(np.maximum(squares, np.finfo(float).tiny)) - 2 * np.log(traces)[:, None]
    best = np.argmin(score, axis=0)
    between = np.arange(decades[0], decades[-1], spacing / 20)
    curve = CubicSpline(decades, score)(between)
    curve[np.abs(between[:, None] - decades[best]) >= spacing] = np.inf
    unchanged = (best == 0) | (squares[-1] == 0)
    return np.where(unchanged, 0.0, 10.0 ** between[np.argmin(curve, axis=0)])


def _given_strength(strength: ArrayLike, d: int) -> FloatArray:
    given = np.asarray(strength, dtype=np.float64)
    if given.shape not in ((), (d,)):
        raise ValueError(
            f"strength has shape {given.shape}; give one number, or one per column, shape ({d},)."
        )
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError(f"strength={strength!r} is negative or not finite; 0 leaves a column unchanged.")
    return np.broadcast_to(given, (d,)).copy()


def _differentiate(values: FloatArray, t: FloatArray, order: int) -> FloatArray:
    """Differentiate the quintic spline through the values; short runs by finite differences."""
    if len(t) == 1:
        return np.full_like(values, np.nan)
    if len(t) < max(2 * order + 2, 6):
        return np.gradient(values, t, axis=0)
    return make_interp_spline(t, values, k=5).derivative()(t)
