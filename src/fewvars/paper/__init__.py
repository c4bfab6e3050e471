"""The paper to the letter: its algorithm and the choices that it leaves open."""

from fewvars.paper._second import BICPath
from fewvars.paper.algorithm1 import AdaptiveGroupLassoRegressor
from fewvars.paper.configuration import Configuration

__all__ = ["AdaptiveGroupLassoRegressor", "BICPath", "Configuration"]
