"""Cut trajectories into contiguous blocks of time and hold out a part of each, with gaps around it.

Rows next to each other in time are nearly copies of each other, even more so after smoothing: a random split
would score a model on rows that it has practically seen.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import _num_samples

from fewvars._common.validation import FloatArray, check_whole

__all__ = ["BlockedSplit", "pieces", "sample_times", "trajectory_rows"]

IntArray = NDArray[np.intp]

SMALLEST_PIECE = 5  # rows
FAR = np.iinfo(np.intp).max // 4  # rows, more than any gap


class BlockedSplit(BaseCrossValidator):
    """Hold out one part of every block of contiguous rows.

    The rows of each trajectory, in the order given, are cut into contiguous blocks, and each block into
    `n_splits` parts of equal length, give or take a row. Fold k holds out part k of every block, so each
    row is held out once and the last fold holds out the end of every block. Rows within `gap` rows of a
    held-out row of the same trajectory are left out of training.

    Parameters
    ----------
    n_splits : int, default=4
        Number of folds, and of parts in a block.
    n_blocks : int, default=20
        Number of blocks in all, shared among the trajectories by length, at least one each. Fewer are cut
        where a held-out part would have fewer than 5 rows, or where the gaps would take more than half of
        the training rows between two held-out parts.
    gap : int, default=0
        Rows left out of training on either side of a held-out part. It should exceed the bandwidth of the
        smoother that the rows went through.
    random_state : int, optional
        Draw at random which part of each block a fold holds out. Along a periodic trajectory, part k of every block
        may be the same phase of the period, which is then missing from the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> for train, test in BlockedSplit(2, gap=1).split(np.zeros(12)):
    ...     print(train, test)
    [ 7  8  9 10 11] [0 1 2 3 4 5]
    [0 1 2 3 4] [ 6  7  8  9 10 11]
    """

    # Trajectories arrive as `groups`, which scikit-learn then routes here by default.
    __metadata_request__split = {"groups": True}  # noqa: RUF012

    def __init__(self, n_splits: int = 4, *, n_blocks: int = 20, gap: int = 0, random_state: int | None = None):
        self.n_splits = n_splits
        self.n_blocks = n_blocks
        self.gap = gap
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds; the arguments are ignored."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the training rows and the held-out rows of each fold, in increasing order.

        Parameters
        ----------
        X : array-like of shape (n, ...)
            Only its number of rows is used.
        y : ignored
        groups : array-like of shape (n,), optional
            Rows with the same label are one trajectory, contiguous or not. Without it all rows are one.

        Yields
        ------
        train, test : ndarrays of int
        """
        fold, distance = self._folds(_num_samples(X), groups)
        for k in range(self.n_splits):
            yield np.flatnonzero(distance[k] > self.gap), np.flatnonzero(fold == k)

    def _folds(self, n: int, groups: ArrayLike | None) -> tuple[IntArray, IntArray]:
        """Return the fold that holds out each row, (n,), and how far each row is from each fold's, (k, n)."""
        check_whole("n_splits", self.n_splits, minimum=2)
        check_whole("n_blocks", self.n_blocks)
        check_whole("gap", self.gap, minimum=0)
        trajectories = trajectory_rows(groups, n, name="groups")
        fold = np.empty(n, dtype=np.intp)
        rng = None if self.random_state is None else np.random.default_rng(self.random_state)
        for rows, blocks in zip(trajectories, self._blocks(trajectories), strict=True):
            holder = np.tile(np.arange(self.n_splits), (blocks, 1))  # the fold that holds out each part of each block
            if rng is not None:
                holder = rng.permuted(holder, axis=1)
            edges = np.arange(1, holder.size) * len(rows) // holder.size
            fold[rows] = holder.ravel()[np.searchsorted(edges, np.arange(len(rows)), side="right")]
        if np.unique(fold).size < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the rows of any trajectory ({n} rows in "
                f"{len(trajectories)}); use fewer splits, or hold out whole trajectories with GroupKFold."
            )
        distance = np.empty((self.n_splits, n), dtype=np.intp)
        for k in range(self.n_splits):
            for rows in trajectories:
                distance[k, rows] = _distance(fold[rows] == k)
        largest = distance.max(axis=1).min() - 1
        if self.gap > largest:
            raise ValueError(
                f"gap={self.gap} leaves no training rows; the largest that leaves some is gap={largest}. "
                "Use that, more rows or more splits."
            )
        return fold, distance

    def _blocks(self, trajectories: Sequence[IntArray]) -> IntArray:
        """Return the number of blocks of each trajectory."""
        length = np.array([len(rows) for rows in trajectories])
        n_blocks = min(self.n_blocks, int(length.sum()))
        share = n_blocks * length / length.sum()
        blocks = np.floor(share).astype(np.intp)
        left_over = n_blocks - blocks.sum()
        blocks[np.argsort(blocks - share, kind="stable")[:left_over]] += 1
        piece = max(SMALLEST_PIECE, -(-4 * self.gap // (self.n_splits - 1)))
        return np.clip(blocks, 1, np.maximum(1, length // (self.n_splits * piece)))


def pieces(test: ArrayLike, groups: ArrayLike | None = None) -> IntArray:
    """Label the contiguous pieces that held-out rows form, to compare errors piece by piece.

    Parameters
    ----------
    test : array-like of int, shape (k,)
        Distinct row numbers, in any order.
    groups : array-like of shape (n,), optional
        Trajectory labels of all rows. Rows are contiguous if they follow each other in their trajectory.

    Returns
    -------
    ndarray of int, shape (k,)
        For each entry of `test` the number of its piece, counted from 0.
    """
    held = np.asarray(test, dtype=np.intp)
    if held.ndim != 1 or np.unique(held).size != held.size or (held.size and held.min() < 0):
        raise ValueError(f"test has shape {held.shape}; it must list distinct row numbers, each once.")
    n = int(held.max(initial=-1)) + 1 if groups is None else len(np.asarray(groups))
    if held.max(initial=-1) >= n:
        raise ValueError(f"test holds row {held.max()}, but groups has {n} rows; give the label of every row.")
    place = np.empty(n, dtype=np.intp)
    start = 0
    for rows in trajectory_rows(groups, n, name="groups"):
        place[rows] = start + np.arange(len(rows))
        start += len(rows) + 1  # the skipped place keeps the next trajectory from joining on
    order = np.argsort(place[held])
    labels = np.empty(len(held), dtype=np.intp)
    labels[order] = np.cumsum(np.diff(place[held][order], prepend=-1) > 1)
    return labels - labels.min(initial=len(held))


def trajectory_rows(trajectory: ArrayLike | None, n: int, *, name: str = "trajectory") -> list[IntArray]:
    """Return the row numbers of each trajectory, in order: one array per label, or one in all if None."""
    if trajectory is None:
        return [np.arange(n)]
    labels = np.asarray(trajectory)
    if labels.shape != (n,):
        raise ValueError(f"{name} has shape {labels.shape}; it must hold one label per row, shape ({n},).")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"{name} is NaN in row {np.argmax(np.isnan(labels))}; give every row a label.")
    try:
        codes = np.unique(labels, return_inverse=True)[1]
    except TypeError:
        raise ValueError(f"{name} mixes labels that have no order; give every row a label, all of one kind.") from None
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])


def sample_times(t: Any, rows: Sequence[IntArray]) -> FloatArray:
    """Return the time of every row; datetimes become seconds since the first of them.

    Parameters
    ----------
    t : array-like of shape (n,), or scalar, or None
        Sample times (numbers or datetimes) or the step between rows; None is a step of 1.
    rows : sequence of int arrays
        The rows of each trajectory, n in all, as `trajectory_rows` gives them.

    Returns
    -------
    ndarray of float64, shape (n,)
        Strictly increasing within each trajectory.
    """
    n = sum(map(len, rows))
    given = np.asarray(1.0 if t is None else t)
    times = _as_numbers(given)
    if times.ndim == 0:
        if not (np.isfinite(times) and times > 0):
            raise ValueError(f"t={t!r} is not a positive step; give a step > 0 or the time of every row.")
        step, times = float(times), np.empty(n)
        for run in rows:
            times[run] = step * np.arange(len(run))
        return times
    if times.shape != (n,):
        raise ValueError(f"t has shape {times.shape}; it must be a step or one time per row, shape ({n},).")
    if not np.isfinite(times).all():
        row = np.argmin(np.isfinite(times))
        raise ValueError(f"t is not finite in row {row} ({given[row]}); drop the row or give its time.")
    for run in rows:
        late = np.flatnonzero(np.diff(times[run]) <= 0)
        if late.size:
            before, row = run[late[0]], run[late[0] + 1]
            raise ValueError(
                f"t does not increase at row {row}: {given[row]} follows {given[before]}. Sort the rows by "
                "time and drop repeats, or tell separate runs apart with trajectory=."
            )
    return times


def first_datetime(t: Any) -> str | None:
    """Return the first of datetimes in ISO format, in UTC if they have a time zone; None if t holds something else."""
    given = np.asarray(t)
    if not given.size or not (given.dtype.kind == "M" or hasattr(given.flat[0], "tzinfo")):
        return None
    first = given.flat[0]
    if getattr(first, "tzinfo", None) is not None:
        first = first.astimezone(UTC).replace(tzinfo=None)
    return str(np.datetime64(first))


def times_since(start: str | None, t: Any) -> FloatArray:
    """Return times as numbers, in the shape given.

    Parameters
    ----------
    start : str or None
        Datetimes become seconds since this one, which `first_datetime` returned; None counts from the first of them.
    t : array-like or scalar
        Numbers, durations or datetimes.
    """
    times, first = _as_numbers(np.asarray(t)), first_datetime(t)
    if start is None or first is None:
        return times
    return times + (np.datetime64(first) - np.datetime64(start)) / np.timedelta64(1, "s")


def _as_numbers(t: NDArray[Any]) -> FloatArray:
    """Numbers as float64, durations in seconds, datetimes in seconds since the first of them."""
    try:
        if t.dtype.kind == "O" and hasattr(t.flat[0], "total_seconds"):
            return np.vectorize(lambda v: v.total_seconds(), otypes=[np.float64])(t)
        if t.dtype.kind == "O" and hasattr(t.flat[0], "tzinfo"):
            return np.vectorize(lambda v: (v - t.flat[0]).total_seconds(), otypes=[np.float64])(t)
        if t.dtype.kind in "mM":
            return (t - t.flat[0] if t.dtype.kind == "M" else t) / np.timedelta64(1, "s")
        return t.astype(np.float64)
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"t holds {t.dtype}; it must hold numbers or datetimes. Text becomes datetimes by "
            "numpy.array(t, 'datetime64')."
        ) from error


def _distance(held: NDArray[np.bool_]) -> IntArray:
    """Return how many rows each row is from the nearest held-out one; FAR where none is held out."""
    row = np.arange(len(held))
    last = np.maximum.accumulate(np.where(held, row, -FAR))
    following = np.minimum.accumulate(np.where(held, row, 2 * FAR)[::-1])[::-1]
    return np.minimum(np.minimum(row - last, following - row), FAR)
