"""The specification of a study as data: settings, methods and experiments."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from fewvars._common.validation import check_choice
from fewvars.problems.datasets import Dataset, lorenz96_dataset
from fewvars.problems.targets import Target, few_directions, lorenz_equation, paper_setting

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
        A Lorenz equation (Sec. 4.2, 4.3), a function that is not a polynomial (Sec. 4.4), or g(Ax) (Sec. 4.5).
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
        Group of methods: the paper's algorithm is one family with several widths.
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
        How we interpret the paper where it cannot be taken literally.
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
