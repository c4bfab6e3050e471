"""What a graph, a vector field and a simulation of it are worth."""

from collections.abc import Callable

import numpy as np

from benchmarks.dynamics.problems import Trajectories
from benchmarks.rows import Row
from fewvars import metrics
from fewvars.estimators.simulation import Bounds, integrate
from fewvars.polynomials.polynomial import monomial_exponents, monomial_values

LYAPUNOV_TIME = 1 / 1.68  # of Lorenz-96 with forcing 8 and d = 40
SIMULATED = 1000  # samples
THRESHOLD = (
    0.4  # of the distance from the truth, over the spread of the truth, at which a simulation is no longer valid
)
Field = Callable[[np.ndarray], np.ndarray]


def judged(data: Trajectories, graph: np.ndarray, scores: np.ndarray | None) -> Row:
    """Return what a graph is worth; ranks leave out the diagonal, as the papers on Granger causality do."""
    row: Row = {
        "edges": int(data.graph.sum()),
        "missing": int((data.graph & ~graph).sum()),
        "extra": int((graph & ~data.graph).sum()),
        "f1": metrics.f1(data.graph, graph),
        "precision": metrics.precision(data.graph, graph, diagonal=False),
        "recall": metrics.recall(data.graph, graph, diagonal=False),
    }
    if scores is not None:
        row["auroc"] = metrics.auroc(data.graph, scores, diagonal=False)
        row["auprc"] = metrics.auprc(data.graph, scores, diagonal=False)
    return {name: None if value != value else value for name, value in row.items()}


def field_row(data: Trajectories, problem: str, field: Field) -> Row:
    """Return the error of a vector field; on Lorenz-96 also that of its coefficients, and the valid time."""
    if data.clean is None or data.field is None:
        return {}
    row: Row = {"field": metrics.centred_error(data.field(data.clean), field(data.clean))}
    if problem.startswith("Lorenz-96, noise"):
        true, found = (_coefficients(function, data.clean) for function in (data.field, field))
        row["coefficients"] = float(np.linalg.norm(found - true) / np.linalg.norm(true))
        row["valid_time"] = _valid_time(field, data.clean[:SIMULATED], data.t[:SIMULATED]) / LYAPUNOV_TIME
    return row


def _coefficients(field: Field, X: np.ndarray) -> np.ndarray:
    """Return the coefficients (terms, d) of the polynomial of degree 2 nearest to a field around the data."""
    rng, exponents = np.random.default_rng(0), monomial_exponents(X.shape[1], 2)
    points = X.mean(axis=0) + X.std(axis=0) * rng.standard_normal((2 * len(exponents), X.shape[1]))
    return np.linalg.lstsq(monomial_values(points, exponents), field(points), rcond=None)[0]


def _valid_time(field: Field, X: np.ndarray, t: np.ndarray) -> float:
    """Return for how long a simulation from the first of the true states X stays close to them."""
    extent = np.ptp(X, axis=0)
    bounds = Bounds(X.min(axis=0) - extent, X.max(axis=0) + extent, tuple(map(str, range(X.shape[1]))))
    found = integrate(lambda _, x: field(x[None])[0], X[0], t, bounds, 1e-6, 1e-6 * extent).X
    spread = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    good = np.linalg.norm(found - X, axis=1) <= THRESHOLD * spread
    return float(t[-1 if good.all() else max(int(np.argmin(good)) - 1, 0)] - t[0])
