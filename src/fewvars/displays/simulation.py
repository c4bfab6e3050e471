"""A measured trajectory, the one simulated from the same start, and the time for which they agree."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars.displays.figure import BLUE, GREY, VERMILLION, fitted_attribute, new_axes, quiet, split_axes
from fewvars.displays.names import distinct_names, label, names_of
from fewvars.series.smoothing import smoother
from fewvars.series.splits import sample_times, trajectory_rows

MOST_ROWS, MOST_DOTS, MOST_PANELS = 1000, 300, 6


class SimulationDisplay:
    """Variables over time: measured as dots, simulated as a line, and a vertical line where they diverge.

    Parameters
    ----------
    t : array-like of shape (n,)
    measured, simulated : array-like of shape (n, d)
        The simulation is NaN from where it stopped.
    valid_time : float
        For how long they agree, from the first time on.
    ending : str
        How the simulation ended, in words.
    names : sequence of d str, optional

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes (the first of several) and Figure
        Of the last `plot`.
    """

    def __init__(
        self,
        t: ArrayLike,
        measured: ArrayLike,
        simulated: ArrayLike,
        *,
        valid_time: float,
        ending: str = "",
        names: Sequence[str] | None = None,
    ):
        self.t, self.measured, self.simulated = (np.asarray(part, float) for part in (t, measured, simulated))
        if self.measured.ndim != 2 or self.measured.shape != self.simulated.shape:
            raise ValueError(
                f"measured and simulated have shapes {self.measured.shape} and {self.simulated.shape}: give the same "
                "rows and columns of both."
            )
        self.valid_time, self.ending = float(valid_time), ending
        self.names = distinct_names(names, self.measured.shape[1])

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, *, ax: Any = None, **about: Any) -> "SimulationDisplay":
        """Simulate a fitted `DynamicsRegressor` from the first state of a trajectory, and draw both; see `of`."""
        return cls.of(estimator, X, **about).plot(ax=ax)

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        t: Any = None,
        trajectory: Any = None,
        u: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> "SimulationDisplay":
        """Simulate from the first state of the first trajectory, smoothed, over at most 1000 rows.

        Angles are shown without jumps of a full turn.

        Parameters
        ----------
        estimator : fitted DynamicsRegressor
        X : (n, d)
        t : (n,) or scalar step, optional
        trajectory : (n,), optional
        u : (n,) or (n, controls), optional
            As given to `fit`.
        feature_names : sequence of d str, optional
        """
        fitted_attribute(estimator, "graph_", cls.__name__)
        names = names_of(estimator, feature_names)
        measured = np.asarray(X, float)
        runs = trajectory_rows(trajectory, len(measured))
        rows = runs[0][:MOST_ROWS]
        times, measured = sample_times(t, runs)[rows], measured[rows]
        angles = list(estimator._columns.angles)
        measured[:, angles] = np.unwrap(measured[:, angles], axis=0)
        smooth = smoother(measured, times)
        states = smooth.values if estimator.order == 1 else np.column_stack([smooth.values, smooth.derivative])
        controls = None if u is None else np.asarray(u, float)[rows]
        given = times if np.ndim(t) == 0 else np.asarray(t)[rows]
        found = estimator.simulate(states[0], given, u=controls)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")  # they are those of X
            valid_time = estimator.valid_time(states, given, u=controls)
        return cls(
            found.t,
            measured,
            found.X[:, : measured.shape[1]],
            valid_time=valid_time,
            ending=found.describe(),
            names=names,
        )

    def plot(self, ax: Any = None) -> "SimulationDisplay":
        """Draw the first six variables, one above the other, onto the place of `ax`."""
        count = min(self.measured.shape[1], MOST_PANELS)
        ax = new_axes(ax, (8.0, 1.0 + 1.1 * count))
        panels = split_axes(ax, count, 1, hspace=0.15)
        end = self.t[0] + self.valid_time
        dots = slice(None, None, -(-len(self.t) // MOST_DOTS))
        for j, panel in enumerate(panels):
            panel.plot(self.t[dots], self.measured[dots, j], ".", color=GREY, markersize=2.5, label="measured")
            panel.plot(self.t, self.simulated[:, j], color=BLUE, linewidth=1.4, label="simulated")
            panel.axvline(end, color=VERMILLION, linestyle="--", linewidth=1.0, label="valid until here")
            low, high = np.nanmin(self.measured[:, j]), np.nanmax(self.measured[:, j])
            margin = 0.15 * (high - low) or 1.0
            panel.set_ylim(low - margin, high + margin)
            panel.set_ylabel(label(self.names[j], 14))
            quiet(panel)
            panel.tick_params(labelbottom=j == count - 1)
        panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1.02), ncols=3, frameon=False, fontsize="small")
        panels[-1].set_xlabel("time")
        self.ax_, self.figure_ = panels[0], ax.figure
        return self
