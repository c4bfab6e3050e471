"""How many variables or directions are enough: held-out error, or the paper's BIC, over their number."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewvars.displays.figure import (
    BLUE,
    GREY,
    VERMILLION,
    findings_of,
    fitted_attribute,
    new_axes,
    plain_ticks,
    quiet,
    whole_ticks,
)
from fewvars.estimators.findings import SHARE


class SupportSizeDisplay:
    """Held-out error with its standard error, or BIC, over the number of variables or directions.

    Parameters
    ----------
    sizes : (candidates,)
    errors, errors_se : (candidates,), optional
        Held-out error of each size, and its standard error.
    bic : (candidates,), optional
        BIC of each size, in place of errors.
    chosen : int, optional
        The size that was chosen; it need not be among `sizes`, because the choice is refined afterwards.
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
        unit: str = SHARE,
    ) -> None:
        self.unit = unit
        self.sizes = np.asarray(sizes)
        self.errors = None if errors is None else np.asarray(errors, float)
        self.errors_se = None if errors_se is None else np.asarray(errors_se, float)
        self.bic = None if bic is None else np.where(np.isfinite(bic), bic, np.nan)  # an exact fit has no logarithm
        if (errors is None) == (bic is None):
            raise ValueError("Give either errors or bic.")
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
        path = fitted_attribute(estimator, "path_", cls.__name__)
        if getattr(path, "bic", None) is not None:
            sizes = np.unique(path.sizes)
            best = np.array([path.bic[path.sizes == size].min() for size in sizes])
            return cls(sizes, bic=best, chosen=int(path.sizes[path.best]), what=path.kind)
        found = findings_of(estimator, cls.__name__)
        return cls(
            found.sizes,
            found.errors,
            found.errors_se,
            chosen=found.chosen_size,
            what=found.kind,
            unit=found.error_unit,
        )

    def plot(self, ax: Any = None) -> "SupportSizeDisplay":
        """Draw onto `ax`."""
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
        if self.errors is not None:
            self._draw_errors(ax)
        else:
            ax.plot(self.sizes, self.bic, "s--", color=VERMILLION, markersize=3.5, linewidth=1.2, label="BIC")
            ax.set_ylabel("BIC", labelpad=6)
        ax.legend(
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=len(ax.get_legend_handles_labels()[1]),
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
        low = np.minimum(spread, 0.9 * errors)  # an error bar down to zero would not end on a logarithmic axis
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
        ax.set_ylabel(f"held-out error\n({self.unit})")
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
