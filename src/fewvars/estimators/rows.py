"""The rows of a user's table that are used: weights, times, runs, and the user's choice of held-out rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewvars._common.cv import Split, checked_splits
from fewvars._common.validation import FloatArray, counted_rows
from fewvars.series.splits import sample_times, trajectory_rows

FEWEST_ROWS = 8


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a user's table that are used, one run after the other, with weights of mean one.

    Attributes
    ----------
    chosen : (n,) their numbers in the table
    sample_weight : (n,)
    t : (n,) times, or the step between the rows of a run, or None
    trajectory : (n,) labels of runs, or None
    splits : list of (train, test) among them, or None to have them chosen
    """

    chosen: np.ndarray
    sample_weight: FloatArray
    t: Any
    trajectory: np.ndarray | None
    splits: list[Split] | None

    @classmethod
    def of(
        cls,
        X: FloatArray,
        y: FloatArray,
        sample_weight: FloatArray,
        t: Any = None,
        trajectory: Any = None,
        cv: Any = None,
    ) -> "Rows":
        """Leave out the rows of weight zero, and put those of each run together."""
        counted = counted_rows(sample_weight, fewest=FEWEST_ROWS)
        weight = sample_weight / sample_weight.max()  # checked first, because sums of huge weights overflow
        labels = None if trajectory is None else np.asarray(trajectory)
        runs = trajectory_rows(labels, len(X))
        rows = np.concatenate(runs)
        rows = rows[counted[rows]]
        if t is not None and np.ndim(t):
            t = np.asarray(t)
            if t.shape != counted.shape:
                raise ValueError(f"t has shape {t.shape}: give one value for each of the {counted.size} rows of X.")
            t = t[rows]
        elif t is not None and not counted.all():
            t = sample_times(t, runs)[rows]  # rows that are left out leave a gap in time
        splits = None if cv is None else _splits_of_user(cv, X, y, labels, rows)
        kept = None if labels is None else labels[rows]
        found = cls(rows, weight[rows] / weight[rows].mean(), t, kept, splits)
        if t is not None:
            sample_times(t, found.runs)  # raises an error for bad times, whether or not they are used
        return found

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def runs(self) -> list[np.ndarray]:
        """The places of the rows of each run."""
        return trajectory_rows(self.trajectory, len(self))

    def blocks(self, n_blocks: int) -> np.ndarray:
        """Cut the rows into about this many blocks of consecutive rows, none across two runs; label each row."""
        labels, count = np.empty(len(self), int), 0
        for run in self.runs:
            most = min(max(1, round(n_blocks * len(run) / len(self))), len(run))
            labels[run] = count + np.arange(len(run)) * most // len(run)
            count += most
        return labels

    def later(self, n_origins: int) -> list[Split]:
        """Train on the beginning of every run and hold out what follows, for origins in its second half."""
        splits: list[Split] = []
        for k in range(n_origins):
            train, test = [], []
            for run in self.runs:
                half = len(run) // 2
                first, last = (half + (len(run) - half) * i // n_origins for i in (k, k + 1))
                train.append(run[:first])
                test.append(run[first:last])
            splits.append((np.concatenate(train), np.concatenate(test)))
        return [(train, test) for train, test in splits if len(train) > 1 and len(test) > 1]

    @property
    def in_order(self) -> bool:
        """Whether the user's arguments make the order meaningful: times, runs, or splits by row number."""
        return self.t is not None or self.trajectory is not None or self.splits is not None

    def mixed(self, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> np.ndarray:
        """Return places (n,) in a random order that depends on the contents of the rows, not on their order.

        X and y are the inputs (n, d) and outputs (n, k) of these rows.
        """
        by_values = np.argsort(y[:, -1])
        if not np.diff(y[by_values, -1]).all():  # other columns decide between equal values
            by_values = np.lexsort((self.sample_weight, *X.T, *y.T))
        return by_values[rng.permutation(len(self))]

    def only(self, places: np.ndarray) -> "Rows":
        """Return some of the rows, by their places, without the user's splits, which refer to all rows."""
        t = None if self.t is None else sample_times(self.t, self.runs)[places]
        labels = None if self.trajectory is None else self.trajectory[places]
        weight = self.sample_weight[places]
        return Rows(self.chosen[places], weight / weight.mean(), t, labels, None)


def _splits_of_user(
    cv: Any, X: FloatArray, y: FloatArray, trajectory: np.ndarray | None, counted: np.ndarray
) -> list[Split]:
    """Return the splits of a user's `cv`, by the places of their rows among those that are counted (row numbers)."""
    place = np.full(len(X), -1)
    place[counted] = np.arange(counted.size)
    splits = []
    for k, (train, test) in enumerate(checked_splits(cv, X, y, trajectory)):
        if np.unique(test).size < test.size:
            raise ValueError(f"cv: split {k} holds out a row twice; name every held-out row once.")
        train, test = (np.sort(kept[kept >= 0]) for kept in (place[train], place[test]))
        for side, rows in (("training", train), ("held-out", test)):
            if rows.size < 2:
                raise ValueError(
                    f"cv: split {k} has {rows.size} {side} rows of positive weight; give every split at least two, "
                    "better many."
                )
        splits.append((train, test))
    return splits
