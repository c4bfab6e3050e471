"""Smooth sampled trajectories and differentiate them; see `fewvars.series.smoothing`."""

from fewvars.series.smoothing import *  # noqa: F403
