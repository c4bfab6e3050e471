"""Differential equations in weak form: averages over windows of time, in which no measurement is differentiated.

With a bump phi >= 0 on a window of time, integral one, dx/dt = f(x) implies

    -int phi'(s) x(s) ds = int phi(s) f(x(s)) ds.

The left side takes x as measured; its noise is known, and independent from one window to the next that does not
overlap. Twice by parts, d2x/dt2 = f(x) implies int phi''(s) x(s) ds = int phi(s) f(x(s)) ds. If phi is constant on one
sampling interval, the left side is the slope of x from one sample to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from fewvars._common.validation import FloatArray

POWER = 4  # of the bump (1 - s^2)^POWER: smooth enough for the trapezoidal rule to be exact but for a millionth
FEWEST = 7  # samples in a window


@dataclass(frozen=True, eq=False)
class WeakForm:
    """Windows along sampled trajectories.

    Attributes
    ----------
    average : (windows, samples) sparse
        int phi f ds as a sum over samples; each row sums to one.
    derivative : (windows, samples) sparse
        The derivative of given order, averaged with phi, as a sum over undifferentiated samples.
    centres : (windows,)
        The sample in the middle of each window.
    """

    average: csr_array
    derivative: csr_array
    centres: np.ndarray

    @property
    def noise(self) -> float:
        """Variance of the error of an averaged derivative, over that of the errors of the samples."""
        return float(self.derivative.power(2).sum(axis=1).mean())

    @classmethod
    def of(
        cls, t: FloatArray, runs: Sequence[np.ndarray], half_width: float, stride: int = 1, order: int = 1
    ) -> "WeakForm":
        """Lay windows around every `stride`-th sample of runs (sample numbers); those cut off by an end are left out.

        Parameters
        ----------
        t : (samples,) increasing within each run
        half_width : float
            Of the windows, in units of t.
        order : {1, 2}
            Of the derivative.
        """
        averages, derivatives = [], []
        windows, samples = [], []
        centres: list[int] = []
        known: dict[bytes, tuple[FloatArray, FloatArray]] = {}
        for run in runs:
            for centre in run[::stride]:
                time = t[run] - t[centre]
                first, last = np.searchsorted(time, [-half_width, half_width])
                if first == 0 or last == len(run) or last - first < FEWEST:
                    continue
                own = run[first:last]
                s = np.round(time[first:last] / half_width, 9)
                if s.tobytes() not in known:  # at equal steps, all windows are alike
                    known[s.tobytes()] = _weights(s, half_width, order)
                average, derivative = known[s.tobytes()]
                averages.append(average)
                derivatives.append(derivative)
                samples.append(own)
                windows.append(np.full(own.size, len(centres)))
                centres.append(centre)
        shape = (len(centres), len(t))
        index = tuple(np.concatenate(part) if part else np.empty(0, int) for part in (windows, samples))
        both = (np.concatenate(part) if part else np.empty(0) for part in (averages, derivatives))
        average, derivative = (csr_array((values, index), shape=shape) for values in both)
        return cls(average, derivative, np.array(centres, int))

    @classmethod
    def of_intervals(cls, t: FloatArray, first: np.ndarray, last: np.ndarray) -> "WeakForm":
        """Take as windows the intervals between pairs of neighbouring samples, given by their numbers (windows,)."""
        ends = np.column_stack([first, last])
        rows, slopes = np.repeat(np.arange(len(ends)), 2), 1.0 / np.diff(t[ends])
        average, derivative = (
            csr_array((values.ravel(), (rows, ends.ravel())), shape=(len(ends), len(t)))
            for values in (np.full(ends.shape, 0.5), slopes * [-1.0, 1.0])
        )
        return cls(average, derivative, first)


def _weights(s: FloatArray, half_width: float, order: int) -> tuple[FloatArray, FloatArray]:
    """Return the weights of samples at s in (-1, 1) in the average of a function and of a derivative of it.

    The weights of the derivative are corrected so that polynomials up to degree `order` + 1 come out right.
    """
    bump = (1 - s**2) ** POWER
    if order == 1:
        moved = 2 * POWER * s * (1 - s**2) ** (POWER - 1)
    else:
        moved = 2 * POWER * ((2 * POWER - 1) * s**2 - 1) * (1 - s**2) ** (POWER - 2)
    steps = np.gradient(s)
    average = steps * bump
    average /= average.sum()
    raw = steps * moved
    powers = s[:, None] ** np.arange(order + 2)
    wanted = np.zeros(order + 2)
    for k in range(order, order + 2):
        wanted[k] = np.prod(np.arange(k - order + 1, k + 1)) * (average @ s ** (k - order))
    raw *= wanted[order] / (raw @ powers[:, order])
    weighted = powers * average[:, None]
    correction = np.linalg.solve(powers.T @ weighted, wanted - powers.T @ raw)
    return average, (raw + weighted @ correction) / half_width**order
