"""Metrics of selected variables, directions and predictions; see `fewvars.problems.metrics`."""

from fewvars.problems.metrics import *  # noqa: F403
