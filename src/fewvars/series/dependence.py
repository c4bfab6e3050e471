"""How much neighbouring rows depend on each other, and a filter that removes this dependence."""

from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray

DEPENDENT = 2.0  # autocorrelation time from which rows count as dependent
STRONGEST = 0.98  # a coefficient closer to one would leave only differences of neighbouring rows
NOTICEABLE = 0.15


def autocorrelation_time(values: FloatArray) -> float:
    """Return 1 + 2 sum_k rho_k of a series (n,): how many rows carry the information of one.

    The sum ends before the first lag whose autocorrelation rho_k is within two standard errors of zero.
    """
    n = len(values)
    centred = values - values.mean()
    if not centred.any():
        return 1.0
    spectrum = np.fft.rfft(centred, 2 * n)
    covariance = np.fft.irfft(spectrum * spectrum.conj())[: n // 4 + 1]
    rho = covariance[1:] / covariance[0]
    small = np.flatnonzero(rho < 2.0 / np.sqrt(n))
    return float(1.0 + 2.0 * rho[: small[0] if small.size else rho.size].sum())


def is_smooth(values: FloatArray) -> bool:
    """Distinguish a finely sampled smooth curve, noisy or not, from autoregressive errors.

    The autocorrelation of a smooth curve falls like 1 - c k^2 from lag to lag, that of a first-order process like c^k.
    The fall from lag 1 to lag 2 is a fifth of the fall to lag 4 for the former, and more than a third for the latter.
    """
    centred = values - values.mean()
    rho = [float(centred[k:] @ centred[:-k]) for k in (1, 2, 4)]
    return rho[0] - rho[1] < 0.28 * (rho[0] - rho[2])


@dataclass(frozen=True, eq=False)
class RowFilter:
    """Rows times the roots of their weights, less `coefficient` times the row before in the same run.

    Errors e_t = c e_(t-1) + noise become independent (Cochrane and Orcutt, 1949); the first row of a run is scaled
    by sqrt(1 - c^2), so that its variance is that of the others (Prais and Winsten, 1954).

    Attributes
    ----------
    roots : (n,)
        Roots of the weights.
    starts : (n,) bool
        The first row of each run.
    coefficient : float
        c; zero for independent rows.
    """

    roots: FloatArray
    starts: np.ndarray
    coefficient: float = 0.0

    def apply(self, columns: FloatArray) -> FloatArray:
        """Filter the rows of columns (n, m)."""
        if not self.coefficient:
            return columns * self.roots[:, None]
        before = np.zeros_like(columns)
        before[1:] = columns[:-1]
        before[self.starts] = 0.0
        own = np.where(self.starts, np.sqrt(1.0 - self.coefficient**2), 1.0)
        return (columns * own[:, None] - self.coefficient * before) * self.roots[:, None]

    def adjoint(self, values: FloatArray) -> FloatArray:
        """Return the transposed filter of values (n, m): <apply(a), v> = <a, adjoint(v)>."""
        scaled = values * self.roots[:, None]
        if not self.coefficient:
            return scaled
        own = np.where(self.starts, np.sqrt(1.0 - self.coefficient**2), 1.0)
        after = np.zeros_like(scaled)
        after[:-1] = np.where(self.starts[1:, None], 0.0, scaled[1:])
        return scaled * own[:, None] - self.coefficient * after

    def coefficient_of(self, residual: FloatArray) -> float:
        """Return the first-order autocorrelation within the runs of a residual (n, outputs), or zero if it is small."""
        inside = ~self.starts[1:]
        now, before = residual[1:][inside], residual[:-1][inside]
        size = np.sqrt((now**2).sum() * (before**2).sum())
        found = float((now * before).sum() / size) if size > 0 else 0.0
        return min(found, STRONGEST) if found > NOTICEABLE else 0.0
