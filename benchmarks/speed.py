"""How long a fit takes compared with an older version: ratios of processor times on one thread, within one run.

    .venv/bin/python -m benchmarks.speed --before FOLDER

FOLDER is a checkout of the older version. Each version fits in a process of its own, in turn; a first fit, which
compiles the kernels, is not counted. The times are those of the processor, so that other work on the machine hardly
counts, and the median over the rounds is used. The table also gives the test errors of both.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import fewvars as fv
from benchmarks.rows import table
from fewvars.problems import datasets, targets

SEED = 103  # the reported seeds of other benchmarks are below 100
FIT = """
import json, sys, time, warnings
import numpy as np
import fewvars as fv
warnings.simplefilter("ignore")
data = dict(np.load(sys.argv[1]))
options, times = json.loads(sys.argv[2]), {"t": data["t"]} if "t" in data else {}
def fit(rows):
    some = {name: values[:rows] for name, values in times.items()}
    return fv.FewVariablesRegressor(random_state=0, n_jobs=1, **options).fit(data["X"][:rows], data["y"][:rows], **some)
fit(min(len(data["X"]), 2000))
start = time.process_time()
model = fit(None)
seconds = time.process_time() - start
error = np.sqrt(((model.predict(data["X_test"]) - data["y_test"]) ** 2).mean() / data["y_test"].var())
print(json.dumps({"seconds": seconds, "error": float(error), "support": np.flatnonzero(model.support_).tolist()}))
"""


def lorenz96() -> dict[str, np.ndarray]:
    data = datasets.lorenz96_dataset(targets.lorenz_equation(10), noise_x=0.02, noise_y=0.02, seed=SEED)
    return {"X": data.X_train, "y": data.y_train, "t": data.t_train, "X_test": data.X_test, "y_test": data.y_test}


def independent(n: int, d: int, function, noise: float) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(SEED)
    X, X_test = rng.standard_normal((n, d)), rng.standard_normal((10_000, d))
    y = function(X) + noise * rng.standard_normal(n)
    return {"X": X, "y": y, "X_test": X_test, "y_test": function(X_test)}


def small(X):
    return np.sin(X[:, 3]) + X[:, 7] * X[:, 11] + 0.5 * X[:, 2] ** 2


def large(X):
    return 2 * np.tanh(X[:, 0] + X[:, 1]) + np.sin(2 * X[:, 2]) * X[:, 3]


# Name: data, options, the goal for the ratio.
CASES = {
    "8000 x 40, Lorenz-96": (lorenz96, {}, 0.33),
    "500 x 20": (lambda: independent(500, 20, small, 0.3), {}, 0.25),
    "100,000 x 40, network head": (lambda: independent(100_000, 40, large, 0.3), {"head": "network"}, 0.15),
}


def timed(source: Path, data: Path, options: dict) -> dict:
    """Return the seconds, the test error and the support of a fit by the package in a folder."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = os.environ | threads | {"PYTHONPATH": str(source)}
    command = [sys.executable, "-c", FIT, str(data), json.dumps(options)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def line(name: str, before: Path, rounds: int) -> tuple:
    make, options, goal = CASES[name]
    sources = (before / "src", Path(fv.__file__).parents[1])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        np.savez(file, **make())
        fits = [[timed(source.resolve(), file, options) for source in sources] for _ in range(rounds)]
    seconds = np.median([[fit["seconds"] for fit in pair] for pair in fits], axis=0)
    old, new = fits[-1]
    same = "yes" if old["support"] == new["support"] else "no"
    ratio, errors = seconds[1] / seconds[0], (f"{old['error']:.4g}", f"{new['error']:.4g}")
    return name, f"{seconds[0]:.2f}", f"{seconds[1]:.2f}", f"{ratio:.2f}", goal, *errors, same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="checkout of the older version")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    options = parser.parse_args()
    columns = ("data", "s before", "s now", "ratio", "goal", "error before", "error now", "same variables")
    print(table(columns, [line(name, options.before, options.rounds) for name in options.cases]))


if __name__ == "__main__":
    sys.exit(main())
