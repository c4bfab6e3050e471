"""Penalties that switch off inputs, directions or units; see `fewvars.engine.penalties`."""

from fewvars.engine.penalties import *  # noqa: F403
