import pickle

import numpy as np
import pytest

from fewvars.problems.datasets import lorenz96_dataset, lorenz96_trajectory
from fewvars.problems.systems import Lorenz96
from fewvars.problems.targets import few_directions, lorenz_equation, paper_setting

SMALL = {"d": 8, "n_train": 900, "n_test": 100}


def small(target=None, **options):
    return lorenz96_dataset(target or lorenz_equation(3, d=8), **{**SMALL, **options})


def powers(x16, x17, x18, x19):
    return (abs(x19) ** (4 / 3) - abs(x16) ** (4 / 3)) * abs(x17) ** (4 / 3) - abs(x18) ** (4 / 3) + 8


def exponentials(x16, x17, x18, x19):
    return (np.exp(x19 / 50) - np.exp(x16 / 50)) * np.exp(x17 / 50) - np.exp(x18 / 50) + 8


def mixed(x16, x17, x18, x19):
    return (np.exp(x19 / 10) - abs(x16) ** (2 / 3)) * x17 - abs(x18) ** (4 / 5) + 8


TARGETS = [
    lorenz_equation(25),
    lorenz_equation(10),
    lorenz_equation(1),
    lorenz_equation(40),
    paper_setting(1),
    paper_setting(2),
    paper_setting(3),
    few_directions(seed=3),
]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_support_is_what_the_function_reacts_to(target):
    rng = np.random.default_rng(0)
    X = rng.normal(2, 3, (20, 40))
    reacts = []
    for j in range(40):
        moved = X.copy()
        moved[:, j] += 0.5
        reacts.append(not np.array_equal(target(moved), target(X)))
    np.testing.assert_array_equal(target.support, reacts)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(target))(X), target(X))


def test_the_equations_are_the_papers():
    x = np.random.default_rng(0).normal(2, 3, (5, 40))
    one_based = np.concatenate((np.full((5, 1), np.nan), x), axis=1).T
    expected = -one_based[23] * one_based[24] + one_based[24] * one_based[26] - one_based[25] + 8
    np.testing.assert_allclose(lorenz_equation(25)(x), expected, rtol=1e-12)
    expected = -one_based[8] * one_based[9] + one_based[9] * one_based[11] - one_based[10] + 8
    np.testing.assert_allclose(lorenz_equation(10)(x), expected, rtol=1e-12)


@pytest.mark.parametrize("d", [4, 7, 40])
def test_all_equations_together_are_the_field(d):
    x = np.random.default_rng(0).normal(2, 3, (5, d))
    values = np.stack([lorenz_equation(j, d=d, forcing=3.0)(x) for j in range(1, d + 1)], axis=1)
    np.testing.assert_allclose(values, Lorenz96(d, 3.0).field(x), rtol=1e-12)


@pytest.mark.parametrize(("number", "formula"), [(1, powers), (2, exponentials), (3, mixed)])
def test_settings_are_the_papers_with_powers_of_absolute_values(number, formula):
    X = np.random.default_rng(0).normal(0, 3, (30, 40))
    expected = [formula(*row[15:19]) for row in X]
    np.testing.assert_allclose(paper_setting(number)(X), expected, rtol=1e-12)
    assert np.isfinite(expected).all()


def test_few_directions_sees_three_directions():
    target = few_directions(seed=5)
    matrix = np.random.default_rng(5).standard_normal((4, 40))
    X = np.random.default_rng(0).normal(2, 3, (30, 40))
    z = X @ matrix.T
    np.testing.assert_allclose(target(X), (z[:, 3] - z[:, 0]) * z[:, 1] - z[:, 2] + 8, rtol=1e-12)
    assert target.directions.shape == (3, 40)
    _, _, rows = np.linalg.svd(target.directions)
    blind = X + np.random.default_rng(1).standard_normal((30, 37)) @ rows[3:]
    np.testing.assert_allclose(target(blind), target(X), rtol=1e-9)


def test_times_and_sizes_are_the_papers():
    data = lorenz96_dataset(lorenz_equation(25), noise_x=0.02, noise_y=0.02, seed=7)
    assert data.X_train.shape == (8000, 40)
    assert data.X_test.shape == (2000, 40)
    np.testing.assert_allclose(data.t_train, 0.01 * np.arange(1, 8001), rtol=1e-14)
    np.testing.assert_allclose(data.t_test, 0.01 * np.arange(8001, 10001), rtol=1e-14)
    assert data.names[0] == "x1"
    assert data.names[-1] == "x40"
    window = slice(0, 800)  # t_800 = 8
    assert data.M_x == data.X_train_clean[window].max()
    assert data.M_y == data.y_train_clean[window].max()
    assert np.flatnonzero(data.support).tolist() == [22, 23, 24, 25]


def test_noise_is_the_documented_draw():
    data = small(noise_x=0.03, noise_y=0.05, seed=11)
    rng = np.random.default_rng(11)
    e = rng.standard_normal((900, 8))
    h = rng.standard_normal(900)
    np.testing.assert_array_equal(data.X_train, data.X_train_clean + 0.03 * data.M_x * e)
    np.testing.assert_array_equal(data.y_train, data.y_train_clean + 0.05 * data.M_y * h)
    np.testing.assert_array_equal(data.y_train_clean, data.target(data.X_train_clean))
    np.testing.assert_array_equal(data.y_test, data.target(data.X_test))


def test_noise_levels_do_not_change_each_others_draws():
    both, only_y = small(noise_x=0.03, noise_y=0.05, seed=1), small(noise_y=0.05, seed=1)
    np.testing.assert_array_equal(both.y_train, only_y.y_train)
    np.testing.assert_array_equal(only_y.X_train, only_y.X_train_clean)


def test_maxima_follow_the_window():
    data = small(noise_window=(2.0, 3.0))
    inside = slice(199, 300)  # t_200 = 2 to t_300 = 3
    assert data.M_x == data.X_train_clean[inside].max()
    assert data.M_y == data.y_train_clean[inside].max()


def test_the_sign_of_a_maximum_is_kept():
    # Without forcing the ring decays: from a negative start every state stays negative for a while.
    data = small(lorenz_equation(3, d=8, forcing=0.0), forcing=0.0, x0=-np.ones(8), noise_window=(0, 0.1))
    assert data.M_x < 0
    assert data.M_x == data.X_train_clean[:10].max()


def test_replicates_share_one_read_only_trajectory():
    first, second = small(noise_x=0.1, seed=1), small(noise_x=0.1, seed=2)
    assert first.X_test.base is second.X_test.base
    assert not np.array_equal(first.X_train, second.X_train)
    with pytest.raises(ValueError, match="read-only"):
        first.X_test[0, 0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        first.t_train[0] = 0.0


def test_other_starts_and_steps():
    start = np.linspace(0, 1, 8)
    data = small(x0=start, dt=0.001)
    t, X = lorenz96_trajectory(1000, dt=0.001, d=8, x0=tuple(start))
    np.testing.assert_array_equal(data.X_train, X[:900])
    np.testing.assert_allclose(X[0], start + 0.001 * Lorenz96(8).field(start), atol=1e-4)
    assert t[0] == 0.001


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lorenz96_dataset(lorenz_equation(3), d=8), "40 inputs but d = 8"),
        (lambda: small(noise_x=-0.1), "noise_x"),
        (lambda: small(noise_y=np.nan), "noise_y"),
        (lambda: small(n_train=0), "n_train"),
        (lambda: small(dt=0.0), "dt"),
        (lambda: small(x0=[1.0, 2.0]), "x0"),
        (lambda: small(noise_window=(50.0, 60.0)), "noise_window"),
        (lambda: lorenz_equation(0), "from 1 to 40"),
        (lambda: lorenz_equation(41), "from 1 to 40"),
        (lambda: paper_setting(4), "1, 2 or 3"),
        (lambda: paper_setting(1, d=10), "at least 19"),
        (lambda: lorenz_equation(3)(np.zeros((2, 5))), r"\(n, 40\)"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
