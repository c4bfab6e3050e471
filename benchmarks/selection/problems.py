"""A problem is a recipe for data whose true variables are known.

The pieces it is made of are small functions of a generator: how inputs are drawn, and what the noise is. The scale of
the noise follows from the signal-to-noise ratio, the variance of the signal over the variance of the noise.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.signal import lfilter
from scipy.stats import norm, t

N_TEST = 2000

Inputs = Callable[[np.random.Generator, int, int], np.ndarray]
Noise = Callable[[np.random.Generator, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Data:
    """Samples X (n, d), y (n,); noiseless X_test, y_test (None: there is no test set); the true support (d,).

    `t` are the times of the rows, or the step between them, if the method may know them; `trajectory` are labels of
    runs. `shuffle` says that the order of the rows means nothing. With `groups` (d,), a discovery is a group of inputs
    rather than an input. Inputs in `unjudged` (d,) are neither right nor wrong.
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray | None
    y_test: np.ndarray | None
    support: np.ndarray
    t: np.ndarray | float | None = None
    trajectory: np.ndarray | None = None
    shuffle: bool = False
    groups: np.ndarray | None = None
    unjudged: np.ndarray | None = None


# Inputs: columns have mean 0 and variance 1 unless said otherwise.


def independent(rng, n, d):
    return rng.standard_normal((n, d))


def uniform(rng, n, d):
    """Uniform on [0, 1]."""
    return rng.random((n, d))


def toeplitz(rho: float) -> Inputs:
    """Correlation rho^|i - j| between columns i and j."""
    return partial(_toeplitz, rho=rho)


def _toeplitz(rng, n, d, rho):
    return _autoregressive(rng.standard_normal((n, d)), rho, axis=1)


def equicorrelated(rho: float) -> Inputs:
    """Correlation rho between any two columns."""
    return partial(_equicorrelated, rho=rho)


def _equicorrelated(rng, n, d, rho):
    return np.sqrt(1 - rho) * rng.standard_normal((n, d)) + np.sqrt(rho) * rng.standard_normal((n, 1))


def over_time(rho: float) -> Inputs:
    """Independent columns, each autoregressive of order one from row to row."""
    return partial(_over_time, rho=rho)


def _over_time(rng, n, d, rho):
    return _autoregressive(rng.standard_normal((n, d)), rho, axis=0)


def binary(share: float) -> Inputs:
    """Zeros, and a share of ones."""
    return partial(_binary, share=share)


def _binary(rng, n, d, share):
    return (rng.random((n, d)) < share).astype(float)


def student(degrees: float) -> Inputs:
    """Student's t with more than two degrees of freedom."""
    return partial(_student, degrees=degrees)


def _student(rng, n, d, degrees):
    return rng.standard_t(degrees, (n, d)) / np.sqrt(degrees / (degrees - 2))


def lognormal(rng, n, d):
    X = np.exp(0.8 * rng.standard_normal((n, d)))
    return (X - np.exp(0.32)) / np.sqrt(np.exp(1.28) - np.exp(0.64))


def _autoregressive(innovations, rho, axis):
    """Return series with lag-one correlation rho and, for standard normal innovations, unit variance at every step."""
    scaled = innovations * np.sqrt(1 - rho**2)
    first = (slice(0, 1),) if axis == 0 else (slice(None), slice(0, 1))
    scaled[first] = innovations[first]
    return lfilter([1.0], [1.0, -rho], scaled, axis=axis)


# Noise: functions of the active columns (n, k); variance 1 unless said otherwise.


def normal(rng, active):
    return rng.standard_normal(len(active))


def heavy(rng, active):
    """Student's t with two degrees of freedom; its variance is infinite, so its quartiles are those of the normal."""
    return rng.standard_t(2, len(active)) * norm.ppf(0.75) / t.ppf(0.75, 2)


def noise_over_time(rho: float) -> Noise:
    return partial(_noise_over_time, rho=rho)


def _noise_over_time(rng, active, rho):
    return _autoregressive(rng.standard_normal(len(active)), rho, axis=0)


def growing(rng, active):
    """A standard deviation that grows with the first active input, over most rows from a fifth to twice the mean."""
    spread = np.exp(0.6 * active[:, 0] - 0.36)  # E spread^2 = 1 for a standard normal input
    return spread * rng.standard_normal(len(active))


def growing_with_size(rng, active):
    """A standard deviation that is larger where the second active input is far from zero."""
    spread = 0.3 + np.abs(active[:, 1])
    return spread / np.sqrt(1.09 + 0.6 * np.sqrt(2 / np.pi)) * rng.standard_normal(len(active))


def bursts(rng, active):
    """One row in ten has five times the standard deviation of the others."""
    spread = np.where(rng.random(len(active)) < 0.1, 5.0, 1.0) / np.sqrt(3.4)
    return spread * rng.standard_normal(len(active))


@dataclass(frozen=True, eq=False)
class Problem:
    """Samples y = f(k of d inputs) + noise; which inputs are active is drawn anew for every seed.

    `function` takes the k active columns; None is pure noise. `timed` problems tell the method the times of the rows.
    """

    kind: str
    n: int
    d: int
    function: Callable[..., np.ndarray] | None
    snr: float | None
    inputs: Inputs = independent
    noise: Noise = normal
    timed: bool = False
    tags: Sequence[str] = ()
    missing: ClassVar[str | None] = None  # why there are no data

    @property
    def k(self) -> int:
        """Number of true variables."""
        return len(inspect.signature(self.function).parameters) if self.function else 0

    @property
    def name(self) -> str:
        """What rows and tables call it."""
        noise = "" if self.snr is None else f", SNR {self.snr:g}"
        return f"{self.kind}: {self.k} of {self.d}, n = {self.n}{noise}"

    @property
    def source(self) -> list[str]:
        """What the data depend on, as text: a row stays valid while this does."""
        return [f"{f.name}={source_text(getattr(self, f.name))}" for f in fields(self) if f.name != "tags"]

    def data(self, seed: int) -> Data:
        """Return replicate `seed`."""
        rng = np.random.default_rng([seed, self.n, self.d])
        active = rng.choice(self.d, self.k, replace=False)
        X, X_test = self.inputs(rng, self.n, self.d), self.inputs(rng, N_TEST, self.d)
        y, y_test = self._signal(X[:, active]), self._signal(X_test[:, active])
        scale = 1.0 if self.snr is None else np.std(np.concatenate([y, y_test])) / np.sqrt(self.snr)
        y = y + scale * self.noise(rng, X[:, active] if self.k else X[:, :1])
        times = np.arange(self.n, dtype=float) if self.timed else None
        return Data(X, y, X_test, y_test, np.isin(np.arange(self.d), active), t=times)

    def _signal(self, active):
        return self.function(*active.T) if self.function else np.zeros(len(active))


def source_text(value: Any) -> str:
    """Return the source of a function, with the arguments it was given; the repr of anything else."""
    if isinstance(value, partial):
        return f"{source_text(value.func)}{value.keywords}"
    return inspect.getsource(value) if callable(value) else repr(value)
