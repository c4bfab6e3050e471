"""The discrete smoothing spline of one trajectory, for any strength: R = I - S, its residual and its trace.

S y is the minimiser x of

    |y - x|^2 + strength * sum_i w_i (x_i^(m) - mean x^(m))^2,

where x_i^(m) is m! times the divided difference of x over t_i, ..., t_{i+m}, w_i = (t_{i+m} - t_i) / m, and
the mean is weighted by w. This is Whittaker's (1923) graduation with the mean taken out of the penalty.
"""

import math

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray
from scipy.fft import dct, idct
from scipy.linalg.blas import dgemm
from scipy.linalg.lapack import dgbtrf, dgbtrs

from fewvars._common.validation import FloatArray

Columns = NDArray[np.intp] | slice

UNIFORM_TOLERANCE = 1e-3  # of a step: float32 time stamps still count as uniform
PROBES = 32  # vectors for the trace on irregular grids, which is exact up to this many rows
ROUND_OFF = 1e-14  # relative size of a remainder that is not data


class UniformSpline:
    """Uniform steps: the penalty is diagonal in the cosine basis once polynomials are fitted along with it.

    Cosines alone reflect the data at both ends, where any slope becomes a kink. Write L for the second
    difference with reflecting ends, so that |L^(m/2) x|^2 has the eigenvalues (2 - 2 cos(pi k / n))^m. It is
    the sum of the squared m-th differences, interior to the data, and of m terms that straddle the ends.
    Least squares over the polynomials of degree 1 to m, left free, makes those terms vanish and takes the
    mean out of the others. Hence, with G = diag(g / (1 + g)), g the eigenvalues times the strength, and Q an
    orthonormal basis of G^1/2 times the polynomials, R = G^1/2 (I - Q Q') G^1/2 in the cosine basis.
    """

    def __init__(self, data: FloatArray, step: float, order: int):
        n = len(data)
        remainder, polynomials = _detrend(data, np.arange(n, dtype=np.float64), order)
        self.data = dct(remainder.T, norm="ortho")
        self.polynomials = dct(polynomials[:, 1:], axis=0, norm="ortho")
        half_angle = np.pi * np.arange(n) / (2 * n)  # 2 - 2 cos(2 a) = (2 sin a)^2, without cancellation
        self.penalty = step ** (1 - 2 * order) * (2 * np.sin(half_angle)) ** (2 * order)

    def residual(self, strength: float, columns: Columns) -> tuple[FloatArray, float]:
        """Return R y of d columns, (d, n) in an orthonormal basis, and trace(R)."""
        shrink = strength * self.penalty / (1 + strength * self.penalty)
        root = np.sqrt(shrink)[:, None]
        free = root * np.linalg.qr(root * self.polynomials)[0]
        data = self.data[columns]
        # In place: with one more array of this size the allocator gives its pages back, and it is 7x slower.
        residual = dgemm(-1.0, free, data @ free, 1.0, (data * shrink).T, trans_b=1, overwrite_c=1).T
        return residual, float(shrink.sum() - (free**2).sum())

    def in_time(self, residual: FloatArray) -> FloatArray:
        """Return such a residual row by row in time, (n, d)."""
        return idct(residual, norm="ortho").T


class IrregularSpline:
    """Any steps: R y solves a banded system.

    Let D hold the divided differences times m! w^1/2, and A = strength^1/2 D. With the mean left in, R y = r
    is part of the solution of [I, A'; A, -I] [r; -u] = [0; A y], whose condition is that of A and not, as for
    I + A'A, its square: a bandwidth of hundreds of rows does no harm. With r and u interleaved it is banded.
    To take the mean out is to leave free one more polynomial p, of degree m with D p = w^1/2, and so to
    subtract R p p' R / (p' R p) from R. The trace is estimated from random signs on every 32nd row.
    """

    def __init__(self, data: FloatArray, t: FloatArray, order: int):
        n, m = len(t), order
        window = np.arange(n - m)[:, None] + np.arange(m + 1)
        apart = t[window][:, :, None] - t[window][:, None, :] + np.eye(m + 1)
        self.root_width = np.sqrt((t[m:] - t[:-m]) / m)
        self.band_of_D = math.factorial(m) * self.root_width[:, None] / apart.prod(axis=2)
        self.probes = np.zeros((n, min(n, PROBES)))
        self.probes[np.arange(n), np.arange(n) % PROBES] = np.random.default_rng(0).choice([-1.0, 1.0], n)
        self.data_differences = self._differences(_detrend(data, t, m)[0])
        self.probe_differences = self._differences(self.probes)
        middles = np.concatenate([2.0 * np.arange(n), 2.0 * np.arange(n - m) + m + 0.5])
        place = np.argsort(np.argsort(middles))
        self.place_r, self.place_u = place[:n], place[n:, None]
        self.place_window = self.place_r[window]

    def _differences(self, data: FloatArray) -> FloatArray:
        rows, terms = self.band_of_D.shape
        return np.sum([self.band_of_D[:, j, None] * data[j : j + rows] for j in range(terms)], axis=0)

    def residual(self, strength: float, columns: Columns) -> tuple[FloatArray, float]:
        """Return R y of d columns, (d, n), and trace(R)."""
        root, data = math.sqrt(strength), self.data_differences[:, columns]
        d = data.shape[1]
        differences = np.concatenate([data, self.root_width[:, None], self.probe_differences], axis=1)
        r, u = self._solve(root, root * differences)
        bend, cost = r[:, d], root * self.root_width @ u[:, d]  # R p and p' R p
        residual = r[:, :d] - np.outer(bend, root * (u[:, d] @ data) / cost)
        return residual.T, float(np.sum(self.probes * r[:, d + 1 :]) - bend @ bend / cost)

    def _solve(self, root: float, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return r and u, (n, k) and (n - m, k), for right-hand sides A y, (n - m, k)."""
        size = len(self.place_r) + len(self.place_u)
        offset = self.place_window - self.place_u
        band = int(np.abs(offset).max())
        matrix = np.zeros((3 * band + 1, size), order="F")  # LAPACK's banded storage, with room for pivoting
        matrix[2 * band, self.place_r], matrix[2 * band, self.place_u] = 1.0, -1.0
        matrix[2 * band + offset, self.place_u] = root * self.band_of_D
        matrix[2 * band - offset, self.place_window] = root * self.band_of_D
        solution = np.zeros((size, right.shape[1]), order="F")
        solution[self.place_u[:, 0]] = right
        factors, pivots, _ = dgbtrf(matrix, band, band, overwrite_ab=1)
        solution, _ = dgbtrs(factors, band, band, solution, pivots, overwrite_b=1)
        return solution[self.place_r], -solution[self.place_u[:, 0]]

    def in_time(self, residual: FloatArray) -> FloatArray:
        """Return such a residual row by row in time, (n, d)."""
        return residual.T


DiscreteSpline = UniformSpline | IrregularSpline


def discrete_spline(data: FloatArray, t: FloatArray, order: int) -> DiscreteSpline:
    """Return the spline of columns (n, d) at the times t, by the faster method if the steps are uniform."""
    even = np.linspace(t[0], t[-1], len(t))
    step = even[1] - even[0]
    if np.abs(t - even).max() <= UNIFORM_TOLERANCE * step:
        return UniformSpline(data, step, order)
    return IrregularSpline(data, t, order)


def _detrend(data: FloatArray, t: FloatArray, order: int) -> tuple[FloatArray, FloatArray]:
    """Return the data less its polynomials of degree <= m, which R annihilates, and a basis of these."""
    basis = np.linalg.qr(legvander(2 * (t - t[0]) / (t[-1] - t[0]) - 1, order))[0]
    remainder = data - basis @ (basis.T @ data)
    remainder[:, np.linalg.norm(remainder, axis=0) <= ROUND_OFF * np.linalg.norm(data, axis=0)] = 0.0
    return remainder, basis
