"""fewvars learns functions of few variables: which inputs matter, and what the function is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fewvars._common.version import __version__ as __version__

if TYPE_CHECKING:
    from fewvars import displays, metrics, paper, penalties, problems, smoothing, solvers, splits, systems, theory
    from fewvars.estimators import (
        DynamicsRegressor,
        FewDirectionsRegressor,
        FewVariablesClassifier,
        FewVariablesRegressor,
        SparseDictionaryRegressor,
        compare,
    )
    from fewvars.files import ModelFileError, export_onnx, load, save
    from fewvars.paper import GroupLassoRegressor, NeuralRegressor
    from fewvars.report import write_report
    from fewvars.series import BlockedSplit, LagTransformer

# Where each name lives. It is imported when it is first used: `fewvars --version` should not wait for the compiler.
_HOMES = {
    "DynamicsRegressor": "estimators",
    "FewDirectionsRegressor": "estimators",
    "FewVariablesClassifier": "estimators",
    "FewVariablesRegressor": "estimators",
    "SparseDictionaryRegressor": "estimators",
    "compare": "estimators",
    "ModelFileError": "files",
    "export_onnx": "files",
    "load": "files",
    "save": "files",
    "GroupLassoRegressor": "paper",
    "NeuralRegressor": "paper",
    "write_report": "report",
    "BlockedSplit": "series",
    "LagTransformer": "series",
}

__all__ = [
    "BlockedSplit",
    "DynamicsRegressor",
    "FewDirectionsRegressor",
    "FewVariablesClassifier",
    "FewVariablesRegressor",
    "GroupLassoRegressor",
    "LagTransformer",
    "ModelFileError",
    "NeuralRegressor",
    "SparseDictionaryRegressor",
    "compare",
    "displays",
    "export_onnx",
    "load",
    "metrics",
    "paper",
    "penalties",
    "problems",
    "save",
    "smoothing",
    "solvers",
    "splits",
    "systems",
    "theory",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"fewvars.{_HOMES[name]}"), name)
    else:
        try:
            value = import_module(f"fewvars.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"fewvars.{name}":
                raise
            raise AttributeError(f"module 'fewvars' has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
