"""Whether the order of a user's rows means something, and whether columns are lagged; this decides what to hold out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.estimators.rows import Rows
from fewvars.series.row_order import counts_up, is_sorted, linear_residual, neighbours_depend
from fewvars.series.scaling import Scaling
from fewvars.series.shifts import shifts
from fewvars.series.smoothing import is_discrete

AUTO: Literal["auto"] = "auto"


@dataclass(frozen=True)
class RowOrder:
    """How rows relate to each other.

    Attributes
    ----------
    shuffled : bool
        Whether their order means nothing, so that random rows are held out rather than blocks.
    lagged : bool
        Whether inputs are earlier values of other columns: a smoother looks ahead, and would show them the future.
    forecast : bool
        Whether inputs are earlier values of the target, so that a model is judged on rows later than those it has seen.
    notes : tuple of str
        What a user should know about it.
    """

    shuffled: bool
    lagged: bool = False
    forecast: bool = False
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Rows, X: FloatArray, y: FloatArray, shuffle: Any, names: Sequence[str]) -> "RowOrder":
        """Examine inputs (n, d) and outputs (n, k).

        Parameters
        ----------
        shuffle : bool or "auto"
            What the user says about the order.
        names : sequence of d str
            Of the inputs.
        """
        if not (isinstance(shuffle, bool | np.bool_) or (isinstance(shuffle, str) and shuffle == AUTO)):
            raise ValueError(f"shuffle={shuffle!r}: give True, False or 'auto'.")
        in_time = rows.t is not None or rows.trajectory is not None
        notes: list[str] = []
        if isinstance(shuffle, str):
            shuffle = not in_time and _means_nothing(X, y, names, notes)
        if shuffle:
            return cls(True, notes=tuple(notes))
        found = _lags(rows, X, y)
        lagged = bool(found.inputs or found.targets)
        if lagged:
            which = "the target" if found.targets else names[found.inputs[0]]
            notes.append(f"Some inputs are earlier values of {which}, so nothing was smoothed: smoothing looks ahead.")
        if found.targets:
            notes.append("The model forecasts: its error is measured on rows later than those that it was fitted to.")
        return cls(False, lagged, bool(found.targets), tuple(notes))


def _means_nothing(X: FloatArray, y: FloatArray, names: Sequence[str], notes: list[str]) -> bool:
    """Return whether the order of rows without times means nothing; add what the user should know to the notes."""
    if any(is_sorted(column) for column in y.T):
        notes.append(
            "The rows are sorted by the target, so random rows were held out. If the order is time, give the times."
        )
        return True
    counters = [name for name, column in zip(names, X.T, strict=True) if counts_up(column)]
    if counters:
        notes.append(f"{counters[0]} changes in one direction from row to row. If it is the time, give it as such.")
    Z, Y = Scaling.of(X).apply(X), Scaling.of(y).apply(y)
    if not any(neighbours_depend(column) for column in linear_residual(Z, Y).T):
        return True
    notes.append(
        "Neighbouring rows resemble each other, so blocks of rows were held out; shuffle=True holds out random rows."
    )
    return False


@dataclass(frozen=True)
class _Lags:
    """The sources of the inputs that are earlier values of something: inputs and targets, by number."""

    inputs: list[int]
    targets: list[int]


def _lags(rows: Rows, X: FloatArray, y: FloatArray) -> _Lags:
    d = X.shape[1]
    columns = np.hstack([X, y])
    sampled = np.flatnonzero(~is_discrete(columns))
    found = [(sampled[shift.copy], sampled[shift.source]) for shift in shifts(columns[:, sampled], rows.runs)]
    sources = [int(source) for copy, source in found if copy < d]
    return _Lags([j for j in sources if j < d], [j - d for j in sources if j >= d])
