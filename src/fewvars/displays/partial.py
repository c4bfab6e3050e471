"""Partial dependence: how the prediction changes with one variable while the others stay as measured."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from fewvars._common.validation import FloatArray, check_whole
from fewvars.columns.raw import as_objects, of_matrix, raw_columns
from fewvars.displays.outputs import outputs_of


@dataclass(frozen=True, eq=False)
class Dependence:
    """Predictions along one variable.

    Attributes
    ----------
    variable : int
    grid : (points,) values of the variable; 0, 1, ... for the levels of a category
    curves : (rows, points) one curve for each row whose other variables were kept
    deciles : (9,) of the variable in the data; none of a category
    levels : tuple of str
        Of a category, in the order of the grid.
    """

    variable: int
    grid: FloatArray
    curves: FloatArray
    deciles: FloatArray
    levels: tuple[str, ...] = ()

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
    than `points` of them; over the levels of a category. If there are more than `max_rows` rows, that many are chosen
    at random, and of these only the ones that can be predicted are used.
    """
    check_whole("points", points, minimum=2)
    check_whole("max_rows", max_rows)
    columns = raw_columns(X)
    if columns is None:
        table = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
        columns = of_matrix(table)
    else:
        table = as_objects(columns)
    rows = table[some_rows(len(table), max_rows)]
    levels = _levels(estimator)
    found = []
    for variable in map(int, variables):
        own = levels.get(variable, ())
        values, deciles = (own, np.empty(0)) if own else _grid(columns[variable].numbers(), points)
        varied = np.repeat(rows.astype(object) if own else rows, len(values), axis=0)
        varied[:, variable] = np.tile(np.array(values, dtype=varied.dtype), len(rows))
        predicted = _predict(estimator, varied)[:, output].reshape(len(rows), len(values))
        curves = predicted[~np.isnan(predicted).any(axis=1)]
        grid = np.arange(float(len(own))) if own else np.asarray(values)
        found.append(Dependence(variable, grid, curves, deciles, own))
    return found


def _levels(estimator: Any) -> dict[int, tuple[str, ...]]:
    """Return the levels of the categories by the number of the column."""
    encoding = getattr(estimator, "_encoding", None)
    return {} if encoding is None else encoding.levels()


def _grid(column: FloatArray, points: int) -> tuple[FloatArray, FloatArray]:
    """Return the grid of a numeric variable, and its deciles."""
    column = column[~np.isnan(column)]
    values = np.unique(column)
    low, high = np.percentile(column, [1, 99])
    grid = values if values.size <= points else np.linspace(low, high, points)
    return grid, np.percentile(column, np.arange(10, 100, 10))


def _predict(estimator: Any, table: FloatArray) -> FloatArray:
    with warnings.catch_warnings():
        # The rows come from a table whose names were checked before.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return outputs_of(estimator, table)
