"""The parameters that all searches on held-out blocks share, and their checks."""

from dataclasses import fields
from typing import Any

import numpy as np

from fewvars._common.validation import check_choice, check_jobs, check_real, check_seed, check_whole
from fewvars.engine.network import ACTIVATIONS
from fewvars.heads import HeadSettings, kinds_of
from fewvars.search.problem import Settings


class SearchParameters:
    """What the constructors of the estimators store."""

    hidden_layer_sizes: tuple[int, ...]
    activation: str
    smoothing: str
    head: str
    max_degree: int
    cv: Any
    n_blocks: int
    shuffle: Any
    first_updates: int
    path_updates: int
    refit_updates: int
    path_factor: float
    batch_size: int
    learning_rate: float
    n_resamples: int
    random_state: Any
    n_jobs: int | None
    verbose: int

    def _checked_options(self) -> dict[str, Any]:
        """Check the parameters that all searches share, and return them by the names of `Settings`."""
        check_choice("activation", self.activation, ACTIVATIONS)
        kinds_of(self.head, HeadSettings())
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
