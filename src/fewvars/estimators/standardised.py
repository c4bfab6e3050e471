"""Standardised inputs and targets for the searches, smoothed in time if that is asked for."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fewvars._common.validation import FloatArray, check_choice
from fewvars.engine.losses import SQUARED, Loss
from fewvars.estimators.rows import Rows
from fewvars.series.scaling import Scaling
from fewvars.series.smoothing import is_discrete, smoother

SMOOTHING = ("auto", "on", "off")


@dataclass(frozen=True, eq=False)
class Inputs:
    """The inputs of all targets, smoothed and scaled once.

    Attributes
    ----------
    rows : Rows
    X : (n, d) in their own units, smoothed if `smoothed`
    scaling : Scaling
    Z : (n, d) standardised, single precision
    smoothed : bool
    smooths_target : bool
        Whether a target on these inputs is smoothed for the search: a trajectory without noise in its inputs may
        still have noise in its outputs.
    gap : int
        The widest bandwidth of the smoother in rows, zero if there was none.
    """

    rows: Rows
    X: FloatArray
    scaling: Scaling
    Z: FloatArray
    smoothed: bool
    smooths_target: bool
    gap: int

    @classmethod
    def of(
        cls, rows: Rows, X: FloatArray, *, smoothed: bool = False, smooths_target: bool = False, gap: int = 0
    ) -> "Inputs":
        """Scale inputs (n, d)."""
        scaling = Scaling.of(X, rows.sample_weight)
        return cls(rows, X, scaling, scaling.apply(X).astype(np.float32), smoothed, smooths_target, gap)


@dataclass(frozen=True, eq=False)
class Target:
    """The outputs to explain.

    Attributes
    ----------
    y : (n, k) in its own units, never smoothed
    scaling : Scaling
        So that the variances of the outputs, as searched on, add up to one.
    Y : (n, k) standardised, smoothed where the inputs say so, single precision
    gap : int
        The widest bandwidth of the smoother in rows, zero if there was none.
    """

    y: FloatArray
    scaling: Scaling
    Y: FloatArray
    gap: int

    @classmethod
    def of(cls, inputs: Inputs, y: FloatArray, loss: Loss = SQUARED) -> "Target":
        """Scale the outputs (n, k), smoothed first if the inputs say so and the outputs are measured values."""
        rows, measured = inputs.rows, loss.measured
        smooth, gap = smooth_columns(y, rows.t, rows.trajectory) if inputs.smooths_target and measured else (y, 0)
        scaling = Scaling.under(loss, smooth, rows.sample_weight)
        if measured:
            total = np.sqrt(max(int((~scaling.constant).sum()), 1))
            scaling = replace(scaling, scale=scaling.scale * total)
        return cls(y, scaling, scaling.apply(smooth).astype(np.float32), gap)


def smooth_columns(X: FloatArray, t: Any, trajectory: Any) -> tuple[FloatArray, int]:
    """Smooth all columns but discrete ones; return them and the widest bandwidth in rows."""
    found = smoother(X, t, trajectory=trajectory)
    keep = is_discrete(X)
    values = np.where(keep, X, found.values)
    return values, int(np.ceil(np.max(found.bandwidth[~keep], initial=0.0)))


def prepare_inputs(rows: Rows, X: FloatArray, smoothing: str = "auto", *, lagged: bool = False) -> list[Inputs]:
    """Smooth inputs (n, d) if that is asked for, and scale them.

    Return one version, or two between which the held-out blocks must decide: smoothed, measured. Columns of which some
    are `lagged` copies of others are never smoothed: a smoother looks ahead, and the copies would see the future.
    """
    check_choice("smoothing", smoothing, SMOOTHING)
    if smoothing == "on" and rows.t is None:
        raise ValueError(
            "smoothing='on' needs t: give the times of the rows or the step between them, or use smoothing='off'."
        )
    if lagged or smoothing == "off" or (smoothing == "auto" and rows.t is None):
        return [Inputs.of(rows, X)]
    smooth, gap = smooth_columns(X, rows.t, rows.trajectory)
    if np.array_equal(smooth, X):
        return [Inputs.of(rows, X, smooths_target=True, gap=gap)]
    smoothed = Inputs.of(rows, smooth, smoothed=True, smooths_target=True, gap=gap)
    return [smoothed] if smoothing == "on" else [smoothed, Inputs.of(rows, X)]
