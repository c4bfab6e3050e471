"""The scikit-learn faces of the library: each validates, calls the core and stores."""

from .dictionary import SparseDictionaryRegressor
from .few_variables import FewVariablesRegressor

__all__ = ["FewVariablesRegressor", "SparseDictionaryRegressor"]
