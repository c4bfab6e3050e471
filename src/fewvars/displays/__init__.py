"""Plots in scikit-learn's form: `from_estimator` draws, `plot(ax=)` returns the display, nothing is computed anew.

They need matplotlib (`pip install 'fewvars[plot]'`), which is imported only when something is drawn.
"""

from ._partial import Dependence, partial_dependence
from .bars import FrequencyDisplay, ImportanceDisplay
from .curve import CurveDisplay, PredictionDisplay
from .dependence import DependenceDisplay
from .directions import LoadingsDisplay, ShadowDisplay, SingularValuesDisplay
from .graph import GraphDisplay
from .network import NetworkDisplay
from .path import PathDisplay
from .sizes import SupportSizeDisplay

__all__ = [
    "CurveDisplay",
    "Dependence",
    "DependenceDisplay",
    "FrequencyDisplay",
    "GraphDisplay",
    "ImportanceDisplay",
    "LoadingsDisplay",
    "NetworkDisplay",
    "PathDisplay",
    "PredictionDisplay",
    "ShadowDisplay",
    "SingularValuesDisplay",
    "SupportSizeDisplay",
    "partial_dependence",
]
