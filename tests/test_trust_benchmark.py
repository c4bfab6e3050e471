"""The trust benchmark: splits that do not leak, rows that say what was claimed and what was real, and tables."""

import sys

import numpy as np
import pytest
from benchmarks.rows import read
from benchmarks.trust import __main__ as command_line
from benchmarks.trust import fits, methods, registry, tables
from benchmarks.trust.methods import METHODS, Answer
from benchmarks.trust.problems import Data, Forecast, RandomSplits, is_probe
from benchmarks.trust.sources import Series, pure_noise


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["trust", *words])
    command_line.main()


@pytest.mark.slow
def test_rows_are_made_once_and_the_table_is_printed(tmp_path, monkeypatch, capsys):
    words = ("run", "--problems", "iris*", "--first-seed", "100", "--results", str(tmp_path))
    run(monkeypatch, *words, "--seeds", "1", "--methods", "fewvars")
    run(monkeypatch, *words, "--seeds", "2", "--methods", "fewvars", "lasso-cv")
    rows = read(tmp_path / "fewvars.jsonl")
    assert [row["seed"] for row in rows] == [100, 101]
    assert all("petal length" in row["selected"] and row["r2"] > 0.8 for row in rows)
    run(monkeypatch, "table", "--problems", "development", "--results", str(tmp_path))
    assert "| iris, petal width (2) | 120 | 3 |" in capsys.readouterr().out


def test_new_rows_are_those_not_trained_on_and_probes_are_permuted_inputs():
    problem, table = RandomSplits("noise", pure_noise), pure_noise()
    data = problem.data(3)
    together = np.concatenate([data.y, data.y_new])
    np.testing.assert_array_equal(np.sort(together), np.sort(table.y))
    X, probes = (
        np.vstack([data.X, data.X_new])[:, np.array(list(map(is_probe, data.names))) == kind] for kind in (0, 1)
    )
    assert probes.shape[1] == 50
    columns = {tuple(column) for column in np.sort(X, axis=0).T}
    assert all(tuple(probe) in columns for probe in np.sort(probes, axis=0).T)
    assert np.abs(np.corrcoef(X.T, probes.T)).min() < 0.3


def test_forecasts_know_only_the_past():
    values = np.arange(100.0)
    values[40] = np.nan
    problem = Forecast("count", lambda: Series(np.arange(100.0), values))
    for origin in (0, 11):
        data = problem.data(origin)
        assert data.y_new.min() > data.y.max()
        np.testing.assert_array_equal(data.t, data.y)
        for X, y in ((data.X, data.y), (data.X_new, data.y_new)):
            np.testing.assert_array_equal(y[:, None] - X, np.tile(np.arange(1.0, 13.0), (len(y), 1)))
    assert data.y_new[-1] == 99


@pytest.mark.parametrize("method", ["lasso-cv", "forest", "autoregression", "persistence"])
def test_rivals_claim_about_the_error_that_they_make(method, monkeypatch):
    monkeypatch.setattr(methods, "TREES", 120)
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((400, 12)), 0.5 * rng.standard_normal(400)
    y = X[:, 0] + noise
    answer = METHODS[method].answer(Data(X[:200], y[:200], None, None, ()), 0)
    real = np.sqrt(np.mean((y[200:] - answer.predict(X[200:])) ** 2))
    assert answer.claimed == pytest.approx(real, rel=0.15)
    assert answer.selected[0]


def test_a_row_compares_the_answer_with_new_rows():
    y_new = np.array([0.0, 1.0, 2.0, 5.0])
    data = Data(np.zeros((6, 3)), np.zeros(6), np.zeros((4, 3)), y_new, ("a", "b", "probe 0"))
    answer = Answer(
        *(np.array([True, False, True]), lambda X: np.full(len(X), 2.0), 1.5),
        interval=lambda X: (np.full(len(X), 0.5), np.full(len(X), 3.0)),
    )
    row = fits.judged(data, answer)
    assert (row["inputs"], row["selected"], row["probes"]) == (2, ["a"], ["probe 0"])
    assert row["real"] == pytest.approx(np.sqrt(14 / 4))
    assert row["r2"] == pytest.approx(0.0)
    assert row["coverage"] == 0.5


def test_a_fit_that_fails_is_a_row_that_says_so(monkeypatch):
    def breaks(data, seed):
        raise ValueError("too few rows")

    monkeypatch.setitem(fits.METHODS, "lasso-cv", type(METHODS["lasso-cv"])(breaks))
    assert fits.fit("noise", "lasso-cv", 0) == {"failure": "ValueError: too few rows"}


def rows_of(problem, method, *figures):
    common = {"problem": problem, "method": method, "rows": 80, "inputs": 3, "probes": []}
    return [common | {"seed": seed} | some for seed, some in enumerate(figures)]


def test_a_star_marks_what_misses_its_goal():
    def fit(claimed, r2, selected):
        return {"claimed": claimed, "real": 1.0, "r2": r2, "selected": selected, "coverage": 0.9}

    rows = tables.latest(
        [
            *rows_of("honest", "fewvars", fit(1.0, 0.9, ["a"]), fit(1.1, 0.7, ["a"])),
            *rows_of("honest", "lasso-cv", fit(1.0, 0.85, ["a", "b"]), fit(1.0, 0.7, ["a", "b"])),
            *rows_of("flattering", "fewvars", fit(0.7, 0.5, ["a", "b"]), fit(0.7, 0.6, ["a", "b"])),
            *rows_of("flattering", "lasso-cv", fit(1.0, 0.6, ["a", "b"]), fit(1.0, 0.7, ["a", "b"])),
        ]
    )
    text = tables.splits(["honest", "flattering"], rows)
    assert "| 2.0 | 1.05 | 0.800 | 0.775 | - | +0.025 ± 0.025 | 0.90 |" in text
    assert "| 2.0* | 0.70* | 0.550 | 0.650 | - | -0.100* ± 0.000 | 0.90 |" in text
    assert "claimed / real 0.88*" in text
    assert "*" not in tables.splits(["flattering"], rows, judged=False)


def test_forecasts_worse_than_autoregression_are_marked():
    def fit(real):
        return {"claimed": 1.0, "real": real, "selected": ["lag 1"]}

    rows = tables.latest(
        [
            *rows_of("s", "fewvars", fit(1.0), fit(1.2)),
            *rows_of("s", "autoregression", fit(0.9), fit(0.9)),
            *rows_of("s", "persistence", fit(2.0), fit(2.0)),
        ]
    )
    assert "| s (2) | 1.0 | 0.91 | 1.1 | 0.9 | 2 | +0.2* ± 0.1 | - |" in tables.forecasts(["s"], rows)


def test_rivals_are_compared_on_our_seeds_and_failures_are_named():
    def fit(r2):
        return {"claimed": 1.0, "real": 1.0, "r2": r2, "selected": ["a"]}

    rows = [
        *rows_of("p", "fewvars", fit(0.5), fit(0.7), {"failure": "ValueError: why"}),
        *rows_of("p", "lasso-cv", fit(0.5), fit(0.5), fit(-9.0)),
    ]
    assert "| 0.600 | 0.500 | - | +0.100 ± 0.100 |" in tables.splits(["p"], tables.latest(rows))
    assert "p, fewvars: 1 (ValueError: why)" in tables.failures(rows)
    assert tables.failures(rows[:2]) == ""


def test_inputs_that_fits_do_not_agree_on_are_uncertain():
    supports = [["sure"] + ["often"] * (seed < 18) + ["once"] * (seed == 3) for seed in range(20)]
    rows = tables.latest(rows_of("p", "fewvars", *({"selected": some} for some in supports)))
    text = tables.rearranged(["p"], rows)
    assert "| sure | 20 of 20 |  |" in text
    assert "| often | 18 of 20 | yes |" in text
    assert "| once | 1 of 20 |  |" in text


def test_development_and_reported_problems_share_no_data():
    development = registry.COLLECTIONS["development"]
    others = [problem for name, some in registry.COLLECTIONS.items() if name != "development" for problem in some]
    assert not {repr(problem.load) for problem in development} & {repr(problem.load) for problem in others}
    names = [problem.name for problem in (*development, *others)]
    assert len(names) == len(set(names))


def test_data_of_a_package_that_is_missing_are_skipped_with_a_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.trust.problems.find_spec", lambda package: None)
    run(monkeypatch, "run", "--problems", "co2*", "--results", str(tmp_path))
    assert "co2, lags is skipped: sklearn is not installed" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
