"""The parameters that all searches on held-out blocks share, and their checks."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fewvars._common.validation import check_choice, check_jobs, check_real, check_seed, check_whole
from fewvars.engine.losses import Loss
from fewvars.engine.network import ACTIVATIONS
from fewvars.heads import HeadSettings, kinds_of
from fewvars.search.problem import Settings


@dataclass(kw_only=True, repr=False, eq=False)
class SearchParameters:
    """The parameters of all searches on held-out blocks, as fields of a dataclass.

    The constructor that this makes only stores them, as scikit-learn asks for. The estimators document them.
    """

    hidden_layer_sizes: tuple[int, ...] = Settings.hidden_layer_sizes
    activation: str = Settings.activation
    smoothing: str = "auto"
    head: str = "auto"
    max_degree: int = 4
    cv: Any = None
    n_blocks: int = 20
    shuffle: Any = "auto"
    first_updates: int = Settings.first_updates
    path_updates: int = Settings.path_updates
    refit_updates: int = Settings.refit_updates
    path_factor: float = Settings.path_factor
    batch_size: int = Settings.batch_size
    learning_rate: float = Settings.learning_rate
    n_resamples: int = 0
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def _checked_options(self, loss: Loss) -> dict[str, Any]:
        """Check the parameters that all searches share under a loss, and return them by the names of `Settings`."""
        check_choice("activation", self.activation, ACTIVATIONS)
        kinds_of(self.head, HeadSettings(loss=loss))
        for name in ("max_degree", "first_updates", "path_updates", "refit_updates", "batch_size"):
            check_whole(name, getattr(self, name))
        check_whole("n_resamples", self.n_resamples, minimum=0)
        check_real("path_factor", self.path_factor, minimum=1.0, strict=True)
        check_real("learning_rate", self.learning_rate, strict=True)
        given = self.hidden_layer_sizes if np.iterable(self.hidden_layer_sizes) else ()
        widths = tuple(check_whole("hidden_layer_sizes", width) for width in given)
        if not widths:
            raise ValueError(
                f"hidden_layer_sizes={self.hidden_layer_sizes!r}: give the width of each layer, as in (20, 20, 20)."
            )
        seed, n_jobs = check_seed(self.random_state), check_jobs(self.n_jobs)
        shared = {field.name: getattr(self, field.name) for field in fields(Settings) if field.name != "seed"}
        return {**shared, "hidden_layer_sizes": widths, "seed": seed, "n_jobs": n_jobs}
