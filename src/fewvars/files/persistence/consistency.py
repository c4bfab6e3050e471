"""Check that the attributes of a fitted model that was read from a file agree with each other."""

from typing import Any

import numpy as np

from fewvars._common.kinds import require
from fewvars.engine.losses import LOSSES
from fewvars.engine.network import Network
from fewvars.estimators import DynamicsRegressor, FewVariablesClassifier, SparseDictionaryRegressor
from fewvars.estimators.assessment import LEVELS
from fewvars.estimators.few_directions import FewDirectionsRegressor
from fewvars.estimators.variables import FewVariables
from fewvars.heads import Head
from fewvars.heads.network import check_parameters
from fewvars.paper import AdaptiveDirectionsRegressor
from fewvars.search.path import Path
from fewvars.series.lags import LagTransformer


def _check_head(model: Any, n_variables: int, n_outputs: int | None) -> None:
    """Raise ValueError unless the head fits the variables that it is evaluated on, and the outputs if known."""
    head: Head = model._head
    require(head.name == model.head_, f"head_ is {model.head_}, but another head is stored")
    require(head.n_inputs == n_variables, f"the head has {head.n_inputs} variables for the {n_variables} selected")
    require(n_outputs in (None, head.n_outputs), f"the head has {head.n_outputs} outputs, the rest {n_outputs}")
    quantiles = getattr(model, "residual_quantiles_", None)
    fit = quantiles is None or quantiles.shape == (LEVELS.size, head.n_outputs)
    require(fit, "residual_quantiles_ does not fit the outputs of the head")
    require(head.n_outputs == 1 or not model._single_output, f"the head has {head.n_outputs} outputs instead of one")
    loss = getattr(model, "loss", None)  # a classifier has no such parameter
    require(loss is None or (isinstance(loss, str) and loss in LOSSES), f"the loss {loss!r} is not known")
    ends = len(getattr(model, "input_range_", (0, 0)))
    require(ends == 2, f"input_range_ has {ends} rows instead of two")


def check_few_variables(model: FewVariables) -> None:
    """Raise ValueError unless path, encoding and head fit the support."""
    labels = model.path_.labels
    require(labels is not None and labels.size == model.n_features_in_, "the path has another number of inputs")
    encoding, selected = model._encoding, model.support_
    if encoding is not None:
        require(len(encoding.columns) == model.n_features_in_, "the encoding has another number of columns")
        selected = selected[encoding.sources]
    _check_head(model, int(selected.sum()), None)


def check_classifier(model: FewVariablesClassifier) -> None:
    """Raise ValueError unless held-out rows and head also fit the classes."""
    check_few_variables(model)
    n_classes = model.held_out_probabilities_.shape[1]
    require(n_classes == len(model.classes_), "held_out_probabilities_ has another number of classes")
    require(model.held_out_classes_.max(initial=0) < n_classes, "held_out_classes_ names an unknown class")
    binary = len(model.classes_) == 2
    require(model._single_output == binary, "the number of classes does not fit the outputs")
    _check_head(model, model._head.n_inputs, 1 if binary else len(model.classes_))


def check_few_directions(model: FewDirectionsRegressor) -> None:
    """Raise ValueError unless the head fits the directions."""
    _check_head(model, model.n_directions_, None)


def check_dynamics(model: DynamicsRegressor) -> None:
    """Raise ValueError unless each equation has a function that fits the graph."""
    columns = model._columns
    require(len(columns.variables) == model.n_features_in_, "the equations have another number of variables")
    require(model.inputs_ == columns.groups, "inputs_ are not those of the equations")
    require(model.input_graph_.shape[1] == len(columns.groups), "input_graph_ has another number of inputs")
    require(model.lower_.size == len(columns.states), "lower_ and upper_ have another number of states")
    require(len(model.heads_) == model.n_features_in_, "there is not one function for each variable")
    for head, support in zip(model.heads_, model.input_graph_, strict=True):
        n_columns = int(support[columns.labels].sum())
        require((head.n_inputs, head.n_outputs) == (n_columns, 1), "a function does not fit the graph")
    if "start_" in model.__dict__:
        require(_is_datetime(model.start_), "start_ is not a datetime")


def _is_datetime(text: str) -> bool:
    try:
        return not np.isnat(np.datetime64(text))
    except ValueError:
        return False


def check_dictionary(model: SparseDictionaryRegressor) -> None:
    """Raise ValueError unless the polynomial fits the inputs, and their names differ."""
    polynomial = model.polynomial_
    require(polynomial.exponents.shape[1] == model.n_features_in_, "the polynomial has another number of inputs")
    names = getattr(model, "feature_names_in_", None)
    require(names is None or len(set(names)) == len(names), "two inputs have the same name")


def check_network(model: Any) -> None:
    """Raise ValueError unless the network fits inputs, outputs and parameters."""
    network: Network = model.network_
    require(network.n_inputs == model.n_features_in_, "the network has another number of inputs")
    require(network.n_outputs == model.y_scale_.size, "the network has another number of outputs")
    require(network.n_outputs == 1 or not model._one_output, "the network has several outputs instead of one")
    check_parameters("parameters_", network, model.parameters_.size)


def check_two_stages(model: Any, layer: int = 0) -> None:
    """Raise ValueError unless path and norms fit a layer of the network."""
    check_network(model)
    require(layer <= len(model.network_.widths), "the network has too few layers")
    columns = [model.network_.n_inputs, *model.network_.widths][layer]
    require(model.initial_norms_.size == columns, "initial_norms_ does not fit the network")
    path: Path = model.path_
    require(path.magnitudes.shape[1] == columns, "path_ does not fit the network")
    require(path.bic is not None and len(path.bic) > 0, "path_ has no BIC")


def check_adaptive_directions(model: AdaptiveDirectionsRegressor) -> None:
    """Raise ValueError unless path and norms fit the second layer."""
    check_two_stages(model, layer=1)


def check_lags(model: LagTransformer) -> None:
    """Raise ValueError unless the groups are those of the lags."""
    d, lags = model.n_features_in_, model.lags_
    require(len(set(lags)) == len(lags), "lags_ repeats a lag")
    # The length is checked first: a forged number of inputs must not fill the memory.
    require(model.feature_groups_.size == d * len(lags), "feature_groups_ does not fit the lags")
    require(np.array_equal(model.feature_groups_, np.tile(np.arange(d), len(lags))), "feature_groups_ is not in order")
