"""Fitted models as ONNX graphs, to predict where there is no Python: all inputs in, predictions out.

The graph takes `X` (n, d), all inputs in the user's units, and returns `y`, (n,) or (n, outputs) as `predict`
does. It uses operations that onnxruntime has in both precisions (not Softplus in double precision, which is
therefore composed). Unlike `predict`, a graph does not reject missing values: they become nan, unless the
model was fitted with missing="indicate". Categories are rejected.
"""

import json
import os
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fewvars._common.atomic import write_atomically
from fewvars._common.validation import FloatArray, check_choice
from fewvars.columns.encoders import Number
from fewvars.columns.encoding import INDICATE
from fewvars.engine.network import Network
from fewvars.estimators import FewVariablesClassifier, FewVariablesRegressor, SparseDictionaryRegressor
from fewvars.estimators.few_directions import FewDirectionsRegressor
from fewvars.estimators.fitted import FittedRegressor
from fewvars.estimators.inputs import column_names
from fewvars.estimators.variables import FewVariables
from fewvars.paper.base import NetworkRegressor
from fewvars.polynomials.polynomial import Polynomial

__all__ = ["export_onnx"]

# Runtimes of several years ago support it, and nothing here needs a newer one.
_OPSET, _IR_VERSION = 17, 8
_DTYPES = ("float64", "float32")


def export_onnx(model: BaseEstimator, path: str | os.PathLike[str], dtype: str = "float64") -> None:
    """Write a fitted regressor as an ONNX file.

    Parameters
    ----------
    model : a fitted regressor of this library
    path : str or path
        The file, conventionally ``.onnx``; written whole or not at all.
    dtype : {"float64", "float32"}
        Precision of `X`, of the arithmetic and of `y`.

    Notes
    -----
    The file's metadata name the estimator, the version of fewvars, the inputs (`feature_names`, in the order of
    the columns of X) and those that are selected (`variables`; all, if the estimator selects none), the last two
    as JSON.
    """
    onnx = _onnx()
    check_choice("dtype", dtype, _DTYPES)
    if outputs.dispatch(type(model)) is outputs.dispatch(object):
        raise ValueError(f"model={type(model).__name__}: only fitted regressors of fewvars can be exported.")
    check_is_fitted(model)
    graph = Graph(dtype)
    name, single = outputs(model, graph, "X")
    if single:
        name = graph.add("Squeeze", name, graph.integers([1]))
    graph.add("Identity", name, output="y")
    kind = onnx.TensorProto.DOUBLE if dtype == "float64" else onnx.TensorProto.FLOAT
    shape = ["n"] if single else ["n", "outputs"]
    described = onnx.helper.make_graph(
        graph.nodes,
        type(model).__name__,
        [onnx.helper.make_tensor_value_info("X", kind, ["n", model.n_features_in_])],
        [onnx.helper.make_tensor_value_info("y", kind, shape)],
        graph.constants,
    )
    from fewvars._common.version import __version__

    file = onnx.helper.make_model(
        described,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="fewvars",
        producer_version=__version__,
    )
    onnx.helper.set_model_props(file, _metadata(model, __version__))
    onnx.checker.check_model(file, full_check=True)
    write_atomically(path, file.SerializeToString(deterministic=True))


def _metadata(model: Any, version: str) -> dict[str, str]:
    names = column_names(model)
    support = getattr(model, "support_", np.ones(len(names), bool))
    return {
        "fewvars": version,
        "estimator": type(model).__name__,
        "feature_names": json.dumps(names),
        "variables": json.dumps([name for name, chosen in zip(names, support, strict=True) if chosen]),
    }


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportError("Exporting needs the package onnx: pip install 'fewvars[onnx]'.") from None
    return onnx


class Graph:
    """Nodes and constants under construction; values are known by their names."""

    def __init__(self, dtype: str) -> None:
        self.dtype = np.dtype(dtype)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operation: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        output = output or f"{operation}_{len(self.nodes)}"
        self.nodes.append(_onnx().helper.make_node(operation, inputs, [output], **attributes))
        return output

    def numbers(self, values: Any, *, positive: bool = False) -> str:
        """Add a constant in the precision of the graph, if that can hold it, and return its name."""
        given = np.asarray(values, np.float64)
        with np.errstate(over="ignore", under="ignore"):
            rounded = given.astype(self.dtype)
        if not (np.isfinite(rounded) == np.isfinite(given)).all() or (positive and not (rounded > 0).all()):
            raise ValueError(f"dtype={self.dtype.name!r} cannot hold the numbers of this model: use dtype='float64'.")
        return self._constant(rounded)

    def integers(self, values: Any) -> str:
        """Add a constant of whole numbers, such as indices, and return its name."""
        return self._constant(np.asarray(values, np.int64))

    def cast(self, x: str) -> str:
        """Return truth values as numbers."""
        kind = _onnx().helper.np_dtype_to_tensor_dtype(self.dtype)
        return self.add("Cast", x, to=kind)

    def columns(self, x: str, chosen: np.ndarray) -> str:
        """Return the chosen columns (a mask) of x (n, d)."""
        return x if chosen.all() else self.add("Gather", x, self.integers(np.flatnonzero(chosen)), axis=1)

    def networks(self, x: str, network: Network, thetas: FloatArray) -> str:
        """Add the mean (n, outputs) of networks with parameters (networks, n_parameters) at x (n, inputs)."""
        layers = [network.layers(theta) for theta in thetas]
        for k, activation in enumerate((*network.activation, "identity")):
            # Stacked matrices (networks, in, out): MatMul takes the networks all at once.
            weights = np.stack([layer[k].weights.T for layer in layers])
            biases = np.stack([layer[k].biases[None] for layer in layers])
            z = self.add("Add", self.add("MatMul", x, self.numbers(weights)), self.numbers(biases))
            x = self._activation(activation, z)
        return self.add("ReduceMean", x, axes=[0], keepdims=0)

    def _activation(self, kind: str, z: str) -> str:
        if kind == "identity":
            return z
        if kind == "softplus":  # max(z, 0) + log(1 + exp(-|z|)), which cannot overflow
            decay = self.add("Exp", self.add("Neg", self.add("Abs", z)))
            return self.add("Add", self.add("Relu", z), self.add("Log", self.add("Add", decay, self.numbers(1.0))))
        return self.add({"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu", "sin": "Sin"}[kind], z)

    def polynomial(self, x: str, polynomial: Polynomial) -> str:
        """Add a polynomial (n, outputs) at x (n, d).

        A monomial of degree p is a product of p columns, and of a column of ones for lower degrees: no powers,
        whose rounding differs between runtimes, and no table of (n, terms, d).
        """
        exponents = polynomial.exponents
        coefficients = polynomial.coefficients.reshape(len(exponents), *polynomial.coefficients.shape[1:] or (1,))
        if polynomial.origin.any():
            x = self.add("Sub", x, self.numbers(polynomial.origin))
        if not len(exponents):
            exponents, coefficients = np.zeros((1, exponents.shape[1]), int), np.zeros((1, coefficients.shape[1]))
        d, degree = exponents.shape[1], max(1, int(exponents.sum(axis=1).max()))
        factors = np.full((len(exponents), degree), d)
        for row, powers in zip(factors, exponents, strict=True):
            row[: powers.sum()] = np.repeat(np.arange(d), powers)
        padded = self.add("Pad", x, self.integers([0, 0, 0, 1]), self.numbers(1.0))
        product, *others = (self.add("Gather", padded, self.integers(column), axis=1) for column in factors.T)
        for other in others:
            product = self.add("Mul", product, other)
        return self.add("MatMul", product, self.numbers(coefficients))

    def _constant(self, values: np.ndarray) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(_onnx().numpy_helper.from_array(np.array(values, order="C"), name))
        return name


@singledispatch
def outputs(model: Any, graph: Graph, x: str) -> tuple[str, bool]:
    """Add the prediction at all inputs x (n, d); return the name of (n, outputs), and whether it is one output."""
    raise TypeError(f"{type(model).__name__} cannot be exported.")


@outputs.register
def _(model: FewVariablesRegressor, graph: Graph, x: str) -> tuple[str, bool]:
    return _means(model, graph, _selected(model, graph, x)), model._single_output


@outputs.register
def _(model: FewVariablesClassifier, graph: Graph, x: str) -> tuple[str, bool]:
    """Probabilities of the classes, (n, classes)."""
    logits = model.findings().head.export(graph, _selected(model, graph, x))
    if not model._single_output:
        return graph.add("Softmax", logits, axis=1), False
    second = graph.add("Sigmoid", logits)
    return graph.add("Concat", graph.add("Sub", graph.numbers(1.0), second), second, axis=1), False


def _selected(model: FewVariables, graph: Graph, x: str) -> str:
    """Return the inputs of the head, at all columns x (n, d): missing numbers become their mean and an indicator."""
    encoding, values = model.findings().encoding, graph.columns(x, model.support_)
    if encoding is None:
        return values
    chosen = [encoding.columns[j] for j in np.flatnonzero(model.support_)]
    numbers = [column for column in chosen if isinstance(column, Number)]
    if len(numbers) < len(chosen):
        names = [name for name in model.levels_ if name in model.get_feature_names_out()]
        raise ValueError(
            f"model: {names[0]!r} is a category, and the graphs take numbers only: leave it out of the fit."
        )
    if model.missing != INDICATE or not numbers:
        return values
    gaps = graph.add("IsNaN", values)
    filled = graph.add("Where", gaps, graph.numbers([column.mean for column in numbers]), values)
    both = graph.add("Concat", filled, graph.cast(gaps), axis=1)
    order = [k + len(numbers) * gap for k, column in enumerate(numbers) for gap in range(1 + column.indicated)]
    return graph.add("Gather", both, graph.integers(order), axis=1)


@outputs.register
def _(model: FewDirectionsRegressor, graph: Graph, x: str) -> tuple[str, bool]:
    centred = graph.add("Sub", x, graph.numbers(model.mean_))
    combinations = graph.add("MatMul", centred, graph.numbers(model.directions_.T))
    return _means(model, graph, combinations), model._single_output


def _means(model: FittedRegressor, graph: Graph, coordinates: str) -> str:
    """Add the head at its inputs (n, k), and turn logarithms of rates into rates."""
    found = model.findings()
    return graph.add(found.loss.mean_operation, found.head.export(graph, coordinates))


@outputs.register
def _(model: SparseDictionaryRegressor, graph: Graph, x: str) -> tuple[str, bool]:
    return graph.polynomial(x, model.polynomial_), model.polynomial_.coefficients.ndim == 1


@outputs.register
def _(model: NetworkRegressor, graph: Graph, x: str) -> tuple[str, bool]:
    z = graph.add("Div", x, graph.numbers(model.x_scale_, positive=True))
    y = graph.networks(z, model.network_, model.parameters_[None])
    return graph.add("Mul", y, graph.numbers(model.y_scale_)), model._one_output
