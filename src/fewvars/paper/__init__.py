"""The paper, implemented literally: its algorithms, its network baselines, and the choices that it leaves open."""

from fewvars.paper.algorithm1 import AdaptiveGroupLassoRegressor
from fewvars.paper.algorithm2 import AdaptiveDirectionsRegressor
from fewvars.paper.baselines import GroupLassoRegressor, NeuralRegressor
from fewvars.paper.configuration import Configuration

__all__ = [
    "AdaptiveDirectionsRegressor",
    "AdaptiveGroupLassoRegressor",
    "Configuration",
    "GroupLassoRegressor",
    "NeuralRegressor",
]
