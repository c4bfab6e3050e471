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


REFUSED = [
    ("a,q\n" + "1.5,x\n2.5,x\n" * 10, [], "There is only one class in column 'q', 'x'"),
    ("a,q\n" + "1.5,x\n" * 10 + "2.5,y\n", [], "The class 'y' in column 'q' has 1 row: give at least 2"),
    ("a,q\n" + "1.5,1\n2.5,2\n3.5,x\n" * 10, [], "correct it, or say --types q=category"),
    (
        "a,q\n" + "1.5,1\n2.5,-2\n" * 10,
        ["--loss", "poisson"],
        "Column 'q' holds -2 in row 2, and --loss poisson is for",
    ),
    ("a,q\n" + "1.5,x\n2.5,y\n" * 10, ["--loss", "huber"], "--loss is for targets of numbers"),
    ("a,q\n" + "1.5,\n2.5,\n" * 10, [], "The target 'q' is missing in every row"),
    (
        "a,b,q\n" + "1.5,,1\n2.5,,2\n" * 10,
        ["--missing", "drop"],
        "most are in 'b' (100%): leave out the column with --drop b",
    ),
    ("a,q\nkg,mm\n" + "1.5,1\n2.5,2\n" * 10, [], "Row 1 holds text over numbers in 2 columns ('kg' in 'a'): if these"),
]


@pytest.mark.parametrize(("text", "options", "complaint"), REFUSED, ids=[complaint for *_, complaint in REFUSED])
def test_bad_data_are_refused_by_name(tmp_path, text, options, complaint):
    (tmp_path / "data.csv").write_text(text)
    done = run("fit", tmp_path / "data.csv", "--target", "q", *options)
    assert done.exit_code == 2
    assert complaint in done.stderr


def test_percentages_and_thousands_are_numbers(tmp_path):
    rng = np.random.default_rng(0)
    price, discount = rng.uniform(500.0, 3000.0, 60), rng.uniform(0.0, 30.0, 60)
    table = {
        "price": [f"{value:,.2f}" for value in price],
        "discount": [f"{value:.2f} %" for value in discount],
        "sold": 0.01 * price - discount + rng.standard_normal(60),
    }
    pd.DataFrame(table).to_csv(tmp_path / "sales.csv", index=False)
    answer = json.loads(run("fit", tmp_path / "sales.csv", "--target", "sold", "--json", *FAST).stdout)
    assert [column["type"] for column in answer["columns"]] == ["number"] * 3
    assert {variable["name"] for variable in answer["variables"]} == {"price", "discount"}


def test_notes_about_the_target(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.standard_normal(60), "b": rng.standard_normal(60)})
    table["q"] = (table["a"] > 0).astype(float)
    table.loc[:4, "q"] = np.nan
    table.loc[10, "b"] = np.nan
    table.to_csv(tmp_path / "data.csv", index=False)
    done = run("fit", tmp_path / "data.csv", "--target", "q", "--missing", "drop", *FAST)
    assert "The target is missing in 5 of 60 rows, which are left out." in done.stderr
    assert "1 of 60 rows lack a value of an input and are left out." in done.stderr
    assert "'q' is either 0 or 1. If these are classes, use --classify." in done.stderr
