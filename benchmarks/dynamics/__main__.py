"""DynamicsRegressor and PySINDy on systems with known graphs.

    .venv/bin/python -m benchmarks.dynamics --seeds 5
    .venv-bench/bin/python -m benchmarks.dynamics --methods pysindy --seeds 1
    .venv/bin/python -m benchmarks.dynamics --problems dream3 --data FOLDER
    .venv/bin/python -m benchmarks.dynamics --problems "Lorenz-96, d = 200, 4000" --methods "fewvars dask"

makes the rows that are missing, one line of JSON for each fit, and prints the tables of all rows that there are.
"""

import argparse
import os
import resource
import time
import warnings
from functools import partial
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

import fewvars as fv
from benchmarks.dynamics.judging import field_row, judged
from benchmarks.dynamics.problems import PROBLEMS, Trajectories, dream3
from benchmarks.dynamics.rivals import RIVALS
from benchmarks.rows import Row, add_options, collect, read, seeds, table

FILE = "dynamics.jsonl"
DREAM3 = [f"size{size}-{name}" for size in (10, 50) for name in ("ecoli1", "ecoli2", "yeast1", "yeast2", "yeast3")]

OURS: dict[str, dict[str, object]] = {
    "fewvars": {},
    "fewvars weak": {"target": "weak"},
    "fewvars derivative": {"target": "derivative"},
    "fewvars step": {"target": "step"},
    "fewvars two processes": {"n_jobs": 2},
    "fewvars dask": {"n_jobs": 2, "dask": "local"},
}


def fewvars_row(data: Trajectories, problem: str, **options: object) -> Row:
    """Fit the default estimator; the processor time is only known without other processes."""
    start, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fv.DynamicsRegressor(random_state=0, **dict(data.options), **options)
        model.fit(data.X, t=data.t, trajectory=data.runs)
    spent = {"seconds": time.perf_counter() - start}
    if "n_jobs" not in options:
        spent["cpu"] = time.process_time() - cpu
    row = spent | judged(data, model.graph_, model.edge_scores_)
    wrong, real = model.edge_q_values_ <= 0.05, data.graph
    row["q_missing"], row["q_extra"] = int((real & ~wrong).sum()), int((wrong & ~real).sum())
    row["form"] = model.form
    row["heads"] = sorted(head.name for head in model.heads_)
    row["megabytes"] = peak_megabytes()
    return row if model.form == "step" else row | field_row(data, problem, model.predict)


def peak_megabytes() -> int:
    """Return the largest memory that this process has held so far, or one that it has started."""
    import psutil  # comes with Dask, which the environment of the rivals lacks

    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)  # the latter have ended
    peaks = [resource.getrusage(one).ru_maxrss for one in who]
    for child in psutil.Process().children(recursive=True):
        status = Path(f"/proc/{child.pid}/status").read_text()
        peaks += [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")]
    return max(peaks) // 1024


def fit(problem: str, method: str, seed: int, *, folder: Path | None = None) -> Row:
    """Return the row of one fit."""
    data = PROBLEMS[problem](seed) if problem in PROBLEMS else dream3(folder, problem.removeprefix("DREAM3 "))
    if method in RIVALS:
        return RIVALS[method](data, problem)
    return fewvars_row(data, problem, **OURS[method])


def tables(rows: list[Row]) -> str:
    """Return one line for each problem and method, from the last row of each fit; DREAM3 has one for each size."""
    latest = {(row["problem"], row["method"], row["seed"]): row for row in rows}
    lines = []
    for problem, method in sorted({(_heading(problem), method) for problem, method, _ in latest}, key=_order):
        own = [row for (name, by, _), row in latest.items() if (_heading(name), by) == (problem, method)]

        def mean(name: str, own: list[Row] = own, form: str = ".3f") -> str:
            values = [row[name] for row in own if row.get(name) is not None]
            return format(np.mean(values), form) if values else "-"

        exact = sum(row["missing"] + row["extra"] == 0 for row in own)
        figures = [mean(name) for name in ("f1", "precision", "recall", "auroc", "auprc", "field", "coefficients")]
        times = [mean("cpu", form=".0f"), mean("seconds", form=".0f") if "n_jobs" in OURS.get(method, {}) else "-"]
        cost = [mean("valid_time", form=".1f"), *times, mean("megabytes", form=".0f")]
        lines.append([problem, method, f"{exact} of {len(own)}", *figures, *cost])
    measures = ["F1", "precision", "recall", "AUROC", "AUPRC", "field error", "coefficient error", "valid time"]
    return table(["problem", "method", "exact graphs", *measures, "CPU s", "s by the clock", "MB"], lines)


def _heading(problem: str) -> str:
    return problem.rpartition("-")[0] if problem.startswith("DREAM3") else problem


def _order(line: tuple[str, str]) -> tuple[int, str, str]:
    problem, method = line
    return (list(PROBLEMS).index(problem) if problem in PROBLEMS else len(PROBLEMS)), problem, method


def main() -> None:
    """Make the rows that are missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS)[:8], help="names, their beginnings, or dream3")
    parser.add_argument(
        "--methods",
        nargs="*",
        default=["fewvars"],
        choices=[*OURS, *RIVALS],
        metavar="METHOD",
        help=", ".join([*OURS, *RIVALS]),
    )
    parser.add_argument("--data", type=Path, help="folder with the DREAM3 files")
    add_options(parser, seeds=5)
    options = parser.parse_args()
    names = [name for name in PROBLEMS if any(name.startswith(given) for given in options.problems)]
    keys = [{"problem": p, "method": m, "seed": s} for s in seeds(options) for p in names for m in options.methods]
    if "dream3" in options.problems:
        if options.data is None or not (options.data / "dream3").is_dir():
            parser.error(
                "--data FOLDER must hold the folder dream3 with the files of the challenge (Marbach et al. 2009)"
            )
        found = [name for name in DREAM3 if (options.data / "dream3" / f"{name}.csv.gz").exists()]
        keys += [{"problem": f"DREAM3 {name}", "method": m, "seed": 0} for name in found for m in options.methods]
    file = options.results / FILE
    collect(file, partial(fit, folder=options.data), keys, n_jobs=options.jobs, fresh=options.fresh)
    print(tables(read(file)))


if __name__ == "__main__":
    main()
