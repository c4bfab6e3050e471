"""Whether the order of a user's rows means something, and whether columns are lagged; this decides what to hold out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.estimators.rows import Rows
from fewvars.series.row_order import counts_up, is_sorted, n_repeated, neighbours_depend, simple_residual
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
    own_past : tuple of int
        The inputs that are earlier values of the target: with any, a model forecasts, and is judged on rows later than
        those that it has seen.
    notes : tuple of str
        What a user should know about it.
    """

    shuffled: bool
    lagged: bool = False
    own_past: tuple[int, ...] = ()
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
            repeated = n_repeated(Scaling.of(X).apply(X))
            if repeated >= len(X) / 2:
                notes.append(
                    f"{repeated} rows repeat the inputs of others. If they are repeated measurements, average them: "
                    "what the rows of one condition have in common can be mistaken for an effect of the inputs."
                )
            return cls(True, notes=tuple(notes))
        sources = _sources(rows, X, y)
        own_past = _earlier_values(sources, X.shape[1])
        if sources:
            which = "the target" if own_past else names[next(iter(sources.values()))]
            notes.append(f"Some inputs are earlier values of {which}, so nothing was smoothed: smoothing looks ahead.")
        if own_past:
            notes.append("The model forecasts: its error is measured on rows later than those that it was fitted to.")
        return cls(False, bool(sources), own_past, tuple(notes))


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
    if not any(neighbours_depend(column) for column in simple_residual(Z, Y).T):
        return True
    notes.append(
        "Neighbouring rows resemble each other, so blocks of rows were held out; shuffle=True holds out random rows."
    )
    return False


def _sources(rows: Rows, X: FloatArray, y: FloatArray) -> dict[int, int]:
    """Return, for each input that is an earlier value of another column, that column; targets come after the inputs."""
    columns = np.hstack([X, y])
    sampled = np.flatnonzero(~is_discrete(columns))
    found = shifts(columns[:, sampled], rows.runs)
    pairs = ((int(sampled[shift.copy]), int(sampled[shift.source])) for shift in found)
    return {copy: source for copy, source in pairs if copy < X.shape[1]}


def _earlier_values(sources: dict[int, int], n_inputs: int) -> tuple[int, ...]:
    """Return the inputs that are earlier values of a target, or of an input that is one itself."""
    found: set[int] = set()
    while new := {j for j, source in sources.items() if source >= n_inputs or source in found} - found:
        found |= new
    return tuple(sorted(found))
