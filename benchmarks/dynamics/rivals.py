"""PySINDy 2 on the same data, its threshold at its best in hindsight: the one whose graph is nearest to the truth."""

import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.dynamics.judging import field_row, judged
from benchmarks.dynamics.problems import Trajectories
from benchmarks.rows import Row
from fewvars.polynomials.polynomial import monomial_values

THRESHOLDS = (0.01, 0.03, 0.1, 0.3)
WINDOWS_PER_TERM, HALF_WIDTH = 4, 25  # of the weak form; samples. The default width is far worse.

Features = Callable[[np.ndarray], np.ndarray]


def sindy(data: Trajectories, problem: str, *, form: str = "differences", fourier: bool = False) -> Row:
    """Fit sequentially thresholded least squares for several thresholds, with polynomials of degree 2.

    Parameters
    ----------
    form : {"differences", "smoothed", "weak"}
        How derivatives are taken: from the data, from smoothed data, or in weak form (of a single run).
    fourier : bool
        Lines, sines and cosines instead of polynomials.
    """
    import pysindy

    library = pysindy.PolynomialLibrary(degree=2)
    if fourier:
        waves = pysindy.FourierLibrary(n_frequencies=1)
        library = pysindy.GeneralizedLibrary([pysindy.PolynomialLibrary(degree=1), waves])
    library.fit(data.X)
    # A polynomial library takes 60 ms for a single state, of which a simulation has thousands.
    features = library.transform if fourier else partial(monomial_values, exponents=library.powers_)
    derivative = pysindy.SmoothedFiniteDifference() if form == "smoothed" else pysindy.FiniteDifference()
    runs = [data.runs == run for run in np.unique(data.runs)]
    X, t = [data.X[run] for run in runs], [data.t[run] for run in runs]
    tried: list[tuple[Row, np.ndarray]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thresholds that leave nothing
        cpu = time.process_time()
        fitted = library
        if form == "weak":
            n_windows = WINDOWS_PER_TERM * library.n_output_features_
            fitted = pysindy.WeakPDELibrary(
                library, spatiotemporal_grid=t[0], K=n_windows, H_xt=HALF_WIDTH * (t[0][1] - t[0][0])
            )
            X, t = X[0], t[0]
        shared = time.process_time() - cpu
        for threshold in THRESHOLDS:
            cpu = time.process_time()
            optimiser = pysindy.STLSQ(threshold=threshold)
            model = pysindy.SINDy(optimizer=optimiser, feature_library=fitted, differentiation_method=derivative)
            model.fit(X, t=t)
            spent = shared + time.process_time() - cpu
            coefficients = np.asarray(model.coefficients())
            row = {"cpu": spent, "threshold": threshold} | judged(data, _graph(features, coefficients, data.X), None)
            tried.append((row, coefficients))
    best, coefficients = max(tried, key=lambda one: one[0]["f1"])
    return best | field_row(data, problem, partial(_field, features, coefficients))


def _field(features: Features, coefficients: np.ndarray, X: np.ndarray) -> np.ndarray:
    return np.asarray(features(X)) @ coefficients.T


def _graph(features: Features, coefficients: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return which variables occur in a term with a coefficient other than zero: those that change its values."""
    rng, d = np.random.default_rng(0), X.shape[1]
    base = X[rng.integers(len(X), size=8)]
    before = np.asarray(features(base))
    graph = np.zeros((d, d), bool)
    for j in range(d):
        moved = base.copy()
        moved[:, j] += X[:, j].std() * (0.5 + rng.random(8))
        changed = (np.asarray(features(moved)) != before).any(axis=0)
        graph[:, j] = (coefficients[:, changed] != 0).any(axis=1)
    return graph


RIVALS: dict[str, Callable[[Trajectories, str], Row]] = {
    "pysindy": sindy,
    "pysindy smoothed": partial(sindy, form="smoothed"),
    "pysindy weak": partial(sindy, form="weak"),
    "pysindy fourier": partial(sindy, form="smoothed", fourier=True),
}
