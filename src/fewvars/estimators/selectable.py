"""Which groups of inputs may be selected: those that vary, and what the user includes, excludes and asks for."""

from collections.abc import Set
from typing import Any

import numpy as np

from fewvars._common.validation import FloatArray, check_whole
from fewvars.estimators.inputs import positions
from fewvars.estimators.standardised import Inputs
from fewvars.search.variables.settings import Groups


def selectable_groups(model: Any, columns: np.ndarray, labels: np.ndarray, inputs: Inputs) -> Groups:
    """Return the groups of inputs that may be selected.

    Parameters
    ----------
    model : estimator
        With the parameters `include`, `exclude` and `n_variables`.
    columns : (n_features,) group of each column of X
    labels : (inputs,) group of each input
    inputs : Inputs
    """
    include, exclude = (columns[_positions(model, argument)] for argument in ("include", "exclude"))
    if np.intersect1d(include, exclude).size:
        raise ValueError(
            f"include={model.include!r} and exclude={model.exclude!r} name the same input, or inputs of one group: "
            "leave it out of one of them."
        )
    Z = without_excluded(inputs.scaling.apply(inputs.X), np.isin(labels, exclude))
    groups = Groups.of(labels, include, exclude, Z, inputs.scaling.constant)
    if model.n_variables is not None:
        _check_number(model.n_variables, groups)
    return groups


def without_excluded(Z: FloatArray, excluded: np.ndarray) -> FloatArray:
    """Return inputs (n, inputs) with those excluded (inputs,) set to zero, so that their copies may be selected."""
    return np.where(excluded, 0.0, Z)


def _positions(model: Any, argument: str) -> np.ndarray:
    """Return the numbers of the columns that a parameter of the model names."""
    chosen, d = getattr(model, argument), model.n_features_in_
    if chosen is None:
        return np.zeros(0, int)
    items = [chosen] if np.ndim(chosen) == 0 and not isinstance(chosen, Set) else list(chosen)
    if len(items) == d and all(isinstance(item, bool | np.bool_) for item in items):
        return np.flatnonzero(items)
    return np.array(positions(model, argument, items, f", or a mask of {d} booleans"), int)


def _check_number(n_variables: Any, groups: Groups) -> None:
    check_whole("n_variables", n_variables, minimum=0)
    fewest, most = int(groups.included.sum()), int(groups.usable.sum())
    if n_variables > most:
        raise ValueError(
            f"n_variables={n_variables}: there are only {most} to choose from that are not constant and do not repeat "
            "another; ask for at most that many."
        )
    if n_variables < fewest:
        raise ValueError(f"n_variables={n_variables}: include names {fewest}; ask for at least that many.")
