"""The estimators that a file may hold: their fitted attributes, and what must hold between them."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from fewvars._common.kinds import (
    Kind,
    agree,
    array,
    one_of,
    real,
    require,
    row,
    rows,
    table,
    text,
    truth,
    whole,
)
from fewvars.columns.encoding import Encoding
from fewvars.engine.losses import LOSSES
from fewvars.engine.network import Network
from fewvars.engine.solvers import Outcome
from fewvars.estimators import (
    DynamicsRegressor,
    FewVariablesClassifier,
    FewVariablesRegressor,
    SparseDictionaryRegressor,
)
from fewvars.estimators.assessment import LEVELS
from fewvars.estimators.few_directions import FewDirectionsRegressor
from fewvars.estimators.measurements import InputColumns
from fewvars.estimators.variables import FewVariables
from fewvars.files.persistence.records import (
    Description,
)
from fewvars.heads import Head, head_types
from fewvars.heads.network import check_parameters
from fewvars.paper import (
    AdaptiveDirectionsRegressor,
    AdaptiveGroupLassoRegressor,
    GroupLassoRegressor,
    NeuralRegressor,
)
from fewvars.polynomials.dictionary import DictionaryFit
from fewvars.search.path import Path
from fewvars.series.lags import LagTransformer


def _is_head(name: str, value: Any, sizes: dict[str, int]) -> None:
    """Any head that is known."""
    one_of(*head_types().values())(name, value, sizes)


_inputs: dict[str, Kind] = {
    "n_features_in_": whole(least=1, size="inputs"),
    "feature_names_in_": array("text", "inputs"),
    "_sklearn_output_config": table(text("default", "pandas", "polars")),  # what set_output asked for
}
_OPTIONAL = frozenset({"feature_names_in_", "_sklearn_output_config"})
_head: dict[str, Kind] = {
    "head_": text(),
    "_head": _is_head,
    "head_errors_": table(real(finite=False)),
    "held_out_error_": real(finite=False),
    "lambda_": real(least=0.0, finite=False),
    "n_iter_": whole(),
    "smoothed_": truth,
    "input_range_": array("float", "ends", "encoded inputs"),
    "expected_error_": real(finite=False),
    "expected_error_se_": real(finite=False),
    "expected_rmse_": array("float", "outputs", least=0.0, finite=False),
    "residual_quantiles_": array("float", "levels", "outputs", finite=False),
    "notes_": rows(text()),
    "_single_output": truth,
}
_ASSESSED = frozenset(
    {"expected_error_", "expected_error_se_", "expected_rmse_", "residual_quantiles_", "notes_", "input_range_"}
)
_network: dict[str, Kind] = {
    "network_": one_of(Network),
    "parameters_": array("float", "parameters"),
    "x_scale_": array("float", "inputs", above=0.0, finite=False),  # infinite for constant inputs
    "y_scale_": array("float", "outputs", above=0.0),
    "n_iter_": whole(),
    "outcome_": one_of(Outcome),
    "_one_output": truth,
}
_support: dict[str, Kind] = {"support_": array("bool", "inputs")}
_two_stages: dict[str, Kind] = {
    "path_": one_of(Path),
    "lambda_": real(least=0.0, finite=False),
    "initial_norms_": array("float", "columns", least=0.0, finite=False),
}


def _check_head(model: Any, n_variables: int, n_outputs: int | None) -> None:
    """Complain unless the head fits the variables that it is evaluated on, and the outputs if they are known."""
    head: Head = model._head
    require(head.name == model.head_, f"head_ is {model.head_}, but another head is stored")
    require(head.n_inputs == n_variables, f"the head has {head.n_inputs} variables for the {n_variables} selected")
    require(n_outputs in (None, head.n_outputs), f"the head has {head.n_outputs} outputs, the rest {n_outputs}")
    quantiles = getattr(model, "residual_quantiles_", None)
    fit = quantiles is None or quantiles.shape == (LEVELS.size, head.n_outputs)
    require(fit, "residual_quantiles_ does not fit the outputs of the head")
    require(head.n_outputs == 1 or not model._single_output, f"the head has {head.n_outputs} outputs instead of one")
    ends = len(getattr(model, "input_range_", (0, 0)))
    require(ends == 2, f"input_range_ has {ends} rows instead of two")


def _check_few_variables(model: FewVariables) -> None:
    labels = model.path_.labels
    require(labels is not None and labels.size == model.n_features_in_, "the path has another number of inputs")
    encoding, selected = model._encoding, model.support_
    if encoding is not None:
        require(len(encoding.columns) == model.n_features_in_, "the encoding has another number of columns")
        selected = selected[encoding.sources]
    loss = getattr(model, "loss", None)  # a classifier has no such parameter
    require(loss is None or (isinstance(loss, str) and loss in LOSSES), f"the loss {loss!r} is not known")
    _check_head(model, int(selected.sum()), None)


def _class_labels(name: str, value: Any, sizes: dict[str, int]) -> None:
    """At least two different labels: texts, numbers or truth values."""
    require(isinstance(value, np.ndarray) and value.ndim == 1, f"{name} is not a row of labels")
    require(len(value) >= 2 and len(set(value.tolist())) == len(value), f"{name} is not a row of different labels")
    require(value.dtype.kind != "f" or np.isfinite(value).all(), f"{name} is not finite")


def _check_classifier(model: FewVariablesClassifier) -> None:
    _check_few_variables(model)
    n_classes = model.held_out_probabilities_.shape[1]
    require(n_classes == len(model.classes_), "held_out_probabilities_ has another number of classes")
    require(model.held_out_classes_.max(initial=0) < n_classes, "held_out_classes_ names an unknown class")
    binary = len(model.classes_) == 2
    require(model._single_output == binary, "the number of classes does not fit the outputs")
    _check_head(model, model._head.n_inputs, 1 if binary else len(model.classes_))


def _check_few_directions(model: FewDirectionsRegressor) -> None:
    _check_head(model, model.n_directions_, None)


def _check_dynamics(model: DynamicsRegressor) -> None:
    columns = model._columns
    require(len(columns.variables) == model.n_features_in_, "the equations have another number of variables")
    require(model.inputs_ == columns.groups, "inputs_ are not those of the equations")
    require(model.input_graph_.shape[1] == len(columns.groups), "input_graph_ has another number of inputs")
    require(model.lower_.size == len(columns.states), "lower_ and upper_ have another number of states")
    require(len(model.heads_) == model.n_features_in_, "there is not one function for each variable")
    for head, support in zip(model.heads_, model.input_graph_, strict=True):
        n_columns = int(support[columns.labels].sum())
        require((head.n_inputs, head.n_outputs) == (n_columns, 1), "a function does not fit the graph")


def _check_dictionary(model: SparseDictionaryRegressor) -> None:
    polynomial = model.polynomial_
    require(polynomial.exponents.shape[1] == model.n_features_in_, "the polynomial has another number of inputs")
    names = getattr(model, "feature_names_in_", None)
    require(names is None or len(set(names)) == len(names), "two inputs have the same name")


def _check_network(model: Any) -> None:
    network: Network = model.network_
    require(network.n_inputs == model.n_features_in_, "the network has another number of inputs")
    require(network.n_outputs == model.y_scale_.size, "the network has another number of outputs")
    require(network.n_outputs == 1 or not model._one_output, "the network has several outputs instead of one")
    check_parameters("parameters_", network, model.parameters_.size)


def _check_two_stages(model: Any, layer: int = 0) -> None:
    _check_network(model)
    require(layer <= len(model.network_.widths), "the network has too few layers")
    columns = [model.network_.n_inputs, *model.network_.widths][layer]
    require(model.initial_norms_.size == columns, "initial_norms_ does not fit the network")
    path: Path = model.path_
    require(path.magnitudes.shape[1] == columns, "path_ does not fit the network")
    require(path.bic is not None and len(path.bic) > 0, "path_ has no BIC")


def _check_adaptive_directions(model: AdaptiveDirectionsRegressor) -> None:
    _check_two_stages(model, layer=1)


def _check_lags(model: LagTransformer) -> None:
    d, lags = model.n_features_in_, model.lags_
    require(len(set(lags)) == len(lags), "lags_ repeats a lag")
    # The length first: a forged number of inputs must not be laid out in memory.
    require(model.feature_groups_.size == d * len(lags), "feature_groups_ does not fit the lags")
    require(np.array_equal(model.feature_groups_, np.tile(np.arange(d), len(lags))), "feature_groups_ is not in order")


def _coefficients(name: str, value: Any, sizes: dict[str, int]) -> None:
    """Coefficients (terms,) or (outputs, terms)."""
    shape = ("terms",) if getattr(value, "ndim", 1) == 1 else ("outputs", "terms")
    array("float", *shape)(name, value, sizes)


def _equations(name: str, value: Any, sizes: dict[str, int]) -> None:
    """A text, or a list of them for several outputs."""
    if isinstance(value, list):
        agree(name, "outputs", len(value), sizes)  # a forged number of outputs needs as many texts
    for entry in value if isinstance(value, list) else [value]:
        text()(name, entry, sizes)


_variables: dict[str, Kind] = {
    **_inputs,
    **_head,
    "support_": array("bool", "inputs"),
    "feature_importances_": array("float", "inputs", finite=False),
    "feature_importances_se_": array("float", "inputs", finite=False),
    "q_values_": array("float", "inputs", least=0.0),
    "interactions_": rows(row(text(), text())),
    "stand_ins_": rows(row(text(), text())),
    "judge_": text(),
    "selection_frequencies_": array("float", "inputs", least=0.0),
    "support_sizes_": array("int", "candidates", least=0),
    "support_errors_": array("float", "candidates", finite=False),
    "support_errors_se_": array("float", "candidates", finite=False),
    "path_": one_of(Path),
    "_encoding": one_of(Encoding),
}
_OPTIONAL_OF_VARIABLES = (
    _OPTIONAL
    | _ASSESSED
    | {"selection_frequencies_", "q_values_", "interactions_", "stand_ins_", "judge_", "_encoding"}
)
_PENALISED = Description({**_inputs, **_network, **_support, **_two_stages}, _check_two_stages, _OPTIONAL)

ESTIMATORS: dict[type[BaseEstimator], Description] = {
    FewVariablesRegressor: Description(_variables, _check_few_variables, _OPTIONAL_OF_VARIABLES),
    FewVariablesClassifier: Description(
        {
            **_variables,
            "classes_": _class_labels,
            "held_out_probabilities_": array("float", "held out", "classes", least=0.0),
            "held_out_classes_": array("int", "held out", least=0),
        },
        _check_classifier,
        _OPTIONAL_OF_VARIABLES,
    ),
    FewDirectionsRegressor: Description(
        {
            **_inputs,
            **_head,
            "n_directions_": whole(size="directions"),
            "directions_": array("float", "directions", "inputs"),
            "mean_": array("float", "inputs"),
            "singular_values_": array("float", "directions", least=0.0),
            "selection_frequencies_": array("float", "ranks", least=0.0),
            "ranks_": array("int", "candidates", least=0),
            "rank_errors_": array("float", "candidates", finite=False),
            "rank_errors_se_": array("float", "candidates", finite=False),
            "path_": one_of(Path),
        },
        _check_few_directions,
        _OPTIONAL | _ASSESSED | {"selection_frequencies_"},
    ),
    DynamicsRegressor: Description(
        {
            **_inputs,
            "_columns": one_of(InputColumns),
            "inputs_": rows(text()),
            "input_graph_": array("bool", "inputs", "groups"),
            "input_scores_": array("float", "inputs", "groups", finite=False),
            "input_q_values_": array("float", "inputs", "groups", finite=False),
            "input_frequencies_": array("float", "inputs", "groups", finite=False),
            "heads_": rows(_is_head, least=1),
            "held_out_errors_": array("float", "inputs", finite=False),
            "head_errors_": rows(table(real(finite=False))),
            "lower_": array("float", "states"),
            "upper_": array("float", "states"),
            "step_": real(above=0.0),
        },
        _check_dynamics,
        _OPTIONAL | {"input_frequencies_"},
    ),
    SparseDictionaryRegressor: Description(
        {
            **_inputs,
            "path_": one_of(DictionaryFit),
        },
        _check_dictionary,
        _OPTIONAL,
    ),
    NeuralRegressor: Description({**_inputs, **_network, **_support}, _check_network, _OPTIONAL),
    GroupLassoRegressor: _PENALISED,
    AdaptiveGroupLassoRegressor: _PENALISED,
    AdaptiveDirectionsRegressor: Description(
        {
            **_inputs,
            **_network,
            **_two_stages,
            "n_directions_": whole(size="directions"),
            "directions_": array("float", "directions", "inputs"),
            "singular_values_": array("float", "singular values", least=0.0),
            "rank_": whole(),
        },
        _check_adaptive_directions,
        _OPTIONAL,
    ),
    LagTransformer: Description(
        {
            **_inputs,
            "lags_": rows(whole(), least=1),
            "feature_groups_": array("int", "columns", least=0),
        },
        _check_lags,
        _OPTIONAL,
    ),
}
