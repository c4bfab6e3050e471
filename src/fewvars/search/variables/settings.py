"""Settings of the search for variables, and the groups of inputs that may be selected."""

from dataclasses import dataclass, replace

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.search.problem import Settings
from fewvars.series.scaling import duplicated_columns

AUTO, MOMENTUM, MONOTONE = "auto", "momentum", "monotone"
SOLVERS = (MOMENTUM, MONOTONE)


@dataclass(frozen=True)
class VariableSettings(Settings):
    """How variables are searched for.

    Attributes
    ----------
    n_variables : int, optional
        Number of groups to find; by default it is chosen.
    max_candidates : int
        Supports along the path that are judged.
    max_inputs : int
        More groups than this are screened first.
    solver : {"momentum", "monotone"}
        Of the path.
    judge : str
        "auto", or one of `fewvars.search.variables.judges.JUDGES` to decide alone on supports along the path.
    """

    n_variables: int | None = None
    max_candidates: int = 16
    max_inputs: int = 300
    solver: str = MOMENTUM
    judge: str = AUTO


@dataclass(frozen=True, eq=False)
class Groups:
    """Group of each input (inputs,), which groups may be selected and which are always included (groups,)."""

    labels: np.ndarray
    usable: np.ndarray
    included: np.ndarray

    @classmethod
    def of(
        cls, labels: np.ndarray, include: np.ndarray, exclude: np.ndarray, Z: FloatArray, constant: np.ndarray
    ) -> "Groups":
        """Rule out excluded groups, and groups whose inputs are constant or repeat an earlier column of Z.

        Groups to include and to exclude are given by number.
        """
        n_groups = int(labels.max()) + 1
        included = np.zeros(n_groups, bool)
        included[include] = True
        usable = np.ones(n_groups, bool)
        usable[exclude] = False
        return cls(labels, usable, included).within(Z, constant)

    def within(self, Z: FloatArray, constant: np.ndarray) -> "Groups":
        """Rule out more groups: those whose inputs are constant or repeat an earlier column in these rows, Z."""
        idle = constant | duplicated_columns(Z)
        informative = np.bincount(self.labels, ~idle, minlength=self.usable.size) > 0
        return replace(self, usable=(self.usable & informative) | self.included)
