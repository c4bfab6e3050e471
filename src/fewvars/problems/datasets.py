"""The paper's data (Sec. 4.1): one Lorenz-96 trajectory, a target on it, and fresh noise for each seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray, check_real, check_whole
from fewvars.problems.systems import Lorenz96, simulate
from fewvars.problems.targets import Target


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Noisy training samples and noiseless test samples of one function on one trajectory.

    Parameters
    ----------
    X_train, y_train, t_train : ndarray of shape (n_train, d), (n_train,), (n_train,)
        Noisy inputs, noisy outputs, times.
    X_test, y_test, t_test : ndarray of shape (n_test, d), (n_test,), (n_test,)
        Noiseless inputs and outputs after the training times.
    X_train_clean, y_train_clean : ndarray of shape (n_train, d), (n_train,)
        Training samples without their noise.
    support : ndarray of bool, shape (d,)
        Inputs on which the target depends.
    names : tuple of str
        Names of the d inputs.
    M_x, M_y : float
        Maxima by which the noise is scaled.
    target : Target
        The function itself.
    """

    X_train: FloatArray
    y_train: FloatArray
    t_train: FloatArray
    X_test: FloatArray
    y_test: FloatArray
    t_test: FloatArray
    X_train_clean: FloatArray
    y_train_clean: FloatArray
    support: NDArray[np.bool_]
    names: tuple[str, ...]
    M_x: float
    M_y: float
    target: Target


def lorenz96_dataset(
    target: Target,
    *,
    noise_x: float = 0.0,
    noise_y: float = 0.0,
    seed: int = 0,
    n_train: int = 8000,
    n_test: int = 2000,
    dt: float = 0.01,
    d: int = 40,
    forcing: float = 8.0,
    x0: Sequence[float] | None = None,
    noise_window: tuple[float, float] = (0.0, 8.0),
    rtol: float = 1e-9,
    atol: float = 1e-9,
) -> Dataset:
    """Samples of a target along a Lorenz-96 trajectory.

    Row i of the trajectory is x(t_i), t_i = i `dt`, i = 1, ..., `n_train` for training and the next
    `n_test` for testing. Training samples are x(t_i) + noise_x M_x e_i and f(x(t_i)) + noise_y M_y h_i
    with independent standard normal e_i in R^d and h_i in R. M_x is the maximum (not of absolute
    values) over all columns of the noiseless training inputs with times in `noise_window`, M_y that of
    the noiseless training outputs.

    Noise comes from ``numpy.random.default_rng(seed)``: first all e_i as one (n_train, d) draw, then
    all h_i as one (n_train,) draw. Both are drawn even when their level is zero, so one seed means one
    realisation at every noise level and for every target.

    Parameters
    ----------
    target : Target
        Function of d inputs, such as those of `fewvars.problems.targets`.
    noise_x, noise_y : float
        Noise levels, the paper's σ_x and σ_y.
    seed : int
        Seed of the noise. The trajectory does not depend on it.
    n_train, n_test : int
        Numbers of samples.
    dt : float
        Time step.
    d, forcing : int, float
        Parameters of `fewvars.systems.Lorenz96`.
    x0 : sequence of d floats, optional
        State at time zero. Default: ones, with 1.008 at x20 when d = 40.
    noise_window : (float, float)
        Times, both ends included, over which M_x and M_y are taken.
    rtol, atol : float
        Tolerances of the integrator. The system is chaotic: they choose the trajectory after a while.

    Returns
    -------
    Dataset
        Arrays shared between calls are read-only.
    """
    if target.support.size != d:
        raise ValueError(f"The target has {target.support.size} inputs but d = {d}; they must agree.")
    check_real("noise_x", noise_x)
    check_real("noise_y", noise_y)
    check_whole("n_train", n_train)
    check_whole("n_test", n_test, minimum=0)
    start = None if x0 is None else tuple(float(value) for value in x0)
    t, X = lorenz96_trajectory(n_train + n_test, dt=dt, d=d, forcing=forcing, x0=start, rtol=rtol, atol=atol)
    X_clean, y_clean = X[:n_train], target(X[:n_train])
    window = _window(t[:n_train], noise_window, dt)
    M_x, M_y = float(X_clean[window].max()), float(y_clean[window].max())
    rng = np.random.default_rng(seed)
    X_train = X_clean + noise_x * M_x * rng.standard_normal((n_train, d))
    y_train = y_clean + noise_y * M_y * rng.standard_normal(n_train)
    return Dataset(
        X_train=X_train,
        y_train=y_train,
        t_train=t[:n_train],
        X_test=X[n_train:],
        y_test=target(X[n_train:]),
        t_test=t[n_train:],
        X_train_clean=X_clean,
        y_train_clean=y_clean,
        support=target.support,
        names=Lorenz96(d, forcing).names,
        M_x=M_x,
        M_y=M_y,
        target=target,
    )


@lru_cache(maxsize=8)
def lorenz96_trajectory(
    n: int = 10_000,
    *,
    dt: float = 0.01,
    d: int = 40,
    forcing: float = 8.0,
    x0: tuple[float, ...] | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-9,
) -> tuple[FloatArray, FloatArray]:
    """Times t_i = i `dt`, i = 1..n, shape (n,), and states (n, d), both read-only and cached.

    The state at time zero, which is not returned, is `x0`.
    """
    check_whole("n", n)
    check_real("dt", dt, strict=True)
    t = dt * np.arange(n + 1, dtype=np.float64)
    X = simulate(Lorenz96(d, forcing), t, x0, rtol=rtol, atol=atol)
    t.flags.writeable = False
    X.flags.writeable = False
    return t[1:], X[1:]


def _window(t: FloatArray, noise_window: tuple[float, float], dt: float) -> NDArray[np.bool_]:
    first, last = noise_window
    # Half a step of slack: 800 * 0.01 must count as 8 whatever its last bit.
    window = (t > first - dt / 2) & (t < last + dt / 2)
    if not window.any():
        raise ValueError(f"noise_window {noise_window} contains no training time.")
    return window
