"""Averages over windows of time: the derivative of what is averaged, without differentiating it; runs and gaps."""

import numpy as np
import pytest

from fewvars.estimators.measurements import widest_windows
from fewvars.series.trajectories import Trajectories
from fewvars.series.weak_form import WeakForm

EVEN = np.arange(0, 10, 0.05)
UNEVEN = np.sort(np.random.default_rng(0).uniform(0, 10, 200))


def form(t, half_width=0.8, **options):
    return WeakForm.of(t, [np.arange(t.size)], half_width, **options)


@pytest.mark.parametrize("t", [EVEN, UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("order", [1, 2])
def test_polynomials_are_exact(t, order):
    weak = form(t, order=order)
    np.testing.assert_allclose(weak.average.sum(axis=1), 1.0)
    for degree in range(order + 2):
        p = np.polynomial.Polynomial.basis(degree)
        np.testing.assert_allclose(weak.derivative @ p(t), weak.average @ p.deriv(order)(t), atol=1e-7)


@pytest.mark.parametrize(("order", "tolerance"), [(1, 5e-6), (2, 1e-4)])
def test_by_parts(order, tolerance):
    """int phi f(x) ds agrees with the left side for any smooth x at even times."""
    weak, second = form(EVEN, order=order), -np.sin(EVEN)
    derivative = np.cos(EVEN) if order == 1 else second
    np.testing.assert_allclose(weak.derivative @ np.sin(EVEN), weak.average @ derivative, atol=tolerance)


def test_wider_windows_have_less_noise():
    narrow, wide = (form(EVEN, half_width).derivative.power(2).sum(axis=1).mean() for half_width in (0.4, 0.8))
    assert wide < narrow / 6  # the variance falls with the cube of the width


def test_windows_are_wider_where_there_is_much_noise():
    """They keep nine tenths of the variance of the derivative, or less if that leaves much noise in the averages."""
    runs = Trajectories.of(EVEN, None, np.ones(EVEN.size, bool))
    derivative = np.cos(np.outer(EVEN, [1.0, 4.0])) * [1.0, 0.6]

    def kept_and_noise(variance):
        forms = widest_windows(runs, derivative, np.full(2, variance), 1)
        averages = np.array([(form.average @ own).var() for form, own in zip(forms, derivative.T, strict=True)])
        return averages / derivative.var(axis=0), [variance * form.noise for form in forms] / averages

    quiet, noisy = kept_and_noise(1e-6), kept_and_noise(1e-3)
    assert (quiet[0] >= 0.9).all()
    assert ((noisy[0] >= 0.6) & (noisy[0] < 0.9)).any()
    assert (noisy[1] < 0.03).all()
    assert (noisy[1] < 1e3 * quiet[1]).any()


def test_each_variable_has_its_own_windows():
    """Those of a fast variable are narrower, and noise has no part in the choice for others."""
    runs = Trajectories.of(EVEN, None, np.ones(EVEN.size, bool))
    derivative = np.column_stack([np.cos(np.outer(EVEN, [1.0, 6.0])), np.random.default_rng(0).normal(size=EVEN.size)])
    slow, fast, _ = widest_windows(runs, derivative, np.array([1e-4, 1e-4, 1.0]), 1)
    assert slow.noise < 0.2 * fast.noise
    alone = widest_windows(runs, derivative[:, [1]], np.array([1e-4]), 1)[0]
    np.testing.assert_array_equal(fast.centres, alone.centres)


@pytest.mark.parametrize(("n", "intervals"), [(21, True), (60, False)])
def test_of_short_runs_every_interval_is_a_window(n, intervals):
    t = np.tile(EVEN[:n], 4)
    runs = Trajectories.of(t, np.repeat(range(4), n), np.ones(t.size, bool))
    (found,) = widest_windows(runs, np.cos(t)[:, None], np.array([1e-6]), 1)
    assert (len(found.centres) == 4 * (n - 1)) == intervals


def test_intervals_average_straight_lines_exactly():
    weak = WeakForm.of_intervals(UNEVEN, np.arange(199), np.arange(1, 200))
    np.testing.assert_allclose(weak.average.sum(axis=1), 1.0)
    np.testing.assert_allclose(weak.derivative @ UNEVEN**2, weak.average @ (2 * UNEVEN))


def test_no_window_reaches_over_the_end_of_a_run():
    runs = [np.arange(80), np.arange(80, 200)]
    weak = WeakForm.of(EVEN, runs, 0.8, stride=4)
    for row, centre in enumerate(weak.centres):
        samples = weak.average[[row]].indices
        own = runs[0] if centre < 80 else runs[1]
        assert np.isin(samples, own).all()
    assert np.abs(np.diff(weak.centres[weak.centres < 80])).max() == 4


def test_long_gaps_and_missing_rows_cut_runs():
    t = np.r_[np.arange(30), np.arange(100, 130)].astype(float)
    present = np.ones(60, bool)
    present[10:13] = False  # a short gap
    with pytest.warns(UserWarning, match="1 of 3 stretches"):
        runs = Trajectories.of(np.r_[t, 500.0], None, np.r_[present, True])
    assert np.unique(runs.runs).size == 2
    assert runs.rows.size == 57
    assert runs.step == 1.0


def test_steps_of_another_length_have_no_next_row():
    runs = Trajectories.of(np.array([0, 1, 2, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5]), None, np.ones(11, bool))
    now, then = runs.next_rows()
    assert now.tolist() == [0, 1, 3, 4, 5, 6, 7, 8, 9]
    np.testing.assert_array_equal(then, now + 1)


def test_missing_rows_leave_long_runs_in_windows():
    """With every fifth row missing no window of seven steps has seven samples, but wider ones have."""
    t = np.delete(EVEN, np.arange(0, EVEN.size, 5))
    runs = Trajectories.of(t, None, np.ones(t.size, bool))
    for order in (1, 2):
        (found,) = widest_windows(runs, np.cos(t)[:, None], np.array([1e-4]), order)
        assert np.diff(found.average.indptr).min() >= 7
