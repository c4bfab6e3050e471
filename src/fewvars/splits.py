"""Splits of rows that respect time and runs; see `fewvars.series.splits`."""

from fewvars.series.splits import *  # noqa: F403
