"""Paths of ever fewer terms of a dictionary, by best subsets, by sequential thresholding or by an l1 penalty."""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from fewvars._common.validation import FloatArray
from fewvars.polynomials.compressed import DEPENDENT, OneOutput
from fewvars.polynomials.paths import SAMPLES_PER_COLUMN, DictionaryPath, l1_path
from fewvars.polynomials.subsets import Columns, best_subsets, coefficients_of, eliminated, solved_by_qr

METHODS = ("subsets", "threshold", "l1")
_MOST_CANDIDATES = 100


def sparse_path(method: str, data: OneOutput, constant: bool, strengths: FloatArray | None = None) -> DictionaryPath:
    """Return the path of one of the methods; strengths are those of the l1 penalty, if they are given."""
    if method == "l1":
        return l1_path(data, constant, strengths)
    return subset_path(data, constant) if method == "subsets" else threshold_path(data, constant)


def subset_path(data: OneOutput, constant: bool = True) -> DictionaryPath:
    """Least squares on ever fewer terms, from many to none; the constant is a term like the others.

    Subsets of at most 12 terms are the best that exchanges find among 100 candidates: all columns, or the first ones
    that orthogonal matching pursuit selects. Larger subsets come from elimination, of all columns if there are at least
    three samples for each. The strength of a fit is its smallest standardised coefficient.
    """
    if not constant:
        return _path(data, data.factor, data.target, constant=False, by_size=False)
    return _path(data, *_with_constant(data), constant=True, by_size=False)


def threshold_path(data: OneOutput, constant: bool = True) -> DictionaryPath:
    """Sequential thresholding: the terms with the smallest standardised coefficients go first; the constant stays."""
    return _path(data, data.factor, data.target, constant=constant, by_size=True)


def _path(data: OneOutput, table: FloatArray, target: FloatArray, *, constant: bool, by_size: bool) -> DictionaryPath:
    """Least squares on subsets of the columns of a table, which may have the constant in front of those of the data."""
    ahead = table.shape[1] - data.factor.shape[1]
    first = np.arange(ahead)
    usable = np.flatnonzero(data.column_scales > 0)
    limit = max(1, min(int(data.n) // SAMPLES_PER_COLUMN, _MOST_CANDIDATES))
    few = np.concatenate((first, ahead + (usable if usable.size <= limit else _matched(data, limit))))
    search = partial(eliminated, by_size=True) if by_size else best_subsets
    subsets = [few[chosen] for chosen in search(Columns.of(table[:, few], target))]
    if limit < usable.size <= data.n / SAMPLES_PER_COLUMN:
        many = np.concatenate((first, ahead + usable))
        larger = eliminated(Columns.of(table[:, many], target), more_than=few.size, by_size=by_size)
        subsets = [many[chosen] for chosen in larger] + subsets
    coefficients = np.zeros((len(subsets), table.shape[1]))
    strengths, residuals = np.full(len(subsets), np.inf), np.empty(len(subsets))
    for i, chosen in enumerate(subsets):
        upper, rotated, residuals[i] = solved_by_qr(table[:, chosen], target)
        coefficients[i, chosen] = coefficients_of(upper, rotated)
        strengths[i] = np.abs(coefficients[i, chosen[chosen >= ahead]]).min(initial=np.inf)
    kept = [constant and (ahead == 0 or 0 in chosen) for chosen in subsets]
    return DictionaryPath(strengths, coefficients[:, ahead:], np.array(kept), residuals)


def _with_constant(data: OneOutput) -> tuple[FloatArray, FloatArray]:
    """Factor (r + 1, 1 + m) and target (r + 1,) of the same problem before columns and output were centred."""
    root = np.sqrt(data.n)
    shifts = np.divide(
        data.column_means, data.column_scales, out=np.zeros_like(data.column_means), where=data.column_scales > 0
    )
    below = np.column_stack((np.zeros(len(data.factor)), data.factor))
    return np.vstack((root * np.r_[1.0, shifts], below)), np.r_[root * data.mean / data.scale, data.target]


def _matched(data: OneOutput, limit: int) -> NDArray[np.intp]:
    """The first `limit` columns that orthogonal matching pursuit takes, a fiftieth of them at a time."""
    chosen = np.zeros(data.factor.shape[1], dtype=bool)
    basis, residual = np.empty((len(data.factor), 0)), data.target
    while (missing := limit - chosen.sum()) > 0:
        scores = np.abs(data.factor.T @ residual)
        scores[chosen] = 0.0
        best = np.argsort(-scores, kind="stable")[: min(missing, max(1, limit // 50))]
        best = best[scores[best] > DEPENDENT * data.n]
        if not best.size:
            break
        chosen[best] = True
        block = data.factor[:, best]
        for _ in range(2):  # a single projection leaves rounding errors, two are enough
            block = block - basis @ (basis.T @ block)
        directions, upper, _ = qr(block, mode="economic", pivoting=True)
        rank = (np.abs(np.diag(upper)) > DEPENDENT * np.sqrt(data.n)).sum()
        basis = np.concatenate((basis, directions[:, :rank]), axis=1)
        residual = data.target - basis @ (basis.T @ data.target)
    return np.flatnonzero(chosen)
