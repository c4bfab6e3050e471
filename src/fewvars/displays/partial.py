"""Partial dependence: how the prediction changes with one variable while the others stay as measured."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from fewvars._common.validation import FloatArray, check_whole


@dataclass(frozen=True, eq=False)
class Dependence:
    """Predictions along one variable.

    Attributes
    ----------
    variable : int
    grid : (points,) values that the variable was given
    curves : (rows, points) one curve for each row whose other variables were kept
    deciles : (9,) of the variable in the data
    """

    variable: int
    grid: FloatArray
    curves: FloatArray
    deciles: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The partial dependence, (points,): the average over the rows."""
        return self.curves.mean(axis=0)


def some_rows(n: int, most: int) -> np.ndarray:
    """Return the numbers of at most `most` of n rows, always the same ones, in random order.

    Every tenth row of a periodic signal may show the same phase over and over; random rows show them all.
    """
    return np.arange(n) if n <= most else np.random.default_rng(0).choice(n, most, replace=False)


def partial_dependence(
    estimator: Any,
    X: Any,
    variables: Sequence[int] | np.ndarray,
    *,
    output: int = 0,
    points: int = 40,
    max_rows: int = 200,
) -> list[Dependence]:
    """Return the dependence of a fitted model's output on each of the variables.

    The grid goes from the 1st to the 99th percentile of the variable, or over its values if it has no more
    than `points` of them. Of more than `max_rows` rows, as many are used, chosen at random.
    """
    check_whole("points", points, minimum=2)
    check_whole("max_rows", max_rows)
    table = check_array(X, dtype=np.float64)
    rows = table[some_rows(len(table), max_rows)]
    found = []
    for variable in variables:
        column = table[:, variable]
        values = np.unique(column)
        low, high = np.percentile(column, [1, 99])
        grid = values if values.size <= points else np.linspace(low, high, points)
        varied = np.repeat(rows, grid.size, axis=0)
        varied[:, variable] = np.tile(grid, len(rows))
        predicted = _predict(estimator, varied)[:, output].reshape(len(rows), grid.size)
        found.append(Dependence(int(variable), grid, predicted, np.percentile(column, np.arange(10, 100, 10))))
    return found


def _predict(estimator: Any, table: FloatArray) -> FloatArray:
    with warnings.catch_warnings():
        # The rows come from a table whose names were checked before.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return np.asarray(estimator.predict(table), float).reshape(len(table), -1)
