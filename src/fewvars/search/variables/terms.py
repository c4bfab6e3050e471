"""Simple functions of one or two groups of inputs, as columns of a linear model: lines, curves, steps, products."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf

from fewvars._common.validation import FloatArray

REACH = 3.0  # inputs are clipped to this many standard deviations before taking powers, which limits outliers
FEW_ROWS, MOST_ROWS = 50, 4000  # rows in which distinct values are counted: first in a few
MOST_LEVELS = 4
MOST_KNOWN = 4_000_000  # terms times rows that are cached
MOST_PRODUCTS = 25  # columns of the product of two groups
N_STEPS = 8  # places of the steps of an input, at equally spaced quantiles of it
STEEPNESS = (2.0, 6.0)  # of the steps at each place
STEPS = 1 + N_STEPS * len(STEEPNESS)  # columns of the steps of an input: a line is one of them


class Term(NamedTuple):
    """A kind of function, and the groups of inputs it is a function of."""

    kind: str
    groups: tuple[int, ...]

    @property
    def name(self) -> str:
        """The term in words, for logs and errors."""
        return f"{self.kind}({', '.join(map(str, self.groups))})"


@dataclass(frozen=True, eq=False)
class Terms:
    """Columns of terms of inputs in groups.

    Attributes
    ----------
    Z : (samples, inputs), standardised
    labels : (inputs,) group of each input
    levels : (inputs,)
        Number of distinct values of each input, counted up to four.
    windows : (n, samples) sparse matrix, optional
        Each row of the columns is an average over samples; without it the rows are the samples themselves.
    places : (places, inputs), optional
        Where the steps of each input are; without it there are none.
    """

    Z: FloatArray
    labels: np.ndarray
    levels: np.ndarray
    windows: Any = None
    places: FloatArray | None = None
    _known: dict[Term, FloatArray] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, Z: FloatArray, labels: np.ndarray, windows: Any = None) -> "Terms":
        """Count the distinct values of each input; most inputs have four in the first few rows."""
        levels = _n_different(Z[:FEW_ROWS])
        few = levels < MOST_LEVELS
        levels[few] = _n_different(Z[:MOST_ROWS, few])
        return cls(Z, labels, levels, windows)

    def with_steps(self) -> "Terms":
        """Return the same terms and steps, which can follow any function of a single input, however sharp it is."""
        places = np.quantile(self.Z, (np.arange(N_STEPS) + 0.5) / N_STEPS, axis=0)
        return replace(self, places=places, _known={})

    def of_inputs(self, Z: FloatArray) -> "Terms":
        """Return the same terms of other rows of the inputs."""
        return replace(self, Z=Z, _known={})

    def rows(self, chosen: np.ndarray) -> "Terms":
        """Return the same terms on some rows."""
        if self.windows is None:
            return self.of_inputs(self.Z[chosen])
        return replace(self, windows=self.windows[chosen], _known={})

    def __len__(self) -> int:
        return len(self.Z) if self.windows is None else self.windows.shape[0]

    def on_samples(self, values: FloatArray) -> FloatArray:
        """Return values (n, m) of rows carried over to samples: <average(a), v> = <a, on_samples(v)>."""
        return values if self.windows is None else self.windows.T @ values

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.labels.max()) + 1

    @cached_property
    def members(self) -> list[np.ndarray]:
        """The inputs of each group, by number."""
        return [np.flatnonzero(self.labels == g) for g in range(self.n_groups)]

    def bends(self, group: int) -> bool:
        """Return whether a curve differs from a line: an input takes more than two values, or there are several."""
        return self.members[group].size > 1 or bool((self.levels[self.members[group]] > 2).any())

    def columns(self, term: Term) -> FloatArray:
        """Return the columns of a term, (n, m), which are cached."""
        found = self._known.get(term)
        if found is None:
            found = _COLUMNS[term.kind](self, *term.groups)
            if self.windows is not None:
                found = self.windows @ found
            if len(self._known) * len(self) < MOST_KNOWN:
                self._known[term] = found
        return found

    def design(self, chosen: Iterable[Term]) -> FloatArray:
        """Return a constant and the columns of some terms, (n, 1 + columns)."""
        return np.column_stack([np.ones(len(self)), *(self.columns(term) for term in chosen)])

    def line(self, group: int) -> FloatArray:
        """x for each input x of the group."""
        return self.Z[:, self.members[group]]

    def curve(self, group: int) -> FloatArray:
        """x, x^2 and x^3 for each input, as many powers as its values distinguish, and products within the group."""
        powers = [self._powers(j) for j in self.members[group]]
        return np.column_stack([*powers, self._inner_products(group)])

    def wave(self, group: int) -> FloatArray:
        """Higher powers, a kink and waves, for what a cubic cannot follow."""
        z = np.clip(self.Z[:, self.members[group]], -REACH, REACH)
        fourth = z**2 * z**2
        waves = [shape(k * z) for k in (3, 6) for shape in (np.sin, np.cos)]
        return np.column_stack([fourth, fourth * z, np.abs(z), *waves])

    def steps(self, group: int) -> FloatArray:
        """x and tanh(k (x - a)) for each input x, at several places a and of different steepness k."""
        assert self.places is not None
        members = self.members[group]
        z = self.Z[:, members]
        steps = [np.tanh(k * (z - place)) for place in self.places[:, members] for k in STEEPNESS]
        return np.column_stack([z, *steps])

    def product(self, one: int, other: int) -> FloatArray:
        """x y for each input x of one group and y of the other."""
        a, b = self.line(one), self.line(other)
        return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)[:, :MOST_PRODUCTS]

    def bent_product(self, one: int, other: int) -> FloatArray:
        """x^2 y and x y^2 of the inputs of two groups."""
        a, b = self.line(one), self.line(other)
        squares = np.clip(a, -REACH, REACH) ** 2, np.clip(b, -REACH, REACH) ** 2
        parts = [squares[0][:, :, None] * b[:, None, :], a[:, :, None] * squares[1][:, None, :]]
        return np.column_stack([part.reshape(len(a), -1)[:, :MOST_PRODUCTS] for part in parts])

    def surface(self, one: int, other: int) -> FloatArray:
        """u^i v^j with i, j = 1, 2, 3, where u and v are bounded functions of inputs of the groups."""
        a, b = (np.column_stack([self._bounded(j) for j in self.members[group]]) for group in (one, other))
        return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)[:, :MOST_PRODUCTS]

    @cached_property
    def orthogonal_powers(self) -> FloatArray:
        """u, u^2 and u^3 of each input, orthogonal and of mean square one, or zero: (samples, 3, inputs)."""
        u = erf(self.Z / np.sqrt(2.0))
        powers = [np.ones_like(u)]
        for k in range(1, 4):
            new = u * powers[-1]
            for power in powers:
                new -= power * np.einsum("ij,ij->j", power, new) / len(u)
            sizes = np.sqrt(np.einsum("ij,ij->j", new, new) / len(u))
            there = (k < np.maximum(self.levels, 2)) & (sizes > 1e-8)
            powers.append(new * np.where(there, 1.0 / np.where(there, sizes, 1.0), 0.0))
        return np.stack(powers[1:], axis=1).astype(np.float32)

    def _bounded(self, j: int) -> FloatArray:
        """Powers of u = erf(x / sqrt(2)), which is evenly spread if x is normal, as many as the values distinguish."""
        u = erf(self.Z[:, j] / np.sqrt(2.0))
        return self._as_many_as_distinguished(j, u, u)

    def _inner_products(self, group: int) -> FloatArray:
        x = self.line(group)
        pairs = list(combinations(range(x.shape[1]), 2))[:MOST_PRODUCTS]
        return np.column_stack([np.empty((len(x), 0)), *(x[:, i] * x[:, j] for i, j in pairs)])

    def _powers(self, j: int) -> FloatArray:
        x = self.Z[:, j]
        return self._as_many_as_distinguished(j, x, np.clip(x, -REACH, REACH))

    def _as_many_as_distinguished(self, j: int, x: FloatArray, bounded: FloatArray) -> FloatArray:
        """Return x and the second and third power of a bounded x, as many as the values of input j distinguish."""
        square = bounded * bounded
        return np.column_stack([x, square, square * bounded][: max(int(self.levels[j]) - 1, 1)])


def _n_different(Z: FloatArray) -> np.ndarray:
    """Return the number of distinct values of each column, counted up to four."""
    return np.minimum(1 + np.count_nonzero(np.diff(np.sort(Z, axis=0), axis=0) > 1e-9, axis=0), MOST_LEVELS)


_COLUMNS: dict[str, Callable[..., FloatArray]] = {
    "line": Terms.line,
    "curve": Terms.curve,
    "wave": Terms.wave,
    "steps": Terms.steps,
    "product": Terms.product,
    "bent product": Terms.bent_product,
    "surface": Terms.surface,
}
