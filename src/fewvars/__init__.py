"""fewvars learns functions of few variables: which inputs matter, and what the function is."""

from . import datasets, lags, metrics, paper, penalties, smoothing, solvers, splits, systems, targets
from .estimators import (
    FewDirectionsRegressor,
    FewVariablesRegressor,
    GroupLassoRegressor,
    NeuralRegressor,
    SparseDictionaryRegressor,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "FewDirectionsRegressor",
    "FewVariablesRegressor",
    "GroupLassoRegressor",
    "NeuralRegressor",
    "SparseDictionaryRegressor",
    "datasets",
    "lags",
    "metrics",
    "paper",
    "penalties",
    "smoothing",
    "solvers",
    "splits",
    "systems",
    "targets",
]
