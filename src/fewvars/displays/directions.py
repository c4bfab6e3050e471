"""Few directions: singular values along the path, the data projected on the directions, and their loadings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars._common.validation import FloatArray
from fewvars._common.wording import counted
from fewvars.displays.figure import (
    BLUE,
    GREY,
    PALE,
    VERMILLION,
    draw_ends,
    fitted_attribute,
    new_axes,
    only_text,
    plain_ticks,
    quiet,
    split_axes,
)
from fewvars.displays.names import distinct_names, label, names_of
from fewvars.displays.outputs import measured_and_predicted
from fewvars.displays.partial import some_rows
from fewvars.engine.penalties import significant


class SingularValuesDisplay:
    """Singular values of the first layer over the strength of the penalty; the chosen directions in colour.

    Parameters
    ----------
    strengths : (m,)
    singular_values : (m, r), largest first
    n_directions : int
        The number chosen.
    lambda_ : float, optional
        The chosen strength, marked by a line.
    """

    def __init__(
        self, strengths: ArrayLike, singular_values: ArrayLike, n_directions: int, *, lambda_: float | None = None
    ) -> None:
        self.strengths = np.asarray(strengths, float)
        self.singular_values = np.asarray(singular_values, float)
        if self.singular_values.ndim != 2 or len(self.singular_values) != self.strengths.size:
            raise ValueError(
                f"singular_values has shape {self.singular_values.shape}: give one row for each of the "
                f"{self.strengths.size} strengths."
            )
        self.n_directions = n_directions
        self.lambda_ = lambda_

    @property
    def alive(self) -> FloatArray:
        """The singular values, nan where they are zero up to rounding, (m, r)."""
        return np.where(significant(self.singular_values), self.singular_values, np.nan)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> "SingularValuesDisplay":
        """Draw the path of a fitted `FewDirectionsRegressor`."""
        fitted_attribute(estimator, "ranks_", cls.__name__)
        path, k = estimator.path_, estimator.n_directions_
        return cls(path.strengths, path.magnitudes, k, lambda_=estimator.lambda_).plot(ax=ax)

    def plot(self, ax: Any = None) -> "SingularValuesDisplay":
        """Draw onto `ax`."""
        ax = new_axes(ax, (7.0, 4.2))
        self.ax_, self.figure_ = ax, ax.figure
        quiet(ax)
        ax.set_xlabel("strength of the penalty λ")
        ax.set_ylabel("singular value of the first layer")
        alive = self.alive
        if not np.isfinite(alive).any():
            only_text(ax, "no path: no direction at any strength")
            return self
        ax.set_xscale("log")
        ax.set_yscale("log")
        kept = alive[:, : self.n_directions] if self.n_directions else alive
        ax.set_ylim(max(0.5 * np.nanmin(kept), 1e-3 * np.nanmax(alive)), 1.4 * np.nanmax(alive))
        ax.set_xlim(self.strengths[0], max(self.strengths[-1], 1.01 * self.strengths[0]))
        ax.plot(self.strengths, alive[:, self.n_directions :], color=PALE, linewidth=0.9)
        seen = [k for k in range(self.n_directions) if np.isfinite(alive[:, k]).any()]
        draw_ends(ax, self.strengths, alive[:, seen], [ordinal(k + 1) for k in seen], len(seen))
        if self.lambda_:
            ax.axvline(
                self.lambda_,
                color=GREY,
                linewidth=1.0,
                linestyle=(0, (4, 3)),
                label=f"chosen: {counted(self.n_directions, 'direction')}",
            )
            ax.legend(loc="lower left", frameon=False, fontsize="small")
        plain_ticks(ax.xaxis)
        plain_ticks(ax.yaxis)
        return self


class ShadowDisplay:
    """The output against the first direction, or as a colour against the first two.

    Parameters
    ----------
    Z : (n, k)
        The data along the directions.
    y : (n,)
    learned : (n,), optional
        Predictions, drawn as a line if there is a single direction.
    name : str
        Name of the output.
    """

    def __init__(self, Z: ArrayLike, y: ArrayLike, *, learned: ArrayLike | None = None, name: str = "y") -> None:
        self.Z = np.asarray(Z, float)
        self.y = np.asarray(y, float)
        if self.Z.ndim != 2 or self.y.shape != self.Z.shape[:1]:
            raise ValueError(f"Z has shape {self.Z.shape} and y {self.y.shape}: give (n, k) and (n,).")
        self.learned = None if learned is None else np.asarray(learned, float)
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        output: int = 0,
        name: str = "y",
        ax: Any = None,
        max_points: int = 2000,
    ) -> "ShadowDisplay":
        """Draw data (n, d) along the directions of a fitted `FewDirectionsRegressor`."""
        fitted_attribute(estimator, "n_directions_", cls.__name__)
        measured, learned = measured_and_predicted(estimator, X, y, output)
        return cls(estimator.transform(X), measured, learned=learned, name=name).plot(ax=ax, max_points=max_points)

    def plot(self, ax: Any = None, *, max_points: int = 2000) -> "ShadowDisplay":
        """Draw onto `ax`, at most `max_points` points, chosen at random."""
        ax = new_axes(ax, (6.0, 4.4))
        self.ax_, self.figure_ = ax, ax.figure
        quiet(ax)
        rows = some_rows(len(self.Z), max_points)
        Z, y = self.Z[rows], self.y[rows]
        if Z.shape[1] == 0:
            only_text(ax, "no direction found")
        elif Z.shape[1] == 1:
            ax.plot(Z[:, 0], y, "o", color=PALE, markersize=3, markeredgewidth=0, label="measured")
            if self.learned is not None:
                order = np.argsort(Z[:, 0], kind="stable")
                ax.plot(Z[order, 0], self.learned[rows][order], color=BLUE, linewidth=1.8, label="predicted")
            ax.legend(frameon=False, fontsize="small")
            ax.set_ylabel(label(self.name))
        else:
            # From the 1st to the 99th percentile: a few outliers would leave all other points one colour.
            low, high = np.percentile(y, [1, 99])
            # The grey edge keeps the darkest and the lightest points visible on any background.
            style = {"cmap": "cividis", "vmin": low, "vmax": high, "s": 14, "edgecolors": GREY, "linewidths": 0.3}
            points = ax.scatter(Z[:, 0], Z[:, 1], c=y, **style)
            bar = ax.figure.colorbar(points, ax=ax, label=label(self.name), pad=0.02)
            bar.solids.set(rasterized=False, edgecolor="face")
            ax.set_ylabel("z1, the second direction")
        ax.set_xlabel("z0, the first direction")
        return self


class LoadingsDisplay:
    """How much each variable weighs in each direction, one panel for each direction.

    Parameters
    ----------
    directions : (k, d)
    names : sequence of d str, optional
    scale : (d,), optional
        Standard deviations of the variables. Loadings are multiplied by them, so that variables in
        different units can be compared.
    """

    def __init__(
        self, directions: ArrayLike, *, names: Sequence[str] | None = None, scale: ArrayLike | None = None
    ) -> None:
        self.directions = np.atleast_2d(np.asarray(directions, float))
        d = self.directions.shape[1]
        self.names = distinct_names(names, d)
        self.scale = None if scale is None else np.asarray(scale, float)
        if self.scale is not None and self.scale.shape != (d,):
            raise ValueError(f"scale has shape {self.scale.shape}: give one value for each of the {d} variables.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
        max_shown: int = 20,
    ) -> "LoadingsDisplay":
        """Draw the directions of a fitted model; with data X (n, d), per standard deviation of each variable."""
        directions = fitted_attribute(estimator, "directions_", cls.__name__)
        scale = None if X is None else np.asarray(X, float).std(axis=0)
        return cls(directions, names=names_of(estimator, feature_names), scale=scale).plot(ax=ax, max_shown=max_shown)

    def plot(self, ax: Any = None, *, max_shown: int = 20, max_directions: int = 4) -> "LoadingsDisplay":
        """Draw in the place of `ax`, which is split into panels (`axes_`).

        Of more variables than `max_shown`, those with the largest loadings are drawn, in the order of the data.
        """
        loadings = self.directions if self.scale is None else self.directions * self.scale
        loadings = loadings[:max_directions]
        weight = np.abs(loadings).max(axis=0, initial=0.0)
        shown = np.sort(np.argsort(-weight, kind="stable")[:max_shown])
        ax = new_axes(ax, (1.6 + 1.9 * max(len(loadings), 1), 1.2 + 0.24 * max(shown.size, 3)))
        self.ax_, self.figure_ = ax, ax.figure
        self.axes_: list[Any] = []
        if not loadings.size:
            only_text(ax, "no direction found")
            return self
        self.axes_ = split_axes(ax, 1, len(loadings))
        rows, reach = np.arange(shown.size), 1.08 * weight.max() or 1.0
        for k, (panel, values) in enumerate(zip(self.axes_, loadings[:, shown], strict=True)):
            quiet(panel, "x")
            panel.barh(rows, values, height=0.6, color=np.where(values < 0, VERMILLION, BLUE).tolist())
            panel.axvline(0.0, color=GREY, linewidth=0.8)
            panel.set_xlim(-reach, reach)
            panel.set_ylim(shown.size - 0.4, -0.6)
            panel.set_yticks(rows, [label(self.names[j]) for j in shown] if k == 0 else [""] * shown.size)
            panel.tick_params(axis="y", length=0)
            panel.set_xlabel(f"loading in z{k}")
        left = self.directions.shape[1] - shown.size
        if left:
            self.axes_[-1].set_title(f"{left} with smaller loadings left out", loc="right", fontsize="small")
        return self


def ordinal(k: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, ..."""
    ending = "th" if k // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    return f"{k}{ending}"
