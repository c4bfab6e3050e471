"""Least squares on subsets of columns, against `numpy.linalg.lstsq` and against trying every subset."""

from itertools import combinations

import numpy as np
import pytest

from fewvars.engine.kernels import best_addition, elimination, exchange, fit_columns, improved

N, P = 30, 7
NOTHING = np.zeros(P)


@pytest.fixture(params=range(4))
def problem(request):
    """Correlated columns (P, N) and a target (N,)."""
    rng = np.random.default_rng(request.param)
    columns = rng.standard_normal((P, N)) + 0.8 * rng.standard_normal(N)
    return columns, columns[1] - columns[4] + 0.5 * columns[5] + rng.standard_normal(N)


def residual(columns, target, chosen):
    """Return the residual sum of squares of some columns."""
    table = columns[list(chosen)].T
    return float(((target - table @ np.linalg.lstsq(table, target)[0]) ** 2).sum())


def test_residual_and_rises(problem):
    columns, target = problem
    chosen = [4, 0, 5]
    found, rises = fit_columns(columns, target, np.array(chosen))
    assert found == pytest.approx(residual(columns, target, chosen), rel=1e-10)
    without = [residual(columns, target, [c for c in chosen if c != gone]) for gone in chosen]
    np.testing.assert_allclose(found + rises, without, rtol=1e-10)


def test_nothing_chosen(problem):
    columns, target = problem
    none = np.zeros(0, np.int64)
    found, rises = fit_columns(columns, target, none)
    assert found == pytest.approx(target @ target)
    assert rises.size == 0
    assert exchange(columns, target, NOTHING, none, 1e-9, 0.0) == pytest.approx(found)


def test_the_best_column_is_added(problem):
    columns, target = problem
    others = [j for j in range(P) if j not in (0, 3)]
    best = min(others, key=lambda j: residual(columns, target, (0, 3, j)))
    assert best_addition(columns, target, NOTHING, np.array([0, 3])) == best


def test_a_column_in_the_span_of_the_chosen_is_not_added(problem):
    columns, target = problem
    columns = np.array([columns[0], columns[1], columns[0] + columns[1]])
    small = 1e-20 * (columns**2).sum(axis=1)
    assert best_addition(columns, target, small, np.array([0, 1])) == -1


def test_exchanges_end_where_no_exchange_of_one_column_helps(problem):
    columns, target = problem
    chosen = np.array([0, 2])
    found = exchange(columns, target, NOTHING, chosen, 1e-9, 0.0)
    assert found == pytest.approx(residual(columns, target, chosen), rel=1e-10)
    for kept in chosen:
        best = min(residual(columns, target, (kept, j)) for j in range(P) if j not in chosen)
        assert found <= best * (1 + 1e-8)


def test_exchanges_reach_the_best_subset_of_this_size(problem):
    columns, target = problem
    chosen = np.array([0, 2, 3])
    found = exchange(columns, target, NOTHING, chosen, 1e-9, 0.0)
    best = min(residual(columns, target, subset) for subset in combinations(range(P), 3))
    assert found == pytest.approx(best, rel=1e-8)


def test_bad_and_missing_subsets_are_improved_to_the_best(problem):
    columns, target = problem
    subsets = np.full((P, P - 1), -1)
    subsets[3, :3], subsets[P - 1] = [0, 2, 3], np.arange(P - 1)
    improved(columns, target, NOTHING, subsets, 1e-9, 0.0)
    for size in range(1, P - 1):
        best = min(residual(columns, target, subset) for subset in combinations(range(P), size))
        assert residual(columns, target, subsets[size, :size]) == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("by_size", [False, True])
def test_elimination_removes_the_least_important_column(problem, by_size):
    columns, target = problem
    upper = np.linalg.qr(np.column_stack([columns.T, target]), mode="r")
    steps = elimination(upper[:P, :P], upper[:P, P], by_size)
    assert sorted(steps) == list(range(P))  # fewer than twenty go one by one
    alive = list(range(P))
    for leaving in np.argsort(steps):
        if by_size:
            coefficients = np.linalg.lstsq(columns[alive].T, target)[0]
            expected = alive[int(np.abs(coefficients).argmin())]
        else:
            expected = min(alive, key=lambda j: residual(columns, target, [c for c in alive if c != j] or [[]]))
        assert leaving == expected
        alive.remove(leaving)
        if len(alive) == 1:
            break
