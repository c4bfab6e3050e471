"""Dependence between rows: how long it lasts, and the filter that takes it out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fewvars.series.dependence import NOTICEABLE, STRONGEST, RowFilter, autocorrelation_time
from planted import autoregressive


def row_filter(coefficient, n, starts=(0,), roots=None):
    return RowFilter(np.ones(n) if roots is None else roots, np.isin(np.arange(n), starts), coefficient)


class TestAutocorrelationTime:
    @pytest.mark.parametrize("coefficient", [0.3, 0.6, 0.8, 0.9])
    def test_is_that_of_a_first_order_process(self, coefficient):
        found = [autocorrelation_time(autoregressive(coefficient, 20_000, seed=seed)[:, 0]) for seed in range(5)]
        # The sum ends where autocorrelations drown in noise, which costs a few percent.
        assert_allclose(np.mean(found), (1 + coefficient) / (1 - coefficient), rtol=0.12)

    @pytest.mark.parametrize("n", [20, 200, 5000])
    def test_of_white_noise_is_near_one(self, n):
        found = [autocorrelation_time(row) for row in np.random.default_rng(n).standard_normal((100, n))]
        assert np.median(found) == 1.0
        assert np.quantile(found, 0.95) < 2.0

    def test_of_a_constant_and_of_an_alternating_series_is_one(self):
        assert autocorrelation_time(np.full(50, 3.0)) == 1.0
        assert autocorrelation_time((-1.0) ** np.arange(50)) == 1.0

    def test_depends_neither_on_units_nor_on_direction(self):
        series = autoregressive(0.7, 400, seed=1)[:, 0]
        for other in (1e6 * series - 3e6, -series, series[::-1]):
            assert_allclose(autocorrelation_time(other), autocorrelation_time(series))


class TestRowFilter:
    @given(
        n=st.integers(1, 12),
        coefficient=st.one_of(st.just(0.0), st.floats(-STRONGEST, STRONGEST)),
        seed=st.integers(0, 2**16),
    )
    def test_adjoint(self, n, coefficient, seed):
        rng = np.random.default_rng(seed)
        starts = rng.random(n) < 0.3
        starts[0] = True
        found = RowFilter(rng.uniform(0, 2, n), starts, coefficient)
        a, v = rng.standard_normal((2, n, 3))
        assert_allclose((found.apply(a) * v).sum(), (a * found.adjoint(v)).sum(), atol=1e-12)

    @pytest.mark.parametrize("coefficient", [0.5, 0.9, 0.97])
    def test_whitens_errors_of_each_run(self, coefficient):
        n, length = 6000, 20
        errors = autoregressive(coefficient, length, n // length, seed=2).T.reshape(-1, 1)
        starts = np.arange(0, n, length)
        filtered = row_filter(coefficient, n, starts).apply(errors)[:, 0] / np.sqrt(1 - coefficient**2)
        noise = 4 / np.sqrt(n)
        assert_allclose(filtered.var(), 1.0, atol=2 * noise)
        # The first row of a run has the variance of the others (Prais and Winsten).
        assert_allclose(filtered[starts].var(), 1.0, atol=2 * noise * np.sqrt(length))
        for lag in (1, 2, 5):
            assert abs(np.corrcoef(filtered[lag:], filtered[:-lag])[0, 1]) < noise

    def test_nothing_crosses_from_one_run_to_the_next(self):
        rng = np.random.default_rng(3)
        values = rng.standard_normal((10, 2))
        together = row_filter(0.8, 10, (0, 6)).apply(values)
        apart = [row_filter(0.8, len(part)).apply(part) for part in (values[:6], values[6:])]
        assert_allclose(together, np.concatenate(apart))

    def test_by_hand(self):
        found = row_filter(0.6, 3, roots=np.array([1.0, 2.0, 3.0])).apply(np.array([[1.0], [2.0], [4.0]]))
        assert_allclose(found[:, 0], [0.8, 2 * (2 - 0.6), 3 * (4 - 1.2)])

    def test_independent_rows_are_only_weighted(self):
        values = np.arange(6.0).reshape(3, 2)
        roots = np.array([1.0, 0.0, 2.0])
        found = row_filter(0.0, 3, roots=roots)
        assert_array_equal(found.apply(values), values * roots[:, None])
        assert_array_equal(found.adjoint(values), values * roots[:, None])

    def test_estimated_coefficient(self):
        everything = row_filter(0.0, 4000)
        assert_allclose(everything.coefficient_of(autoregressive(0.7, 4000, 3, seed=4)), 0.7, atol=0.03)
        assert everything.coefficient_of(autoregressive(0.0, 4000, seed=5)) == 0.0
        assert everything.coefficient_of(autoregressive(NOTICEABLE / 2, 4000, seed=6)) == 0.0
        assert everything.coefficient_of(np.ones((4000, 1))) == STRONGEST
        assert everything.coefficient_of(np.zeros((4000, 1))) == 0.0

    def test_steps_between_runs_do_not_count(self):
        n, length = 4000, 2
        levels = np.repeat(np.random.default_rng(7).standard_normal(n // length), length)[:, None]
        pairs = row_filter(0.0, n, np.arange(0, n, length)).coefficient_of(levels)
        shifted = row_filter(0.0, n, np.arange(1, n, length)).coefficient_of(levels)
        assert (pairs, shifted) == (STRONGEST, 0.0)
