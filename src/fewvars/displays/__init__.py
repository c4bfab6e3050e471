"""Plots in scikit-learn's form: `from_estimator` draws, and `plot(ax=)` draws again and returns the display.

They need matplotlib (`pip install 'fewvars[plot]'`), which is imported only when something is drawn.
"""

from fewvars.displays.bars import FrequencyDisplay, ImportanceDisplay
from fewvars.displays.curve import CurveDisplay, PredictionDisplay
from fewvars.displays.dependence import DependenceDisplay
from fewvars.displays.diagram import DiagramDisplay
from fewvars.displays.directions import LoadingsDisplay, ShadowDisplay, SingularValuesDisplay
from fewvars.displays.graph import GraphDisplay
from fewvars.displays.network import NetworkDisplay
from fewvars.displays.partial import Dependence, partial_dependence
from fewvars.displays.path import PathDisplay
from fewvars.displays.simulation import SimulationDisplay
from fewvars.displays.sizes import SupportSizeDisplay

__all__ = [
    "CurveDisplay",
    "Dependence",
    "DependenceDisplay",
    "DiagramDisplay",
    "FrequencyDisplay",
    "GraphDisplay",
    "ImportanceDisplay",
    "LoadingsDisplay",
    "NetworkDisplay",
    "PathDisplay",
    "PredictionDisplay",
    "ShadowDisplay",
    "SimulationDisplay",
    "SingularValuesDisplay",
    "SupportSizeDisplay",
    "partial_dependence",
]
