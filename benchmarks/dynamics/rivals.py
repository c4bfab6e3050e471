"""PySINDy 2 on the same data, its threshold at its best in hindsight: the one whose graph is nearest to the truth."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.dynamics.problems import Trajectories
from benchmarks.rows import Row
from fewvars import metrics

THRESHOLDS = (0.01, 0.03, 0.1, 0.3)
Judge = Callable[[Trajectories, np.ndarray, np.ndarray | None], Row]


def sindy(data: Trajectories, judged: Judge, *, smoothed: bool = False, fourier: bool = False, degree: int = 2) -> Row:
    """Fit sequentially thresholded least squares for several thresholds."""
    import pysindy

    library = pysindy.PolynomialLibrary(degree=degree)
    if fourier:
        waves = pysindy.FourierLibrary(n_frequencies=1)
        library = pysindy.GeneralizedLibrary([pysindy.PolynomialLibrary(degree=1), waves])
    runs = [data.runs == run for run in np.unique(data.runs)]
    derivative = pysindy.SmoothedFiniteDifference() if smoothed else pysindy.FiniteDifference()
    X, t = [data.X[run] for run in runs], [data.t[run] for run in runs]
    tried: list[Row] = []
    for threshold in THRESHOLDS:
        cpu = time.process_time()
        model = pysindy.SINDy(
            optimizer=pysindy.STLSQ(threshold=threshold), feature_library=library, differentiation_method=derivative
        )
        model.fit(X, t=t)
        spent = time.process_time() - cpu
        graph = _graph(model, data.X)
        row = {"cpu": spent, "threshold": threshold} | judged(data, graph, None)
        if data.clean is not None and data.field is not None:
            row["field"] = metrics.centred_error(data.field(data.clean), np.asarray(model.predict(data.clean)))
        tried.append(row)
    return max(tried, key=lambda row: row["f1"])


def _graph(model: Any, X: np.ndarray) -> np.ndarray:
    """Return which variables occur in a term with a coefficient other than zero: those that change its values."""
    rng, d = np.random.default_rng(0), X.shape[1]
    base = X[rng.integers(len(X), size=8)]
    features = np.asarray(model.feature_library.transform(base))
    graph = np.zeros((d, d), bool)
    for j in range(d):
        moved = base.copy()
        moved[:, j] += X[:, j].std() * (0.5 + rng.random(8))
        changed = (np.asarray(model.feature_library.transform(moved)) != features).any(axis=0)
        graph[:, j] = (model.coefficients()[:, changed] != 0).any(axis=1)
    return graph


RIVALS: dict[str, Callable[[Trajectories, Judge], Row]] = {
    "pysindy": sindy,
    "pysindy smoothed": lambda data, judged: sindy(data, judged, smoothed=True),
    "pysindy fourier": lambda data, judged: sindy(data, judged, smoothed=True, fourier=True),
}
