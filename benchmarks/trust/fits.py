"""One fit is one row: what was selected, the claimed and the real error, and how often intervals hold the truth."""

import os
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

from pathlib import Path
from typing import Any

import numpy as np

import fewvars as fv
from benchmarks.rows import Row, source_digest
from benchmarks.trust.methods import METHODS, Answer
from benchmarks.trust.problems import Data, is_probe
from benchmarks.trust.registry import PROBLEMS


def fit(problem: str, method: str, seed: int) -> Row:
    """Return the row of one fit; a failure is a row too."""
    data, start = PROBLEMS[problem].data(seed), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that nothing was selected, or did not converge, shows in the row
            answer = METHODS[method].answer(data, seed)
            busy = time.process_time() - start
            return judged(data, answer) | {"busy": round(busy, 2)}
    except Exception as error:
        return {"failure": f"{type(error).__name__}: {error}"[:300]}


def judged(data: Data, answer: Answer) -> Row:
    """Compare an answer with the new rows, if there are any."""
    selected = [name for name, chosen in zip(data.names, answer.selected, strict=True) if chosen]
    row = {
        "rows": len(data.y),
        "inputs": len([name for name in data.names if not is_probe(name)]),
        "selected": [name for name in selected if not is_probe(name)],
        "probes": [name for name in selected if is_probe(name)],
        "claimed": answer.claimed,
    }
    if data.X_new is None:
        return row
    residuals = data.y_new - answer.predict(data.X_new)
    row["real"] = float(np.sqrt(np.mean(residuals**2)))
    row["r2"] = float(1 - np.mean(residuals**2) / data.y_new.var())
    if answer.interval is not None:
        lower, upper = answer.interval(data.X_new)
        row["coverage"] = float(np.mean((lower <= data.y_new) & (data.y_new <= upper)))
    return row


def digest(key: dict[str, Any]) -> str:
    """Return what changes with the code that a row depends on: problem and method, and fewvars only for our own."""
    method = METHODS[key["method"]]
    package = Path(fv.__file__).parent if method.ours else None
    return source_digest([*PROBLEMS[key["problem"]].source, *method.source], package)
