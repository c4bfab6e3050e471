"""A head from outside the package: one file and one entry of a list are enough to fit, save, export and report it."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fewvars as fv
from fewvars import heads
from fewvars._common.kinds import array
from fewvars.cli import main
from fewvars.report import report_html
from problems import QUICK


@dataclass(frozen=True, eq=False)
class LogisticHead(heads.Head):
    """y = a + b s, with s = 1 / (1 + exp(-(Xw))) for one of a few steepnesses of w."""

    name: ClassVar = "logistic"
    noun: ClassVar = "logistic curve"
    stored: ClassVar = {"weights": array("float", "inputs"), "line": array("float", "two", "outputs")}

    weights: np.ndarray
    line: np.ndarray

    @property
    def n_inputs(self):
        return self.weights.size

    @property
    def n_outputs(self):
        return self.line.shape[1]

    def step(self, X):
        return 1.0 / (1.0 + np.exp(-(X @ self.weights)))

    def predict(self, X):
        return self.line[0] + self.step(X)[:, None] * self.line[1]

    def gradient(self, X):
        slope = self.step(X) * (1.0 - self.step(X))
        return slope[:, None, None] * self.line[1][:, None] * self.weights

    def describe(self):
        return f"a logistic curve of {self.n_inputs} variables"

    def text(self, names, *, digits=4):
        inner = " + ".join(f"{w:.{digits}g} {name}" for w, name in zip(self.weights, names, strict=True))
        return [f"{a:.{digits}g} + {b:.{digits}g} / (1 + exp(-({inner})))" for a, b in self.line.T]

    def export(self, graph, x):
        inner = graph.add("MatMul", x, graph.numbers(self.weights[:, None]))
        scaled = graph.add("Mul", graph.add("Sigmoid", inner), graph.numbers(self.line[1][None]))
        return graph.add("Add", scaled, graph.numbers(self.line[0][None]))


@dataclass(frozen=True)
class Logistic(heads.HeadKind):
    head: ClassVar = LogisticHead

    @classmethod
    def of(cls, settings):
        return cls()

    def suits(self, X, y):
        return True

    def choose(self, trial, rival):
        return trial.simplest_not_worse([partial(self.fit, steepness=steepness) for steepness in (1.0, 2.0, 5.0)])

    def fit(self, X, y, weight, *, steepness):
        direction = np.linalg.lstsq(X - X.mean(axis=0), y[:, 0], rcond=None)[0]
        head = LogisticHead(steepness * direction / np.linalg.norm(direction), np.zeros((2, y.shape[1])))
        line = np.linalg.lstsq(np.column_stack([np.ones(len(X)), head.step(X)]), y, rcond=None)[0]
        return LogisticHead(head.weights, line)


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(heads, "KINDS", [*heads.KINDS, Logistic])


def data():
    X = np.random.default_rng(0).standard_normal((300, 4))
    return X, 1.0 + 2.0 / (1.0 + np.exp(-5.0 * X[:, 1]))


@pytest.fixture
def model(registered):
    return fv.FewVariablesRegressor(**QUICK, head="logistic", n_variables=1, random_state=0).fit(*data())


def test_is_fitted_and_predicts(model):
    X, y = data()
    assert model.head_ == "logistic"
    assert_allclose(model.predict(X), y, atol=1e-6)
    assert_allclose(model.gradient(X)[:, 1], 10.0 * (y - 1.0) * (3.0 - y) / 4.0, atol=1e-6)
    assert model.equation_ == "1 + 2 / (1 + exp(-(5 x1)))"


def test_auto_compares_it_with_the_others(registered):
    found = fv.FewVariablesRegressor(**QUICK, n_variables=1, random_state=0).fit(*data())
    assert list(found.head_errors_) == ["dictionary", "curves", "network", "logistic"]
    assert found.head_ == "logistic"


def test_is_saved_and_exported(model, tmp_path):
    X, _ = data()
    fv.save(model, tmp_path / "model")
    assert_array_equal(fv.load(tmp_path / "model").predict(X), model.predict(X))
    fv.export_onnx(model, tmp_path / "model.onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert_allclose(session.run(None, {"X": X})[0], model.predict(X), rtol=1e-12)


def test_a_file_with_an_unknown_head_is_refused(model, tmp_path, monkeypatch):
    fv.save(model, tmp_path / "model")
    monkeypatch.setattr(heads, "KINDS", heads.KINDS[:-1])
    with pytest.raises(fv.ModelFileError, match="LogisticHead"):
        fv.load(tmp_path / "model")


def test_is_described(model, registered, tmp_path, capsys):
    X, y = data()
    page = report_html(model, X, y)
    assert "logistic curve of 1 variables" in page
    assert "exp(-(5 x1))" in page
    np.savez(tmp_path / "data.npz", X=X, y=y)
    settings = [word for name, value in QUICK.items() for word in ("--set", f"{name}={value}")]
    command = ["fit", str(tmp_path / "data.npz"), "--target", "y", "--head", "logistic", "--n-variables", "1"]
    main(command + settings, standalone_mode=False)
    out = capsys.readouterr().out
    assert "The function is a logistic curve of 1 variables." in out
    assert "y = 1 + 2 / (1 + exp(-(5 x1)))" in out


def test_names_that_are_not_registered_are_refused():
    with pytest.raises(ValueError, match="head='logistic': choose one of 'auto', 'dictionary', 'curves', 'network'"):
        fv.FewVariablesRegressor(head="logistic").fit(*data())
