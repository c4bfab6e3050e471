"""Readings of the paper's Algorithm 1 compared on development data, and what the chosen one reaches.

Run `python -m benchmarks.literal` with one of `readings`, `functions`, `experiments`; each prints a table
in Markdown (about twenty minutes on one core, `functions` less). The first two vary one choice at a time around
the reference, which is the default with batches of half the size; the last uses other data sets. `--sets 1` takes
only the first data set.

`python -m benchmarks.literal reported` fits the paper's own data, noise seeds 0 to 19, with all choices made.
Every fit is a line in a JSON Lines file; when started again, only what is missing is run.

The development data are not the paper's: other initial conditions (8 plus standard normal noise), other
equations than its 10th and 25th, noise seeds from 100 on. Their early maxima, by which the noise is scaled,
are larger than on the paper's trajectory; we therefore give the noise the absolute size that it has there.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from benchmarks.few_variables import LORENZ, SEEDS
from benchmarks.rows import Row, add_options, collect, judged, mean_and_error, seeds, table
from fewvars.paper import AdaptiveGroupLassoRegressor
from fewvars.paper.baselines import GroupLassoRegressor, NeuralRegressor
from fewvars.problems.datasets import Dataset, lorenz96_dataset
from fewvars.problems.metrics import centred_error, relative_error, sensitivity, specificity
from fewvars.problems.targets import Target, lorenz_equation, paper_setting

EQUATIONS = (3, 7, 14, 19, 31, 36, 2, 29, 17, 38, 12, 33)
REFERENCE = {"second_batch_size": 200}

READINGS = {
    "reference: batches of 200": {},
    "first stage: 5 epochs": {"n_first": 400},
    "first stage: 10 epochs": {"n_first": 800},
    "first stage: 40 epochs": {"n_first": 3200},
    "first stage: 100 epochs": {"n_first": 8000},
    "first stage: 1000 epochs": {"n_first": 80000},
    "first layer begins at Glorot's size": {"first_layer_scale": 1.0},
    "first layer begins at 0.3 of it": {"first_layer_scale": 0.3},
    "first layer begins at 0.1 of it": {"first_layer_scale": 0.1},
    "first layer begins at 0.01 of it": {"first_layer_scale": 0.01},
    "uniform by fan-in, biases too": {"initialisation": "fan_in", "first_layer_scale": 1.0},
    "grid from 0.05": {"first_strength": 0.05},
    "grid from 0.2": {"first_strength": 0.2},
    "grid from 1": {"first_strength": 1.0},
    "cold start at every lambda": {"start": "cold"},
    "second stage: batches of 50": {"second_batch_size": 50},
    "second stage: batches of 100": {"second_batch_size": 100},
    "second stage: batches of 400 (frozen)": {"second_batch_size": 400},
    "second stage: all samples, 100 updates": {"second_batch_size": 8000, "n_second": 100},
    "second stage: 800 updates": {"n_second": 800},
    "second stage: 1600 updates": {"n_second": 1600},
    "second stage: 6400 updates": {"n_second": 6400},
    "BIC: n log L, inputs": {"degrees_of_freedom": "inputs"},
    "BIC: n L, parameters": {"likelihood": "unit"},
    "BIC: n L, inputs": {"likelihood": "unit", "degrees_of_freedom": "inputs"},
}

FUNCTIONS = (
    "reference: batches of 200",
    "second stage: batches of 400 (frozen)",
    "first layer begins at Glorot's size",
    "uniform by fan-in, biases too",
    "grid from 1",
    "second stage: 1600 updates",
)


def initial_state(k: int) -> np.ndarray:
    """Return the state at time zero of development set k, (40,)."""
    return 8.0 + np.random.default_rng(1000 + k).standard_normal(40)


def development(k: int, target: Target, paper_target: Target, noise_x: float, noise_y: float) -> Dataset:
    """Return development set k, with noise of the absolute size that it has on the paper's trajectory."""
    x0 = initial_state(k)
    paper, clean = lorenz96_dataset(paper_target), lorenz96_dataset(target, x0=x0)
    return lorenz96_dataset(
        target,
        x0=x0,
        seed=100 + k,
        noise_x=noise_x * paper.M_x / clean.M_x,
        noise_y=noise_y * paper.M_y / clean.M_y,
    )


def equation(noise: float, sets: Iterable[int]) -> Iterator[Dataset]:
    """Yield development sets with a Lorenz equation for a target."""
    for k in sets:
        yield development(k, lorenz_equation(EQUATIONS[k]), lorenz_equation(25), noise, noise)


def own_scale(noise: float, sets: Iterable[int]) -> Iterator[Dataset]:
    """Yield the sets of `equation` with noise scaled by their own early maxima: up to five times as much."""
    for k in sets:
        target = lorenz_equation(EQUATIONS[k])
        yield lorenz96_dataset(target, x0=initial_state(k), seed=100 + k, noise_x=noise, noise_y=noise)


def setting(number: int, noise_x: float, noise_y: float, sets: Iterable[int]) -> Iterator[Dataset]:
    """Yield development sets with one of the paper's functions that are not polynomials for a target."""
    for k in sets:
        yield development(k, paper_setting(number), paper_setting(number), noise_x, noise_y)


def figures(model, datasets: Iterable[Dataset]) -> np.ndarray:
    """Return sensitivity, specificity, relative and centred test error, each (sets,)."""
    rows = []
    for data in datasets:
        model.set_params(random_state=len(rows)).fit(data.X_train, data.y_train)
        predicted = model.predict(data.X_test)
        rows.append(
            (
                sensitivity(data.support, model.support_),
                specificity(data.support, model.support_),
                relative_error(data.y_test, predicted),
                centred_error(data.y_test, predicted),
            )
        )
    return np.array(rows).T


def show(name: str, values: np.ndarray, paper: str = "") -> None:
    mean = values.mean(axis=1)
    cells = (f"{mean[0]:.2f}", f"{mean[1]:.3f}", f"{values[1].min():.2f}", f"{mean[2]:.2g}", f"{mean[3]:.2g}")
    print("| " + " | ".join((name, *cells, paper)).rstrip() + (" |" if paper else "|"), flush=True)


def header(*columns: str) -> None:
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|", flush=True)


COLUMNS = ("sensitivity", "specificity", "its minimum", "relative error", "centred error")


def compare(names: Iterable[str], cases: dict[str, Callable[[], Iterator[Dataset]]]) -> None:
    header("reading", *(f"{column}, {case}" for case in cases for column in COLUMNS[:2] + COLUMNS[3:4]))
    for name in names:
        model = AdaptiveGroupLassoRegressor(**{**REFERENCE, **READINGS[name]})
        cells = []
        for datasets in cases.values():
            mean = figures(model, datasets()).mean(axis=1)
            cells += [f"{mean[0]:.2f}", f"{mean[1]:.3f}", f"{mean[2]:.3f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def readings(sets: range) -> None:
    compare(READINGS, {f"noise {noise}": partial(equation, noise, sets) for noise in (0.02, 0.05)})


def functions(sets: range) -> None:
    first, third = partial(setting, 1, 0.0, 0.02, sets), partial(setting, 3, 0.02, 0.02, sets)
    compare(FUNCTIONS, {"setting 1": first, "setting 3": third})


def experiments(sets: range) -> None:
    header("experiment", *COLUMNS, "paper: sensitivity, specificity, relative error")
    adaptive = AdaptiveGroupLassoRegressor()
    for H, paper in ((10, "1, 0.807, 0.051"), (40, "1, 0.87, 0.067"), (80, "1, 0.79, 0.079")):
        model = AdaptiveGroupLassoRegressor(hidden_layer_sizes=(H, H, H))
        show(f"equation, noise 0.02, H = {H}", figures(model, equation(0.02, sets)), paper)
    for noise, paper in ((0.0, "1, -, 0.061"), (0.02, "1, 0.927, 0.062"), (0.04, "1, -, 0.22"), (0.05, "1, -, -")):
        show(f"equation, noise {noise}, H = 20", figures(adaptive, equation(noise, sets)), paper)
        for name, model in (("group lasso", GroupLassoRegressor()), ("plain network", NeuralRegressor())):
            known = {"group lasso": "0.28", "plain network": "0.33"}[name] if noise == 0 else "-"
            show(f"{name}, noise {noise}", figures(model, equation(noise, sets)), f"1, 0, {known}")
    show("equation, noise 0.02 of its own maxima", figures(adaptive, own_scale(0.02, sets)), "-")
    for number, x, y, paper in (
        (1, 0.0, 0.02, "1, 0.889, 0.141"),
        (2, 0.02, 0.0, "0.915, 0.9997, 0.0009"),
        (3, 0.02, 0.02, "1, 0.927, 0.146"),
    ):
        show(f"setting {number}", figures(adaptive, setting(number, x, y, sets)), paper)
    for noise in (0.0, 0.02):
        for name, kind in (("group lasso", GroupLassoRegressor), ("plain network", NeuralRegressor)):
            values = figures(kind(first_layer_scale=1.0), equation(noise, sets))
            show(f"{name}, noise {noise}, first layer begins at Glorot's size", values, "-")
    model = AdaptiveGroupLassoRegressor(bias_at_mean=False)
    show("setting 2, output bias begins at 0", figures(model, setting(2, 0.02, 0.0, sets)), "-")


TABLES = {"readings": (readings, 0, 6), "functions": (functions, 0, 4), "experiments": (experiments, 6, 5)}


def reported_fit(target: str, seed: int) -> Row:
    """Fit one of the paper's data sets; the noiseless target has one data set and twenty initialisations."""
    data = LORENZ[target].data(seed)
    model = AdaptiveGroupLassoRegressor(random_state=seed)
    start = time.perf_counter()
    model.fit(data.X_train, data.y_train)
    seconds = time.perf_counter() - start
    return judged(data.support, model.support_, data.y_test, model.predict(data.X_test)) | {"seconds": seconds}


def reported_table(rows: list[Row]) -> str:
    columns = ("sensitivity", "specificity", "relative error", "centred error")
    lines = []
    for name, experiment in LORENZ.items():
        some = [row for row in rows if row["target"] == name]
        if some:
            figures = [
                mean_and_error(r[key] for r in some) for key in ("sensitivity", "specificity", "error", "centred")
            ]
            lines.append((name, *figures, *experiment.paper))
    return table(("target, noise", *columns, *(f"paper: {column}" for column in columns[:3])), lines)


def reported(options: argparse.Namespace) -> None:
    keys = [{"target": target, "seed": seed} for seed in seeds(options) for target in LORENZ]
    file = options.results / "literal.jsonl"
    print(reported_table(collect(file, reported_fit, keys, n_jobs=options.jobs, fresh=options.fresh)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, (show_table, first, count) in TABLES.items():
        table_parser = commands.add_parser(name)
        table_parser.add_argument("--sets", type=int, default=count, help="how many data sets")
        table_parser.set_defaults(run=lambda options, f=show_table, k=first: f(range(k, k + options.sets)))
    paper = commands.add_parser("reported", help="the paper's own data")
    add_options(paper, seeds=SEEDS)
    paper.set_defaults(run=reported)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
