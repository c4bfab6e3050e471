"""fewvars learns functions of few variables: which inputs matter, and what the function is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from . import (
        datasets,
        displays,
        lags,
        metrics,
        paper,
        penalties,
        report,
        smoothing,
        solvers,
        splits,
        systems,
        targets,
        theory,
    )
    from .comparison import compare
    from .estimators import (
        FewDirectionsRegressor,
        FewVariablesRegressor,
        GroupLassoRegressor,
        NeuralRegressor,
        SparseDictionaryRegressor,
    )
    from .onnx_export import export_onnx
    from .persistence import ModelFileError, load, save

# Imported when first used: `fewvars --version` should not wait for the compiler and the solvers.
_HOMES = {
    "compare": "comparison",
    "FewDirectionsRegressor": "estimators",
    "FewVariablesRegressor": "estimators",
    "GroupLassoRegressor": "estimators",
    "NeuralRegressor": "estimators",
    "SparseDictionaryRegressor": "estimators",
    "export_onnx": "onnx_export",
    "ModelFileError": "persistence",
    "load": "persistence",
    "save": "persistence",
}

__all__ = [
    "FewDirectionsRegressor",
    "FewVariablesRegressor",
    "GroupLassoRegressor",
    "ModelFileError",
    "NeuralRegressor",
    "SparseDictionaryRegressor",
    "compare",
    "datasets",
    "displays",
    "export_onnx",
    "lags",
    "load",
    "metrics",
    "paper",
    "penalties",
    "report",
    "save",
    "smoothing",
    "solvers",
    "splits",
    "systems",
    "targets",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'fewvars' has no attribute {name!r}")
    home = _HOMES.get(name)
    value = import_module(f".{name}", __name__) if home is None else getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
