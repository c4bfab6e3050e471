"""What a study consists of, as data: settings, methods, experiments, and the single fits that follow from them."""

import hashlib
import importlib
import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, final

from fewvars._common.validation import check_choice, check_whole
from fewvars.problems.datasets import Dataset, lorenz96_dataset
from fewvars.problems.targets import Target, few_directions, lorenz_equation, paper_setting
from fewvars.study.record import recorded

TARGETS = ("equation", "function", "directions")


@final
@dataclass(frozen=True)
class Setting:
    """One function on one Lorenz-96 trajectory, at one noise level.

    Parameters
    ----------
    name : str
        Short name for rows and tables, unique within the experiment.
    target : {"equation", "function", "directions"}
        A Lorenz equation (Sec. 4.2, 4.3), a function that is no polynomial (Sec. 4.4), or g(Ax) (Sec. 4.5).
    number : int
        Which equation or function. Not used for directions: there replicate r draws A with seed r.
    noise_x, noise_y : float
        The paper's sigma_x and sigma_y.
    n_train, n_test, d : int
        Samples and inputs.
    """

    name: str
    target: str
    number: int = 0
    noise_x: float = 0.0
    noise_y: float = 0.0
    n_train: int = 8000
    n_test: int = 2000
    d: int = 40

    def __post_init__(self) -> None:
        check_choice("target", self.target, TARGETS)

    def function(self, replicate: int) -> Target:
        """Return the function of a replicate."""
        if self.target == "equation":
            return lorenz_equation(self.number, self.d)
        if self.target == "function":
            return paper_setting(self.number, self.d)
        return few_directions(replicate, self.d)

    def data(self, replicate: int) -> Dataset:
        """Return the data of a replicate; its number is the seed of the noise."""
        return lorenz96_dataset(
            self.function(replicate),
            noise_x=self.noise_x,
            noise_y=self.noise_y,
            seed=replicate,
            n_train=self.n_train,
            n_test=self.n_test,
            d=self.d,
        )


@final
@dataclass(frozen=True)
class Method:
    """An estimator by name, so that it is imported where and when it is needed.

    Parameters
    ----------
    name : str
        Short name for rows, unique within the experiment.
    family : str
        What the method is a case of: the paper's algorithm has one family and several widths.
    label : str
        Name for tables and figures.
    estimator : str
        "module:class".
    parameters : tuple of (str, value)
        Parameters of the estimator that are not its defaults.
    times : bool
        Whether `fit` is given the sample times.
    """

    name: str
    family: str
    label: str
    estimator: str
    parameters: tuple[tuple[str, Any], ...] = ()
    times: bool = False

    def build(self) -> Any:
        """Return the estimator, not fitted."""
        module, _, name = self.estimator.partition(":")
        return getattr(importlib.import_module(module), name)(**dict(self.parameters))

    @property
    def available(self) -> bool:
        """Whether the estimator can be imported."""
        module, _, name = self.estimator.partition(":")
        try:
            return hasattr(importlib.import_module(module), name)
        except ModuleNotFoundError as error:
            if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
                return False
            raise

    @property
    def random(self) -> bool:
        """Whether two fits to the same data can differ."""
        return "random_state" in self.build().get_params(deep=False)


@final
@dataclass(frozen=True)
class Reported:
    """What the paper reports of one method in one setting, as it would be printed; empty where it says nothing."""

    setting: str
    method: str
    sensitivity: str = ""
    specificity: str = ""
    relative_error: str = ""


@final
@dataclass(frozen=True)
class Drawing:
    """A figure of an experiment.

    Parameters
    ----------
    name, caption : str
    kind : {"curves", "levels", "network"}
        Learned curves of replicate 0, means over the noise level, or a network with its live and dead inputs.
    setting, method : str
        Only this one; empty for all settings. A network needs a method.
    """

    name: str
    kind: str
    caption: str
    setting: str = ""
    method: str = ""

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ("curves", "levels", "network"))


@final
@dataclass(frozen=True)
class Experiment:
    """Methods x settings x replicates, with what the paper has to say about them.

    Parameters
    ----------
    name, title : str
        For rows and options; for headings.
    varies : {"noise", "initialisation", "matrix"}
        What differs between replicates. Methods without a random state are run once where nothing else does.
    settings : tuple of Setting
    methods : tuple of Method
    reported : tuple of Reported
        The paper's figures.
    notes : tuple of str
        How the paper was read where it cannot be taken literally.
    drawings : tuple of Drawing
        Its figures.
    """

    name: str
    title: str
    varies: str
    settings: tuple[Setting, ...]
    methods: tuple[Method, ...]
    reported: tuple[Reported, ...] = ()
    notes: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()

    def __post_init__(self) -> None:
        check_choice("varies", self.varies, ("noise", "initialisation", "matrix"))
        for kind, items in (("settings", self.settings), ("methods", self.methods)):
            names = [item.name for item in items]
            if len(set(names)) < len(names):
                raise ValueError(f"{kind} of {self.name!r} have names that repeat: {names}.")

    def cells(self) -> Iterator[tuple[Setting, Method]]:
        """Yield settings x methods, those methods only that can be imported."""
        methods = [method for method in self.methods if method.available]
        for setting in self.settings:
            for method in methods:
                yield setting, method

    def replicates(self, method: Method, asked: int) -> int:
        """Return how many replicates of a method are worth running."""
        return 1 if self.varies == "initialisation" and not method.random else asked

    def paper(self, setting: str, method: str) -> Reported:
        """Return what the paper reports of a method in a setting."""
        for reported in self.reported:
            if (reported.setting, reported.method) == (setting, method):
                return reported
        return Reported(setting, method)


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
    """Return all fits, every experiment's first replicate before any second: what is there first is of use.

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
