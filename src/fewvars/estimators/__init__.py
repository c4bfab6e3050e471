"""The scikit-learn faces of the library: each validates, calls the core and stores."""

from fewvars.estimators.dictionary import SparseDictionaryRegressor

__all__ = ["SparseDictionaryRegressor"]
