"""The single fits of a study, and the hash that identifies their rows."""

import hashlib
import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, final

from fewvars._common.validation import check_whole
from fewvars.problems.datasets import lorenz96_dataset
from fewvars.study.record import recorded
from fewvars.study.specification import Experiment, Method, Setting


@final
@dataclass(frozen=True)
class Task:
    """One fit. Its seeds follow from its names and its replicate, whoever runs it and when."""

    experiment: str
    setting: Setting
    method: Method
    replicate: int
    specification: str

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Names of the row that the fit becomes."""
        return self.experiment, self.setting.name, self.method.name, self.replicate

    @property
    def seed(self) -> int:
        """Random state of the fit, from 0 to 2**31 - 1."""
        digest = hashlib.sha256("/".join(map(str, self.key)).encode()).digest()
        return int.from_bytes(digest[:4], "big") >> 1


def specification(setting: Setting, method: Method) -> str:
    """Return 16 digits that change whenever the data or a parameter of the method does, defaults included.

    Neither names and labels count, nor what the code calls its parameters or where it lies (see
    `fewvars.study.record`), nor what it does: rows note its version.
    """
    data = {name: value for name, value in asdict(setting).items() if name != "name"}
    keywords = inspect.signature(lorenz96_dataset).parameters.values()
    defaults = {item.name: item.default for item in keywords if item.default is not item.empty and item.name != "seed"}
    parameters = recorded(method.estimator, method.build().get_params(deep=False))
    content = {
        "data": {**defaults, **data},
        "estimator": method.estimator,
        "parameters": parameters,
        "times": method.times,
    }
    text = json.dumps(_plain(content), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan(experiments: Iterable[Experiment], replicates: int, families: Iterable[str] | None = None) -> list[Task]:
    """Return all fits, every experiment's first replicate before any second, so that partial results are useful.

    Parameters
    ----------
    experiments : iterable of Experiment
    replicates : int
        The paper has 100.
    families : iterable of str, optional
        Only methods of these families.
    """
    check_whole("replicates", replicates)
    chosen = None if families is None else set(families)
    cells = [
        (experiment, setting, method, specification(setting, method), experiment.replicates(method, replicates))
        for experiment in experiments
        for setting, method in experiment.cells()
        if chosen is None or method.family in chosen
    ]
    return [
        Task(experiment.name, setting, method, replicate, digits)
        for replicate in range(replicates)
        for experiment, setting, method, digits, enough in cells
        if replicate < enough
    ]


def _plain(value: Any) -> Any:
    """Return the value as JSON types; a value that is none of these has no stable text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, **{k: _plain(v) for k, v in asdict(value).items()}}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{value!r} in a specification: give numbers, text, tuples or dataclasses of them.")
