"""A problem turns a data set into training rows and new rows, another split or order of the rows for every seed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from typing import ClassVar

import numpy as np

from benchmarks.selection.problems import source_text
from benchmarks.trust.sources import Load, Table

N_PROBES = 50
MOST_ROWS = 2000  # of training; all others are new
LAGS = range(1, 13)
ORIGINS = 12


@dataclass(frozen=True, eq=False)
class Data:
    """Training rows X (n, d), y (n,), new rows X_new, y_new (None: there are none), names (d,), times t (n,)."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray | None
    y_new: np.ndarray | None
    names: tuple[str, ...]
    t: np.ndarray | None = None


def is_probe(name: str) -> bool:
    return name.startswith("probe ")


def with_probes(table: Table, rng: np.random.Generator) -> Table:
    """Append copies of random inputs, each with its rows permuted, which no method should select."""
    copied = rng.permuted(table.X[:, rng.integers(table.X.shape[1], size=N_PROBES)], axis=0)
    names = (*table.names, *(f"probe {j}" for j in range(N_PROBES)))
    return Table(np.hstack([table.X, copied]), table.y, names)


@dataclass(frozen=True)
class Problem:
    """A named data set; subclasses say how it is split, and which methods are tried on it."""

    methods: ClassVar[tuple[str, ...]] = ()

    name: str
    load: Load
    packages: Sequence[str] = ("sklearn",)

    @property
    def missing(self) -> str | None:
        """Why there are no data, None if there are."""
        absent = [package for package in self.packages if find_spec(package) is None]
        return f"{absent[0]} is not installed here; `make .venv-bench/.bench` installs it" if absent else None

    @property
    def source(self) -> list[str]:
        """What the data depend on, as text: a row stays valid while this does."""
        settings = [f"{N_PROBES} {MOST_ROWS} {LAGS} {ORIGINS}", source_text(type(self))]
        return settings + [f"{f.name}={source_text(getattr(self, f.name))}" for f in fields(self)]


@dataclass(frozen=True)
class RandomSplits(Problem):
    """Four fifths of the rows, at most `MOST_ROWS`, in random order; new rows are the others. Probes are appended."""

    methods = ("fewvars", "lasso-cv", "forest")

    def data(self, seed: int) -> Data:
        """Return split `seed`."""
        rng = np.random.default_rng(seed)
        X, y, names = with_probes(self.load(), rng)
        order, n = rng.permutation(len(y)), min(len(y) * 4 // 5, MOST_ROWS)
        train, new = order[:n], order[n:]
        return Data(X[train], y[train], X[new], y[new], names)


@dataclass(frozen=True)
class Rearranged(Problem):
    """The same table, probes included, with its rows chosen or ordered anew; there are no new rows."""

    rows: Callable[[np.random.Generator, int], np.ndarray] = field(kw_only=True)

    methods = ("fewvars",)

    def data(self, seed: int) -> Data:
        """Return rearrangement `seed`."""
        X, y, names = with_probes(self.load(), np.random.default_rng(0))
        rows = self.rows(np.random.default_rng(seed), len(y))
        return Data(X[rows], y[rows], None, None, names)


def another_order(rng, n):
    return rng.permutation(n)


def nine_tenths(rng, n):
    return np.sort(rng.permutation(n)[: n * 9 // 10])


@dataclass(frozen=True)
class Forecast(Problem):
    """The next value of a series from its last twelve and the time, learned from all rows before an origin.

    The last two fifths of the rows are cut into `ORIGINS` pieces: a piece holds the new rows of the origin where it
    starts. Rows with a missing value are left out.
    """

    methods = ("fewvars", "autoregression", "persistence")

    def data(self, seed: int) -> Data:
        """Return origin `seed`, modulo their number."""
        t, values = self.load()
        past = np.column_stack([values[max(LAGS) - lag : len(values) - lag] for lag in LAGS])
        now, t = values[max(LAGS) :], t[max(LAGS) :]
        known = np.isfinite(past).all(axis=1) & np.isfinite(now)
        X, y, t = past[known], now[known], t[known]
        cuts = np.linspace(0.6 * len(y), len(y), ORIGINS + 1).astype(int)
        start, stop = cuts[seed % ORIGINS], cuts[seed % ORIGINS + 1]
        return Data(X[:start], y[:start], X[start:stop], y[start:stop], tuple(f"lag {lag}" for lag in LAGS), t[:start])
