"""What all equations of a system share: measurements, scaled inputs, settings, and what is known about supports."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.estimators.measurements import Measurements
from fewvars.estimators.rows import Rows
from fewvars.estimators.selectable import without_excluded
from fewvars.estimators.standardised import Inputs
from fewvars.heads import PolynomialHead
from fewvars.search.variables.settings import Groups
from fewvars.search.variables.terms import Terms


@dataclass(frozen=True)
class EquationSettings:
    """How an equation is searched for: held-out blocks, resamples of them, and heads."""

    head: str = "auto"
    max_degree: int = 4
    n_blocks: int = 20
    n_resamples: int = 0
    seed: int = 0


class Support(NamedTuple):
    """The inputs of an equation.

    Attributes
    ----------
    groups : (groups,) bool
    error : float
        Held-out error over the variance of the target.
    polynomial : tuple, optional
        A polynomial of these groups and its held-out errors (pieces,), if the search has fitted one.
    """

    groups: np.ndarray
    error: float
    polynomial: tuple[PolynomialHead, FloatArray] | None = None


@dataclass(frozen=True, eq=False)
class System:
    """What equations share whose left sides are averaged over the same windows.

    Attributes
    ----------
    data : Measurements
    settings : EquationSettings
    include, exclude : (d, groups) bool
        What each equation must or must not depend on.
    shared : Inputs
        Of all equations, scaled once.
    terms : Terms
        Of these inputs.
    known : dict
        Supports of equations, by number, that have been searched for already.
    """

    data: Measurements
    settings: EquationSettings
    include: np.ndarray
    exclude: np.ndarray
    shared: Inputs
    terms: Terms
    known: dict[int, Support] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Measurements, settings: EquationSettings, include: np.ndarray, exclude: np.ndarray) -> "System":
        """Scale the inputs."""
        rows = Rows(np.arange(len(data.weight)), data.weight / data.weight.mean(), None, data.runs, None)
        gap = min(data.gap, max(map(len, rows.runs)) // 8)  # a wider one would leave nothing of short runs
        shared = Inputs.of(rows, data.inputs[data.centres], smoothed=data.smoothed, gap=gap)
        scaled = np.ascontiguousarray(shared.scaling.apply(data.inputs))
        rows_are_samples = data.windows.shape[0] == data.windows.shape[1]
        terms = Terms.of(scaled, data.labels, None if rows_are_samples else data.windows).with_steps()
        return cls(data, settings, include, exclude, shared, terms)

    def groups(self, i: int) -> Groups:
        """Return the groups of inputs with those that the i-th equation must or must not depend on."""
        labels, scaling = self.data.labels, self.shared.scaling
        included, excluded = (np.flatnonzero(mask[i]) for mask in (self.include, self.exclude))
        Z = without_excluded(self.shared.Z, np.isin(labels, excluded)) if excluded.size else self.shared.Z
        return Groups.of(labels, included, excluded, Z, scaling.constant)


def systems_of_measurements(
    measurements: Sequence[Measurements], settings: EquationSettings, include: np.ndarray, exclude: np.ndarray
) -> list[System]:
    """Return the system that each equation belongs to, given what its search uses."""
    known = {id(data): data for data in measurements}
    systems = {key: System.of(data, settings, include, exclude) for key, data in known.items()}
    return [systems[id(data)] for data in measurements]
