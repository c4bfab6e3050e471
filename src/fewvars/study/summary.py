"""Means over replicates, each with its standard error and the number of fits that it is over."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from fewvars.study.row import Row
from fewvars.study.specification import Experiment, Method, Setting

METRICS = (
    "sensitivity",
    "specificity",
    "exact",
    "relative_error",
    "centred_error",
    "n_directions",
    "rank",
    "angle",
    "angle_strong",
)


@final
@dataclass(frozen=True)
class Mean:
    """Mean of n values and its standard error, nan for a single value."""

    value: float
    error: float
    n: int


@final
@dataclass(frozen=True)
class Summary:
    """All replicates of a method in a setting.

    Attributes
    ----------
    setting, method
    n, n_failed : int
        Fits that came to an end, and that did not.
    means : dict of Mean
        By metric; without those that do not apply.
    seconds : float
        Median processor time of a fit: the first fit of a process also loads the compiled code.
    """

    setting: Setting
    method: Method
    n: int
    n_failed: int
    means: dict[str, Mean]
    seconds: float


def mean(values: Iterable[float]) -> Mean:
    """Return the mean and its standard error, sample standard deviation / sqrt(n)."""
    numbers = np.array(list(values), float)
    error = numbers.std(ddof=1) / np.sqrt(numbers.size) if numbers.size > 1 else np.nan
    return Mean(float(numbers.mean()), float(error), numbers.size)


def summarise(experiment: Experiment, rows: Iterable[Row]) -> list[Summary]:
    """Return a summary of every setting and method that has rows."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.experiment == experiment.name:
            found.setdefault((row.setting, row.method), []).append(row)
    return [
        _summary(setting, method, sorted(found[setting.name, method.name], key=lambda row: row.replicate))
        for setting in experiment.settings
        for method in experiment.methods
        if (setting.name, method.name) in found
    ]


def _summary(setting: Setting, method: Method, rows: list[Row]) -> Summary:
    fitted = [row for row in rows if row.fitted]
    means = {}
    for metric in METRICS:
        values = [float(value) for row in fitted if (value := getattr(row, metric)) is not None]
        if values:
            means[metric] = mean(values)
    times = [row.seconds for row in fitted if row.seconds is not None]
    seconds = float(np.median(times)) if times else np.nan
    return Summary(setting, method, len(fitted), len(rows) - len(fitted), means, seconds)
