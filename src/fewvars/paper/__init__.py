"""The paper to the letter: its algorithms and the choices that they leave open."""

from fewvars.paper._second import BICPath
from fewvars.paper.algorithm1 import AdaptiveGroupLassoRegressor
from fewvars.paper.algorithm2 import AdaptiveDirectionsRegressor
from fewvars.paper.configuration import Configuration

__all__ = ["AdaptiveDirectionsRegressor", "AdaptiveGroupLassoRegressor", "BICPath", "Configuration"]
