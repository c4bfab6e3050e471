"""How many are enough: held-out error and BIC over the size of the support, or the number of directions."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars.displays.figure import (
    BLUE,
    GREY,
    VERMILLION,
    fitted_attribute,
    new_axes,
    plain_ticks,
    quiet,
    whole_ticks,
)


class SupportSizeDisplay:
    """Held-out error with its standard error, and BIC, over the number of variables or directions.

    Parameters
    ----------
    sizes : (candidates,)
    errors, errors_se : (candidates,), optional
        Held-out error of each size, and its standard error.
    bic : (candidates,), optional
    chosen : int, optional
        The size that was chosen; it need not be among `sizes`, because a choice is mended afterwards.
    what : str
        What is counted.
    """

    def __init__(
        self,
        sizes: ArrayLike,
        errors: ArrayLike | None = None,
        errors_se: ArrayLike | None = None,
        *,
        bic: ArrayLike | None = None,
        chosen: int | None = None,
        what: str = "variables",
    ) -> None:
        self.sizes = np.asarray(sizes)
        self.errors = None if errors is None else np.asarray(errors, float)
        self.errors_se = None if errors_se is None else np.asarray(errors_se, float)
        self.bic = None if bic is None else np.where(np.isfinite(bic), bic, np.nan)  # an exact fit has no logarithm
        if errors is None and bic is None:
            raise ValueError("Give errors, bic, or both: there is nothing to draw.")
        for name, values in (("errors", self.errors), ("errors_se", self.errors_se), ("bic", self.bic)):
            if values is not None and values.shape != self.sizes.shape:
                raise ValueError(
                    f"{name} has shape {values.shape}: give one value for each of {self.sizes.size} sizes."
                )
        self.chosen = chosen
        self.what = what

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> "SupportSizeDisplay":
        """Draw the sizes that a fitted model has compared.

        Works with `FewVariablesRegressor` (supports), `FewDirectionsRegressor` (ranks) and the estimators of
        `fewvars.paper` (BIC along lambda; the best of each size).
        """
        return cls.of(estimator).plot(ax=ax)

    @classmethod
    def of(cls, estimator: Any) -> "SupportSizeDisplay":
        """Return what would be drawn, without drawing it."""
        path = getattr(estimator, "bic_path_", None)
        if path is not None:
            sizes = np.unique(path.sizes)
            best = np.array([path.bic[path.sizes == size].min() for size in sizes])
            what = "variables" if hasattr(estimator, "support_") else "directions"
            return cls(sizes, bic=best, chosen=int(path.sizes[path.best]), what=what)
        ranks = getattr(estimator, "ranks_", None)
        if ranks is not None:
            return cls(
                ranks,
                estimator.rank_errors_,
                estimator.rank_errors_se_,
                chosen=estimator.n_directions_,
                what="directions",
            )
        return cls(
            fitted_attribute(estimator, "support_sizes_", cls.__name__),
            estimator.support_errors_,
            estimator.support_errors_se_,
            chosen=int((np.bincount(estimator.path_.labels, estimator.support_) > 0).sum()),
        )

    def plot(self, ax: Any = None) -> "SupportSizeDisplay":
        """Draw onto `ax`; BIC has an axis of its own on the right."""
        ax = new_axes(ax, (6.4, 4.0))
        quiet(ax, "y")
        ax.set_xlabel(f"number of {self.what}")
        if self.sizes.max(initial=0) > 24:
            ax.set_xscale("symlog", linthresh=10, linscale=1.0)
            ax.set_xticks(_round_sizes(int(self.sizes.max())), minor=False)
            ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            ax.xaxis.set_minor_locator(_no_ticks())
        else:
            whole_ticks(ax.xaxis)
        if self.chosen is not None:
            ax.axvline(self.chosen, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)), label=f"chosen: {self.chosen}")
        other = None
        if self.errors is not None:
            self._draw_errors(ax)
        if self.bic is not None:
            other = ax if self.errors is None else ax.twinx()
            other.plot(self.sizes, self.bic, "s--", color=VERMILLION, markersize=3.5, linewidth=1.2, label="BIC")
            other.set_ylabel("BIC (right)" if other is not ax else "BIC", labelpad=6)
            other.spines["top"].set_visible(False)
        handles, texts = ax.get_legend_handles_labels()
        if other is not None and other is not ax:
            handles, texts = [a + b for a, b in zip((handles, texts), other.get_legend_handles_labels(), strict=True)]
        ax.legend(
            handles,
            texts,
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=len(texts),
            columnspacing=1.2,
            frameon=False,
            fontsize="small",
            borderaxespad=0.2,
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_errors(self, ax: Any) -> None:
        errors = np.asarray(self.errors)
        spread = np.zeros_like(errors) if self.errors_se is None else self.errors_se
        low = np.minimum(spread, 0.9 * errors)  # a bar to zero or below has no end on a logarithmic axis
        ax.errorbar(
            self.sizes,
            errors,
            np.array([low, spread]),
            fmt="o-",
            color=BLUE,
            markersize=4,
            linewidth=1.4,
            elinewidth=1.0,
            capsize=2.5,
            label="held-out error ± s.e.",
        )
        ax.set_ylabel("held-out error / variance of the output")
        if (errors > 0).all():
            ax.set_yscale("log")
            plain_ticks(ax.yaxis)


def _round_sizes(largest: int) -> list[int]:
    """Return ticks 0, 2, 4, ..., 10, then 20, 50, 100, 200, ... up to the largest."""
    large = [first * 10**power for power in range(1, 7) for first in (2, 5, 10)]
    return [0, 2, 4, 6, 8, 10, *(size for size in large if size < 0.8 * largest), largest]


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
