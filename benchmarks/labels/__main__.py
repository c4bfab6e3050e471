"""Which variables do classes, counts, and numbers with outliers depend on? Problems x methods x seeds, and the tables.

    .venv-bench/bin/python -m benchmarks.labels run --methods fewvars "l1 logistic" boosting --seeds 10
    .venv-bench/bin/python -m benchmarks.labels table

Every fit is a line in benchmarks/results/labels.jsonl: started again, only what is missing is made. Rows of rivals stay
valid when fewvars changes. `--problems` takes names, or labels, numbers or development for all of them.
"""

import argparse
import inspect
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss

import fewvars as fv
from benchmarks.labels import methods, problems, tables
from benchmarks.rows import Row, add_options, collect, read, seeds, source_digest

FILE = Path("benchmarks/results/labels.jsonl")
SETS = {"labels": problems.LABELS, "numbers": problems.NUMBERS, "development": problems.DEVELOPMENT}


def fit(problem: str, method: str, seed: int) -> Row:
    """Return what one method makes of one data set; a failure is a row."""
    data = problems.PROBLEMS[problem](seed)
    clock, busy = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing was selected, or something not converged, shows in the row
        try:
            selected, ways = methods.METHODS[method](data, seed)
            seconds = {"seconds": time.perf_counter() - clock, "busy": time.process_time() - busy}
            scores = [_scores(data, way()) for way in ways]
        except Exception as error:
            return {"failure": f"{type(error).__name__}: {error}"[:300]}
    return {
        "needed": int(data.needed.sum()),
        "found": int((selected & data.needed).sum()),
        "useful": int((selected & data.useful).sum()),
        "probes": int((selected & ~data.useful).sum()),
        "selected": np.flatnonzero(selected).tolist(),
        **min(scores, key=lambda score: score["loss"]),
        **seconds,
    }


def _scores(data: problems.Data, predict: methods.Predict) -> Row:
    """Return log loss and accuracy of probabilities, or the mean squared error of numbers over the variance."""
    predicted = predict(data.X_test)
    if predicted.ndim == 1:
        return {"loss": float(((predicted - data.y_test) ** 2).mean() / data.y_test.var())}
    classes = np.unique(data.y)
    accuracy = float((classes[predicted.argmax(axis=1)] == data.y_test).mean())
    return {"loss": float(log_loss(data.y_test, predicted, labels=classes)), "accuracy": accuracy}


def _digest(key: Row) -> str:
    """Return what changes with the code of a row: problems, and the method or, for our own, fewvars."""
    texts = [inspect.getsource(problems), inspect.getsource(getattr(fit, "func", fit))]
    ours = key["method"] in methods.OURS
    return source_digest([*texts, inspect.getsource(methods)], Path(fv.__file__).parent if ours else None)


def _suits(problem: str, method: str) -> bool:
    """Return whether a method takes such targets: classes or numbers, and only counts for Poisson's loss."""
    if problem == "outliers" and method == "poisson":
        return False
    return (problem in problems.NUMBERS) == (method in methods.REGRESSORS)


def run(options: argparse.Namespace) -> None:
    names = [name for word in options.problems for name in SETS.get(word, [word])]
    keys = [
        {"problem": name, "method": method, "seed": seed}
        for seed in seeds(options)
        for method in options.methods
        for name in names
        if _suits(name, method)
    ]
    collect(options.results, fit, keys, n_jobs=options.jobs, fresh=options.fresh, code=_digest)


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.labels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="make the rows that are missing")
    add_options(running, seeds=10)
    running.add_argument("--methods", nargs="+", choices=list(methods.METHODS), default=list(methods.METHODS))
    running.add_argument("--problems", nargs="+", default=["labels", "numbers"])
    running.set_defaults(run=run)
    printing = commands.add_parser("table", help="print what the rows say")
    printing.set_defaults(run=lambda options: print(tables.everything(read(options.results))))
    for command in (running, printing):
        command.set_defaults(results=FILE)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
