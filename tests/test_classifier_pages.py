"""Classifiers on the command line and in reports: labels in the target are enough."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from scipy.special import expit

from fewvars import FewVariablesClassifier, FewVariablesRegressor
from fewvars.cli import main
from fewvars.files.persistence import load
from fewvars.report import report_html
from fewvars.report._classes import calibration_points

FAST = ["--jobs", "1", "--head", "dictionary", "--set", "max_degree=2"]


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="fewvars")


def labelled(labels=("bad", "good"), n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.array(labels)[(rng.random(n) < expit(3.0 * X[:, 0] - 2.0 * X[:, 2])).astype(int)]


def write(path, X, y):
    rows = [",".join([*map(str, row), str(label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join(["a,b,c,d,quality", *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    write(folder / "data.csv", *labelled())
    done = run("fit", folder / "data.csv", "--target", "quality", "--save", folder / "model", "--json", *FAST)
    assert done.exit_code == 0, done.output
    (folder / "answer.json").write_text(done.stdout)
    return folder


def test_text_in_the_target_starts_a_classifier(folder):
    answer = json.loads((folder / "answer.json").read_text())
    assert {variable["name"] for variable in answer["variables"]} == {"a", "c"}
    assert answer["classes"] == ["bad", "good"]
    assert answer["error_name"] == "log loss"
    assert answer["equation_names"] == ["log-odds of [quality = good]"]
    assert answer["columns"][-1] == {
        "name": "quality",
        "type": "category",
        "missing": 0.0,
        "role": "target",
        "levels": ["bad", "good"],
    }
    assert answer["expected_error"] < 0.5 < answer["null_error"] < 0.75
    assert isinstance(load(folder / "model"), FewVariablesClassifier)


def test_predictions_are_labels_and_probabilities(folder):
    done = run("predict", folder / "model", folder / "data.csv", "--out", folder / "predicted.csv")
    assert done.exit_code == 0, done.output
    heading, *rows = (folder / "predicted.csv").read_text().split()
    assert heading == "prediction,probability_bad,probability_good"
    assert len(rows) == 300
    label, bad, good = rows[0].split(",")
    assert label == ("good" if float(good) > 0.5 else "bad")
    assert float(bad) + float(good) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--classify"], ["--types", "quality=category"]])
def test_numbers_are_classes_if_one_says_so(tmp_path, options):
    path = write(tmp_path / "data.csv", *labelled(labels=(1, 2)))
    done = run("fit", path, "--target", "quality", *options, "--json", *FAST)
    assert json.loads(done.stdout)["classes"] == ["1", "2"]


@pytest.mark.parametrize("labels", [("bad", "good"), (1, 2)])
def test_rows_with_gaps_have_no_class(tmp_path, labels):
    X, y = labelled(labels, n=120)
    path = write(tmp_path / "data.csv", X, y)
    run("fit", path, "--target", "quality", "--classify", "--missing", "drop", "--save", tmp_path / "model", *FAST)
    (tmp_path / "new.csv").write_text("a,b,c,d\n1,0,0,0\n,0,0,0\n")
    done = run("predict", tmp_path / "model", tmp_path / "new.csv", "--quiet")
    assert done.exit_code == 0, done.output
    _, known, unknown = done.stdout.splitlines()
    assert known.startswith(f"{labels[1]},")
    assert unknown == ",nan,nan"


def test_labels_have_no_directions(folder):
    done = run("fit", folder / "data.csv", "--target", "quality", "--directions")
    assert done.exit_code != 0
    assert "class labels" in done.output


def test_one_column_of_labels_at_a_time(folder):
    done = run("fit", folder / "data.csv", "--target", "quality", "--target", "a")
    assert done.exit_code != 0
    assert "one column of class labels" in done.output


@pytest.mark.parametrize("names", [("no", "<script>yes"), pytest.param(("a", "b", "c"), marks=pytest.mark.slow)])
def test_report(names):
    X, y = labelled(n=150)
    y = np.array(names)[np.where(y == "good", 1, 0) + (len(names) - 2) * (X[:, 1] > 0.5)]
    model = FewVariablesClassifier(head="dictionary", max_degree=1, random_state=0).fit(X, y)
    page = report_html(model, X, y, target_name="quality", date="2030-01-01")
    for text in ("On held-out rows", "ROC curve", "Precision and recall", "predicted probability", "log loss"):
        assert text in page
    assert "if no variable is used" in page
    assert "need not be parallel even without an interaction" in page
    assert "<script>yes" not in page
    assert model.held_out_probabilities_.shape == (len(model.held_out_classes_), len(names))
    assert_allclose(model.held_out_probabilities_.sum(axis=1), 1.0)
    accuracy = (model.held_out_probabilities_.argmax(axis=1) == model.held_out_classes_).mean()
    assert f"{accuracy:.1%} agree" in page


@pytest.mark.slow
def test_report_of_counts():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    model = FewVariablesRegressor(loss="poisson", head="dictionary", random_state=0)
    model.fit(X, rng.poisson(np.exp(X[:, 0])))
    page = report_html(model, X, np.exp(X[:, 0]), target_name="count", date="2030-01-01")
    assert "deviance, as a share of that of the mean" in page
    assert "log of the expected count" in page
    assert "lines that are not proportional to each other show an interaction" in page


def test_calibration_of_honest_probabilities():
    rng = np.random.default_rng(0)
    p = rng.random(4000)
    predicted, observed, errors = calibration_points(p, rng.random(4000) < p)
    assert len(predicted) == 10
    assert (np.abs(predicted - observed) < 3.5 * errors).all()
