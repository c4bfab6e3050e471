"""The command line on tables with dates, categories, identifiers and gaps, without options and with them."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal

from fewvars.cli import main
from fewvars.files.persistence import load
from fewvars.files.tables import read_table
from fewvars.problems import plant_table

FAST = ["--jobs", "1", "--head", "dictionary", "--set", "max_degree=2"]
TRUTH = {"site", "temperature", "flow"}


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="fewvars")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the table of a plant, the model that one command without options fits to it, and its answer."""
    folder = tmp_path_factory.mktemp("plant")
    plant = pd.DataFrame(plant_table(300))
    plant.insert(0, "row", np.arange(1, 301))
    plant.insert(1, "sample", [f"S-{k:04d}" for k in range(300)])
    plant.to_csv(folder / "plant.csv", index=False)
    done = run("fit", folder / "plant.csv", "--target", "yield", "--save", folder / "model", *FAST)
    assert done.exit_code == 0, done.stderr
    (folder / "answer.txt").write_text(done.stdout)
    assert "'row' (row number), 'sample' (identifier), 'date' (date)" in done.stderr
    return folder


def test_one_command_without_options(folder):
    lines = (folder / "answer.txt").read_text().splitlines()
    types = {line.split()[0]: line for line in lines[1 : lines.index("")]}
    assert types["date"].split() == ["date", "date", "left", "out"]
    assert types["site"].split()[:3] == ["site", "category", "input:"]
    assert "%" in types["flow"]
    answer = lines[lines.index("") + 1 :]
    assert " on at least 3 of " in answer[0]
    assert {line.split()[0] for line in answer[1:4]} == TRUTH


def test_predictions_need_only_the_columns_that_were_found(folder, tmp_path):
    plant = pd.read_csv(folder / "plant.csv")
    whole = read_table(run("predict", folder / "model", folder / "plant.csv", "--quiet").stdout.encode())
    plant[["flow", "site", "temperature"]].to_csv(tmp_path / "few.csv", index=False)
    few = read_table(run("predict", folder / "model", tmp_path / "few.csv").stdout.encode())
    assert_array_equal(few.columns["prediction"], whole.columns["prediction"])
    plant.assign(site="moon").to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", folder / "model", tmp_path / "new.csv", "--quiet")
    assert done.exit_code == 2
    assert "Column 'site' holds 'moon' in row 1, which was not in the fit" in done.stderr
    done = run("predict", folder / "model", tmp_path / "new.csv", "--quiet", "--unseen", "base")
    plant.assign(site=load(folder / "model").levels_["site"][0]).to_csv(tmp_path / "base.csv", index=False)
    assert done.stdout == run("predict", folder / "model", tmp_path / "base.csv", "--quiet").stdout


@pytest.mark.slow
def test_the_same_with_semicolons_and_decimal_commas(folder, tmp_path):
    plant = pd.read_csv(folder / "plant.csv")
    plant.to_csv(tmp_path / "plant.csv", index=False, sep=";", decimal=",")
    answers = [
        json.loads(run("fit", path, "--target", "yield", "--json", *FAST).stdout)
        for path in (folder / "plant.csv", tmp_path / "plant.csv")
    ]
    for answer in answers:
        del answer["data"], answer["seconds"]
    assert answers[0] == answers[1]


@pytest.mark.slow
def test_types_override(folder):
    options = ["--types", "row=number,date=number", "--types", "sample=category"]
    done = run("fit", folder / "plant.csv", "--target", "yield", *options, *FAST)
    assert done.exit_code == 2
    assert "'sample': it has 300 levels, more than 100" in done.stderr
    done = run("fit", folder / "plant.csv", "--target", "yield", *options[:2], "--json", *FAST)
    answer = json.loads(done.stdout)
    types = {column["name"]: (column["type"], column["role"]) for column in answer["columns"]}
    assert types["row"] == types["date"] == ("number", "input")
    assert types["sample"] == ("identifier", "left out")


def test_a_date_that_is_named_is_an_input(folder, tmp_path):
    common = ["fit", folder / "plant.csv", "--target", "yield", "--inputs", "date,flow", "--include", "date"]
    done = run(*common, "--save", tmp_path / "m", "--json", *FAST)
    assert "date" in {variable["name"] for variable in json.loads(done.stdout)["variables"]}
    assert run("predict", tmp_path / "m", folder / "plant.csv", "--quiet").stdout.count("\n") == 301


@pytest.mark.slow
def test_hostile_levels_are_printed_safely(tmp_path):
    plant = pd.DataFrame(plant_table(300))
    plant["site"] = plant["site"].map({"north": "\x1b[2J", "south": "<script>", "east": "a,b"})
    plant.to_csv(tmp_path / "plant.csv", index=False)
    done = run("fit", tmp_path / "plant.csv", "--target", "yield", *FAST)
    assert "\x1b" not in done.stdout
    assert "<script>" in done.stdout


def test_dropped_rows_are_predicted_as_missing(folder, tmp_path):
    run("fit", folder / "plant.csv", "--target", "yield", "--missing", "drop", "--save", tmp_path / "m", *FAST)
    predicted = read_table(run("predict", tmp_path / "m", folder / "plant.csv", "--quiet").stdout.encode())
    gaps = pd.read_csv(folder / "plant.csv")[sorted(TRUTH)].isna().any(axis=1)
    assert_array_equal(np.isnan(predicted.columns["prediction"]), gaps)
