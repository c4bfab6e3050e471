"""Predicted and measured values: over time, and against each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars._common.validation import FloatArray
from fewvars.displays.figure import BLUE, GREY, PALE, VERMILLION, new_axes, quiet, split_axes
from fewvars.displays.names import label
from fewvars.displays.outputs import measured_and_predicted
from fewvars.displays.partial import some_rows


class CurveDisplay:
    """Measured and predicted values over time, and their difference below.

    Parameters
    ----------
    y_true, y_pred : (n,)
    t : (n,), optional
        Times, numbers or datetimes. Default: numbers of the rows.
    trajectory : (n,), optional
        Labels of runs; lines break between them.
    name : str
        Name of the output.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        t: ArrayLike | None = None,
        trajectory: ArrayLike | None = None,
        name: str = "y",
    ) -> None:
        self.y_true, self.y_pred = _pair(y_true, y_pred)
        n = self.y_true.size
        self.t = np.arange(n) if t is None else np.asarray(t)
        self.timed = t is not None
        self.trajectory = np.zeros(n, int) if trajectory is None else np.asarray(trajectory)
        for argument, values in (("t", self.t), ("trajectory", self.trajectory)):
            if values.shape != (n,):
                raise ValueError(f"{argument} has shape {values.shape}: give one value for each of the {n} rows.")
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        t: Any = None,
        trajectory: ArrayLike | None = None,
        output: int = 0,
        name: str = "y",
        ax: Any = None,
    ) -> "CurveDisplay":
        """Draw the predictions of a fitted model.

        Parameters
        ----------
        X : (n, d)
        y : (n,) or (n, outputs)
        t : (n,) or scalar step, optional
            A model that was fitted to smoothed inputs smooths these, too.
        output : int
            Which of several outputs to draw.
        """
        measured, predicted = measured_and_predicted(estimator, X, y, output, t, trajectory)
        times = t * np.arange(len(predicted)) if t is not None and np.ndim(t) == 0 else t
        return cls(measured, predicted, t=times, trajectory=trajectory, name=name).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        t: ArrayLike | None = None,
        trajectory: ArrayLike | None = None,
        name: str = "y",
        ax: Any = None,
    ) -> "CurveDisplay":
        """Draw given predictions."""
        return cls(y_true, y_pred, t=t, trajectory=trajectory, name=name).plot(ax=ax)

    def plot(self, ax: Any = None) -> "CurveDisplay":
        """Draw in the place of `ax`, which is split in two; `ax_` and `error_ax_` are the parts."""
        ax = new_axes(ax, (8.0, 4.4))
        above, below = split_axes(ax, 2, 1, height_ratios=[3, 1.2], hspace=0.06)
        below.sharex(above)
        for rows in self._runs():
            above.plot(self.t[rows], self.y_true[rows], color=PALE, linewidth=2.6)
            above.plot(self.t[rows], self.y_pred[rows], color=BLUE, linewidth=1.1)
            below.plot(self.t[rows], self.y_pred[rows] - self.y_true[rows], color=VERMILLION, linewidth=0.8)
        below.axhline(0.0, color=GREY, linewidth=0.8)
        for part in (above, below):
            quiet(part)
            part.margins(x=0.01)
        above.tick_params(labelbottom=False)
        above.set_ylabel(label(self.name))
        below.set_ylabel("error")
        below.set_xlabel("time" if self.timed else "row")
        reach = np.nanmax(np.abs(self.y_pred - self.y_true), initial=0.0)
        below.set_ylim(-1.1 * reach or -1.0, 1.1 * reach or 1.0)
        lines = above.get_lines()
        if lines:
            above.legend(
                lines[:2],
                ["measured", "predicted"],
                loc="lower right",
                bbox_to_anchor=(1.0, 1.0),
                ncols=2,
                frameon=False,
                fontsize="small",
                borderaxespad=0.1,
            )
        above.figure.align_ylabels([above, below])
        self.ax_, self.error_ax_, self.figure_ = above, below, above.figure
        return self

    def _runs(self) -> Sequence[np.ndarray]:
        """Return the rows of each contiguous stretch of a run."""
        if not self.t.size:
            return []
        breaks = np.flatnonzero(self.trajectory[1:] != self.trajectory[:-1]) + 1
        return np.split(np.arange(self.t.size), breaks)


class PredictionDisplay:
    """Predicted against measured values; on the diagonal they agree.

    Parameters
    ----------
    y_true, y_pred : (n,)
    name : str
        Name of the output.
    """

    def __init__(self, y_true: ArrayLike, y_pred: ArrayLike, *, name: str = "y") -> None:
        self.y_true, self.y_pred = _pair(y_true, y_pred)
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        t: Any = None,
        trajectory: ArrayLike | None = None,
        output: int = 0,
        name: str = "y",
        ax: Any = None,
        max_points: int = 2000,
    ) -> "PredictionDisplay":
        """Draw the predictions of a fitted model; the arguments are those of `CurveDisplay`."""
        measured, predicted = measured_and_predicted(estimator, X, y, output, t, trajectory)
        return cls(measured, predicted, name=name).plot(ax=ax, max_points=max_points)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_pred: ArrayLike, *, name: str = "y", ax: Any = None, max_points: int = 2000
    ) -> "PredictionDisplay":
        """Draw given predictions."""
        return cls(y_true, y_pred, name=name).plot(ax=ax, max_points=max_points)

    def plot(self, ax: Any = None, *, max_points: int = 2000) -> "PredictionDisplay":
        """Draw onto `ax`, at most `max_points` points, chosen at random."""
        ax = new_axes(ax, (4.6, 4.4))
        quiet(ax)
        rows = some_rows(self.y_true.size, max_points)
        ax.plot(self.y_true[rows], self.y_pred[rows], "o", color=BLUE, markersize=3, alpha=0.45, markeredgewidth=0)
        if self.y_true.size:
            low, high = self.y_true.min(), self.y_true.max()
            ax.plot([low, high], [low, high], color=GREY, linewidth=1.0, linestyle=(0, (4, 3)), label="agreement")
            ax.legend(frameon=False, fontsize="small", loc="upper left")
        ax.set_xlabel(f"{label(self.name)}, measured")
        ax.set_ylabel(f"{label(self.name)}, predicted")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _pair(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[FloatArray, FloatArray]:
    true, predicted = np.asarray(y_true, float), np.asarray(y_pred, float)
    if true.ndim != 1 or true.shape != predicted.shape:
        raise ValueError(
            f"y_true has shape {true.shape} and y_pred {predicted.shape}: give two vectors of one length, "
            "one output at a time."
        )
    return true, predicted
