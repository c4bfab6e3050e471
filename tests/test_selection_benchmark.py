"""The harness of the selection benchmark: rows from processes that can be killed, resumed files, and tables."""

import sys

import numpy as np
import pytest
from benchmarks.rows import read
from benchmarks.selection import __main__ as command_line
from benchmarks.selection import calibration, development, harness, problems, registry, reported, tables
from benchmarks.selection.methods import linear_forward
from benchmarks.selection.problems import Data
from benchmarks.selection.worker import judged
from scipy.stats import f

TINY = "lines: 3 of 15, n = 60, SNR 4"


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["selection", *words])
    command_line.main()


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_ended_and_the_table_is_printed(tmp_path, monkeypatch, capsys):
    words = (
        "run",
        "--methods",
        "linear-forward",
        "--problems",
        TINY,
        "--first-seed",
        "100",
        "--results",
        str(tmp_path),
    )
    run(monkeypatch, *words, "--seeds", "2")
    file = tmp_path / "linear-forward.jsonl"
    first, second = file.read_text().splitlines()
    file.write_text(f"{first}\n{second[:40]}")  # killed while writing
    run(monkeypatch, *words, "--seeds", "2")
    assert [row["seed"] for row in read(file)] == [100, 101]
    assert file.read_text().startswith(first)
    assert all(row["possible"] == 3 and 0 < row["error"] < 1 for row in read(file))
    run(monkeypatch, "table", "--problems", "development", "--details", "--results", str(tmp_path))
    assert f"| {TINY} | linear-forward | 6 / 6 |" in capsys.readouterr().out


class Stubborn:
    """A worker whose answers never come in time."""

    def __init__(self):
        self.asked = 0

    def ask(self, key, limit):
        self.asked += 1
        return {"failure": "timeout", "limit": limit}


def test_after_two_timeouts_the_other_seeds_of_a_problem_are_not_tried(tmp_path):
    runner, worker = harness.Runner("linear-forward", tmp_path / "rows.jsonl"), Stubborn()
    runner.workers.put(worker)
    failures = [runner.fit(TINY, "linear-forward", seed)["failure"] for seed in range(4)]
    assert failures == ["timeout", "timeout", "not tried", "not tried"]
    assert worker.asked == 2


def test_a_worker_that_takes_too_long_is_killed(monkeypatch):
    ready = '{"package": "", "version": "1"}'
    command = f"import sys, time; sys.stdin.readline(); print({ready!r}, flush=True); time.sleep(60)"
    monkeypatch.setattr(harness, "COMMAND", ("-c", command))
    worker = harness.Worker("linear-forward")
    assert worker.ask({"seed": 0}, 0.05) == {"failure": "timeout", "limit": 0.05, "version": "1"}
    assert worker.process is None


def test_rows_of_rivals_do_not_depend_on_the_package(tmp_path):
    problem = registry.problems()[TINY]
    (tmp_path / "fewvars").mkdir()
    digests = {}
    for version in (1, 2):
        (tmp_path / "fewvars" / "module.py").write_text(f"version = {version}")
        for method in ("linear-forward", "before"):
            runner = harness.Runner(method, tmp_path / "rows.jsonl", source=tmp_path)
            digests.setdefault(method, set()).add(runner.digest(problem))
    assert [len(digests[method]) for method in ("linear-forward", "before")] == [1, 2]


def smallest_p_value(X, y, selected):
    """Return the input whose F-test beside the selected ones has the smallest p-value, and that."""
    p_values = np.ones(X.shape[1])
    for j in set(range(X.shape[1])) - set(selected):
        sums = []
        for some in (selected, [*selected, j]):
            design = np.column_stack([np.ones(len(y)), X[:, some]])
            sums.append(np.sum((y - design @ np.linalg.lstsq(design, y)[0]) ** 2))
        freedom = len(y) - len(selected) - 2
        p_values[j] = f.sf((sums[0] - sums[1]) / sums[1] * freedom, 1, freedom)
    return int(p_values.argmin()), p_values.min()


def test_linear_forward_selection_is_that_of_the_f_test():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12)) + rng.standard_normal((60, 1))
    y = X[:, 0] - 0.6 * X[:, 1] + 0.4 * X[:, 2] + rng.standard_normal(60)
    selected = []
    while (best := smallest_p_value(X, y, selected))[1] * (12 - len(selected)) <= 0.05:
        selected.append(best[0])
    answer = linear_forward(Data(X, y, None, None, np.arange(12) < 3), 0)
    assert len(selected) >= 2
    assert np.flatnonzero(answer.selected).tolist() == sorted(selected)


def test_linear_forward_selection_stops_at_combinations_of_selected_inputs():
    X = np.repeat(np.random.default_rng(0).standard_normal((50, 2)), 2, axis=1)
    answer = linear_forward(Data(X, X[:, 0] + X[:, 2], None, None, np.ones(4, bool)), 0)
    assert answer.selected.reshape(2, 2).sum(axis=1).tolist() == [1, 1]


def test_groups_are_counted_once_and_unjudged_inputs_not_at_all():
    data = Data(
        *(np.zeros((2, 6)), np.zeros(2), None, None, np.array([1, 1, 1, 0, 0, 0], bool)),
        groups=np.array([7, 7, 8, 9, 9, 10]),
        unjudged=np.array([0, 0, 0, 0, 0, 1], bool),
    )
    row = judged(data, np.array([1, 1, 0, 1, 1, 1], bool))
    assert (row["possible"], row["found"], row["wrong"]) == (2, 1, 1)


def test_the_check_says_where_a_careful_rival_finds_more_and_leaves_careless_ones_out():
    def rows(method, found, wrong):
        row = {"problem": "p", "method": method, "possible": 3, "wrong": wrong, "error": 0.1, "seconds": 1.0}
        return [row | {"seed": seed, "found": n} for seed, n in enumerate(found)]

    some = [*rows("fewvars", [1, 2, 1, 2], 0), *rows("careful", [3, 3, 3, 3], 0), *rows("careless", [3, 3, 3, 3], 1)]
    text = tables.check(["p"], ["fewvars", "careful", "careless"], tables.latest(some))
    assert "careful finds 1.50 ± 0.29 more per fit" in text
    assert "careless" not in text
    assert "wrong share above 0.1 in 0 of 1 problems" in text


def test_the_null_table_counts_fits_that_select_anything():
    row = {"problem": "null", "method": "m", "possible": 0, "found": 0, "error": None, "seconds": 1.0}
    rows = tables.latest([row | {"seed": seed, "wrong": wrong} for seed, wrong in enumerate((0, 2, 0, 1))])
    assert "| null | 2 of 4 |" in tables.null(["null"], ["m"], rows)


def test_development_and_reported_problems_share_no_function_and_no_shape():
    def functions(some):
        return {problem.function for problem in some if problem.function}

    assert not functions(development.PROBLEMS) & functions([*reported.PROBLEMS, *calibration.PROBLEMS])
    assert not {(p.n, p.d) for p in development.PROBLEMS} & {(p.n, p.d) for p in reported.PROBLEMS}
    names = [problem.name for some in registry.collections().values() for problem in some]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("noise", [problems.normal, problems.growing, problems.growing_with_size, problems.bursts])
def test_noise_has_unit_variance(noise):
    active = np.random.default_rng(0).standard_normal((200_000, 2))
    assert np.mean(noise(np.random.default_rng(1), active) ** 2) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    ("inputs", "axis"), [(problems.toeplitz(0.8), 1), (problems.over_time(0.8), 0), (problems.equicorrelated(0.8), 1)]
)
def test_neighbours_are_correlated_as_asked_and_columns_have_unit_variance(inputs, axis):
    X = inputs(np.random.default_rng(0), 50_000, 3)
    pair = X[:, :2].T if axis else (X[1:, 0], X[:-1, 0])
    assert np.corrcoef(*pair)[0, 1] == pytest.approx(0.8, abs=0.01)
    np.testing.assert_allclose(X.var(axis=0), 1, atol=0.05)


def test_realised_rates_are_those_of_the_true_variables():
    problem = calibration.PROBLEMS[1]
    true = np.flatnonzero(problem.data(0).support).tolist()
    false = next(j for j in range(problem.d) if j not in true)
    row = {"seed": 0, "found": 2, "wrong": 0, "selected": true[:2]}
    row["q"] = {str(true[0]): 0.01, str(true[1]): 0.04, str(true[2]): 0.15, str(false): 0.08}
    known = row | {"support": true}
    assert calibration.rate(known, 0.05) == (2, 0.0)
    assert calibration.rate(known, 0.1) == (2, 1 / 3)
    assert calibration.rate(known, 0.2) == (3, 1 / 4)
    line = calibration.calibration([problem], {problem.name: [row, row | {"q": {}}]}).splitlines()[-1]
    assert line.split(" | ")[1:6] == ["2", "0.000 ± 0.000", "0.167 ± 0.167", "0.125 ± 0.125", "0.50"]
    above = calibration.calibration([problem], {problem.name: [row, row]})
    assert "0.333 ± 0.000 above" in above
