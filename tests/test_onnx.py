"""ONNX export: what onnxruntime predicts is what we predict."""

import copy
import json
import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

import fewvars as fv
from fewvars.engine.losses import CrossEntropy
from fewvars.engine.network import ACTIVATIONS
from fewvars.estimators.few_directions import FewDirectionsRegressor
from fewvars.files.onnx import export_onnx
from fewvars.heads import CurvesHead, HeadSettings, MeanHead, Networks, PolynomialHead, StepsHead
from fewvars.paper import AdaptiveDirectionsRegressor, AdaptiveGroupLassoRegressor
from fewvars.polynomials.polynomial import Polynomial
from fewvars.series.lags import LagTransformer
from problems import LITERAL, PLAIN, QUICK, QUICK_DIRECTIONS

# Relative to the largest prediction. Double: our tanh is within 2e-15, and sums are taken in another order.
TOLERANCES = {"float64": 1e-12, "float32": 1e-4}


def data(outputs=1, n=300, d=6):
    rng = np.random.default_rng(100)
    X = 2.0 + 3.0 * rng.standard_normal((n, d))
    Z = (X - 2.0) / 3.0
    y = np.column_stack([1e3 * Z[:, 1] * Z[:, 4], Z[:, 4] - 7.0])
    return X, y[:, 0] if outputs == 1 else y


def run(path, X, dtype):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X.astype(dtype)})[0], session


def assert_same(model, X, folder, dtype):
    path = folder / "model.onnx"
    export_onnx(model, path, dtype=dtype)
    expected = model.predict(X.astype(dtype).astype(float))
    found, _ = run(path, X, dtype)
    assert found.dtype == dtype
    assert found.shape == expected.shape
    allowed = TOLERANCES[dtype] * np.abs(expected).max(axis=0)
    assert (np.abs(found - expected) <= allowed).all()
    assert (np.abs(run(path, X[:1], dtype)[0] - expected[:1]) <= allowed).all()


ESTIMATORS = {
    "few variables": fv.FewVariablesRegressor(**QUICK, random_state=0),
    "few directions": FewDirectionsRegressor(
        **QUICK_DIRECTIONS, random_state=0, head="dictionary", n_directions=1, shuffle=False
    ),
    "dictionary": fv.SparseDictionaryRegressor(),
    "plain network": fv.NeuralRegressor(**PLAIN),
    "group lasso": fv.GroupLassoRegressor(**LITERAL),
    "Algorithm 1": AdaptiveGroupLassoRegressor(**LITERAL),
    "Algorithm 2": AdaptiveDirectionsRegressor(**LITERAL),
}


@pytest.fixture(scope="module", params=[(name, k) for name in ESTIMATORS for k in (1, 2)], ids=str)
def fitted(request):
    name, outputs = request.param
    X, y = data(outputs)
    model = ESTIMATORS[name].fit(X, y)
    assert np.std(model.predict(X), axis=0).max() > 0.1  # something to get wrong
    return model, X


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_regressor(fitted, tmp_path, dtype):
    assert_same(*fitted, tmp_path, dtype)


@pytest.fixture(scope="module", params=[2, pytest.param(3, marks=pytest.mark.slow)])
def classifier(request):
    X, _ = data(n=80)
    labels = np.digitize(X[:, 1], np.linspace(1.0, 3.0, request.param - 1)) - 1
    return fv.FewVariablesClassifier(**QUICK, random_state=0, head="dictionary", n_variables=1).fit(X, labels), X


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("head", ["dictionary", "network"])
def test_probabilities(classifier, tmp_path, head, dtype):
    model, X = classifier
    if head == "network":
        kind = Networks(n_networks=2, max_iterations=5, settings=HeadSettings(loss=CrossEntropy()))
        labels = model.predict_proba(X)
        targets = labels[:, 1:] if labels.shape[1] == 2 else labels
        own = kind.fit(X[:, model.support_], targets, np.ones(len(X)), widths=(4,), ridge=1e-4)
        model = with_head(model, own, targets.shape[1])
    export_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    found, _ = run(tmp_path / "model.onnx", X, dtype)
    expected = model.predict_proba(X.astype(dtype).astype(float))
    assert found.shape == expected.shape
    assert np.ptp(expected, axis=0).min() > 0.1  # something to get wrong
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCES[dtype])


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["huber", "poisson"])
def test_losses(tmp_path, loss):
    X, _ = data(n=100)
    y = np.floor(3.0 * np.exp((X[:, 1] - 2.0) / 3.0))
    asked = {"few variables": {"n_variables": 1}, "few directions": {"n_directions": 1}}
    for name, options in asked.items():
        model = clone(ESTIMATORS[name]).set_params(loss=loss, head="dictionary", **options)
        assert_same(model.fit(X, y), X, tmp_path, "float64")


@pytest.fixture(scope="module")
def selected():
    X, y = data()
    model = fv.FewVariablesRegressor(**QUICK, random_state=0, n_variables=2).fit(X, y)
    assert 0 < model.support_.sum() < 6
    return model, X, y


def with_head(model, head, outputs=1):
    changed = copy.copy(model)
    changed._head, changed._single_output = head, outputs == 1
    return changed


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_network_heads_with_every_activation(selected, tmp_path, activation, dtype):
    model, X, y = selected
    networks = Networks(n_networks=3, max_iterations=5, settings=HeadSettings(activation=activation))
    head = networks.fit(X[:, model.support_], y[:, None], np.ones(len(y)), widths=(5, 4), ridge=1e-4)
    model = with_head(model, head)
    far = [X, 1e4 * X, -1e4 * X]  # exp would overflow there; of a sine no digits are left
    assert_same(model, X if activation == "sin" else np.vstack(far), tmp_path, dtype)


POLYNOMIALS = {
    "constant": ([[0, 0]], [[3.0]]),
    "no term": (np.zeros((0, 2), int), np.zeros((0, 1))),
    "one variable of two": ([[0, 3]], [[1.0]]),
    "mixed degrees": ([[0, 0], [1, 0], [2, 3], [0, 7]], [[1.0], [-2.0], [0.5], [1e-3]]),
    "two outputs": ([[0, 0], [1, 2]], [[1.0, 2.0], [3.0, 0.0]]),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", POLYNOMIALS)
def test_polynomial_heads(selected, tmp_path, case, dtype):
    model, X, _ = selected
    exponents, coefficients = map(np.array, POLYNOMIALS[case])
    head = PolynomialHead(Polynomial(exponents, coefficients))
    assert_same(with_head(model, head, coefficients.shape[1]), X, tmp_path, dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_of_steps(selected, tmp_path, dtype):
    model, X, _ = selected
    rng, k = np.random.default_rng(0), int(model.support_.sum())
    shapes = (2,), (k, 2), (5, k), (5, k), (5, k, 2)
    head = StepsHead(*(rng.standard_normal(shape) for shape in shapes))
    assert_same(with_head(model, head, 2), X, tmp_path, dtype)
    polynomial = Polynomial(np.eye(k, dtype=int), rng.standard_normal((k, 2)))
    assert_same(with_head(model, CurvesHead(polynomial, head, 0.1), 2), X, tmp_path, dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("mean", [[2.5], [1.0, -1e6]])
@pytest.mark.parametrize(
    "model",
    [
        fv.FewVariablesRegressor(**QUICK, random_state=0, n_variables=0),
        FewDirectionsRegressor(**QUICK_DIRECTIONS, random_state=0, head="dictionary", n_directions=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_mean_of_nothing(tmp_path, model, mean, dtype):
    X, y = data()
    model.fit(X, y)
    assert model.head_ == "mean"
    assert_same(with_head(model, MeanHead(np.array(mean)), len(mean)), X, tmp_path, dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_empty_dictionary_and_a_constant_input(tmp_path, dtype):
    X, y = data()
    assert_same(fv.SparseDictionaryRegressor(fit_intercept=False).fit(X, 0.0 * y), X, tmp_path, dtype)
    X[:, 2] = 1.0  # the literal estimators divide it by infinity
    model = fv.NeuralRegressor(**PLAIN).fit(X, y)
    assert np.isinf(model.x_scale_[2])
    assert_same(model, X, tmp_path, dtype)


def test_metadata(tmp_path):
    X, y = data()
    names = ["p", "q ü", "r", "s", '"t"', "<u>"]
    model = fv.SparseDictionaryRegressor().fit(pd.DataFrame(X, columns=names), y)
    export_onnx(model, tmp_path / "m.onnx")
    _, session = run(tmp_path / "m.onnx", X, "float64")
    stored = session.get_modelmeta().custom_metadata_map
    assert stored["fewvars"] == fv.__version__
    assert stored["estimator"] == "SparseDictionaryRegressor"
    assert json.loads(stored["feature_names"]) == names
    assert json.loads(stored["variables"]) == np.array(names)[model.support_].tolist()
    assert [x.name for x in session.get_inputs()] == ["X"]
    assert session.get_inputs()[0].shape == ["n", 6]
    assert [y.name for y in session.get_outputs()] == ["y"]
    export_onnx(model, tmp_path / "again.onnx")
    assert (tmp_path / "again.onnx").read_bytes() == (tmp_path / "m.onnx").read_bytes()
    assert onnx.load(tmp_path / "m.onnx").producer_name == "fewvars"


def test_a_model_that_single_precision_cannot_hold(tmp_path):
    X, y = data()
    model = fv.NeuralRegressor(**PLAIN).fit(X * 1e-60, y * 1e50)
    with pytest.raises(ValueError, match=r"dtype='float32' cannot hold .* use dtype='float64'"):
        export_onnx(model, tmp_path / "m.onnx", dtype="float32")
    assert not list(tmp_path.iterdir())
    assert_same(model, X * 1e-60, tmp_path, "float64")


def test_bad_arguments(tmp_path):
    X, y = data()
    path = tmp_path / "m.onnx"
    with pytest.raises(NotFittedError):
        export_onnx(fv.SparseDictionaryRegressor(), path)
    for model in (Ridge().fit(X, y), LagTransformer().fit(X), 3):
        with pytest.raises(ValueError, match=f"model={type(model).__name__}: only fitted regressors"):
            export_onnx(model, path)
    with pytest.raises(ValueError, match=r"dtype='float16': choose one of 'float64', 'float32'"):
        export_onnx(fv.SparseDictionaryRegressor().fit(X, y), path, dtype="float16")
    assert not list(tmp_path.iterdir())


def test_the_extra_is_named_if_it_is_missing(tmp_path, monkeypatch):
    X, y = data()
    model = fv.SparseDictionaryRegressor().fit(X, y)
    monkeypatch.setitem(sys.modules, "onnx", None)  # how Python itself marks a module that is not there
    with pytest.raises(ImportError, match=r"pip install 'fewvars\[onnx\]'"):
        export_onnx(model, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_a_dictionary_far_from_zero(tmp_path):
    X, y = data()
    model = fv.SparseDictionaryRegressor().fit(X + 1000.0, y)
    assert model.origin_.any()
    assert_same(model, X + 1000.0, tmp_path, "float64")
    fv.save(model, tmp_path / "model.fewvars")
    np.testing.assert_array_equal(fv.load(tmp_path / "model.fewvars").predict(X + 1000.0), model.predict(X + 1000.0))
