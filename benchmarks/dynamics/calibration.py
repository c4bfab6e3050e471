"""How many edges with small q-values are wrong: realised rates on two systems with known graphs.

`.venv/bin/python -m benchmarks.dynamics.calibration` prints, for several levels, the mean over the fits of the share of
wrong edges among those with a q-value of at most the level, and of the true edges that are among them; and both shares
of the graph that the estimator chooses.
"""

import argparse
import os
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

import fewvars as fv
from benchmarks.dynamics.problems import Trajectories, lorenz96, simulated
from benchmarks.rows import Row, add_options, collect, mean_and_error, seeds, table
from fewvars import systems

LEVELS = (0.05, 0.1, 0.2)
NOISE = 0.02


def small_network(seed: int) -> Trajectories:
    system = systems.RateNetwork.random(8, inputs=2, seed=seed)
    starts = 2.0 * np.random.default_rng([seed, 2]).standard_normal((10, system.d))
    return simulated(system, starts, 200, 0.05, NOISE, seed)


SYSTEMS = {
    "Lorenz-96, d = 8, 2000 samples": lambda seed: lorenz96(seed, NOISE, 8, 2000),
    "rate network, 8 units, ten runs of 200 samples": small_network,
}


def fit(system: str, seed: int) -> Row:
    """Return wrong and found shares at each level, and of the chosen graph."""
    data = SYSTEMS[system](seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fv.DynamicsRegressor(head="dictionary", random_state=seed, n_jobs=1)
        model.fit(data.X, t=data.t, trajectory=data.runs)
    selections = {f"q <= {level:g}": model.edge_q_values_ <= level for level in LEVELS} | {"graph": model.graph_}
    return {name: _shares(chosen, data.graph) for name, chosen in selections.items()}


def _shares(chosen: np.ndarray, graph: np.ndarray) -> dict[str, float]:
    wrong, found = (chosen & ~graph).sum(), (chosen & graph).sum()
    return {"wrong": float(wrong / max(chosen.sum(), 1)), "found": float(found / graph.sum())}


def main() -> None:
    """Fit what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, seeds=20)
    options = parser.parse_args()
    keys = [{"system": system, "seed": seed} for system in SYSTEMS for seed in seeds(options)]
    rows = collect(options.results / "dynamics_q_values.jsonl", fit, keys, n_jobs=options.jobs, fresh=options.fresh)
    lines = []
    for system in SYSTEMS:
        own = [row for row in rows if row["system"] == system]
        for name in [*(f"q <= {level:g}" for level in LEVELS), "graph"]:
            shares = [mean_and_error(row[name][what] for row in own) for what in ("wrong", "found")]
            lines.append([system, name, *shares, len(own)])
    print(table(["system", "selected", "share of wrong edges", "share of true edges found", "fits"], lines))


if __name__ == "__main__":
    main()
