"""DynamicsRegressor: graphs, equations and simulations of systems with known answers, and bad input."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from sklearn.base import clone

import fewvars as fv
from fewvars.estimators.simulation import SimulationOutcome
from fewvars.heads import StepsHead
from fewvars.systems import Lorenz63, Lorenz96, RateNetwork, VanDerPol, simulate


def noisy(X, level, seed=0):
    return X + level * X.std(axis=0) * np.random.default_rng(seed).standard_normal(X.shape)


@pytest.fixture(scope="module")
def lorenz():
    t = np.arange(0, 20, 0.01)
    truth = simulate(Lorenz63(), t)
    X = noisy(truth, 0.02)
    return t, truth, X, fv.DynamicsRegressor(random_state=0).fit(X, t=t)


def test_graph_and_equations_of_a_noisy_trajectory(lorenz):
    _, truth, _, model = lorenz
    np.testing.assert_array_equal(model.graph_, Lorenz63().graph)
    np.testing.assert_allclose(model.predict(truth), Lorenz63().field(truth), atol=0.03 * Lorenz63().field(truth).std())
    assert "x0*x2" in model.equations_[1]


def test_evidence_ranks_true_edges_first(lorenz):
    *_, model = lorenz
    truth = Lorenz63().graph
    for evidence in (model.edge_scores_, -model.edge_q_values_):
        assert evidence[truth].min() > evidence[~truth].max()
    assert (model.edge_q_values_[truth] < 0.01).all()


def test_simulation_follows_the_truth(lorenz):
    t, truth, _, model = lorenz
    found = model.simulate(truth[0], t[:150])
    assert found.outcome is SimulationOutcome.FINISHED
    assert found.stopped_at is None
    np.testing.assert_allclose(found.X, truth[:150], atol=0.05 * truth.std())
    assert model.valid_time(truth[:150], t[:150]) == pytest.approx(t[149])
    assert model.valid_time(truth, t) < t[-1]  # chaos


def test_score_is_near_one_on_other_data(lorenz):
    *_, model = lorenz
    t = np.arange(0, 5, 0.01)
    X = noisy(simulate(Lorenz63(), t, [1.0, 2.0, 20.0]), 0.02, seed=5)
    assert 0.99 < model.score(X, t=t) <= 1.0


def test_score_leaves_out_rows_without_a_measured_derivative(lorenz):
    t, truth, _, model = lorenz
    wrong = 0.5 * Lorenz63().field(truth)
    wrong[100] = np.nan
    assert model.score(truth, wrong, t=t) < 0.5


@pytest.mark.slow
def test_derivatives_as_target():
    t = np.arange(0, 10, 0.01)
    truth = simulate(Lorenz63(), t)
    model = fv.DynamicsRegressor(target="derivative", random_state=0).fit(truth, t=t)
    np.testing.assert_array_equal(model.graph_, Lorenz63().graph)
    measured = fv.DynamicsRegressor(random_state=0).fit(truth, Lorenz63().field(truth), t=t)
    np.testing.assert_array_equal(measured.graph_, Lorenz63().graph)
    np.testing.assert_allclose(measured.predict(truth), Lorenz63().field(truth), atol=1e-5)


@pytest.mark.slow
def test_trivial_equations_do_not_pick_up_neighbours():
    """dx/dt = v on a chain of oscillators: the error of a smoothed derivative is a function of all of the state."""
    m, t = 4, np.arange(0, 100, 0.1)
    stiffness = np.diag(np.linspace(1.2, 2.0, m)) - 0.4 * (np.eye(m, k=1) + np.eye(m, k=-1))
    frequencies, modes = np.linalg.eigh(stiffness)
    phases = np.sqrt(frequencies) * t[:, None] + np.arange(m)
    X = np.column_stack([np.cos(phases) @ modes.T, -(np.sqrt(frequencies) * np.sin(phases)) @ modes.T])
    model = fv.DynamicsRegressor(random_state=0).fit(noisy(X, 0.02), t=t)
    expected = np.block([[np.zeros((m, m), bool), np.eye(m, dtype=bool)], [stiffness != 0, np.zeros((m, m), bool)]])
    np.testing.assert_array_equal(model.graph_, expected)


@pytest.mark.slow
def test_fits_are_repeatable_and_clones_are_unfitted(lorenz):
    t, _, X, model = lorenz
    again = clone(model).set_params(n_jobs=2).fit(X, t=t)
    np.testing.assert_array_equal(again.edge_scores_, model.edge_scores_)
    assert not hasattr(clone(model), "heads_")


@pytest.mark.slow
def test_names_of_columns():
    t = np.arange(0, 10, 0.01)
    X = pd.DataFrame(simulate(Lorenz63(), t), columns=["speed", "warmth", "shear"])
    model = fv.DynamicsRegressor(random_state=0).fit(X, t=t)
    assert model.inputs_ == ("speed", "warmth", "shear")
    assert "speed*warmth" in model.equations_[2]


def test_blocks_as_long_as_the_period_do_not_hide_a_variable():
    t = np.arange(0, 40, 0.02)  # six periods, cut into six blocks

    def field(time, x):
        return [x[1], (1 - x[0] ** 2) * x[1] - x[0]]

    X = solve_ivp(field, (0, 50), [1.0, 1.0], t_eval=t + 10, rtol=1e-8, atol=1e-8).y.T
    model = fv.DynamicsRegressor(random_state=0).fit(noisy(X, 0.05), t=t)
    exponents = {tuple(row) for row in model.heads_[1].as_polynomial().exponents.tolist()}
    assert exponents == {(1, 0), (0, 1), (2, 1)}


def test_few_terms_explain_a_single_transient():
    t = np.arange(0, 60, 0.05)

    def field(time, x):  # an epidemic
        return [0.05 * (1 - x[0] - x[1]) - 1.5 * x[0] * x[1], 1.5 * x[0] * x[1] - 0.5 * x[1]]

    X = solve_ivp(field, (0, 60), [0.95, 0.05], t_eval=t, rtol=1e-8, atol=1e-8).y.T
    model = fv.DynamicsRegressor(random_state=0).fit(noisy(X, 0.01), t=t)
    assert model.graph_.all()
    exponents = {tuple(row) for row in model.heads_[1].as_polynomial().exponents.tolist()}
    assert exponents == {(0, 1), (1, 1)}


@pytest.mark.slow
def test_equations_in_processes_and_on_a_cluster_are_the_same():
    t = np.arange(0, 8, 0.02)
    X = noisy(simulate(Lorenz96(8), t), 0.02)
    options = {"head": "dictionary", "target": "weak", "random_state": 0}
    here = fv.DynamicsRegressor(**options, n_jobs=1).fit(X, t=t)
    for elsewhere in ({"n_jobs": 2}, {"n_jobs": 2, "dask": "local"}):
        there = fv.DynamicsRegressor(**options, **elsewhere).fit(X, t=t)
        assert there.equations_ == here.equations_
        np.testing.assert_array_equal(there.input_q_values_, here.input_q_values_)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups of POSIX")
def test_an_interrupted_fit_leaves_no_processes():
    script = """
        import numpy as np
        import fewvars as fv
        X = np.random.default_rng(0).standard_normal((2000, 30)).cumsum(axis=0)
        fv.DynamicsRegressor(target="weak", n_jobs=2, verbose=1).fit(X, t=np.arange(2000.0))
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    seen = ""
    while not re.search(r"[1-9]\d*/30", seen):  # an equation has come back from another process
        more = process.stderr.read(1)
        assert more, seen
        seen += more
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in rest
    for _ in range(300):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("processes are left")


def test_an_address_must_be_text(lorenz):
    t, _, X, _ = lorenz
    with pytest.raises(ValueError, match="dask=8786"):
        fv.DynamicsRegressor(dask=8786).fit(X, t=t)


def test_fine_samples_are_described_in_weak_form(lorenz):
    *_, model = lorenz
    assert model.target == "auto"
    assert model.target_ == "weak"


def test_a_map_is_described_by_its_steps():
    rng, X = np.random.default_rng(0), [np.array([0.3, 0.6])]
    for _ in range(300):
        x, y = X[-1]
        X.append(np.array([3.8 * x * (1 - x), 0.8 * 3.7 * y * (1 - y) + 0.2 * x]))
    X = np.array(X) + 1e-3 * rng.standard_normal((301, 2))
    model = fv.DynamicsRegressor(head="dictionary", random_state=0).fit(X)
    assert model.target_ == "step"
    np.testing.assert_array_equal(model.graph_, [[True, False], [True, True]])
    np.testing.assert_allclose(model.predict(X[:-1]), X[1:], atol=0.02)


@pytest.mark.slow
def test_sharp_functions_of_single_variables(tmp_path):
    """Steep tanh functions of variables with a wide range: polynomials do not follow them, sums of steps do."""
    system = RateNetwork.random(8, inputs=3, seed=101)
    t = np.arange(0, 8, 0.02)
    starts = 2.0 * np.random.default_rng(3).standard_normal((6, system.d))
    runs = [simulate(system, t, start) for start in starts]
    X = noisy(np.concatenate(runs), 0.02)
    model = fv.DynamicsRegressor(random_state=0)
    model.fit(X, t=np.tile(t, len(runs)), trajectory=np.repeat(np.arange(len(runs)), t.size))
    strong = (np.abs(system.weights) > 0.5) | np.eye(system.d, dtype=bool)
    assert (model.graph_ & strong).sum() >= 0.95 * strong.sum()
    assert (model.graph_ & ~system.graph).sum() <= 1
    assert sum(isinstance(head, StepsHead) for head in model.heads_) >= 6
    clean = np.concatenate(runs)
    assert fv.metrics.centred_error(system.field(clean), model.predict(clean)) < 0.15
    fv.save(model, tmp_path / "model")
    np.testing.assert_array_equal(fv.load(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.slow
def test_oscillators_that_nearly_keep_step():
    """Harmonics of an oscillator stand in for those that pull it, unless sparse polynomials decide."""
    system, t = VanDerPol.random(4, seed=102), np.arange(600) * 0.03
    starts = 1.5 * np.random.default_rng(2).standard_normal((5, system.d))
    X = noisy(np.concatenate([simulate(system, t, start) for start in starts]), 0.02)
    model = fv.DynamicsRegressor(random_state=0, target="weak").fit(
        X, t=np.tile(t, 5), trajectory=np.repeat(range(5), 600)
    )
    np.testing.assert_array_equal(model.graph_, system.graph)


def test_a_transient_is_not_an_outlier():
    """Most of the time nothing moves, so that the only movement is far from the median."""
    t = np.linspace(0, 10, 100)
    x = 1 / (1 - 0.6 * np.exp(-t))  # x' = x (1 - x), from 2.5
    model = fv.DynamicsRegressor(head="dictionary", random_state=0).fit(x[:, None], t=t)
    assert model.graph_.all()
    np.testing.assert_allclose(model.predict([[2.0], [1.5]])[:, 0], [-2.0, -0.75], atol=0.01)


def test_short_runs():
    """Windows of seven samples would leave out a third of each run."""
    rng = np.random.default_rng(0)
    A = np.array([[-1.0, 0.8, 0.0], [0.0, -0.7, -0.9], [0.6, 0.0, -1.2]])
    t = np.linspace(0, 3, 16)
    powers = [expm(A * time) for time in t]
    X = np.concatenate([np.array([power @ start for power in powers]) for start in rng.standard_normal((6, 3))])
    X += 0.01 * rng.standard_normal(X.shape)
    model = fv.DynamicsRegressor(head="dictionary", random_state=0)
    model.fit(X, t=np.tile(t, 6), trajectory=np.repeat(range(6), 16))
    assert model.target_ == "weak"
    np.testing.assert_array_equal(model.graph_, A != 0)


def test_measured_derivatives_of_rows_in_any_order():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = fv.DynamicsRegressor(head="dictionary", random_state=0).fit(X, X @ np.array([[1.0, 2.0], [0.0, 1.0]]))
    np.testing.assert_array_equal(model.graph_, [[True, False], [True, True]])


@pytest.mark.slow
def test_a_column_of_noise_does_not_spoil_the_other_equations():
    t = np.arange(0, 20, 0.05)
    system = fv.systems.LotkaVolterra(interactions=[[0, -0.5], [0.5, 0]], growth=[1.0, -1.0])
    X = fv.systems.simulate(system, t, [1.0, 1.0])
    rng = np.random.default_rng(0)
    X = np.column_stack([X + 0.01 * X.std(axis=0) * rng.standard_normal(X.shape), rng.standard_normal(t.size)])
    model = fv.DynamicsRegressor(head="dictionary", random_state=0).fit(X, t=t)
    np.testing.assert_array_equal(model.graph_[:2], [[True, True, False], [True, True, False]])
