"""Append the recent past of each input as further columns, selected or dropped together with that input."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import FLOAT_DTYPES, _check_feature_names_in, check_is_fitted, validate_data

from fewvars._common.validation import check_whole
from fewvars.series.splits import IntArray, trajectory_rows

__all__ = ["LagTransformer"]


class LagTransformer(TransformerMixin, BaseEstimator):
    """Lagged copies of the columns of a trajectory.

    The output has the columns x_j(t - lag) for the first lag and all inputs j, then for the second lag, and
    so on. Lags count rows, so the rows should be evenly spaced in time. The number of rows is kept: where a
    trajectory has no past to look at, its first row stands in for it. `complete_rows` tells those rows
    apart, so that they can be left out of a fit or given no weight.

    Parameters
    ----------
    lags : int or sequence of int, default=1
        A number L stands for 0, 1, ..., L. A sequence lists the lags themselves: without 0 in it, the present is
        left out.

    Attributes
    ----------
    lags_ : tuple of int
        The lags, spelt out.
    feature_groups_ : ndarray of int, shape (len(lags_) * d,)
        The input that each output column is a copy of. Give it to an estimator as `feature_groups=` for
        the copies of one input to be selected together.
    n_features_in_ : int
        The number d of inputs.
    feature_names_in_ : ndarray of str, shape (d,)
        Their names, if they had any.

    Examples
    --------
    >>> import numpy as np
    >>> lagged = LagTransformer(2).fit(np.zeros((5, 1)))
    >>> lagged.get_feature_names_out()
    array(['x0', 'x0[t-1]', 'x0[t-2]'], dtype=object)
    >>> lagged.transform(np.array([[1.0], [2.0], [3.0], [4.0]]))
    array([[1., 1., 1.],
           [2., 1., 1.],
           [3., 2., 1.],
           [4., 3., 2.]])
    >>> lagged.complete_rows(4)
    array([False, False,  True,  True])
    """

    def __init__(self, lags: int | Sequence[int] = 1):
        self.lags = lags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the number and names of the inputs, X of shape (n, d); y is ignored."""
        lags = _spelt_out(self.lags)
        validate_data(self, X, dtype=FLOAT_DTYPES)
        self.lags_ = lags
        self.feature_groups_ = np.tile(np.arange(self.n_features_in_), len(lags))
        return self

    def transform(self, X: Any, trajectory: ArrayLike | None = None) -> Any:
        """Return the lagged columns.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows in order of time.
        trajectory : array-like of shape (n,), optional
            Rows with the same label are one run, contiguous or not; no run looks back into another.

        Returns
        -------
        ndarray of shape (n, len(lags_) * d), or a frame if `set_output` asks for one
        """
        check_is_fitted(self)
        data = validate_data(self, X, dtype=FLOAT_DTYPES, reset=False)
        runs = trajectory_rows(trajectory, len(data))
        return np.concatenate([data[_rows_before(lag, runs)] for lag in self.lags_], axis=1)

    def fit_transform(self, X: Any, y: Any = None, trajectory: ArrayLike | None = None) -> Any:
        """Fit to X and transform it; same parameters as `transform`, y is ignored."""
        return self.fit(X, y).transform(X, trajectory=trajectory)

    def complete_rows(self, n: int, trajectory: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Return which of n rows, of these trajectories, have all of the past they need: bool (n,)."""
        check_is_fitted(self)
        complete = np.zeros(n, dtype=bool)
        for run in trajectory_rows(trajectory, n):
            complete[run[max(self.lags_) :]] = True
        return complete

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns: `x3` for the present and `x3[t-2]` for the past."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array([f"{x}[t-{lag}]" if lag else x for lag in self.lags_ for x in names], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _spelt_out(lags: Any) -> tuple[int, ...]:
    if not isinstance(lags, Iterable):
        return tuple(range(check_whole("lags", lags, minimum=0) + 1))
    listed = tuple(check_whole("lags", lag, minimum=0) for lag in lags)
    if not listed or len(set(listed)) < len(listed):
        raise ValueError(f"lags={lags!r} is empty or repeats a lag; list each lag once, for example [0, 1, 2].")
    return listed


def _rows_before(lag: int, runs: Sequence[IntArray]) -> IntArray:
    """Return for each row the one `lag` rows earlier in its run, or else the first of its run."""
    source = np.empty(sum(map(len, runs)), dtype=np.intp)
    for run in runs:
        source[run] = run[np.maximum(np.arange(len(run)) - lag, 0)]
    return source
