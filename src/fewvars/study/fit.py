"""Run one task and return its row: make the data, fit, evaluate. Runs anywhere, without touching files."""

import hashlib
import math
import socket
import time
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fewvars._common.threads import single_blas_thread
from fewvars._common.validation import FloatArray
from fewvars.problems.datasets import Dataset
from fewvars.problems.metrics import (
    centred_error,
    exact_support,
    principal_angles,
    relative_error,
    sensitivity,
    specificity,
)
from fewvars.study.provenance import commit, versions
from fewvars.study.row import FAILED, FITTED, Row
from fewvars.study.rows import Arrays
from fewvars.study.tasks import Task, specification

CURVE_POINTS = 500


@final
@dataclass(frozen=True, eq=False)
class Result:
    """A row, and the arrays that figures need of the first replicate."""

    row: Row
    curve: Arrays | None = None


def run_task(task: Task) -> Result:
    """Fit once, with one BLAS thread; failures become rows too."""
    try:
        with single_blas_thread(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found, curve = _fit(task)
    except Exception as error:  # whatever happens, the other fits go on
        return Result(failed(task, f"{type(error).__name__}: {error}"))
    # One fit may repeat the same warning a hundred times.
    messages = tuple(dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught))
    return Result(_row(task, FITTED, warnings=messages, **found), curve)


def failed(task: Task, reason: str) -> Row:
    """Return the row of a fit that failed."""
    return _row(task, FAILED, reason=reason)


def _row(task: Task, outcome: str, **values: Any) -> Row:
    experiment, setting, method, replicate = task.key
    return Row(
        specification=task.specification,
        experiment=experiment,
        setting=setting,
        method=method,
        replicate=replicate,
        seed=task.seed,
        outcome=outcome,
        versions=versions(),
        commit=commit(),
        host=socket.gethostname(),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        **values,
    )


def _fit(task: Task) -> tuple[dict[str, Any], Arrays | None]:
    here = specification(task.setting, task.method)
    if here != task.specification:
        raise RuntimeError(
            f"the study asks for specification {task.specification}, but with the fewvars installed here "
            f"(version {versions()['fewvars']}) it is {here}. Install the same version on all workers."
        )
    data = task.setting.data(task.replicate)
    model = task.method.build()
    if task.method.random:
        model.set_params(random_state=task.seed)
    arguments = {"t": data.t_train} if task.method.times else {}
    start = time.process_time()  # processor time, which does not depend on other programs
    model.fit(data.X_train, data.y_train, **arguments)
    seconds = time.process_time() - start
    predicted = np.asarray(model.predict(data.X_test), np.float64)
    found = {
        "relative_error": relative_error(data.y_test, predicted),
        "centred_error": centred_error(data.y_test, predicted),
        "head": getattr(model, "head_", None),
        "seconds": seconds,
        "trajectory": hashlib.sha256(data.X_train_clean.tobytes() + data.X_test.tobytes()).hexdigest()[:12],
        **(_support(data, model) if data.target.directions is None else _directions(data, model)),
    }
    _check_finite(found, predicted)
    return found, _curve(data, model, predicted) if task.replicate == 0 else None


def _check_finite(found: dict[str, Any], predicted: FloatArray) -> None:
    """Raise an error for results that are not finite, which a row cannot hold; squares of predictions may overflow."""
    for name, value in found.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise FloatingPointError(
                f"{name} is {value}: predictions reach {np.abs(predicted).max():.3g} in absolute value."
            )


def _support(data: Dataset, model: Any) -> dict[str, Any]:
    found: NDArray[np.bool_] = np.asarray(model.support_)
    return {
        "sensitivity": _number(sensitivity(data.support, found)),
        "specificity": _number(specificity(data.support, found)),
        "exact": exact_support(data.support, found),
        "selected": tuple(np.flatnonzero(found).tolist()),
    }


def _directions(data: Dataset, model: Any) -> dict[str, Any]:
    """Compare the space of the directions with the true one; dictionaries have no directions."""
    true = data.target.directions
    found = getattr(model, "directions_", None)
    if found is None or true is None:
        return {}
    count = int(model.n_directions_)
    # The literal algorithm counts columns, which may be collinear.
    rank = int(getattr(model, "rank_", count))
    values: dict[str, Any] = {"n_directions": count, "rank": rank, "exact": rank == len(true)}
    if count > 0 and np.any(found):
        values["angle"] = float(principal_angles(found, true).max())
        values["angle_strong"] = float(principal_angles(found, true[:2]).max())
    return values


def _curve(data: Dataset, model: Any, predicted: FloatArray) -> Arrays:
    """Return the thinned test prediction, and the hidden layers where the model is one network."""
    step = max(1, math.ceil(len(predicted) / CURVE_POINTS))
    curve: Arrays = {"t": data.t_test[::step], "truth": data.y_test[::step], "predicted": predicted[::step]}
    network = getattr(model, "network_", None)
    if network is not None:
        curve["hidden_layers"] = np.array(network.sizes[1:-1])
    return curve


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
