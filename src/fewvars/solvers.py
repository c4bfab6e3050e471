"""Solvers for penalised networks; see `fewvars.engine.solvers`."""

from fewvars.engine.solvers import *  # noqa: F403
