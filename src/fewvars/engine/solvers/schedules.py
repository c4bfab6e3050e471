"""Learning rates: one for each update, constant or falling towards zero."""

from collections.abc import Callable

import numpy as np

from fewvars._common.validation import FloatArray, check_choice, check_real, check_whole

SCHEDULES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "constant": np.ones_like,
    "linear": lambda progress: 1.0 - progress,
    "cosine": lambda progress: 0.5 + 0.5 * np.cos(np.pi * progress),
}


def learning_rates(rate: float, n_updates: int, schedule: str = "constant") -> FloatArray:
    """Return one learning rate for each update; the schedules fall from `rate` towards zero."""
    check_real("learning_rate", rate, strict=True)
    check_whole("n_updates", n_updates, minimum=0)
    shape = SCHEDULES[check_choice("schedule", schedule, SCHEDULES)]
    return rate * shape(np.arange(n_updates) / max(n_updates, 1))
