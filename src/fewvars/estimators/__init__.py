"""The scikit-learn estimators: each validates its arguments, calls the core and stores the results."""

from fewvars.estimators.comparison import Comparison, compare
from fewvars.estimators.dictionary import SparseDictionaryRegressor
from fewvars.estimators.dynamics import DynamicsRegressor
from fewvars.estimators.few_directions import FewDirectionsRegressor
from fewvars.estimators.few_variables import FewVariablesRegressor
from fewvars.estimators.few_variables_classifier import FewVariablesClassifier
from fewvars.estimators.simulation import Simulation, SimulationOutcome

__all__ = [
    "Comparison",
    "DynamicsRegressor",
    "FewDirectionsRegressor",
    "FewVariablesClassifier",
    "FewVariablesRegressor",
    "Simulation",
    "SimulationOutcome",
    "SparseDictionaryRegressor",
    "compare",
]
