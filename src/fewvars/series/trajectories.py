"""Measured trajectories for differential equations: runs without long gaps or missing rows."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.series.splits import sample_times, trajectory_rows

LONGEST_GAP = 10.0  # median steps; a longer gap separates two runs
FEWEST_ROWS = 10  # of a run: the smoother needs them


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Rows of a table that belong to runs, one run after the other.

    Attributes
    ----------
    rows : (n,) their numbers in the table
    t : (n,) times, increasing within each run
    runs : (n,) the run of each row, 0, 1, ...
    """

    rows: np.ndarray
    t: FloatArray
    runs: np.ndarray

    @classmethod
    def of(cls, t: Any, trajectory: Any, present: np.ndarray, fewest: int = FEWEST_ROWS) -> "Trajectories":
        """Cut trajectories at long gaps, and leave out rows that are not present and runs that are too short.

        Parameters
        ----------
        t : array-like of shape (n,), or scalar, or None
            Times, or the step between rows.
        trajectory : array-like of shape (n,) or None
            Labels.
        present : (n,) bool
            Rows in which everything was measured.
        fewest : int
            Rows that a run must have.
        """
        labelled = trajectory_rows(trajectory, present.size)
        times = sample_times(t, labelled)
        kept = [run[present[run]] for run in labelled]
        steps = np.concatenate([np.diff(times[run]) for run in kept])
        if not steps.size:
            raise ValueError(
                f"X has no two consecutive rows in which everything was measured ({int(present.sum())} complete "
                f"rows in {len(kept)} trajectories): give longer trajectories with fewer missing values."
            )
        longest = LONGEST_GAP * np.median(steps)
        pieces = [piece for run in kept for piece in np.split(run, 1 + np.flatnonzero(np.diff(times[run]) > longest))]
        whole = [piece for piece in pieces if len(piece) >= fewest]
        if not whole:
            raise ValueError(
                f"The longest stretch of X without a gap has {max(map(len, pieces))} rows: give at least one of "
                f"{fewest} rows."
            )
        n_short = sum(0 < len(piece) < fewest for piece in pieces)
        if n_short:
            warnings.warn(
                f"{n_short} of {n_short + len(whole)} stretches without a gap have fewer than {fewest} rows and are "
                "left out.",
                stacklevel=4,
            )
        rows = np.concatenate(whole)
        return cls(rows, times[rows], np.repeat(np.arange(len(whole)), list(map(len, whole))))

    @property
    def places(self) -> list[np.ndarray]:
        """The places among `rows` of each run."""
        return trajectory_rows(self.runs, self.rows.size)

    @property
    def step(self) -> float:
        """The median time between neighbouring rows."""
        return float(np.median(np.concatenate([np.diff(self.t[run]) for run in self.places])))

    def constant(self, values: FloatArray) -> np.ndarray:
        """Return which columns of values (n, columns) never change within a run, (columns,) bool."""
        return ~np.diff(values, axis=0)[np.diff(self.runs) == 0].any(axis=0)

    def next_rows(self, tolerance: float = 0.01) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of rows that are followed one step later by another, and of those that follow them."""
        now = np.flatnonzero((np.diff(self.runs) == 0) & (np.abs(np.diff(self.t) - self.step) <= tolerance * self.step))
        return now, now + 1


def by_run(places: Sequence[np.ndarray], values: FloatArray, change: Any) -> FloatArray:
    """Return values (n, ...) with a function applied to the rows of each run."""
    changed = np.array(values, dtype=np.float64)
    for run in places:
        changed[run] = change(values[run])
    return changed
