"""Systems with known graphs, sampled with noise; settings were chosen on other systems and seeds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fewvars import systems
from fewvars.files.tables import read_table


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Measured trajectories and what is known about them.

    Attributes
    ----------
    X : (n, d) as measured
    t : (n,)
    runs : (n,) labels
    graph : (d, d) bool
    clean : (n, d) without noise, or None
    field : callable or None
        The true right side.
    options : tuple of (name, value)
        What the user of a method knows: which variables are angles, for instance.
    """

    X: np.ndarray
    t: np.ndarray
    runs: np.ndarray
    graph: np.ndarray
    clean: np.ndarray | None = None
    field: Callable[[np.ndarray], np.ndarray] | None = None
    options: tuple[tuple[str, Any], ...] = ()


def simulated(
    system: systems.System, starts: np.ndarray, n: int, dt: float, noise: Any, seed: int, skip: int = 0, **options: Any
) -> Trajectories:
    """Simulate runs of n samples from starts (runs, d); noise is a share of the spread of each variable."""
    t = np.arange(n + skip) * dt
    clean = np.concatenate([systems.simulate(system, t, start)[skip:] for start in starts])
    scale = noise if "angles" in options else noise * clean.std(axis=0)  # radians
    X = clean + scale * np.random.default_rng([seed, 1]).standard_normal(clean.shape)
    runs = np.repeat(np.arange(len(starts)), n)
    return Trajectories(X, np.tile(t[:n], len(starts)), runs, system.graph, clean, system.field, tuple(options.items()))


def lorenz96(seed: int, noise: float, d: int = 40, n: int = 8000) -> Trajectories:
    start = 8.0 + np.random.default_rng([seed, 2]).standard_normal((1, d))
    return simulated(systems.Lorenz96(d), start, n, 0.01, noise, seed, skip=500)


def ring(seed: int) -> Trajectories:
    system = systems.OscillatorRing(20)
    start = 1.5 * np.random.default_rng([seed, 2]).standard_normal((1, system.d))
    return simulated(system, start, 8000, 0.05, 0.02, seed)


def kuramoto(seed: int) -> Trajectories:
    system = systems.Kuramoto.random(20, neighbours=3, seed=seed)
    starts = np.random.default_rng([seed, 2]).uniform(0, 2 * np.pi, (10, system.d))
    return simulated(system, starts, 500, 0.05, 0.02, seed, angles="all")


def rate_network(seed: int) -> Trajectories:
    system = systems.RateNetwork.random(30, inputs=4, seed=seed)
    starts = 2.0 * np.random.default_rng([seed, 2]).standard_normal((10, system.d))
    return simulated(system, starts, 500, 0.02, 0.02, seed)


def genes(seed: int) -> Trajectories:
    system = systems.GeneNetwork.random(12, seed=seed)
    starts = np.random.default_rng([seed, 2]).uniform(0, 3, (20, system.d))
    return simulated(system, starts, 300, 0.05, 0.02, seed)


def granger(seed: int, forcing: float) -> Trajectories:
    """The protocol of the papers on neural Granger causality: 500 samples at 0.1, noise 0.1, standardised."""
    system = systems.Lorenz96(20, forcing)
    start = forcing + 0.01 * np.random.default_rng([seed, 2]).standard_normal((1, 20))
    found = simulated(system, start, 500, 0.1, 0.0, seed, skip=1000)
    X = found.X + 0.1 * np.random.default_rng([seed, 1]).standard_normal(found.X.shape)
    return Trajectories((X - X.mean(axis=0)) / X.std(axis=0), found.t, found.runs, system.graph)


def dream3(folder: Path, name: str) -> Trajectories:
    """Gene expression over time of the DREAM3 challenge (Marbach et al. 2009), files <name>.csv.gz and -truth.csv."""
    table = read_table(folder / "dream3" / f"{name}.csv.gz")
    genes = [column for column in table.names if column not in ("run", "t")]
    truth = read_table(folder / "dream3" / f"{name}-truth.csv")
    graph = np.zeros((len(genes), len(genes)), bool)
    for cause, effect in zip(truth.columns["cause"], truth.columns["effect"], strict=True):
        graph[genes.index(effect), genes.index(cause)] = True
    return Trajectories(table.matrix(genes), table.columns["t"], table.columns["run"], graph)


PROBLEMS: dict[str, Callable[[int], Trajectories]] = {
    "Lorenz-96, noise 0.02": lambda seed: lorenz96(seed, 0.02),
    "Lorenz-96, noise 0.05": lambda seed: lorenz96(seed, 0.05),
    "ring of 20 oscillators": ring,
    "Kuramoto, 20 phases": kuramoto,
    "rate network, 30 units": rate_network,
    "Hill genes, 12": genes,
    "Granger protocol, F = 10": lambda seed: granger(seed, 10.0),
    "Granger protocol, F = 40": lambda seed: granger(seed, 40.0),
    "Lorenz-96, d = 50, 4000 samples": lambda seed: lorenz96(seed, 0.02, 50, 4000),
    "Lorenz-96, d = 100, 4000 samples": lambda seed: lorenz96(seed, 0.02, 100, 4000),
    "Lorenz-96, d = 200, 4000 samples": lambda seed: lorenz96(seed, 0.02, 200, 4000),
    "Lorenz-96, d = 500, 4000 samples": lambda seed: lorenz96(seed, 0.02, 500, 4000),
    "Lorenz-96, d = 200, 20,000 samples": lambda seed: lorenz96(seed, 0.02, 200, 20_000),
}
