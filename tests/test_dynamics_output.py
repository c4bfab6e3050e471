"""What becomes of a fitted system: files, plots, the report and the command line."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import fewvars as fv
from fewvars.cli import main
from fewvars.displays import DiagramDisplay, GraphDisplay, SimulationDisplay
from fewvars.files.persistence import ModelFileError, load, save
from fewvars.files.persistence.container import pack, unpack
from fewvars.report import dynamics_report_html, write_dynamics_report
from fewvars.systems import LotkaVolterra, simulate

HOSTILE = ["</script><script>alert(1)</script>", "$x^2$ & <b>"]


@pytest.fixture(scope="module")
def hunters():
    """Times and noisy states of predator and prey, twice."""
    t = np.arange(0, 20, 0.02)
    X = simulate(LotkaVolterra([[0.0, -1.0], [1.0, 0.0]], [1.0, -1.0]), t)
    return t, X + 0.01 * np.random.default_rng(0).standard_normal(X.shape)


@pytest.fixture(scope="module")
def model(hunters):
    t, X = hunters
    return fv.DynamicsRegressor(random_state=0, n_resamples=2).fit(pd.DataFrame(X, columns=["prey", "hunter"]), t=t)


@pytest.fixture(scope="module")
def page(hunters, model):
    t, X = hunters
    return dynamics_report_html(model, X, t=t, command="fewvars dynamics data.csv")


class TestFiles:
    def test_a_system_comes_back(self, tmp_path, hunters, model):
        t, X = hunters
        save(model, tmp_path / "system")
        again = load(tmp_path / "system")
        frame = pd.DataFrame(X, columns=["prey", "hunter"])
        np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
        np.testing.assert_array_equal(again.simulate(X[0], t[:50]).X, model.simulate(X[0], t[:50]).X)
        assert again.equations_ == model.equations_
        for name in ("graph_", "edge_scores_", "edge_q_values_", "edge_frequencies_"):
            np.testing.assert_array_equal(getattr(again, name), getattr(model, name))

    def test_controls_angles_and_velocities_come_back(self, tmp_path):
        t = np.arange(0, 12, 0.05)
        push = np.cos(1.3 * t)
        X = np.sin(t)[:, None]
        fitted = fv.DynamicsRegressor(order=2, angles=[0], random_state=0, head="dictionary").fit(X, t=t, u=push)
        save(fitted, tmp_path / "system")
        states = np.column_stack([X, np.cos(t)])
        np.testing.assert_array_equal(load(tmp_path / "system").predict(states, u=push), fitted.predict(states, u=push))

    def test_datetimes_are_counted_from_the_same_one(self, tmp_path):
        t = np.arange(0, 10, 0.02)
        dates = np.datetime64("2024-03-01", "ms") + np.rint(1000 * t).astype("timedelta64[ms]")
        X = (np.exp(-t) + 0.2 * (t - 1 + np.exp(-t)))[:, None]
        fitted = fv.DynamicsRegressor(time=True, random_state=0, head="dictionary").fit(X, t=dates)
        save(fitted, tmp_path / "system")
        later = slice(200, 400)
        again = load(tmp_path / "system")
        expected = fitted.predict(X[later], t=t[later])
        np.testing.assert_allclose(again.predict(X[later], t=dates[later]), expected, rtol=1e-12)
        display = SimulationDisplay.of(fitted, X[later], t=dates[later])
        np.testing.assert_allclose(display.t, t[later], rtol=1e-12)
        np.testing.assert_allclose(display.simulated, X[later], atol=1e-3)

    @pytest.mark.parametrize(
        ("place", "value", "complaint"),
        [
            ("start_", "long ago", "start_ is not a datetime"),
            ("step_", 0.0, "step_ is not above 0"),
            ("inputs_", {"tuple": ["prey"]}, "inputs_ are not those"),
            ("heads_", {"tuple": []}, "at least 1"),
            ("n_features_in_", 3, "3"),
        ],
    )
    def test_a_forged_file_is_refused(self, tmp_path, model, place, value, complaint):
        save(model, tmp_path / "system")
        description, tensors = unpack((tmp_path / "system").read_bytes())
        description["fitted"][place] = value
        if place == "heads_":
            tensors = {name: tensor for name, tensor in tensors.items() if "heads_" not in name}
        (tmp_path / "forged").write_bytes(pack(description, tensors))
        with pytest.raises(ModelFileError, match=complaint):
            load(tmp_path / "forged")


class TestPlots:
    def test_the_diagram_has_an_arrow_for_each_edge(self, model):
        display = DiagramDisplay.from_estimator(model)
        assert len(display.ax_.patches) == 2
        assert {text.get_text() for text in display.ax_.texts} == {"prey", "hunter"}
        assert display.plot().ax_ is not None

    def test_a_diagram_of_a_given_graph(self):
        graph = np.eye(5, dtype=bool)
        graph[0, 3] = True
        assert len(DiagramDisplay(graph).plot().ax_.patches) == 1
        with pytest.raises(ValueError, match="square"):
            DiagramDisplay(graph[:2])

    def test_the_matrix(self, model):
        assert GraphDisplay.from_estimator(model).figure_ is not None

    def test_the_simulation_follows_the_data_and_says_how_it_ended(self, hunters, model):
        t, X = hunters
        display = SimulationDisplay.from_estimator(model, X, t=t)
        assert display.valid_time == pytest.approx(t[-1])
        assert display.ending == "It reached the last time."
        np.testing.assert_allclose(display.simulated, X, atol=0.2)

    def test_the_first_of_several_runs_is_simulated(self, hunters, model):
        t, X = hunters
        runs = np.repeat(["a", "b"], [700, 300])
        assert len(SimulationDisplay.of(model, X, t=t, trajectory=runs).t) == 700

    def test_wrapped_angles_are_shown_without_jumps(self):
        t = np.arange(0, 20, 0.02)
        angle = 2 * t + 0.2 * np.sin(t)
        wrapped = np.angle(np.exp(1j * angle))[:, None]
        for order in (1, 2):
            about = {"order": order, "angles": [0], "time": True}
            fitted = fv.DynamicsRegressor(random_state=0, head="dictionary", **about).fit(wrapped, t=t)
            display = SimulationDisplay.of(fitted, wrapped, t=t)
            np.testing.assert_allclose(display.measured[:, 0], angle)
            assert np.abs(np.diff(display.simulated[:, 0])).max() < 0.1
            assert np.abs(display.simulated[0, 0]) < 0.1

    def test_shapes_must_agree(self):
        with pytest.raises(ValueError, match="the same rows"):
            SimulationDisplay([0.0, 1.0], np.ones((2, 2)), np.ones((2, 1)), valid_time=1.0)


class TestReport:
    def test_it_answers_with_evidence(self, page, model):
        assert "2 equations depend on 4 of 4 possible inputs." in page
        for name in ("prey", "hunter"):
            assert f"{name} (q = " in page
        assert f"{model.input_q_values_[0, 0]:.2g}" in page
        assert page.count("<figure") == 3
        assert "fewvars dynamics data.csv" in page

    def test_it_never_speaks_of_causes(self, page):
        text = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.S)
        assert "depends on" in text
        assert not re.search(r"\bcaus", text, flags=re.I)

    def test_hostile_names_stay_text(self, hunters, model):
        t, X = hunters
        page = dynamics_report_html(model, X, t=t, feature_names=HOSTILE)
        assert "<script>alert" not in page
        assert "&lt;b&gt;" in page

    @pytest.mark.slow
    def test_uneven_steps_of_a_map_are_explained(self, hunters):
        t, X = hunters
        step = fv.DynamicsRegressor(target="step", random_state=0, head="dictionary").fit(X, t=t)
        assert "There is none" in dynamics_report_html(step, X, t=t**1.1)

    def test_the_code_repeats_the_fit(self, hunters, page, model):
        t, X = hunters
        assert "model.fit(X, t=t)" in page
        with_all = dynamics_report_html(model, X, t=t, trajectory=np.zeros(len(t)))
        assert "model.fit(X, t=t, trajectory=trajectory)" in with_all
        X, u = X[:200], np.cos(t[:200])
        driven = fv.DynamicsRegressor(head="dictionary", random_state=0).fit(X, u=u)
        assert "model.fit(X, u=u)" in dynamics_report_html(driven, X, u=u)

    def test_it_is_written_to_a_file(self, tmp_path, hunters, model):
        t, X = hunters
        write_dynamics_report(tmp_path / "page.html", model, X, t=t)
        assert (tmp_path / "page.html").read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, hunters):
    t, X = hunters
    folder = tmp_path_factory.mktemp("dynamics")
    table = pd.DataFrame({"t": t, "prey": X[:, 0], "hunter": X[:, 1], "u": np.cos(t), "run": "a"})
    table.to_csv(folder / "data.csv", index=False)
    table.assign(prey=table.prey.where(table.index != 7)).to_csv(folder / "gap.csv", index=False)
    return folder


def test_numbers_that_inputs_are_shifted_by_are_short():
    t = np.arange(0, 20, 0.05)
    X = np.column_stack([0.93 + 0.1 * np.sin(t), np.cos(t)])
    field = np.column_stack([X[:, 1], (X[:, 0] - 0.9) ** 2 - 0.01 * X[:, 1]])
    fitted = fv.DynamicsRegressor(head="dictionary", random_state=0).fit(X, field, t=t)
    assert "(x0 - 0.9)" in fitted.equations_[1]
    assert "− 0.9)" in dynamics_report_html(fitted, X, t=t)


class TestCommand:
    def run(self, *arguments):
        given = ["dynamics", "--jobs", "1", *map(str, arguments)]
        return CliRunner().invoke(main, given, prog_name="fewvars")

    def test_everything_at_once(self, folder):
        files = "--save", folder / "model", "--report", folder / "page.html"
        roles = "--time", "t", "--trajectory", "run", "--control", "u"
        done = self.run(folder / "data.csv", *roles, *files)
        assert done.exit_code == 0, done.output
        assert "dprey/dt = " in done.stdout
        assert "depends on prey (q = " in done.stdout
        assert f"Model: {folder / 'model'}" in done.stdout
        again = load(folder / "model")
        assert again.inputs_ == ("prey", "hunter", "u")
        np.testing.assert_array_equal(again.graph_, np.ones((2, 2), bool))
        assert not again.input_graph_[:, 2].any()
        assert "simulation" in (folder / "page.html").read_text("utf-8")

    def test_json(self, folder):
        done = self.run(folder / "gap.csv", "--time", "t", "--drop", "u,run", "--json", "--resamples", "2")
        assert done.exit_code == 0, done.output
        answer = json.loads(done.stdout)
        assert answer["rows_left_out"] == 1
        assert answer["variables"] == ["prey", "hunter"]
        first = answer["equations"][0]
        assert [edge["on"] for edge in first["depends"]] == ["prey", "hunter"]
        assert {"q_value", "selection_frequency"} <= first["depends"][0].keys()
        assert first["equation"].count("prey") == 2

    def test_prior_knowledge_and_other_parameters(self, folder):
        known = "--include", "prey:u", "--exclude", "hunter:prey", "--set", "head=dictionary"
        done = self.run(folder / "data.csv", "--time", "t", "--drop", "run", "--control", "u", *known, "--json")
        assert done.exit_code == 0, done.output
        prey, hunter = (
            [edge["on"] for edge in equation["depends"]] for equation in json.loads(done.stdout)["equations"]
        )
        assert "u" in prey
        assert "prey" not in hunter

    @pytest.mark.parametrize(
        ("options", "complaint"),
        [
            (["--time", "t", "--drop", "run", "--include", "prey"], "write EFFECT:CAUSE"),
            (["--time", "t", "--drop", "run", "--exclude", "prey:fox"], "'fox'"),
            (["--time", "t", "--drop", "run", "--set", "target=step"], "use --form"),
            (["--time", "t", "--drop", "run", "--set", "depth=3"], "max_degree"),
            (["--time", "time"], "--time 'time': no such column"),
            (["--time", "t", "--control", "t"], "already has a role, by --time"),
            (["--time", "t", "--drop", "prey,hunter,u,run"], "No column is left"),
            (["--time", "t", "--drop", "run", "--angles", "t"], "isn't one of the variables"),
            (["--time", "t"], "leave it out with --drop run"),
            (["--time", "t", "--control", "run"], "controls must hold numbers"),
            (["--time", "t", "--jobs", "0"], "-1 for all cores"),
        ],
    )
    def test_mistakes_are_named(self, folder, options, complaint):
        done = self.run(folder / "data.csv", *options)
        assert done.exit_code == 2
        assert complaint in done.stderr
