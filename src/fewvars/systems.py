"""Dynamical systems whose dependency graphs are known; see `fewvars.problems.systems`."""

from fewvars.problems.systems import *  # noqa: F403
