"""Tables and series that scikit-learn and statsmodels ship, and simulated ones; class labels are coded 0 and 1."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets


class Table(NamedTuple):
    """Rows X (n, d) and y (n,), and the names of the columns of X."""

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]


Load = Callable[[], Any]


def unnamed(X: np.ndarray, y: np.ndarray) -> Table:
    return Table(X, np.asarray(y, float), tuple(f"x{j}" for j in range(X.shape[1])))


def from_sklearn(name: str, one: int | None = None) -> Load:
    """Return a data set of scikit-learn; with `one`, the target says whether a row is in that class."""
    return partial(_from_sklearn, name=name, one=one)


def _from_sklearn(name, one):
    data = getattr(datasets, f"load_{name}")()
    y = data.target if one is None else data.target == one
    return Table(data.data, np.asarray(y, float), tuple(data.feature_names))


def threes_and_eights() -> Table:
    """Digits: a three or an eight?"""
    data = datasets.load_digits()
    rows = np.isin(data.target, (3, 8))
    return Table(data.data[rows], np.asarray(data.target[rows] == 8, float), tuple(data.feature_names))


def petal_width() -> Table:
    X, names = datasets.load_iris().data, ("sepal length", "sepal width", "petal length")
    return Table(X[:, :3], X[:, 3], names)


def simulated(name: str, n_samples: int, **options: Any) -> Load:
    """Return what `make_<name>` of scikit-learn draws; 200 rows and more, always the same."""
    return partial(_simulated, name=name, n_samples=n_samples, options=options)


def _simulated(name, n_samples, options):
    return unnamed(*getattr(datasets, f"make_{name}")(n_samples, random_state=0, **options))


def frame(name: str) -> Any:
    """Return a data set of statsmodels as a frame."""
    from importlib import import_module

    return import_module(f"statsmodels.datasets.{name}").load_pandas().data


def from_statsmodels(name: str, target: str, without: Sequence[str] = ()) -> Load:
    """Return a table of statsmodels: a target, and all other columns but some."""
    return partial(_from_statsmodels, name=name, target=target, without=without)


def _from_statsmodels(name, target, without):
    data = frame(name)
    inputs = data.drop(columns=[target, *without])
    return Table(inputs.to_numpy(float), data[target].to_numpy(float), tuple(inputs.columns))


def pupils_above() -> Table:
    """Statsmodels, star98: the share of pupils above the median."""
    data = frame("star98")
    inputs = data.drop(columns=["NABOVE", "NBELOW"])
    share = data["NABOVE"] / (data["NABOVE"] + data["NBELOW"])
    return Table(inputs.to_numpy(float), share.to_numpy(float), tuple(inputs.columns))


def growth() -> Table:
    """Statsmodels, macrodata: quarterly growth of the product from that of its parts, inflation and rates."""
    data = frame("macrodata")
    sizes = ["realgdp", "realcons", "realinv", "realgovt", "realdpi", "m1"]
    grown = np.diff(np.log(data[sizes].to_numpy(float)), axis=0)
    rates = ["tbilrate", "unemp", "infl", "realint"]
    return Table(np.hstack([grown[:, 1:], data[rates].to_numpy(float)[1:]]), grown[:, 0], (*sizes[1:], *rates))


def skewed_prices() -> Table:
    """Prices in districts: income, rooms, age and place act through products, thresholds and a skewed noise."""
    rng = np.random.default_rng(1)
    income, rooms = rng.gamma(4.0, 1.0, 900), 3 + rng.gamma(3.0, 0.8, 900)
    age, north, east = 50 * rng.random(900), rng.random(900), rng.random(900)
    coast = np.exp(-6 * np.abs(north - 0.3 - 0.4 * east))
    price = 0.4 * income * (0.5 + coast) + 0.1 * rooms + 0.3 * (age > 40) + np.exp(rng.normal(-1.5, 0.7, 900))
    names = ("income", "rooms", "age", "north", "east", "people")
    return Table(np.column_stack([income, rooms, age, north, east, rng.gamma(2.0, 3.0, 900)]), price, names)


def two_kinds_of_rows() -> Table:
    """One row in six is measured five times less accurately; lines and a curve of correlated inputs."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((260, 18)) + 0.8 * rng.standard_normal((260, 1))
    noise = rng.standard_normal(260) * np.where(rng.random(260) < 1 / 6, 2.5, 0.5)
    return unnamed(X, X[:, 0] - 0.7 * X[:, 5] + np.tanh(2 * X[:, 9]) + noise)


def rare_label() -> Table:
    """A label that one row in eight carries, more often where two inputs are large."""
    rng = np.random.default_rng(3)
    X = rng.exponential(size=(700, 14))
    return unnamed(X, np.asarray(rng.random(700) < 1 / (1 + np.exp(4.2 - X[:, 2] - 0.8 * X[:, 7])), float))


def pure_noise() -> Table:
    rng = np.random.default_rng(4)
    return unnamed(rng.standard_normal((320, 12)), rng.standard_t(4, 320))


class Series(NamedTuple):
    """Times t (n,) at even steps, and values (n,), NaN where one is missing."""

    t: np.ndarray
    values: np.ndarray


def column(name: str, of: str) -> Load:
    """Return a column of a data set of statsmodels as a series, its rows numbered."""
    return partial(_column, name=name, of=of)


def _column(name, of):
    values = frame(of)[name].to_numpy(float)
    return Series(np.arange(len(values), dtype=float), values)


def months_of_el_nino() -> Series:
    """Statsmodels, elnino: the temperature of the sea, month after month."""
    values = frame("elnino").drop(columns="YEAR").to_numpy(float).ravel()
    return Series(np.arange(len(values), dtype=float), values)
