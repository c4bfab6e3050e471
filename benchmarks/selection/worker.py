"""One fit after another in a process of its own, which the harness can kill: keys in, rows out, a line of JSON each."""

import importlib.metadata
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import fewvars as fv
from benchmarks.rows import Row
from benchmarks.selection import registry
from benchmarks.selection.methods import Method
from benchmarks.selection.problems import Data


def judged(data: Data, selected: np.ndarray) -> Row:
    """Return the true discoveries possible and found, and the wrong ones; a discovery is an input or a group."""
    labels = np.arange(len(selected)) if data.groups is None else data.groups
    chosen = selected if data.unjudged is None else selected & ~data.unjudged
    return {
        "possible": len(np.unique(labels[data.support])),
        "found": len(np.unique(labels[chosen & data.support])),
        "wrong": len(np.unique(labels[chosen & ~data.support])),
        "selected": np.flatnonzero(selected).tolist(),
    }


def fit(problem: str, method: str, seed: int, folder: Path | None = None) -> Row:
    """Return what one method makes of one data set; the centred error is 1 for a prediction by the mean."""
    data = registry.problems(folder)[problem].data(seed)
    chosen = registry.METHODS[method]
    start, busy = time.perf_counter(), time.process_time()
    answer = chosen.select(data, seed)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    error = None
    if data.X_test is not None:
        errors = [fv.metrics.centred_error(data.y_test, make()(data.X_test)) for make in answer.predictions]
        error = float(min(errors)) if np.isfinite(errors).all() else None
    row = judged(data, np.asarray(answer.selected, bool)) | {"error": error, "seconds": seconds, "busy": busy}
    return row | answer.extras


def version(method: Method) -> str:
    """Return the versions of what a method needs; that of fewvars for our own."""
    if method.ours:
        return fv.__version__
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in method.needs or ("scikit-learn",))


def main() -> None:
    warnings.simplefilter("ignore")  # that nothing was selected, or something not converged, shows in the row
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not come between the replies

    def reply(message: dict[str, Any]) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    start = json.loads(sys.stdin.readline())
    folder = Path(start["data"]) if start["data"] else None
    method = registry.METHODS[start["method"]]
    try:
        ready = {"package": str(Path(fv.__file__).parent), "version": version(method)}
        if method.prepare:
            method.prepare()
    except Exception as error:
        reply({"failure": f"{type(error).__name__}: {error}"})
        return
    reply(ready)
    for line in sys.stdin:
        try:
            reply(fit(**json.loads(line), folder=folder))
        except Exception as error:  # a failure is a row
            reply({"failure": f"{type(error).__name__}: {error}"[:300]})


if __name__ == "__main__":
    main()
