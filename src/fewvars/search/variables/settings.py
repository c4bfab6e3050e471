"""How variables are searched for, and which groups of inputs may be found."""

from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.search.problem import Settings
from fewvars.series.scaling import duplicated_columns

AUTO, MONOTONE = "auto", "monotone"


@dataclass(frozen=True)
class VariableSettings(Settings):
    """How variables are searched for.

    Attributes
    ----------
    n_variables : int, optional
        Number of groups asked for, instead of having it found.
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
    solver: str = "momentum"
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
        """Rule out excluded groups, and those whose inputs are constant or repeat an earlier column of Z.

        Groups to include and to exclude are given by number.
        """
        n_groups = int(labels.max()) + 1
        included = np.zeros(n_groups, bool)
        included[include] = True
        idle = constant | duplicated_columns(Z)
        usable = np.bincount(labels, ~idle, minlength=n_groups) > 0
        usable[exclude] = False
        return cls(labels, usable | included, included)
