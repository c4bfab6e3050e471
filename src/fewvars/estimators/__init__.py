"""The scikit-learn faces of the library: each validates, calls the core and stores."""

from .dictionary import SparseDictionaryRegressor
from .few_directions import FewDirectionsRegressor
from .few_variables import FewVariablesRegressor
from .networks import GroupLassoRegressor, NeuralRegressor

__all__ = [
    "FewDirectionsRegressor",
    "FewVariablesRegressor",
    "GroupLassoRegressor",
    "NeuralRegressor",
    "SparseDictionaryRegressor",
]
