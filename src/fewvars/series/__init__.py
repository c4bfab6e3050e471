"""Rows and columns of measured data: splits, smoothing in time, lags and scaling."""

from fewvars.series.lags import LagTransformer
from fewvars.series.smoothing import smooth, smoother
from fewvars.series.splits import BlockedSplit

__all__ = ["BlockedSplit", "LagTransformer", "smooth", "smoother"]
