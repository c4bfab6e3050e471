"""The few-variables estimator on the paper's data: supports found, test errors, fit times.

    .venv/bin/python -m benchmarks.few_variables lorenz

runs the paper's trajectory with noise seeds 0 to 19, with the default settings, with a network head, and without
sample times. Defaults were chosen on other equations, initial conditions, forcings and noise seeds (100 and up).
Every fit is a line in a JSON Lines file; when started again, only what is missing is run.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

import fewvars as fv
from benchmarks.rows import Row, add_options, collect, judged, mean_and_error, seeds, table
from fewvars.problems import datasets, targets

SEEDS = 20


@dataclass(frozen=True, eq=False)
class Experiment:
    """A target with noise, our goals, and the paper's sensitivity, specificity and error.

    Goals: exact supports of 20 seeds, mean error, and mean error with a network head (None: no goal).
    """

    target: targets.Target
    noise_x: float
    noise_y: float
    exact: int
    error: float
    network_error: float | None
    paper: tuple[str, str, str]

    def data(self, seed: int) -> datasets.Dataset:
        """Return the paper's trajectory with noise of this seed."""
        return datasets.lorenz96_dataset(self.target, noise_x=self.noise_x, noise_y=self.noise_y, seed=seed)


def equation(j: int, noise: float, exact: int, error: float, network_error: float | None, *paper: str) -> Experiment:
    return Experiment(targets.lorenz_equation(j), noise, noise, exact, error, network_error, paper)


LORENZ = {
    "25th equation, 0.02": equation(25, 0.02, 20, 0.02, 0.035, "1", "0.927", "0.062"),
    "10th equation, 0.02": equation(10, 0.02, 20, 0.02, 0.035, "1", "figure", "figure"),
    "10th equation, 0.03": equation(10, 0.03, 20, 0.03, None, "1", "figure", "figure"),
    "10th equation, 0.04": equation(10, 0.04, 19, 0.04, None, "1", "figure", "0.22"),
    "10th equation, 0.05": equation(10, 0.05, 19, 0.05, 0.075, "1", "figure", "figure"),
    "10th equation, noiseless": equation(10, 0.0, 20, 0.002, 0.01, "1", "-", "0.061"),
    "setting 1": Experiment(targets.paper_setting(1), 0.0, 0.02, 19, 0.055, None, ("1", "0.889", "0.141")),
    "setting 2": Experiment(targets.paper_setting(2), 0.02, 0.0, 19, 0.0005, None, ("0.915", "0.9997", "0.0009")),
    "setting 3": Experiment(targets.paper_setting(3), 0.02, 0.02, 19, 0.05, None, ("1", "0.927", "0.146")),
}
VARIANTS = {
    "auto": ({}, True),
    "network": ({"head": "network"}, True),
    "no t": ({}, False),
}


def lorenz_fit(target: str, variant: str, seed: int) -> Row:
    """Fit one data set; the noiseless target has one data set and twenty initialisations."""
    options, timed = VARIANTS[variant]
    data = LORENZ[target].data(seed)
    model = fv.FewVariablesRegressor(random_state=seed, **options)
    start = time.perf_counter()
    model.fit(data.X_train, data.y_train, t=data.t_train if timed else None)
    seconds = time.perf_counter() - start
    return {
        **judged(data.support, model.support_, data.y_test, model.predict(data.X_test)),
        "head": model.head_,
        "seconds": seconds,
    }


def goals(experiment: Experiment, variant: str) -> tuple[str, str]:
    """Return the goals for exact supports and mean error; the head does not change the support."""
    if variant == "no t":
        return "", ""
    error = experiment.network_error if variant == "network" else experiment.error
    return f"{experiment.exact} of {SEEDS}", "" if error is None else f"{error:g}"


def lorenz_table(rows: list[Row]) -> str:
    columns = ("target, noise", "variant", "exact", "goal", "relative error", "goal", "centred error", "paper's error")
    lines = []
    for variant in VARIANTS:
        for name, experiment in LORENZ.items():
            some = [row for row in rows if (row["target"], row["variant"]) == (name, variant)]
            if not some:
                continue
            exact, error = goals(experiment, variant)
            lines.append(
                (
                    *(name, variant, f"{sum(r['exact'] for r in some)} of {len(some)}", exact),
                    *(mean_and_error(r["error"] for r in some), error, f"{np.mean([r['centred'] for r in some]):.4g}"),
                    *(experiment.paper[2], "/".join(sorted({r["head"] for r in some}))),
                    f"{np.median([r['seconds'] for r in some]):.0f}",
                )
            )
    return table((*columns, "head", "s"), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["lorenz"])
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    add_options(parser, seeds=SEEDS, jobs=os.cpu_count() or 1)
    options = parser.parse_args()
    keys = [
        {"target": target, "variant": variant, "seed": seed}
        for variant in options.variants
        for seed in seeds(options)
        for target in LORENZ
    ]
    file = options.results / "few_variables_lorenz.jsonl"
    print(lorenz_table(collect(file, lorenz_fit, keys, n_jobs=options.jobs, fresh=options.fresh)))


if __name__ == "__main__":
    sys.exit(main())
