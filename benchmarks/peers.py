"""The few-variables estimator against its peers, on data that are not Lorenz-96.

    .venv-bench/bin/python -m benchmarks.peers others

fits five kinds of independent samples, seeds 0 to 2, with `FewVariablesRegressor` as it comes, with LassoNet, with a
random forest and permutation importance, and with an oracle that is told the variables. Test sets have 5000 rows
without noise. Every fit is a line in a JSON Lines file; when started again, only what is missing is run.

    .venv-bench/bin/python -m benchmarks.peers lassonet

times one fit of ours and one path of LassoNet on the paper's Lorenz-96 data, one after the other on one core.

How the peers are run:

- LassoNet: `LassoNetRegressorCV` as it comes (five folds choose lambda), on standardised data. Its own model and
  a dense network refitted to the inputs it selected are both tried; the one better on the *test* set counts.
- Random forest: 200 trees on three quarters of the rows; the inputs whose permutation importance on the last
  quarter (ten repetitions) exceeds twice its standard deviation are selected; 200 trees refitted to those and all
  rows. If there are none, the mean.
- Oracle: the network head of `FewVariablesRegressor` on the true variables; no method can know them.
"""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

import fewvars as fv
from benchmarks.rows import Row, add_options, collect, judged, mean_and_error, seeds, table
from fewvars.problems import datasets, targets
from fewvars.series.splits import BlockedSplit

N_TEST = 5000
REPORTED = 3
TREES = 200
TENTH = 0.1  # the goal for our time over LassoNet's

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Data:
    """Noisy samples X (n, d), y (n,); noiseless X_test (5000, d), y_test (5000,); the true support (d,)."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    support: np.ndarray


@dataclass(frozen=True)
class Problem:
    """Independent samples y = f(x) + noise; `draw` makes f and the numbers of its variables from a generator."""

    n: int
    d: int
    noise: float
    draw: Callable[[np.random.Generator, int], tuple[Function, np.ndarray]]
    uniform: bool = False

    def data(self, seed: int) -> Data:
        """Return replicate `seed`; inputs are standard normal, or uniform on [0, 1]."""
        rng = np.random.default_rng(seed)
        function, active = self.draw(rng, self.d)
        inputs = rng.random if self.uniform else rng.standard_normal
        X, X_test = inputs((self.n, self.d)), inputs((N_TEST, self.d))
        y = function(X) + self.noise * rng.standard_normal(self.n)
        return Data(X, y, X_test, function(X_test), np.isin(np.arange(self.d), active))


def friedman(rng, d):
    """Friedman #1: 10 sin(pi x0 x1) + 20 (x2 - 1/2)^2 + 10 x3 + 5 x4."""
    return _friedman, np.arange(5)


def _friedman(X):
    return 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def teacher(rng, d):
    """One hidden layer of 20 tanh units on ten inputs, all weights and biases standard normal.

    Teachers are drawn until each of the ten matters: redrawn alone, an input must change f by at least two
    per cent of its variance (its total Sobol index).
    """
    active = np.sort(rng.choice(d, 10, replace=False))
    while True:
        W, b, a = rng.standard_normal((20, 10)), rng.standard_normal(20), rng.standard_normal(20)

        def function(X, W=W, b=b, a=a):
            return np.tanh(X[:, active] @ W.T + b) @ a

        if total_sobol(function, active, d, rng).min() >= 0.02:
            return function, active


def total_sobol(function, active, d, rng, n=4000):
    """Return the share of the variance of f that each active input has a part in, estimated from n samples."""
    X, redrawn = rng.standard_normal((2, n, d))
    y = function(X)
    shares = []
    for j in active:
        changed = X.copy()
        changed[:, j] = redrawn[:, j]
        shares.append(((function(changed) - y) ** 2).mean() / (2 * y.var()))
    return np.array(shares)


def one_variable(rng, d):
    """sin(2 x17)."""
    return (lambda X: np.sin(2 * X[:, 17])), np.array([17])


def eight_variables(rng, d):
    """Eight inputs, twelve columns apart: products, an odd, an even, a growing and a kinked function."""
    active = np.arange(4, d, 12)
    return (lambda X: _eight(*X[:, active].T)), active


def _eight(a, b, c, d, e, f, g, h):
    return a * b + np.sin(2 * c) + np.abs(d) + np.exp(e / 2) + f**2 / 2 + np.tanh(2 * g) * h


def noise_only(rng, d):
    """The constant one, so that a relative error exists: every variable found is false."""
    return (lambda X: np.ones(len(X))), np.zeros(0, int)


PROBLEMS = {
    "Friedman #1, 5 of 100, n = 500": Problem(500, 100, 1.0, friedman, uniform=True),
    "tanh teacher, 10 of 50, n = 5000": Problem(5000, 50, 1.0, teacher),
    "one of 40, n = 1000": Problem(1000, 40, 0.3, one_variable),
    "eight of 100, n = 2000": Problem(2000, 100, 0.5, eight_variables),
    "pure noise, 0 of 40, n = 1000": Problem(1000, 40, 1.0, noise_only),
}


@lru_cache
def compiled() -> None:
    """Have Numba compile all there is to compile, so that no fit is charged for it."""
    X = np.random.default_rng(0).standard_normal((400, 10))
    y = np.sin(3 * X[:, 1]) * X[:, 2]
    for head in ("auto", "network"):
        fv.FewVariablesRegressor(head=head, random_state=0).fit(X, y, t=1.0)
        fv.FewVariablesRegressor(head=head, random_state=0).fit(X, y)


def fewvars(data, seed):
    model = fv.FewVariablesRegressor(random_state=seed).fit(data.X, data.y)
    return model.support_, [model.predict]


def oracle(data, seed):
    true = np.flatnonzero(data.support)
    model = fv.FewVariablesRegressor(n_variables=len(true), include=true, head="network", random_state=seed)
    model.fit(data.X, data.y)
    return model.support_, [model.predict]


def lassonet(data, seed):
    import torch
    from lassonet import LassoNetRegressor, LassoNetRegressorCV

    torch.set_num_threads(1)
    X, y, inputs, output = standardised(data.X, data.y)
    options = {"random_state": seed, "torch_seed": seed, "verbose": 0}
    model = LassoNetRegressorCV(**options).fit(X, y)
    selected = model.best_selected_.numpy()
    predictions = [lambda Z: output(model.predict(inputs(Z))[:, 0])]
    if selected.any():
        dense = LassoNetRegressor(**options).fit(X[:, selected], y, dense_only=True)
        predictions.append(lambda Z: output(dense.predict(inputs(Z)[:, selected])[:, 0]))
    return selected, predictions


def standardised(X, y):
    """Return X and y with mean 0 and standard deviation 1, and functions from X and back to y of the data's units."""
    centre, scale, mean, spread = X.mean(axis=0), X.std(axis=0), y.mean(), y.std()

    def inputs(Z):
        return (Z - centre) / scale

    def output(z):
        return mean + spread * z

    return inputs(X), (y - mean) / spread, inputs, output


def forest(data, seed):
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    X, X_held, y, y_held = train_test_split(data.X, data.y, test_size=0.25, random_state=seed)
    model = RandomForestRegressor(TREES, random_state=seed).fit(X, y)
    found = permutation_importance(model, X_held, y_held, n_repeats=10, random_state=seed)
    selected = found.importances_mean > 2 * found.importances_std
    if not selected.any():
        return selected, [lambda Z: np.full(len(Z), data.y.mean())]
    refitted = RandomForestRegressor(TREES, random_state=seed).fit(data.X[:, selected], data.y)
    return selected, [lambda Z: refitted.predict(Z[:, selected])]


METHODS = {"fewvars": fewvars, "LassoNet": lassonet, "random forest": forest, "oracle": oracle}


def fit(problem: str, method: str, seed: int) -> Row:
    """Fit one method to one data set; of several predictions the best on the test set counts."""
    data = PROBLEMS[problem].data(seed)
    compiled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing was selected shows in the row
        start = time.perf_counter()
        selected, predictions = METHODS[method](data, seed)
        seconds = time.perf_counter() - start
    results = [judged(data.support, selected, data.y_test, predict(data.X_test)) for predict in predictions]
    return min(results, key=lambda one: one["error"]) | {"seconds": seconds}


COLUMNS = ("data", "method", "exact", "sensitivity", "specificity", "relative error", "centred error", "s")


def others_table(rows: list[Row]) -> str:
    """Return the table and, below it, where a rival's mean error was smaller than ours."""
    lines, wins = [], []
    for problem in PROBLEMS:
        of = {method: [r for r in rows if (r["problem"], r["method"]) == (problem, method)] for method in METHODS}
        errors = {method: np.mean([r["error"] for r in some]) for method, some in of.items() if some}
        rivals = {method: error for method, error in errors.items() if method != "oracle"}
        for method in errors:
            mark = "**" if method in rivals and not smaller(min(rivals.values()), errors[method]) else ""
            figures = cells(of[method], mark)
            lines.append((problem, method, *figures[:-1], "-" if method == "oracle" else figures[-1]))
        if "fewvars" in rivals:
            wins += [
                f"{method} has the smaller error on {problem}: {error:.3g} against {rivals['fewvars']:.3g}."
                for method, error in rivals.items()
                if smaller(error, rivals["fewvars"])
            ]
    peers = {row["method"] for row in rows} - {"fewvars", "oracle"}
    names = ", ".join(sorted(peers)) or "no peer was run"
    below = wins or [f"Peers that have no smaller error than ours on any of these data: {names}."]
    note = "Mean ± standard error over the seeds; in bold the smallest error, the oracle aside; s: median seconds, "
    note += "not all of one run and beside other work."
    return "\n".join([table(COLUMNS, lines), "", note, *below])


def smaller(a: float, b: float) -> bool:
    """Return whether a is smaller than b by more than rounding: two means of the same samples are a tie."""
    return a < b * (1 - 1e-9)


def cells(rows: list[Row], mark: str = "") -> tuple[str, ...]:
    """Return the figures of some rows from "exact" on, the error between marks."""

    def mean(name, digits):
        values = [r[name] for r in rows if r[name] is not None]
        return f"{np.mean(values):.{digits}f}" if values else "-"

    centred = [r["centred"] for r in rows if r["centred"] is not None]
    return (
        f"{sum(r['exact'] for r in rows)} of {len(rows)}",
        mean("sensitivity", 2),
        mean("specificity", 3),
        f"{mark}{mean_and_error(r['error'] for r in rows)}{mark}",
        mean_and_error(centred) if centred else "-",
        f"{np.median([r['seconds'] for r in rows]):.0f}",
    )


def others(options: argparse.Namespace) -> str:
    keys = [
        {"problem": problem, "method": method, "seed": seed}
        for seed in seeds(options)
        for method in options.methods
        for problem in PROBLEMS
    ]
    return others_table(collect(options.results / "peers.jsonl", fit, keys, n_jobs=options.jobs, fresh=options.fresh))


def lorenz_data(equation: int, seed: int) -> Data:
    """Return the paper's data, 8000 rows of 40 inputs, sigma 0.02."""
    data = datasets.lorenz96_dataset(targets.lorenz_equation(equation), noise_x=0.02, noise_y=0.02, seed=seed)
    return Data(data.X_train, data.y_train, data.X_test, data.y_test, data.support)


def one_fit(data, seed):
    model = fv.FewVariablesRegressor(random_state=seed, n_jobs=1).fit(data.X, data.y, t=0.01)
    return model.support_, model.predict


def one_path(data, seed):
    import torch
    from lassonet import LassoNetRegressor

    torch.set_num_threads(1)
    X, y, inputs, output = standardised(data.X, data.y)
    model = LassoNetRegressor(random_state=seed, torch_seed=seed, verbose=0)
    *_, (train, held) = BlockedSplit(10).split(X)  # its own choice, random rows, leaks
    path = model.path(X[train], y[train], X_val=X[held], y_val=y[held], return_state_dicts=True)
    best = min(path, key=lambda point: point.val_loss)
    model.load(best)
    return best.selected.numpy(), lambda Z: output(model.predict(inputs(Z))[:, 0])


def timed(method, data, seed) -> Row:
    """Return the figures of a fit with its time, and the processor's: where they differ, others used the core."""
    start, busy = time.perf_counter(), time.process_time()
    selected, predict = method(data, seed)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    return judged(data.support, selected, data.y_test, predict(data.X_test)) | {"seconds": seconds, "busy": busy}


TIMES = ("method", "seed", "s", "s of the processor", "selected", "sensitivity", "specificity", "relative error")
TIMES += ("centred error",)


def timing(options: argparse.Namespace) -> str:
    """Time both in this run, one after the other on one core; the ratio is what counts."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    compiled()
    import lassonet  # noqa: F401  so that no fit is charged for the import

    lines, ratios, busy_ratios = [], [], []
    for seed in seeds(options):
        data = lorenz_data(options.equation, seed)
        pair = {"fewvars": timed(one_fit, data, seed), "LassoNet, one path": timed(one_path, data, seed)}
        ours, theirs = pair.values()
        ratios.append(ours["seconds"] / theirs["seconds"])
        busy_ratios.append(ours["busy"] / theirs["busy"])
        lines += [
            (name, seed, f"{r['seconds']:.1f}", f"{r['busy']:.1f}", len(r["selected"]), *cells([r])[1:5])
            for name, r in pair.items()
        ]
    ratio = np.median(ratios)
    verdict = "reached" if ratio <= TENTH else "MISSED"
    return "\n".join(
        [
            f"8000 x 40 Lorenz-96 samples, equation {options.equation}, sigma 0.02, one core. LassoNet: one path from",
            "dense to empty with its default settings, on standardised data, without the folds that would choose",
            "lambda; of its models the one with the smallest loss on a tenth of the rows, held out in blocks of time.",
            "",
            table(TIMES, lines),
            "",
            f"Our time over LassoNet's: {ratio:.3f} ({np.median(busy_ratios):.3f} of the processor's), "
            f"the goal of at most {TENTH:g} was {verdict}.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    many = commands.add_parser("others", help="selection and error on five kinds of data")
    add_options(many, seeds=REPORTED)
    many.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    many.set_defaults(run=others)
    one = commands.add_parser("lassonet", help="time of one fit against one path of LassoNet")
    one.add_argument("--equation", type=int, default=25)
    one.add_argument("--first-seed", type=int, default=0, help="100 and up for development")
    one.add_argument("--seeds", type=int, default=1, help="how many")
    one.add_argument("--out", type=Path, help="also write the table to this file")
    one.set_defaults(run=timing, out=None)
    options = parser.parse_args()
    text = options.run(options)
    print(text)
    if getattr(options, "out", None):
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
