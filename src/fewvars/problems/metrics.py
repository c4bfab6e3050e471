"""How good an answer is: supports, graphs, predictions and directions compared with the truth.

A ratio 0/0 (no positives, nothing selected, ...) is nan: there was nothing to judge. When averaging over
replicates, use `numpy.nanmean` and report how many values it averages.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import subspace_angles
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, roc_auc_score

from fewvars._common.validation import FloatArray


def sensitivity(true: ArrayLike, selected: ArrayLike) -> float:
    """Share of the true variables that were selected; nan when there are none.

    Parameters
    ----------
    true, selected : array-like of bool, of the same shape
        Supports (d,), or graphs (d, d).
    """
    true, selected = _masks(true, selected)
    return _ratio((true & selected).sum(), true.sum())


def specificity(true: ArrayLike, selected: ArrayLike) -> float:
    """Share of the irrelevant variables that were not selected; nan when there are none.

    Parameters
    ----------
    true, selected : array-like of bool, of the same shape
        Supports (d,), or graphs (d, d).
    """
    true, selected = _masks(true, selected)
    return _ratio((~true & ~selected).sum(), (~true).sum())


def exact_support(true: ArrayLike, selected: ArrayLike) -> bool:
    """Whether exactly the true variables were selected."""
    true, selected = _masks(true, selected)
    return bool((true == selected).all())


def relative_error(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Relative error of the paper, sqrt(Σ |y - ŷ|² / Σ |y|²), not centred.

    A constant prediction scores well when the mean of y is large compared with its spread; see
    `centred_error`. When y is all zero: 0.0 if the prediction is too, inf otherwise.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, k)
        Truth and prediction.
    """
    y_true, y_pred = _values(y_true, y_pred)
    return _root_ratio(y_true - y_pred, y_true)


def centred_error(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Root of 1 - R², sqrt(Σ |y - ŷ|² / Σ |y - ȳ|²): predicting the mean scores 1.0.

    ȳ is the mean of `y_true` (of each output). When y is constant: 0.0 if the prediction is exact, inf
    otherwise.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, k)
        Truth and prediction.
    """
    y_true, y_pred = _values(y_true, y_pred)
    # The mean of equal numbers may differ from them in the last bit; a constant must stay constant.
    centre = np.where(np.ptp(y_true, axis=0) == 0, y_true[0], y_true.mean(axis=0))
    return _root_ratio(y_true - y_pred, y_true - centre)


def principal_angles(A: ArrayLike, B: ArrayLike, scale: ArrayLike | None = None) -> FloatArray:
    """Principal angles in degrees between the row spaces of two matrices, largest first.

    Parameters
    ----------
    A, B : array-like of shape (k, d) and (l, d)
        Directions as rows; neither matrix may be all zero.
    scale : array-like of shape (d,), optional
        Positive scale of each input, such as its standard deviation. Angles depend on the units of the
        inputs; with a scale they are those for inputs divided by it, that is, between A * scale and
        B * scale.

    Returns
    -------
    ndarray of shape (min(rank A, rank B),)
        Angles in [0, 90].
    """
    first, second = (np.atleast_2d(np.asarray(matrix, dtype=np.float64)) for matrix in (A, B))
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise ValueError(
            f"A and B must be matrices with equal numbers of columns, got {first.shape} and {second.shape}."
        )
    if scale is not None:
        scales = np.asarray(scale, dtype=np.float64)
        if scales.shape != first.shape[1:] or not (np.isfinite(scales) & (scales > 0)).all():
            raise ValueError(f"scale must hold {first.shape[1]} positive finite numbers.")
        first, second = first * scales, second * scales
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("A and B must be finite.")
    if not (first.any() and second.any()):
        raise ValueError("A and B must each have a nonzero row: the empty space has no angles.")
    return np.degrees(subspace_angles(first.T, second.T))


def precision(true: ArrayLike, selected: ArrayLike, *, diagonal: bool = True) -> float:
    """Share of the selected edges that are true; nan when none is selected.

    Parameters
    ----------
    true, selected : array-like of bool, of the same shape
        Graphs (d, d), or supports (d,).
    diagonal : bool
        False leaves out the edges of variables to themselves (graphs only).
    """
    true, selected = _edges(*_masks(true, selected), diagonal=diagonal)
    return _ratio((true & selected).sum(), selected.sum())


def recall(true: ArrayLike, selected: ArrayLike, *, diagonal: bool = True) -> float:
    """Share of the true edges that are selected; nan when there are none. The arguments are those of `precision`."""
    true, selected = _edges(*_masks(true, selected), diagonal=diagonal)
    return _ratio((true & selected).sum(), true.sum())


def f1(true: ArrayLike, selected: ArrayLike, *, diagonal: bool = True) -> float:
    """Harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN); nan when both graphs are empty.

    The arguments are those of `precision`.
    """
    true, selected = _edges(*_masks(true, selected), diagonal=diagonal)
    return _ratio(2 * (true & selected).sum(), true.sum() + selected.sum())


def structural_hamming_distance(true: ArrayLike, selected: ArrayLike, *, diagonal: bool = True) -> int:
    """Number of entries in which two graphs differ; a reversed edge counts twice.

    Both directions of a pair may be true in a dynamical system, so a reversal is two mistakes here.
    The arguments are those of `precision`.
    """
    true, selected = _edges(*_masks(true, selected), diagonal=diagonal)
    return int((true != selected).sum())


def auroc(true: ArrayLike, scores: ArrayLike, *, diagonal: bool = True) -> float:
    """Area under the ROC curve of edge scores: the chance that a true edge outranks a false one.

    Ties count one half. nan when all edges are true, or none.

    Parameters
    ----------
    true : array-like of bool, shape (d, d) or (d,)
        Graph or support.
    scores : array-like of the same shape
        Larger for more credible edges. Only their order counts; infinities are allowed.
    diagonal : bool
        False leaves out the edges of variables to themselves (graphs only).
    """
    edges, ranks = _ranked(true, scores, diagonal)
    return float(roc_auc_score(edges, ranks)) if 0 < edges.sum() < edges.size else float("nan")


def auprc(true: ArrayLike, scores: ArrayLike, *, diagonal: bool = True) -> float:
    """Area under the precision-recall curve of edge scores, as average precision.

    1.0 when all edges are true, nan when none is. The arguments are those of `auroc`.
    """
    edges, ranks = _ranked(true, scores, diagonal)
    return float(average_precision_score(edges, ranks)) if edges.any() else float("nan")


def _ranked(true: ArrayLike, scores: ArrayLike, diagonal: bool) -> tuple[NDArray[np.bool_], FloatArray]:
    mask = _mask("true", true)
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != mask.shape:
        raise ValueError(f"scores have shape {values.shape}, the truth {mask.shape}; they must agree.")
    if np.isnan(values).any():
        raise ValueError("scores contain nan; give -inf to an edge that has no score.")
    edges, values = _edges(mask, values, diagonal=diagonal)
    # Ranks keep order and ties, and are finite where scores are not.
    return edges, rankdata(values)


def _edges(*arrays: NDArray, diagonal: bool) -> tuple[NDArray, ...]:
    if diagonal:
        return tuple(array.ravel() for array in arrays)
    shape = arrays[0].shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"diagonal=False needs a square graph, got shape {shape}.")
    off = ~np.eye(shape[0], dtype=bool)
    return tuple(array[off] for array in arrays)


def _mask(name: str, values: ArrayLike) -> NDArray[np.bool_]:
    mask = np.asarray(values)
    if mask.dtype != bool:
        raise ValueError(f"{name} must be a mask of booleans, got dtype {mask.dtype}; indices are not a mask.")
    if mask.size == 0:
        raise ValueError(f"{name} is empty.")
    return mask


def _masks(true: ArrayLike, selected: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    truth, choice = _mask("true", true), _mask("selected", selected)
    if truth.shape != choice.shape:
        raise ValueError(f"true has shape {truth.shape}, selected {choice.shape}; they must agree.")
    return truth, choice


def _values(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[FloatArray, FloatArray]:
    truth, prediction = np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
    if truth.shape != prediction.shape or truth.ndim == 0 or truth.size == 0:
        raise ValueError(
            f"y_true and y_pred must have the same shape and at least one row, got {truth.shape}, {prediction.shape}."
        )
    if not (np.isfinite(truth).all() and np.isfinite(prediction).all()):
        raise ValueError("y_true and y_pred must be finite.")
    return truth, prediction


def _ratio(part: int, whole: int) -> float:
    return float(part / whole) if whole else float("nan")


def _root_ratio(error: FloatArray, size: FloatArray) -> float:
    numerator, denominator = np.linalg.norm(error), np.linalg.norm(size)
    if denominator == 0:
        return 0.0 if numerator == 0 else float("inf")
    return float(numerator / denominator)
