"""The few-variables estimator on the paper's data: supports found, test errors, fit times.

    .venv/bin/python -m benchmarks.few_variables lorenz

runs the paper's trajectory with noise seeds 0 to 19, with the default settings, with a network head, and without
sample times. Defaults were chosen on other equations, initial conditions, forcings and noise seeds (100 and up).
Every fit is a line in a JSON Lines file: started again, only what is missing is run.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

import fewvars as fv
from fewvars import datasets, metrics, targets

SEEDS = range(20)
# target, noise in x, noise in y, exact supports of 20 and mean error asked for, the paper's error
LORENZ = {
    "25th equation, 0.02": (targets.lorenz_equation(25), 0.02, 0.02, 20, 0.02, "0.062"),
    "10th equation, 0.02": (targets.lorenz_equation(10), 0.02, 0.02, 20, 0.02, "figure"),
    "10th equation, 0.03": (targets.lorenz_equation(10), 0.03, 0.03, 20, 0.03, "figure"),
    "10th equation, 0.04": (targets.lorenz_equation(10), 0.04, 0.04, 19, 0.04, "0.22"),
    "10th equation, 0.05": (targets.lorenz_equation(10), 0.05, 0.05, 19, 0.05, "figure"),
    "10th equation, noiseless": (targets.lorenz_equation(10), 0.0, 0.0, 20, 0.002, "0.061"),
    "setting 1": (targets.paper_setting(1), 0.0, 0.02, 19, 0.055, "0.141"),
    "setting 2": (targets.paper_setting(2), 0.02, 0.0, 19, 0.0005, "0.0009"),
    "setting 3": (targets.paper_setting(3), 0.02, 0.02, 19, 0.05, "0.146"),
}
VARIANTS = {
    "auto": ({}, True),
    "network": ({"head": "network"}, True),
    "no t": ({}, False),
}


def lorenz_fit(name, variant, seed):
    """Fit one data set; the noiseless target has one data set and twenty initialisations."""
    target, noise_x, noise_y, *_ = LORENZ[name]
    options, timed = VARIANTS[variant]
    data = datasets.lorenz96_dataset(target, noise_x=noise_x, noise_y=noise_y, seed=seed)
    model = fv.FewVariablesRegressor(random_state=seed, **options)
    start = time.perf_counter()
    model.fit(data.X_train, data.y_train, t=data.t_train if timed else None)
    seconds = time.perf_counter() - start
    predicted = model.predict(data.X_test)
    return {
        "target": name,
        "variant": variant,
        "seed": seed,
        "exact": metrics.exact_support(data.support, model.support_),
        "sensitivity": metrics.sensitivity(data.support, model.support_),
        "specificity": metrics.specificity(data.support, model.support_),
        "error": metrics.relative_error(data.y_test, predicted),
        "centred": metrics.centred_error(data.y_test, predicted),
        "head": model.head_,
        "selected": model.get_support(indices=True).tolist(),
        "seconds": seconds,
        "version": fv.__version__,
    }


def run(rows_file, jobs, n_jobs):
    """Run what is missing, appending each finished fit to the file; return all rows."""
    rows = [json.loads(line) for line in rows_file.read_text().splitlines()] if rows_file.exists() else []
    known = {(row["target"], row["variant"], row["seed"]) for row in rows}
    missing = [job for job in jobs if job[1:] not in known]
    results = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(delayed(f)(*job) for f, *job in missing)
    with rows_file.open("a") as out:
        for row in tqdm(results, total=len(missing), unit="fit"):
            out.write(json.dumps(row) + "\n")
            out.flush()
            rows.append(row)
    return [row for row in rows if (row["target"], row["variant"], row["seed"]) in {job[1:] for job in jobs}]


def lorenz_table(rows):
    lines = [
        "| target, noise | variant | exact | asked | relative error | asked | centred error | paper | head | s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for variant in VARIANTS:
        for name, (*_, exact, error, paper) in LORENZ.items():
            some = [row for row in rows if row["target"] == name and row["variant"] == variant]
            if not some:
                continue
            heads = "/".join(sorted({row["head"] for row in some}))
            mean, spread = (
                np.mean([r["error"] for r in some]),
                np.std([r["error"] for r in some], ddof=min(1, len(some) - 1)),
            )
            asked = (f"{exact}", f"{error:g}") if variant == "auto" else ("", "")
            lines.append(
                f"| {name} | {variant} | {sum(r['exact'] for r in some)} of {len(some)} | {asked[0]} | "
                f"{mean:.4g} ± {spread / np.sqrt(len(some)):.1g} | {asked[1]} | "
                f"{np.mean([r['centred'] for r in some]):.4g} | {paper} | {heads} | "
                f"{np.median([r['seconds'] for r in some]):.0f} |"
            )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["lorenz"])
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    jobs = [
        (lorenz_fit, name, variant, seed)
        for variant in options.variants
        for seed in range(options.seeds)
        for name in LORENZ
    ]
    rows = run(options.results / "few_variables_lorenz.jsonl", jobs, options.jobs)
    print(lorenz_table(rows))


if __name__ == "__main__":
    sys.exit(main())
