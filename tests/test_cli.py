"""The command line: answers on stdout, everything else on stderr, one line for an error, honest exit codes."""

import json
import os
import signal
import subprocess
import sys
import warnings
from functools import partial

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import fewvars
from fewvars.cli import COMMANDS, main
from fewvars.cli._answer import sentences
from fewvars.cli._terminal import printable
from fewvars.files.persistence import load
from fewvars.files.tables import read_table, table_bytes

# Enough to find three variables of six, and no more.
QUICK = {"first_updates": 200, "path_updates": 60, "refit_updates": 300, "max_candidates": 4, "max_degree": 2}
FAST = ["--jobs", "1", "--head", "dictionary"]
FAST += [part for name, value in QUICK.items() for part in ("--set", f"{name}={value}")]


def columns(n=300, d=6, seed=100):
    """y is a function of x1, x2 and x4."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X[:, 1] * X[:, 4] - X[:, 2] + 0.05 * rng.standard_normal(n)
    return {**{f"x{j}": X[:, j] for j in range(d)}, "y": y}


def write_csv(path, table):
    rows = zip(*(np.asarray(column).tolist() for column in table.values()), strict=True)
    lines = [",".join(table), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with the same samples in three formats and a model fitted to them."""
    folder = tmp_path_factory.mktemp("cli")
    table = columns()
    write_csv(folder / "data.csv", table)
    np.savez(folder / "data.npz", X=np.column_stack(list(table.values())[:-1]), y=table["y"])
    (folder / "data.parquet").write_bytes(table_bytes(table, ".parquet"))
    done = run("fit", folder / "data.csv", "--target", "y", "--save", folder / "model", *FAST)
    assert done.exit_code == 0, done.output
    (folder / "answer.txt").write_text(done.stdout)
    return folder


def run(*arguments, stdin=None):
    """Run in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin, prog_name="fewvars")


def shell(*arguments, **options):
    """Run in a process of its own."""
    command = [sys.executable, "-m", "fewvars", *map(str, arguments)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, check=False, **options)


def refused(done, said, code=2):
    """One line on stderr that says why, and nothing on stdout."""
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


# Answers


def test_answer(folder):
    lines = (folder / "answer.txt").read_text().splitlines()
    assert lines[0].startswith("y depends on at least 3 of 6 variables (300 rows, ")
    assert sorted(line.split()[0] for line in lines[1:4]) == ["x1", "x2", "x4"]
    assert all("held-out error rises by" in line and "±" in line for line in lines[1:4])
    assert any(line.startswith("The function is a sparse polynomial with ") for line in lines)
    assert any(line.startswith("  y = ") and "x1*x4" in line for line in lines)
    assert any(line.startswith("Expected on new rows: ") for line in lines)
    assert "The inputs were used as measured." in lines
    assert lines[-1] == f"Model: {folder / 'model'}"


def no_constant(text):
    raise AssertionError(f"{text} is not JSON")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["data.npz", "data.parquet", "-"])
def test_json_is_the_same_from_all_formats(folder, source):
    stdin = (folder / "data.parquet").read_bytes() if source == "-" else None
    data = source if source == "-" else folder / source
    done = run("fit", data, "--target", "y", "--json", "--resamples", 1, *FAST, stdin=stdin)
    assert done.exit_code == 0
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    answer = json.loads(done.stdout, parse_constant=no_constant)
    assert {variable["name"] for variable in answer["variables"]} == {"x1", "x2", "x4"}
    assert answer["variables"] == sorted(answer["variables"], key=lambda v: -v["importance"])
    assert all(0 <= variable["selection_frequency"] <= 1 for variable in answer["variables"])
    assert all(variable["importance_se"] > 0 for variable in answer["variables"])
    assert (answer["rows"], answer["inputs"]) == (300, 6)
    assert answer["targets"] == ["y"]
    assert answer["head"] == "dictionary"
    assert "x1*x4" in answer["equations"][0]
    assert not answer["smoothed"]
    assert answer["data"] == str(data)
    assert answer["seconds"] > 0
    csv = json.loads(run("fit", folder / "data.csv", "--target", "y", "--json", "--resamples", 1, *FAST).stdout)
    different = ("data", "seconds")
    assert [v for k, v in answer.items() if k not in different] == [v for k, v in csv.items() if k not in different]


@pytest.mark.slow
def test_same_as_the_library(folder):
    table = columns()
    y = table.pop("y")
    model = fewvars.FewVariablesRegressor(random_state=3, head="dictionary", **QUICK)
    model.fit(np.column_stack(list(table.values())), y)
    done = run("fit", folder / "data.csv", "--target", "y", "--json", "--seed", 3, *FAST)
    answer = json.loads(done.stdout)
    assert answer["held_out_error"] == model.held_out_error_
    assert answer["equations"] == [model.equation(list(table))]
    assert {v["name"]: v["importance"] for v in answer["variables"]} == {
        f"x{j}": model.feature_importances_[j] for j in model.get_support(indices=True)
    }


@pytest.mark.slow
def test_inputs_delimiter_shuffle_and_predictions_of_two_targets(tmp_path):
    table = columns()
    order = np.argsort(table["y"])
    table = {name: column[order] for name, column in table.items()} | {"z": table["x2"][order] ** 2}
    path = write_csv(tmp_path / "d.csv", table)
    path.write_text(path.read_text().replace(",", "\t"))
    inputs = ["--inputs", "x1,x2", "--inputs", "x4", "--delimiter", "tab", "--shuffle"]
    done = run("fit", path, "--target", "y", "--target", "z", *inputs, "--json", "--save", tmp_path / "m", *FAST)
    answer = json.loads(done.stdout)
    assert answer["inputs"] == 3
    assert {variable["name"] for variable in answer["variables"]} == {"x1", "x2", "x4"}
    done = run("predict", tmp_path / "m", path, "--delimiter", "tab", "--quiet")
    predicted = read_table(done.stdout.encode())
    assert predicted.names == ["prediction_0", "prediction_1"]
    expected = load(tmp_path / "m").predict(pd.DataFrame({name: table[name] for name in ("x1", "x2", "x4")}))
    np.testing.assert_array_equal(predicted.matrix(predicted.names), expected)


def test_model_without_names(tmp_path):
    table = columns()
    X = np.column_stack([table[f"x{j}"] for j in range(6)])
    model = fewvars.FewVariablesRegressor(random_state=0, head="dictionary", **QUICK).fit(X, table["y"])
    fewvars.save(model, tmp_path / "m")
    del table["y"]
    done = run("predict", tmp_path / "m", write_csv(tmp_path / "d.csv", table))
    np.testing.assert_array_equal(read_table(done.stdout.encode()).columns["prediction"], model.predict(X))
    del table["x5"]
    refused(
        run("predict", tmp_path / "m", write_csv(tmp_path / "d.csv", table)),
        "fitted without column names, and DATA has 5 columns",
    )


@pytest.mark.slow
def test_several_targets_kept_and_dropped_columns(tmp_path):
    table = columns()
    table["z"] = 2 * table["x1"]
    table["x5"] = np.where(np.arange(300) % 2, "north", "south")
    table["a,b"] = table["x0"] ** 2
    path = write_csv(tmp_path / "d.csv", {name.replace("a,b", '"a,b"'): column for name, column in table.items()})
    common = ["fit", path, "--target", "y", "--target", "z", "--include", "x3", "--json", *FAST]
    refused(run(*common, "--drop", "x5,a,b"), "--drop 'a'")  # a list of three; the name itself holds a comma
    done = run(*common, "--drop", "x5", "--drop", "a,b")
    answer = json.loads(done.stdout)
    assert answer["targets"] == ["y", "z"]
    assert answer["inputs"] == 5
    assert {variable["name"] for variable in answer["variables"]} == {"x1", "x2", "x3", "x4"}
    assert len(answer["equations"]) == 2


def test_dates_trajectories_and_smoothing(tmp_path):
    n = 200
    phase = np.linspace(0, 12, n)
    rng = np.random.default_rng(101)
    X = np.column_stack([np.sin(phase + k) for k in range(3)]) + 0.05 * rng.standard_normal((n, 3))
    hours = [f"2024-01-{1 + k % 100 // 24:02d}T{k % 100 % 24:02d}:00:00Z" for k in range(n)]
    table = {"when": hours, "run": ["a"] * 100 + ["b"] * 100, **{f"x{j}": X[:, j] for j in range(3)}, "y": X[:, 0] ** 2}
    path = write_csv(tmp_path / "d.csv", table)
    common = ["fit", path, "--target", "y", "--time", "when"]
    refused(run(*common, "--drop", "run"), "--trajectory")  # the second run starts at the first hour again
    done = run(*common, "--trajectory", "run", "--smoothing", "on", "--n-variables", 1, "--save", tmp_path / "m", *FAST)
    assert done.exit_code == 0, done.stderr
    assert "The inputs were smoothed in time." in done.stdout
    plain = run("predict", tmp_path / "m", path, "--trajectory", "run", "--time", "when")
    assert "--smooth would smooth these too" in plain.stderr
    smooth = run("predict", tmp_path / "m", path, "--trajectory", "run", "--time", "when", "--smooth", "--quiet")
    assert smooth.stderr == ""
    rows = [line.split(",") for line in smooth.stdout.splitlines()]
    assert rows[0] == ["when", "prediction"]
    assert rows[1][0] == "2024-01-01T00:00:00.000000"
    assert len(rows) == n + 1
    assert smooth.stdout != plain.stdout
    model = load(tmp_path / "m")
    t = np.array([text.rstrip("Z") for text in hours], "datetime64[us]")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about names
        expected = model.predict(X, t=t, trajectory=np.repeat([0, 1], 100))
    np.testing.assert_array_equal([float(row[1]) for row in rows[1:]], expected)
    del table["x1"], table["x2"]
    few = write_csv(tmp_path / "few.csv", table)
    done = run("predict", tmp_path / "m", few, "--trajectory", "run", "--time", "when", "--smooth")
    refused(done, "lacks 2 of the 3 columns that the model needs: 'x1', 'x2'.")


def test_extrapolations_are_counted_and_marked(folder, tmp_path):
    table = read_table(folder / "data.csv").columns
    model = load(folder / "model")
    first, *_ = model.get_feature_names_out()
    idle = next(name for name in model.feature_names_in_ if name not in model.get_feature_names_out())
    new = {name: column[:5].copy() for name, column in table.items()}
    new[first][[1, 3]] = 1e3 * np.abs(table[first]).max()
    new[idle][2] = 1e3 * np.abs(table[idle]).max()
    path = write_csv(tmp_path / "new.csv", new)
    done = run("predict", folder / "model", path, "--outside")
    assert f"2 of 5 predictions are extrapolations: there {str(first)!r} is outside the range" in done.stderr
    rows = [line.split(",") for line in done.stdout.splitlines()]
    assert rows[0] == ["prediction", "outside_range"]
    assert [row[1] for row in rows[1:]] == ["0", "1", "0", "1", "0"]
    assert "extrapolations" not in run("predict", folder / "model", folder / "data.csv").stderr


def test_nothing_found_in_two_outputs_has_the_error_of_the_mean(tmp_path):
    table = columns() | dict(zip("uv", np.random.default_rng(102).standard_normal((2, 300)), strict=True))
    path = write_csv(tmp_path / "d.csv", table)
    done = run("fit", path, "--target", "u,v", "--drop", "y", "--json", *FAST)
    answer = json.loads(done.stdout)
    assert answer["variables"] == []
    assert answer["held_out_error"] == pytest.approx(1.0, abs=0.1)


def test_nothing_found_is_an_answer(tmp_path):
    table = columns()
    table["y"] = np.random.default_rng(102).standard_normal(300)
    done = run("fit", write_csv(tmp_path / "d.csv", table), "--target", "y", *FAST)
    assert done.exit_code == 0
    assert done.stderr == ""
    assert done.stdout.startswith("Nothing found: no input predicts y")
    assert "The function is the mean of the output." in done.stdout
    done = run("fit", tmp_path / "d.csv", "--target", "y", "--json", *FAST)
    assert json.loads(done.stdout, parse_constant=no_constant)["variables"] == []


def test_constant_targets_are_called_constant(tmp_path):
    table = columns() | {"z": [3] * 300}
    path = write_csv(tmp_path / "d.csv", table)
    done = run("fit", path, "--target", "z", "--drop", "y", "--save", tmp_path / "m", *FAST)
    assert done.stdout == f"z is 3 in all 300 rows, so there is nothing to explain.\nModel: {tmp_path / 'm'}\n"
    assert run("predict", tmp_path / "m", "-", stdin="a\n1\n").stdout == "prediction\n3.0\n"  # it needs no column
    done = run("fit", path, "--target", "y,z", "--json", *FAST)
    answer = json.loads(done.stdout)
    assert answer["constant"] == [{"name": "z", "value": 3}]
    lines = sentences(answer)
    assert lines[0].startswith("z is 3 in all 300 rows")
    assert lines[1].startswith("y depends on ")


@pytest.mark.slow
def test_missing_rows_are_counted(tmp_path):
    table = columns()
    for name, row in {"x0": 4, "x3": 4, "y": 9}.items():
        table[name][row] = np.nan
    path = write_csv(tmp_path / "d.csv", table)
    done = run("fit", path, "--target", "y", "--missing", "error")
    refused(done, "Column 'x0' has 1 missing value, the first in row 5, and 1 more column with missing values")
    done = run("fit", path, "--target", "y", "--json", *FAST)
    assert done.stderr.count("\n") == 1
    assert "target is missing in 1 of 300 rows" in done.stderr
    answer = json.loads(done.stdout)
    assert (answer["rows"], answer["rows_left_out"]) == (299, 1)
    assert {variable["name"] for variable in answer["variables"]} == {"x1", "x2", "x4"}
    done = run("fit", path, "--target", "y", "--missing", "drop", "--json", *FAST)
    assert "target is missing in 1 of 300 rows" in done.stderr
    assert "1 of 300 rows lack a value of an input" in done.stderr
    assert done.stderr.count("\n") == 2
    answer = json.loads(done.stdout)
    assert (answer["rows"], answer["rows_left_out"]) == (298, 2)
    done = run("fit", path, "--target", "y", "--missing", "drop", "--quiet", "--json", *FAST)
    assert done.stderr == ""
    table["x2"][20] = np.inf
    done = run("fit", write_csv(path, table), "--target", "y", "--missing", "drop")
    refused(done, "Column 'x2' holds inf in row 21")  # as counted in the file


def test_report(folder, tmp_path):
    done = run("fit", folder / "data.csv", "--target", "y", "--report", tmp_path / "r.html", *FAST)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.endswith(f"Report: {tmp_path / 'r.html'}\n")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!")
    assert "x4" in page


def test_answer_survives_a_failing_report(folder, tmp_path, monkeypatch):
    import fewvars.report

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fewvars.report, "write_report", full)
    done = run("fit", folder / "data.csv", "--target", "y", "--report", tmp_path / "r.html", *FAST)
    assert done.exit_code == 1
    assert done.stdout.startswith("y depends on at least 3 of 6")
    assert "Report:" not in done.stdout
    assert done.stderr == "Error: [Errno 28] No space left on device\n"


def test_directions(tmp_path):
    rng = np.random.default_rng(103)
    X = rng.standard_normal((300, 4)) * [1, 1, 1, 100]
    table = {f"x{j}": X[:, j] for j in range(4)} | {"y": (X[:, 0] - X[:, 1]) ** 2}
    path = write_csv(tmp_path / "d.csv", table)
    refused(
        run("fit", path, "--target", "y", "--directions", "--include", "x0"),
        "--include can only be used without --directions",
    )
    refused(run("fit", path, "--target", "y", "--n-directions", 2), "--n-directions can only be used with --directions")
    quick = [*FAST[:4], "--set", "first_updates=300", "--set", "path_updates=60", "--set", "max_rank=2"]
    common = ["fit", path, "--target", "y", "--directions", *quick, "--save", tmp_path / "m"]
    done = run(*common, "--json", "--report", tmp_path / "r.html")
    assert (done.exit_code, done.stderr) == (0, "")
    answer = json.loads(done.stdout, parse_constant=no_constant)
    (direction,) = answer["directions"]
    weights = {term["name"]: term["weight"] for term in direction["terms"]}
    assert set(list(weights)[:2]) == {"x0", "x1"}
    assert weights["x0"] == pytest.approx(-weights["x1"], rel=0.01)
    assert [number["directions"] for number in answer["numbers_tried"]][:2] == [0, 1]
    assert "z0^2" in answer["equations"][0]
    assert run("predict", tmp_path / "m", path, "--quiet").stdout.count("\n") == 301
    for line in ("y depends on 1 linear combination of 4 centred variables", "  z0 = ", "by number of combinations:"):
        assert line in "\n".join(sentences(answer))


@pytest.mark.slow
def test_demo(tmp_path, monkeypatch):
    quick = partial(fewvars.FewVariablesRegressor, **QUICK, head="dictionary")
    monkeypatch.setattr("fewvars.estimators.FewVariablesRegressor", quick)
    done = run("demo", "--out", tmp_path / "demo.html", "--equation", 7, "--seed", 104)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "dx7/dt depends on at least 4 of 40 variables" in done.stdout
    assert "Truth: x5, x6, x7, x8." in done.stdout
    assert done.stdout.endswith(f"Report: {tmp_path / 'demo.html'}\n")
    assert (tmp_path / "demo.html").read_bytes().startswith(b"<!")


# Predictions and export


@pytest.mark.parametrize("suffix", [None, ".CSV", ".parquet", ".npz"])
def test_predict(folder, tmp_path, suffix):
    model = load(folder / "model")
    table = columns(n=20, seed=105)
    X = np.column_stack([table[f"x{j}"] for j in range(6)])
    shuffled = {name: table[name] for name in ("x4", "y", "x0", "x5", "x2", "x1", "x3")}
    path = write_csv(tmp_path / "new.csv", shuffled)
    out = [] if suffix is None else ["--out", tmp_path / f"p{suffix}"]
    done = run("predict", folder / "model", path, *out)
    assert done.exit_code == 0, done.stderr
    assert done.stderr == "Ignored columns that the model does not know: 'y'.\n"
    predicted = read_table(done.stdout.encode() if suffix is None else tmp_path / f"p{suffix}")
    assert predicted.names == ["prediction"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about names
        np.testing.assert_array_equal(predicted.columns["prediction"], model.predict(X))


def test_predict_needs_only_what_was_selected(folder, tmp_path):
    table = columns(n=20)
    whole = run("predict", folder / "model", write_csv(tmp_path / "whole.csv", table), "--quiet").stdout
    del table["x0"], table["y"]
    table |= {"x3": [""] * 20, "x5": ["north"] * 20}
    done = run("predict", folder / "model", write_csv(tmp_path / "few.csv", table))
    assert (done.stdout, done.stderr) == (whole, "")
    done = run("predict", folder / "model", tmp_path / "few.csv", "--time", "x1", "--smooth")
    refused(done, "was fitted to inputs as measured; leave --smooth out.")


def test_times_that_are_only_copied_may_be_anything(folder, tmp_path):
    table = {"when": ["noon", "", "dawn"], **{name: values[:3] for name, values in columns().items()}}
    done = run("predict", folder / "model", write_csv(tmp_path / "d.csv", table), "--time", "when", "--quiet")
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == ["when", "noon", "", "dawn"]


def test_predict_refuses(folder, tmp_path):
    table = columns(n=20)
    few = write_csv(tmp_path / "few.csv", {name: table[name] for name in ("x0", "x1", "x2", "x3")})
    refused(run("predict", folder / "model", few), "lacks 1 of the 3 columns that the model needs: 'x4'.")
    gap = table["x1"].copy()
    gap[3] = np.nan
    done = run("predict", folder / "model", write_csv(tmp_path / "gap.csv", table | {"x1": gap}), "--quiet")
    refused(done, "Column 'x1' has 1 missing value, the first in row 4: fill it")
    text = write_csv(tmp_path / "text.csv", table | {"x1": ["a"] * 20})
    refused(run("predict", folder / "model", text, "--quiet"), "'x1' is not numeric")
    data = folder / "data.csv"
    refused(run("predict", folder / "model", data, "--smooth"), "--time")
    refused(run("predict", folder / "model", data, "--time", "q", "--quiet"), "--time 'q'")
    refused(run("predict", folder / "model", data, "--out", tmp_path / "p.txt"), ".parquet")
    refused(run("predict", data, data), "data.csv")


def test_export(folder, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    done = run("export", folder / "model", "--onnx", tmp_path / "m.onnx", "--dtype", "float32")
    assert done.exit_code == 0, done.stderr
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    X = np.random.default_rng(0).standard_normal((5, 6)).astype(np.float32)
    write_csv(tmp_path / "x.csv", {f"x{j}": X[:, j] for j in range(6)})
    predicted = read_table(run("predict", folder / "model", tmp_path / "x.csv").stdout.encode())
    found = session.run(None, {"X": X})[0]
    np.testing.assert_allclose(found, predicted.columns["prediction"], rtol=1e-4, atol=1e-5)


# What is wrong with the data or the options


DATA_ERRORS = {
    "no such column": ("a,b,yy\n1,2,3\n", [], "did you mean 'yy'?"),
    "no header": ("0.5,1.5,2.5\n1,2,3\n", [], "first row looks like numbers"),
    "a slip": ("a,b,y\n1,1,3\n2,x,4\n3,2,4\n", [], "(row 2 holds 'x'), but most of it is: correct it"),
    "identifiers": ("id,y\na,1\nb,2\nc,3\n", [], "besides 'id', which --types could bring back"),
    "text as a number": ("a,s,y\n1,x,3\n", ["--types", "s=number"], "(row 1 holds 'x'): drop it from --types"),
    "no type": ("a,s,y\n1,x,3\n", ["--types", "s=word"], "NAME=number or NAME=category"),
    "type of no column": ("a,s,y\n1,x,3\n", ["--types", "site=category"], "--types 'site': no such column"),
    "gaps": ("a,b,y\n,2,3\n1,,3\n", ["--missing", "error"], "--missing drop, keep them with --missing indicate"),
    "gaps in time": ("a,t,y\n1,,3\n1,2,3\n", ["--time", "t"], "'t' has 1 missing value, the first in row 1: leave"),
    "decimal comma": ('a,b,y\n1,"1,5",3\n', [], "write decimal commas as points"),
    "text as target": ("a,b,y\n1,1,x\n", [], "only one class"),
    "no time": ("a,when,y\n1,noon,3\n", ["--time", "when"], "row 1 holds 'noon', which isn't a time"),
    "time goes back": ("a,t,y\n1,2,3\n1,1,3\n", ["--time", "t"], "1.0 in row 2 follows 2.0"),
    "infinite": ("a,b,y\n1,1,3\n1,inf,3\n", [], "'b' holds inf in row 2"),
    "too few rows": ("a,b,y\n1,2,3\n", [], "minimum of 8"),
    "nothing left": ("a,y\n1,2\n", ["--drop", "a"], "No column is left"),
    "only gaps": ("a,b,y\n,2,3\n1,,3\n", ["--missing", "drop"], "No rows are left"),
    "target among inputs": ("a,y\n1,2\n", ["--inputs", "a,y"], "--inputs 'y'"),
    "input dropped": ("a,b,y\n1,2,3\n", ["--inputs", "a,b", "--drop", "b"], "--inputs and --drop both name 'b'"),
    "comment": ("# by hand\na,y\n1,2\n", [], "looks like a comment"),
    "target dropped": ("a,y\n1,2\n", ["--drop", "y"], "--drop 'y'"),
    "empty": ("", [], "stdin: The file is empty."),
    "unknown setting": ("a,y\n" + "1,2\n" * 9, ["--set", "patience=3"], "has no such parameter"),
    "bad setting": ("a,y\n" + "1,2\n" * 9, ["--set", "batch_size=x"], "batch_size='x'"),
    "setting without a value": ("a,y\n", ["--set", "patience"], "NAME=VALUE"),
    "keep no input": ("a,y\n1,2\n", ["--include", "y"], "--include 'y'"),
    "setting with an option": ("a,y\n", ["--set", "random_state=5"], "use --seed"),
    "progress as a setting": ("a,y\n", ["--set", "verbose=1"], "use --quiet"),
    "no jobs": ("a,y\n", ["--jobs", "0"], "-1 for all cores"),
    "no variables": ("a,y\n", ["--n-variables", "0"], "x>=1"),
    "no directions": ("a,y\n", ["--directions", "--n-directions", "0"], "x>=1"),
    "smoothing without time": ("a,y\n", ["--smoothing", "on"], "--smoothing on needs --time COLUMN."),
    "unknown head": ("a,y\n" + "1,2\n" * 9, ["--head", "forest"], "head='forest': choose one of 'auto'"),
    "long delimiter": ("a,y\n1,2\n", ["--delimiter", "::"], "single character"),
}  # fmt: skip


@pytest.mark.parametrize("case", DATA_ERRORS)
def test_data_errors(case):
    text, options, said = DATA_ERRORS[case]
    refused(run("fit", "-", "--target", "y", *options, stdin=text), said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], "No such command 'nope'"),
        (["--nope"], "--nope"),
        (["fit"], "DATA"),
        (["fit", "missing.csv", "--target", "y"], "missing.csv"),
        (["fit", "-"], "--target"),
        (["fit", "-", "--target", "y", "--seed", "-1"], "-1"),
        (["demo", "--seed", "-1"], "-1"),
        (["export", "missing", "--onnx", "x"], "missing"),
        (["completion", "tcsh"], "tcsh"),
    ],
)
def test_usage_errors(arguments, said):
    refused(run(*arguments), said)


def test_data_are_never_overwritten(folder, tmp_path):
    data = tmp_path / "data.csv"
    data.write_bytes((folder / "data.csv").read_bytes())
    (tmp_path / "soft").symlink_to(data)
    os.link(data, tmp_path / "hard")
    before = data.read_bytes()
    for name in ("data.csv", "soft", "hard"):
        for option in ("--save", "--report"):
            refused(run("fit", data, "--target", "y", option, tmp_path / name), "would overwrite")
        refused(run("export", data, "--onnx", tmp_path / name), "would overwrite")
    refused(run("predict", folder / "model", data, "--out", data), "would overwrite")
    refused(run("fit", data, "--target", "y", "--save", tmp_path / "m", "--report", tmp_path / "m"), "would overwrite")
    refused(run("fit", data, "--target", "y", "--save", tmp_path / "no" / "m"), "there is no directory")
    assert data.read_bytes() == before


def test_debug_shows_the_traceback(monkeypatch):
    for arguments in (["--debug", "fit", "-", "--target", "y"], ["fit", "-", "--target", "y", "--debug"]):
        done = run(*arguments, stdin="a,b\n1,2\n")
        assert isinstance(done.exception, ValueError)
    monkeypatch.setattr("fewvars.files.tables.read_table", lambda *_, **__: 1 / 0)
    refused(run("fit", "-", "--target", "y", stdin="a"), "ZeroDivisionError: division by zero (--debug", code=1)


def test_without_matplotlib_nothing_is_fitted_in_vain(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("fit", folder / "data.csv", "--target", "y", "--report", tmp_path / "r.html")
    refused(done, "fewvars[plot]", code=1)


# Names that no one can trust


@pytest.mark.slow
def test_names_cannot_move_the_cursor(tmp_path):
    evil = "x\n\x1b[2J\u202e\x00"
    table = columns()
    content = {f'"{evil}"' if name == "x1" else name: column for name, column in table.items()}
    path = write_csv(tmp_path / "d.csv", content)
    done = run("fit", path, "--target", "y", *FAST)
    assert done.exit_code == 0, done.stderr
    assert all(line.isprintable() for line in done.stdout.splitlines())
    assert r"x\n\x1b[2J\u202e\x00" in done.stdout
    done = run("fit", path, "--target", "y", "--json", *FAST)
    assert evil in {variable["name"] for variable in json.loads(done.stdout)["variables"]}
    refused(run("fit", path, "--target", "\x1b[2J\ny"), r"\x1b[2J\ny")


def test_printable():
    assert printable("naïve λ") == "naïve λ"
    assert printable("a\tb\r\udc80\u2028") == r"a\tb\r\udc80\u2028"


# The outside world


def test_help_and_version_are_quick_to_load():
    """Nothing heavy is imported by the command line itself."""
    code = "import sys; before = set(sys.modules); import fewvars, fewvars.cli; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.partition(".")[0] for name in done.stdout.split()}
    assert "click" in imported
    assert not imported & {"numpy", "scipy", "sklearn", "numba", "polars", "pandas", "matplotlib", "tqdm"}
    assert run("--version").stdout == f"fewvars, version {fewvars.__version__}\n"


def test_help_lists_what_the_commands_say():
    listed = run("--help").stdout
    for name, line in COMMANDS.items():
        command = main.get_command(click.Context(main), name)
        assert command.name == name
        assert command.get_short_help_str(limit=200) == line
        assert " ".join(line.split()) in " ".join(listed.split())
        assert run(name, "--help").exit_code == 0


def test_completion(folder):
    for kind in ("bash", "zsh", "fish"):
        assert "_FEWVARS_COMPLETE" in run("completion", kind).stdout

    def complete(words, count):
        environment = {"_FEWVARS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}
        done = CliRunner().invoke(main, [], prog_name="fewvars", env=environment)
        return [line.partition(",")[2] for line in done.stdout.split()]

    assert complete("fewvars pre", 1) == ["predict"]
    assert complete(f"fewvars fit {folder / 'data.csv'} --target x", 4) == [f"x{j}" for j in range(6)]
    assert complete(f"fewvars fit {folder / 'data.parquet'} --target y", 4) == ["y"]
    assert complete("fewvars fit missing.csv --target y", 4) == []


@pytest.mark.skipif(os.name != "posix", reason="needs a shell and signals")
class TestProcesses:
    @pytest.mark.slow
    def test_ascii_terminal(self, tmp_path):
        table = {name.replace("x1", "größe"): column for name, column in columns().items()}
        path = write_csv(tmp_path / "d.csv", table)
        environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
        done = shell("fit", path, "--target", "y", *FAST, env=environment)
        assert done.returncode == 0, done.stderr
        assert rb"gr\xf6\xdfe" in done.stdout
        assert b"+/-" in done.stdout
        assert done.stderr == b""  # no progress bar without a terminal
        done = CliRunner(charset="ascii").invoke(main, ["fit", str(path), "--target", "größer"])
        assert done.exit_code == 2
        assert r"--target 'gr\xf6\xdfer': no such column; did you mean 'gr\xf6\xdfe'?" in done.stderr

    @pytest.mark.slow
    def test_names_in_other_locales(self, tmp_path):
        path = write_csv(tmp_path / "d.csv", {"größe": [1], "y": [2]})
        environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        done = shell("fit", path, "--target", "y", "--drop", "größe", env=environment)
        assert done.stderr == b"Error: No column is left as an input.\n"

    @pytest.mark.slow
    def test_files_to_stdout(self, folder):
        common = ["fit", folder / "data.csv", "--target", "y", "--report", "/dev/stdout", *FAST]
        done = shell(*common, "--json")
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"--report /dev/stdout is stdout, which --json needs" in done.stderr
        done = shell(*common)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(b"<!DOCTYPE html>")
        assert done.stdout.endswith(b"Report: /dev/stdout\n")

    @pytest.mark.slow
    def test_closed_pipe_and_closed_stdout(self, folder):
        reader, writer = os.pipe()
        os.close(reader)
        done = shell("predict", folder / "model", folder / "data.csv", "--quiet", stdout=writer)
        os.close(writer)
        assert done.returncode == 1
        assert done.stderr == b""
        command = f"{sys.executable} -m fewvars predict {folder / 'model'} {folder / 'data.csv'} >&- 2>&-"
        assert subprocess.run(command, shell=True, check=False).returncode == 0

    @pytest.mark.slow
    def test_interrupted_fit(self, folder):
        import termios

        command = [sys.executable, "-m", "fewvars", "fit", str(folder / "data.csv"), "--target", "y"]
        command += ["--jobs", "2", "--set", "judge=network"]
        screen, terminal = os.openpty()  # progress appears on a terminal only, and tells when to interrupt
        termios.tcsetwinsize(terminal, (24, 80))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal)
        os.close(terminal)
        said = b""
        while b"path" not in said:
            said += os.read(screen, 1000)
        process.send_signal(signal.SIGINT)
        answer, _ = process.communicate()
        said += os.read(screen, 10000)
        os.close(screen)
        assert process.returncode == 130
        assert answer == b""
        assert said.rstrip().endswith(b"\nInterrupted.")  # on a line of its own, below the bar
        assert b"Traceback" not in said


def test_bench():
    done = run("bench", "--seconds", 0, "--rows", 100, "--columns", 4)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("samples/s") == 3
    assert "make bench" in done.stdout
