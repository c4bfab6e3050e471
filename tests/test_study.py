import gzip
import html
import json
import re
import resource
import signal
import warnings
import xml.etree.ElementTree
from dataclasses import FrozenInstanceError, asdict, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import BaseEstimator

import fewvars as fv
from fewvars import cli, study
from fewvars.cli.reproduce import reproduce
from fewvars.problems import metrics
from fewvars.problems.datasets import lorenz96_dataset
from fewvars.problems.targets import few_directions, lorenz_equation
from fewvars.study import (
    EXPERIMENTS,
    Drawing,
    Experiment,
    Folder,
    Method,
    Reported,
    Row,
    Setting,
    plan,
)
from fewvars.study.fit import CURVE_POINTS, run_task
from fewvars.study.page import Section, page
from fewvars.study.rows import Writer, missing
from fewvars.study.running import here, processes, results
from fewvars.study.summary import Mean, mean, summarise
from fewvars.study.tables import Table, show, table
from fewvars.study.tasks import specification

QUICK = {"hidden_layer_sizes": (5, 5, 5), "n_first": 100, "n_second": 20, "n_strengths": 4}
SMALL = {"n_train": 200, "n_test": 60, "d": 8}


def network(name, family, estimator, **choices):
    method = Method(name, family, name, estimator)
    known = method.build().get_params()
    chosen = {choice: value for choice, value in {**QUICK, **choices}.items() if choice in known}
    return replace(method, parameters=tuple(chosen.items()))


LITERAL = network("literal", "literal", "fewvars.paper:AdaptiveGroupLassoRegressor")
PLAIN = network("plain", "plain", "fewvars:NeuralRegressor")
WAYS = network("literal", "literal", "fewvars.paper:AdaptiveDirectionsRegressor")
DICTIONARY = Method("dictionary", "dictionary", "dictionary", "fewvars:SparseDictionaryRegressor")
BROKEN = Method("broken", "broken", "broken", "fewvars:FewVariablesRegressor", (("head", "<b>none</b>"),))

NOISE = Experiment(
    "noise",
    "Noise",
    "noise",
    tuple(Setting(f"noise {level}", "equation", 3, level, level, **SMALL) for level in (0.01, 0.02)),
    (LITERAL, PLAIN, DICTIONARY),
    (Reported("noise 0.01", "literal", "1", "0.9", "0.05"),),
    ("A note & a remark.",),
    (
        Drawing("levels", "levels", "Levels."),
        Drawing("curves", "curves", "Curves.", "noise 0.02"),
        Drawing("net", "network", "Network.", method="literal"),
    ),
)
STARTS = Experiment(
    "noiseless", "Starts", "initialisation", (Setting("none", "equation", 3, **SMALL),), (PLAIN, DICTIONARY)
)
DIRECTIONS = Experiment(
    "directions",
    "Directions",
    "matrix",
    (Setting("g(Ax)", "directions", 0, 0.0, 0.02, **SMALL),),
    (WAYS, DICTIONARY),
    drawings=(Drawing("directions", "curves", "Curves."),),
)
MINI = (NOISE, STARTS, DIRECTIONS)


def comparable(row):
    """Everything about a row but when, where and how long."""
    return {k: v for k, v in asdict(row).items() if k not in ("seconds", "finished", "host")}


def lines(folder):
    return sorted(line for file in folder.glob("rows/*.jsonl") for line in file.read_text().splitlines())


def timeless(path):
    """The rows of a table in Markdown without the column of seconds."""
    rows = [line.split(" | ") for line in path.read_text().splitlines() if line.startswith("|")]
    column = [cell.strip(" |") for cell in rows[0]].index("seconds")
    return [row[:column] + row[column + 1 :] for row in rows]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    rows = study.run(folder, experiments=MINI, replicates=2)
    return folder, rows, study.write_report(folder, experiments=MINI)


# Specifications


def test_a_specification_is_frozen():
    with pytest.raises(FrozenInstanceError):
        NOISE.settings[0].number = 4
    hash(NOISE)


@pytest.mark.parametrize(
    "change",
    [
        {"number": 4},
        {"noise_x": 0.03},
        {"noise_y": 0.03},
        {"n_train": 201},
        {"n_test": 61},
        {"d": 9},
        {"target": "directions"},
    ],
)
def test_the_digits_change_with_the_data(change):
    setting = NOISE.settings[0]
    assert specification(replace(setting, **change), PLAIN) != specification(setting, PLAIN)


def test_the_digits_change_with_the_method_and_not_with_names():
    setting = NOISE.settings[0]
    digits = {
        specification(setting, method)
        for method in (LITERAL, PLAIN, DICTIONARY, network("plain", "plain", PLAIN.estimator, hidden_layer_sizes=(6,)))
    }
    assert len(digits) == 4
    renamed = replace(PLAIN, name="x", family="y", label="z")
    assert specification(replace(setting, name="other"), renamed) == specification(setting, PLAIN)
    timed = Method("ours", "ours", "ours", "fewvars:FewVariablesRegressor", times=True)
    assert specification(setting, timed) != specification(setting, replace(timed, times=False))


def test_defaults_count_as_if_they_were_spelled_out():
    setting = NOISE.settings[0]
    silent = Method("plain", "plain", "plain", PLAIN.estimator)
    spelled = replace(silent, parameters=(("n_first", 1600), ("hidden_layer_sizes", [20, 20, 20])))
    assert specification(setting, silent) == specification(setting, spelled)
    idle = replace(BROKEN, parameters=(*BROKEN.parameters, ("n_jobs", 2), ("random_state", 3)))
    assert specification(setting, idle) == specification(setting, BROKEN)


def test_the_digits_do_not_depend_on_what_the_code_calls_its_parameters():
    """Those of rows that were made when some parameters had other names."""
    (setting,) = (setting for e in EXPERIMENTS if e.name == "size" for setting in e.settings)
    digits = {m.name: specification(setting, m) for e in EXPERIMENTS if e.name == "size" for m in e.methods}
    assert {name: digits[name] for name in ("literal-10", "ours", "plain", "dictionary-l1")} == {
        "literal-10": "94f0dc3f891ea6b9",
        "ours": "5526c53744828738",
        "plain": "3a9b8292fe88bb29",
        "dictionary-l1": "26ab3df746871a8e",
    }
    (ours,) = (method for e in EXPERIMENTS if e.name == "size" for method in e.methods if method.name == "ours")
    for later in (("judge", "network"), ("fdr", 0.1), ("exclude", (0,))):
        assert specification(setting, replace(ours, parameters=(later,))) != digits["ours"]


def test_what_has_no_stable_text_is_refused():
    with pytest.raises(ValueError, match="in a specification"):
        specification(NOISE.settings[0], replace(DICTIONARY, parameters=(("cv", object()),)))


def test_seeds_belong_to_rows():
    few, many = plan(MINI, 2), plan(reversed(MINI), 5)
    seeds = {task.key: task.seed for task in many}
    assert all(seeds[task.key] == task.seed for task in few)
    assert len(set(seeds.values())) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds.values())


def test_first_replicates_come_first_and_what_cannot_differ_is_run_once():
    tasks = plan(MINI, 3)
    assert [task.replicate for task in tasks] == sorted(task.replicate for task in tasks)
    assert len({task.key for task in tasks}) == len(tasks)
    repeated = [task.replicate for task in tasks if task.experiment == "noiseless"]
    assert repeated == [0, 0, 1, 2]
    assert {task.method.name for task in plan(MINI, 1, ["plain"])} == {"plain"}


def test_methods_that_are_not_there_are_left_out():
    absent = (
        Method("a", "a", "a", "fewvars:NoSuchRegressor"),
        Method("b", "b", "b", "fewvars.nowhere.at_all:Regressor"),
        Method("c", "c", "c", "fewvars.nowhere:Regressor"),
    )
    assert not any(method.available for method in absent)
    assert [task.method for task in plan([replace(STARTS, methods=(*absent, PLAIN))], 1)] == [PLAIN]


def test_bad_specifications():
    with pytest.raises(ValueError, match="target="):
        Setting("x", "nonsense")
    with pytest.raises(ValueError, match="varies="):
        replace(NOISE, varies="nothing")
    with pytest.raises(ValueError, match="names that repeat"):
        replace(NOISE, methods=(PLAIN, PLAIN))
    with pytest.raises(ValueError, match="kind="):
        Drawing("x", "pie", "x")
    with pytest.raises(ValueError, match="replicates=0"):
        plan(MINI, 0)


def test_the_paper_is_what_is_specified():
    by_name = {experiment.name: experiment for experiment in EXPERIMENTS}
    assert list(by_name) == ["size", "noise", "noiseless", "settings", "directions"]
    sizes = [dict(m.parameters)["hidden_layer_sizes"] for m in by_name["size"].methods if m.family == "literal"]
    assert sizes == [(width,) * 3 for width in (10, 20, 40, 80)]
    assert [(s.target, s.number, s.noise_x, s.noise_y) for e in EXPERIMENTS for s in e.settings] == [
        ("equation", 25, 0.02, 0.02),
        ("equation", 10, 0.02, 0.02),
        ("equation", 10, 0.03, 0.03),
        ("equation", 10, 0.04, 0.04),
        ("equation", 10, 0.05, 0.05),
        ("equation", 10, 0.0, 0.0),
        ("function", 1, 0.0, 0.02),
        ("function", 2, 0.02, 0.0),
        ("function", 3, 0.02, 0.02),
        ("directions", 0, 0.0, 0.02),
    ]
    assert all((s.n_train, s.n_test, s.d) == (8000, 2000, 40) for e in EXPERIMENTS for s in e.settings)
    assert by_name["noiseless"].varies == "initialisation"
    assert by_name["directions"].varies == "matrix"
    assert by_name["size"].paper("noise 0.02", "literal-80") == Reported(
        "noise 0.02", "literal-80", "1", "0.79", "0.079"
    )
    for experiment in EXPERIMENTS:
        settings, methods = ({x.name for x in items} for items in (experiment.settings, experiment.methods))
        assert all(r.setting in settings and r.method in methods for r in experiment.reported)
        assert all(d.setting in {"", *settings} and d.method in {"", *methods} for d in experiment.drawings)


def test_a_replicate_is_a_seed():
    data = NOISE.settings[0].data(7)
    expected = lorenz96_dataset(lorenz_equation(3, 8), noise_x=0.01, noise_y=0.01, seed=7, n_train=200, n_test=60, d=8)
    np.testing.assert_array_equal(data.X_train, expected.X_train)
    np.testing.assert_array_equal(data.y_train, expected.y_train)
    drawn = DIRECTIONS.settings[0].data(7)
    np.testing.assert_array_equal(drawn.target.directions, few_directions(7, 8).directions)


# Rows


def test_a_row_holds_the_figures_of_a_fit(finished):
    _, rows, _ = finished
    row = next(row for row in rows if row.key == ("noise", "noise 0.02", "plain", 1))
    data = NOISE.settings[1].data(1)
    model = PLAIN.build().set_params(random_state=row.seed).fit(data.X_train, data.y_train)
    predicted = model.predict(data.X_test)
    assert row.relative_error == metrics.relative_error(data.y_test, predicted)
    assert row.centred_error == metrics.centred_error(data.y_test, predicted)
    assert row.sensitivity == metrics.sensitivity(data.support, model.support_)
    assert row.specificity == metrics.specificity(data.support, model.support_)
    assert row.exact is metrics.exact_support(data.support, model.support_)
    assert row.selected == tuple(model.get_support(indices=True))
    assert row.fitted
    assert row.seconds > 0
    assert row.versions["numpy"] == np.__version__
    assert row.versions["fewvars"] == fv.__version__


def test_a_row_of_directions_holds_angles(finished):
    _, rows, _ = finished
    row = next(row for row in rows if row.key == ("directions", "g(Ax)", "literal", 1))
    data = DIRECTIONS.settings[0].data(1)
    model = WAYS.build().set_params(random_state=row.seed).fit(data.X_train, data.y_train)
    true = few_directions(1, 8).directions
    assert (row.n_directions, row.rank) == (model.n_directions_, model.rank_)
    assert row.angle == metrics.principal_angles(model.directions_, true).max()
    assert row.angle_strong == metrics.principal_angles(model.directions_, true[:2]).max()
    assert row.sensitivity is None
    assert row.selected is None


class Clock(BaseEstimator):
    """Predicts the last sample time, or nought; warns twice."""

    def fit(self, X, y, t=None):
        self.time_, self.support_ = 0.0 if t is None else t[-1], np.ones(X.shape[1], bool)
        for _ in range(2):
            warnings.warn("it is late", UserWarning, stacklevel=1)
        return self

    def predict(self, X):
        return np.full(len(X), self.time_)


@pytest.mark.parametrize("times", [True, False])
def test_times_are_given_to_those_that_want_them_and_warnings_noted_once(times):
    clock = Method("clock", "clock", "clock", "test_study:Clock", times=times)
    (task,) = plan([replace(STARTS, methods=(clock,))], 1)
    row = run_task(task).row
    data = STARTS.settings[0].data(0)
    assert row.relative_error == metrics.relative_error(data.y_test, np.full(60, data.t_train[-1] if times else 0.0))
    assert row.warnings == ("UserWarning: it is late",)


def test_the_default_method_can_be_run():
    budget = (("first_updates", 50), ("path_updates", 10), ("refit_updates", 50), ("max_candidates", 3))
    ours = Method("ours", "ours", "ours", "fewvars:FewVariablesRegressor", (*budget, ("max_degree", 2)), times=True)
    (task,) = plan([replace(NOISE, settings=NOISE.settings[1:], methods=(ours,))], 1)
    row = run_task(task).row
    assert row.reason == ""
    assert row.head in ("mean", "dictionary", "network")


def test_rows_survive_the_way_to_text(finished):
    _, rows, _ = finished
    for row in rows:
        assert Row.of(row.line()) == row
        assert "\n" not in row.line()
    later = json.loads(rows[0].line()) | {"a_field_of_a_later_version": 1}
    assert Row.of(json.dumps(later)) == rows[0]


def test_nothing_is_run_twice(finished):
    folder, rows, _ = finished
    before = lines(folder)
    again = study.run(folder, experiments=MINI, replicates=2)
    assert [row.line() for row in again] == [row.line() for row in rows]
    assert lines(folder) == before


def test_more_replicates_add_rows(tmp_path):
    first = study.run(tmp_path, experiments=[STARTS], replicates=1)
    more = study.run(tmp_path, experiments=[STARTS], replicates=2)
    assert len(list(tmp_path.glob("rows/*.jsonl"))) == 2
    assert [row.line() for row in more][: len(first)] == [row.line() for row in first]
    assert len(more) == len(first) + 1


@pytest.mark.parametrize("kept", [0, 1, 40, -1, None])
def test_a_torn_line_is_passed_over_and_its_fit_repeated(finished, tmp_path, kept):
    folder, rows, _ = finished
    whole = "".join(row.line() + "\n" for row in rows[:4])
    torn = rows[4].line()[:kept]
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "0.jsonl").write_text(whole + torn)
    resumed = study.run(tmp_path, experiments=MINI, replicates=2)
    assert list(map(comparable, resumed)) == list(map(comparable, rows))
    assert [row.line() for row in resumed[:4]] == [row.line() for row in rows[:4]]
    report = study.write_report(tmp_path, experiments=[replace(experiment, drawings=()) for experiment in MINI])
    assert report.contents.unreadable == (kept not in (0, None))  # nothing is torn but the end of the line
    for experiment in MINI:
        name = f"tables/{experiment.name}.md"
        assert timeless(tmp_path / name) == timeless(folder / name)
    assert (kept is None) == (resumed[4].line() == rows[4].line())


def test_lines_that_are_no_rows_are_passed_over(finished, tmp_path):
    _, rows, _ = finished
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "0.jsonl").write_bytes(b'1\n[]\n{}\n\xff\xfe\n\n{"a": 1}\n' + rows[0].line().encode() + b"\n")
    found, unreadable = Folder(tmp_path).all_rows()
    assert found == rows[:1]
    assert unreadable == 5


def test_rows_of_another_specification_are_kept_and_never_mixed(tmp_path):
    old = replace(STARTS, methods=(PLAIN,))
    new = replace(STARTS, methods=(network("plain", "plain", PLAIN.estimator, hidden_layer_sizes=(4,)),))
    (before,) = study.run(tmp_path, experiments=[old], replicates=1)
    (after,) = study.run(tmp_path, experiments=[new], replicates=1)
    assert before.specification != after.specification
    assert before.relative_error != after.relative_error
    report = study.write_report(tmp_path, experiments=[new])
    assert report.contents.stale == 1
    assert list(report.contents.rows.values()) == [after]
    assert "1 rows were ignored" in report.page.read_text()
    assert lines(tmp_path) == sorted([before.line(), after.line()])
    # And back again: the old row is still good.
    assert study.run(tmp_path, experiments=[old], replicates=1) == [before]


def test_a_failure_is_a_row_and_stops_nothing(tmp_path):
    mixed = replace(STARTS, methods=(BROKEN, PLAIN))
    broken, plain = study.run(tmp_path, experiments=[mixed], replicates=1)
    assert (broken.outcome, plain.outcome) == ("failed", "fitted")
    assert broken.reason.startswith("ValueError: head='<b>none</b>'")
    assert broken.relative_error is None
    report = study.write_report(tmp_path, experiments=[mixed])
    text = report.page.read_text()
    assert html.escape(broken.reason) in text
    assert "<b>none" not in text
    assert "0 (1 failed)" in report.tables.read_text()


class Wild(Clock):
    """Predicts numbers whose squares overflow."""

    def predict(self, X):
        return np.full(len(X), 1e200)


def test_errors_that_are_not_finite_are_failures(tmp_path):
    wild = Method("wild", "wild", "wild", "test_study:Wild")
    experiments = [replace(STARTS, methods=(wild, DICTIONARY))]
    for _ in range(2):
        row, other = study.run(tmp_path, experiments=experiments, replicates=1)
        assert (row.outcome, other.outcome) == ("failed", "fitted")
        assert row.reason == "FloatingPointError: relative_error is inf: predictions reach 1e+200 in absolute value."
    assert len(lines(tmp_path)) == 2


def test_failures_are_repeated_on_request_only(tmp_path):
    (task,) = plan([replace(STARTS, methods=(PLAIN,))], 1)
    good = run_task(task).row
    with Writer(Folder(tmp_path)) as writer:
        writer.append(replace(good, outcome="failed", reason="ValueError: bad luck", relative_error=None))
    experiments = [replace(STARTS, methods=(PLAIN,))]
    (row,) = study.run(tmp_path, experiments=experiments, replicates=1)
    assert not row.fitted
    (row,) = study.run(tmp_path, experiments=experiments, replicates=1, retry_failed=True)
    assert row.fitted
    (row,) = study.run(tmp_path, experiments=experiments, replicates=1, retry_failed=True)
    assert row.fitted
    assert len(lines(tmp_path)) == 2


def test_a_worker_with_other_defaults_is_found_out():
    (task,) = plan([replace(STARTS, methods=(PLAIN,))], 1)
    row = run_task(replace(task, specification="0" * 16)).row
    assert not row.fitted
    assert "Install the same version on all workers" in row.reason


def test_two_runs_in_one_folder_write_two_files(finished, tmp_path):
    _, rows, _ = finished
    with Writer(Folder(tmp_path)) as one, Writer(Folder(tmp_path)) as other, Writer(Folder(tmp_path)):
        for a, b in zip(rows[::2], rows[1::2], strict=False):
            one.append(a)
            other.append(b)
    assert len(list(tmp_path.glob("rows/*.jsonl"))) == 2
    found, unreadable = Folder(tmp_path).all_rows()
    assert {row.key for row in found} == {row.key for row in rows[: len(found)]}
    assert unreadable == 0


def test_a_row_is_on_disk_when_append_returns(finished, tmp_path):
    _, rows, _ = finished
    with Writer(Folder(tmp_path)) as writer:
        for count, row in enumerate(rows[:3], start=1):
            writer.append(row)
            assert lines(tmp_path) == sorted(row.line() for row in rows[:count])


AVERAGED = ("size", "noise", "settings")  # by the paper, over 100 data sets


@pytest.fixture(scope="module")
def committed():
    """The tasks of a study with 100 replicates, and the contents of the folder that holds the full run."""
    tasks = plan(EXPERIMENTS, 100)
    folder = Folder(Path(__file__).parent.parent / "benchmarks" / "results" / "study")
    return tasks, folder.contents({task.key[:3]: task.specification for task in tasks})


def test_committed_rows_belong_to_the_specifications_of_today(committed):
    """A change that would make the full study stale is noticed here."""
    tasks, contents = committed
    assert (contents.stale, contents.unreadable) == (0, 0)
    assert all(row.fitted for row in contents.rows.values())
    assert len({row.commit for key, row in contents.rows.items() if key[2] != "ours"}) == 1  # ours was repeated later
    averaged = [task for task in tasks if task.key[0] in AVERAGED]
    assert len(averaged) == 5100
    assert all(task.seed == contents.rows[task.key].seed for task in averaged)
    assert {task.key[:3] for task in tasks} == {key[:3] for key in contents.rows}


def test_committed_rows_are_as_good_as_the_documentation_says(committed):
    rows = committed[1].rows

    def values(name, experiment, setting, method):
        return [getattr(rows[experiment, setting, method, replicate], name) for replicate in range(100)]

    averaged = [experiment for experiment in EXPERIMENTS if experiment.name in AVERAGED]
    exact = [values("exact", one.name, setting.name, "ours") for one in averaged for setting in one.settings]
    assert (np.sum(exact), np.size(exact)) == (800, 800)
    for level in ("noise 0.02", "noise 0.03", "noise 0.04", "noise 0.05"):
        ours, literal = (np.mean(values("relative_error", "noise", level, method)) for method in ("ours", "literal"))
        assert 0.06 < ours / literal < 0.105


def test_compressed_rows_are_rows(finished, tmp_path):
    _, rows, _ = finished
    with Writer(Folder(tmp_path)) as writer:
        for row in rows[:3]:
            writer.append(row)
    (plain,) = tmp_path.glob("rows/*.jsonl")
    compressed = plain.with_name(plain.name + ".gz")
    compressed.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert Folder(tmp_path).has_rows
    assert Folder(tmp_path).all_rows() == (rows[:3], 0)
    compressed.write_bytes(compressed.read_bytes()[:-20])
    assert Folder(tmp_path).all_rows() == ([], 1)


def test_nothing_follows_a_torn_row(finished, tmp_path):
    """A full disk takes a part of a row: that is an error, and the next row begins a new file."""
    _, rows, _ = finished
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Writer(Folder(tmp_path)) as writer:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (50, before[1]))
            with pytest.raises(OSError, match="only 50 of"):
                writer.append(rows[0])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ignored)
        writer.append(rows[1])
    found, unreadable = Folder(tmp_path).all_rows()
    assert [row.key for row in found] == [rows[1].key]
    assert unreadable == 1


def test_a_curve_is_there_before_its_row(tmp_path):
    (task,) = plan([replace(STARTS, methods=(PLAIN,))], 1)
    result = run_task(task)
    (tmp_path / "rows").write_text("a file where the rows should go")
    store = Folder(tmp_path)
    with Writer(store) as writer, pytest.raises(FileExistsError):
        writer.append(result.row, result.curve)
    assert store.curve(result.row)["predicted"].shape == (60,)


def test_curves_are_kept_of_the_first_replicate_and_thinned(finished):
    folder, rows, _ = finished
    store = Folder(folder)
    for row in rows:
        assert (store.curve(row) is not None) == (row.replicate == 0)
    assert len(list(folder.glob("curves/*"))) == sum(row.replicate == 0 for row in rows)
    long = replace(STARTS, methods=(DICTIONARY,), settings=(replace(STARTS.settings[0], n_test=1203),))
    (task,) = plan([long], 1)
    curve = run_task(task).curve
    data = task.setting.data(0)
    assert CURVE_POINTS / 2 < len(curve["t"]) <= CURVE_POINTS
    np.testing.assert_array_equal(curve["truth"], data.y_test[::3])
    np.testing.assert_array_equal(curve["t"], data.t_test[::3])


def test_a_spoilt_curve_is_no_curve(finished, tmp_path):
    _, rows, _ = finished
    store = Folder(tmp_path)
    path = store.curve_file(rows[0])
    assert store.curve(rows[0]) is None
    path.parent.mkdir()
    for content in (b"", b"PK\x03\x04torn", b"text"):
        path.write_bytes(content)
        assert store.curve(rows[0]) is None


def test_missing_is_what_has_no_row(finished):
    _, rows, _ = finished
    tasks = plan(MINI, 2)
    some = {row.key: row for row in rows[1:]} | {rows[3].key: replace(rows[3], outcome="failed")}
    assert [task.key for task in missing(tasks, some)] == [rows[0].key]
    assert [task.key for task in missing(tasks, some, retry_failed=True)] == [rows[0].key, rows[3].key]


def test_starting_over_never_touches_rows(finished, tmp_path):
    _, rows, _ = finished
    first = Folder(tmp_path / "s")
    assert first.fresh().path == first.path
    for name in ("s", "s-2"):
        with Writer(Folder(tmp_path / name)) as writer:
            writer.append(rows[0])
    assert first.fresh().path == tmp_path / "s-3"


# Running


def test_only_those_that_die_alone_twice_are_guilty():
    tasks = plan([STARTS], 2)
    calls = []

    def place(some):
        some = list(some)
        calls.append([task.key for task in some])
        for task in some:
            innocent = task.method == DICTIONARY
            yield task, None if not innocent or len(some) > 1 else run_task(task)

    found = {result.row.key: result.row for result in results(tasks, place)}
    alone = [[task.key] for task in tasks for _ in range(1 if task.method == DICTIONARY else 2)]
    assert calls == [[task.key for task in tasks], *alone]
    for task in tasks:
        assert found[task.key].fitted == (task.method == DICTIONARY)
    assert all(row.reason.startswith("WorkerDied") for row in found.values() if not row.fitted)


def test_here_is_one_after_the_other():
    tasks = plan([STARTS], 1)
    assert [task for task, _ in here(tasks)] == tasks


def test_bad_places(tmp_path):
    with pytest.raises(ValueError, match="jobs=1"):
        processes(1)
    with pytest.raises(ValueError, match="jobs=0"):
        study.run(tmp_path, experiments=MINI, jobs=0)


def test_progress_goes_to_stderr(tmp_path, capsys):
    study.run(tmp_path, experiments=[STARTS], replicates=1, progress=True)
    shown = capsys.readouterr()
    assert "2/2" in shown.err
    assert "fit" in shown.err
    assert shown.out == ""


# Summaries and tables


def test_means_and_standard_errors():
    values = [1.0, 2.0, 4.0]
    assert mean(values) == Mean(np.mean(values), np.std(values, ddof=1) / np.sqrt(3), 3)
    assert np.isnan(mean([1.0]).error)


def test_a_summary_is_over_fits_that_came_to_an_end(finished):
    _, rows, _ = finished
    some = [row for row in rows if row.key[:3] == ("noise", "noise 0.01", "plain")]
    lost = replace(some[1], outcome="failed", relative_error=None, seconds=None)
    (summary,) = summarise(NOISE, [lost, some[0]])
    assert (summary.n, summary.n_failed) == (1, 1)
    assert summary.means["relative_error"].value == some[0].relative_error
    assert "angle" not in summary.means
    (both,) = summarise(NOISE, some)
    expected = [row.centred_error for row in some]
    assert both.means["centred_error"] == Mean(np.mean(expected), np.std(expected, ddof=1) / np.sqrt(2), 2)
    assert both.seconds == np.median([row.seconds for row in some])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (Mean(0.123456, np.nan, 1), "0.123"),
        (Mean(1.0, 0.0, 5), "1"),
        (Mean(0.92711, 0.00123, 5), "0.927 ± 0.001"),
        (Mean(4.2e-5, 1.4e-6, 5), "4.2e-05 ± 1e-06"),
        (Mean(120.0, 61.3, 5), "120 ± 61.3"),
    ],
)
def test_cells(value, text):
    assert show(value) == text


def test_the_table_has_the_papers_figures_beside_ours(finished):
    _, rows, _ = finished
    cells = table(NOISE, summarise(NOISE, rows))
    assert len(cells.body) == 6
    assert cells.header[-1] == "paper: sensitivity, specificity, relative error"
    assert cells.body[0][:3] == ("noise 0.01", "literal", "2")
    assert cells.body[0][-1] == "1, 0.9, 0.05"
    assert cells.body[1][-1] == ""
    ways = table(DIRECTIONS, summarise(DIRECTIONS, rows))
    assert "angle to true space" in ways.header
    assert not any("paper" in name for name in ways.header)


def test_cells_are_escaped():
    cells = Table(("a|b", "<i>"), (("x", "1 & 2"), ("x", "|")))
    assert cells.markdown().splitlines() == [r"| a\|b | <i> |", "| --- | --- |", "| x | 1 & 2 |", r"| x | \| |"]
    root = xml.etree.ElementTree.fromstring(cells.html().replace(" class=new", ""))
    assert [cell.text for cell in root.iter("td")] == ["1 & 2", "|"]
    assert [cell.text or "" for cell in root.iter("th")] == ["a|b", "<i>", "x", ""]


# The page


def test_the_report_is_complete_and_needs_no_other_file(finished):
    folder, rows, report = finished
    text = report.page.read_text()
    assert {path.name for path in report.figures} == {"levels.svg", "curves.svg", "net.svg", "directions.svg"}
    for path in report.figures:
        assert xml.etree.ElementTree.fromstring(path.read_bytes()).tag.endswith("svg")
    assert text.count("<img ") == 4
    assert set(re.findall(r'(?:src|href)="(.)', text)) == {"d", "#"}  # data URIs and links within the page
    for experiment in MINI:
        replicates = 1 + max(row.replicate for row in rows if row.experiment == experiment.name)
        assert f"<code>fewvars reproduce --only {experiment.name} --replicates {replicates}</code>" in text
        assert (folder / "tables" / f"{experiment.name}.md").read_text() in report.tables.read_text() + "\n"
    assert "A note &amp; a remark." in text
    assert study.write_report(folder, experiments=MINI).page.read_text() == text


def test_a_report_of_nothing(tmp_path):
    report = study.write_report(tmp_path, experiments=MINI)
    assert report.figures == ()
    assert report.page.read_text().count("Nothing has been run yet.") == 3
    assert report.tables.read_text().count("Nothing has been run yet.") == 3


def test_a_report_of_a_part(finished, tmp_path):
    _, rows, _ = finished
    with Writer(Folder(tmp_path)) as writer:
        for row in rows:
            if (row.setting, row.method) == ("noise 0.01", "plain"):
                writer.append(row)
    report = study.write_report(tmp_path, experiments=MINI)
    assert [path.name for path in report.figures] == ["levels.svg"]  # no curves are there
    assert len(timeless(tmp_path / "tables" / "noise.md")) == 3
    assert "<code>fewvars reproduce --only noise --replicates 2 --methods plain</code>" in report.page.read_text()


def test_other_trajectories_and_versions_are_pointed_out(finished, tmp_path):
    _, rows, _ = finished
    other = replace(rows[0], replicate=5, trajectory="another", versions={"numpy": "9.9"}, commit=None)
    with Writer(Folder(tmp_path)) as writer:
        writer.append(rows[0])
        assert "different trajectories" not in study.write_report(tmp_path, experiments=MINI).page.read_text()
        writer.append(other)
    text = study.write_report(tmp_path, experiments=MINI).page.read_text()
    assert "different trajectories" in text
    assert "1 fits were made by numpy 9.9, commit unknown." in text


def test_titles_are_escaped():
    text = page([Section("a", "<script>", "", ["<b>"], [], "rm < x")], head=["&"])
    assert "<script>" not in text
    assert "<b>" not in text
    assert "rm &lt; x" in text


# The command


def test_the_command_knows_all_experiments_and_methods():
    options = {option.name: option for option in reproduce.params}
    assert list(options["only"].type.choices) == [experiment.name for experiment in EXPERIMENTS]
    assert list(options["methods"].type.choices) == list(study.FAMILIES)
    families = {method.family for experiment in EXPERIMENTS for method in experiment.methods}
    assert families == set(study.FAMILIES)


def invoke(*arguments):
    return CliRunner().invoke(cli.main, ["reproduce", "--jobs", "1", *map(str, arguments)], catch_exceptions=False)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "EXPERIMENTS", MINI)
    folder, copy = tmp_path / "s", tmp_path / "tables.md"
    done = invoke("--rows", folder, "--replicates", 1, "--only", "noiseless", "--methods", "plain")
    assert done.exit_code == 0
    assert "1/1" in done.stderr
    assert str(folder / "study.html") in done.stdout
    assert len(lines(folder)) == 1
    done = invoke("--rows", folder, "--replicates", 1, "--only", "noiseless", "--quiet", "--tables", copy)
    assert done.stderr == ""
    assert len(lines(folder)) == 2
    assert copy.read_text() == (folder / "tables.md").read_text()
    before = lines(folder)
    done = invoke("--rows", folder, "--no-fits")
    assert done.exit_code == 0
    assert lines(folder) == before
    done = invoke("--rows", folder, "--fresh", "--replicates", 1, "--only", "noiseless", "--methods", "dictionary")
    assert "Starting over" in done.stderr
    assert lines(folder) == before
    assert len(lines(tmp_path / "s-2")) == 1


def test_the_command_tells_of_failures(tmp_path, monkeypatch):
    absent = Method("absent", "absent", "a method to come", "fewvars:NoSuchRegressor")
    monkeypatch.setattr(study, "EXPERIMENTS", (replace(STARTS, methods=(BROKEN, PLAIN, absent)),))
    done = invoke("--rows", tmp_path, "--replicates", 1, "--quiet")
    assert done.exit_code == 0
    assert "1 fits failed." in done.stderr
    assert "a method to come is left out" in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--replicates", "0"], ["--only", "nonsense"], ["--methods", "x"], ["--no-fits", "--fresh"]]
)
def test_bad_options(arguments):
    assert CliRunner().invoke(cli.main, ["reproduce", *arguments], standalone_mode=True).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "absent", "--no-fits"], "no rows in absent: check --rows."),
        (["--only", "directions", "--methods", "plain"], "directions has no method 'plain': choose from literal, ours"),
        (["--tables", "nowhere/x.md"], "--tables nowhere/x.md: there is no directory nowhere"),
    ],
)
def test_mistakes_are_told_before_anything_is_run(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke(*arguments)
    assert done.exit_code != 0
    assert message in done.stderr
    assert not list(tmp_path.iterdir())
