"""Fitted models in one safetensors file each, read back without running any code from it.

A file holds tensors and a JSON description: the version of the format and of the library, the name of the
estimator, its parameters and its fitted attributes. Only the estimators and records listed in this package are
made from it, and everything is checked against what they must be before it is used.
"""

import os
import reprlib
import warnings
from inspect import signature
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fewvars._common.atomic import write_atomically
from fewvars._common.kinds import require
from fewvars.files.persistence.container import one_line, pack, unpack
from fewvars.files.persistence.models import ESTIMATORS
from fewvars.files.persistence.values import Tensors, decode, encode

__all__ = ["ModelFileError", "load", "save"]

_NAMES = {kind.__name__: kind for kind in ESTIMATORS}
_SECTIONS = {"fewvars", "estimator", "parameters", "fitted", "not_stored"}


class ModelFileError(ValueError):
    """A file that is damaged, has a newer format, or isn't a model of this library."""


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, which `load` reads back.

    The file is written whole or not at all: an error or a crash leaves what was there before. Constructor
    parameters that are objects, such as a splitter in ``cv=`` or a RandomState, cannot be stored; the fit is
    saved all the same, and `load` puts the default in their place and says so.

    Parameters
    ----------
    model : a fitted estimator of this library
    path : str or path
        Any name; an existing file is replaced.
    """
    kind = type(model)
    if kind not in ESTIMATORS:
        raise ValueError(
            f"model={reprlib.repr(model)}: give a fitted {', '.join(_NAMES)}; other objects can be kept with joblib."
        )
    check_is_fitted(model)
    from fewvars._common.version import __version__

    tensors: Tensors = {}
    parameters, not_stored = _encode_parameters(model, tensors)
    values = _fitted_values(model)
    try:
        description = {
            "fewvars": __version__,
            "estimator": kind.__name__,
            "parameters": parameters,
            "fitted": {name: encode(value, f"fitted/{name}", tensors) for name, value in values.items()},
            "not_stored": not_stored,
        }
        _model(description, dict(tensors))  # do not write what could not be read back
    except ValueError as error:
        raise ValueError(f"model={kind.__name__} cannot be saved: {error}; fit it again.") from None
    write_atomically(path, pack(description, tensors))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` has written.

    No code from the file is run. Raises `ModelFileError`, a ValueError, if the file is damaged, was written by
    a newer version, or is something else.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    the fitted estimator
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        model, not_stored = _model(*unpack(data))
    except RecursionError:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: its JSON is nested too deeply.") from None
    except ValueError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {one_line(error)}.") from None
    for name, was in not_stored.items():
        warnings.warn(
            f"{os.fspath(path)}: the parameter {name} was {one_line(was)}, which a file cannot hold. It is now "
            f"{getattr(model, name)!r}. The fit is complete, but set {name} before fitting again.",
            UserWarning,
            stacklevel=2,
        )
    return model


def _encode_parameters(model: BaseEstimator, tensors: Tensors) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the constructor's parameters as JSON, and a text in place of each that cannot be stored."""
    stored, not_stored = {}, {}
    for name, value in model.get_params(deep=False).items():
        own: Tensors = {}
        try:
            stored[name] = encode(value, f"parameters/{name}", own)
        except ValueError:
            not_stored[name] = reprlib.repr(value)
        else:
            tensors.update(own)
    return stored, not_stored


def _fitted_values(model: BaseEstimator) -> dict[str, Any]:
    """Return the fitted attributes of this library; others are left out with a warning."""
    kinds = ESTIMATORS[type(model)].kinds
    values = {name: value for name, value in vars(model).items() if name not in model.get_params(deep=False)}
    foreign = [name for name in values if name not in kinds]
    if foreign:
        warnings.warn(
            f"{', '.join(foreign)} of this {type(model).__name__} cannot be saved and will be missing from the file.",
            UserWarning,
            stacklevel=3,
        )
    return {name: value for name, value in values.items() if name in kinds}


def _model(description: dict[str, Any], tensors: Tensors) -> tuple[BaseEstimator, dict[str, str]]:
    """Return the model that is described, and the parameters that were not stored; used tensors are removed."""
    require(description.keys() == _SECTIONS, "its description lacks a section or has one too many")
    name, not_stored = description["estimator"], description["not_stored"]
    require(isinstance(name, str) and name in _NAMES, f"it holds {reprlib.repr(name)}, an unknown kind of model")
    for section in ("parameters", "fitted", "not_stored"):
        require(isinstance(description[section], dict), f"its section {section!r} is not a mapping")
    known = signature(_NAMES[name]).parameters
    for parameter in (*description["parameters"], *not_stored):
        require(parameter in known, f"{name} has no parameter {reprlib.repr(parameter)}")
    require(
        all(isinstance(was, str) for was in not_stored.values()),
        "its section 'not_stored' holds something other than text",
    )
    model = _NAMES[name](**_decoded(description, "parameters", tensors))
    fitted = _decoded(description, "fitted", tensors)
    ESTIMATORS[type(model)].check_fields(name, fitted)
    require(not tensors, f"nothing refers to its tensors {reprlib.repr(sorted(tensors))}")
    vars(model).update(fitted)
    ESTIMATORS[type(model)].check(model)
    return model, not_stored


def _decoded(description: dict[str, Any], section: str, tensors: Tensors) -> dict[str, Any]:
    return {name: decode(code, f"{section}/{name}", tensors) for name, code in description[section].items()}
