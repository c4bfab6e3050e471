import math
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewvars.engine.kernels import fit_columns
from fewvars.estimators import SparseDictionaryRegressor
from fewvars.polynomials import paths as _dictionary_path
from fewvars.polynomials.compressed import check_memory, compress, memory_estimate
from fewvars.polynomials.dictionary import METHODS, Polynomial, fit_polynomial
from fewvars.polynomials.held_out import HeldOutErrors
from fewvars.polynomials.paths import bic, l1_path
from fewvars.polynomials.polynomial import carried_monomials, monomial_count, monomial_exponents, monomial_values
from fewvars.polynomials.subset_path import subset_path, threshold_path
from fewvars.polynomials.subsets import Columns, best_subsets
from fewvars.problems import metrics
from fewvars.problems.datasets import lorenz96_dataset
from fewvars.problems.targets import lorenz_equation

BLOCKS = KFold(4)


def example(n=300, d=5, noise=0.0, seed=0, mean=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(mean, 2.0, (n, d))
    y = 2.5 * X[:, 0] * X[:, 2] - 0.7 * X[:, 1] ** 2 + 0.3 * X[:, 3] - 4.0
    return X, y + noise * rng.standard_normal(n)


def terms(polynomial):
    """Coefficients by exponents."""
    return {tuple(e): c for e, c in zip(polynomial.exponents, polynomial.coefficients, strict=True)}


TRUE_TERMS = {(1, 0, 1, 0, 0): 2.5, (0, 2, 0, 0, 0): -0.7, (0, 0, 0, 1, 0): 0.3, (0, 0, 0, 0, 0): -4.0}


def random_polynomial(outputs=None, seed=0):
    rng = np.random.default_rng(seed)
    exponents = monomial_exponents(4, 3)[rng.choice(monomial_count(4, 3), 9, replace=False)]
    return Polynomial(exponents, rng.normal(size=9 if outputs is None else (9, outputs)))


class TestPolynomial:
    @pytest.mark.parametrize(("d", "degree", "count"), [(40, 2, 861), (40, 3, 12_341), (40, 4, 135_751)])
    def test_counts(self, d, degree, count):
        assert monomial_count(d, degree) == count
        assert monomial_count(d, degree, constant=False) == count - 1

    def test_exponents_are_all_different_ordered_and_complete(self):
        exponents = monomial_exponents(5, 4)
        degrees = exponents.sum(axis=1)
        assert len(exponents) == math.comb(9, 4) == len({tuple(row) for row in exponents})
        assert degrees.max() == 4
        assert (np.diff(degrees) >= 0).all()
        two = [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
        np.testing.assert_array_equal(monomial_exponents(2, 2), two)
        np.testing.assert_array_equal(monomial_exponents(2, 2, constant=False), two[1:])

    def test_values_are_products_of_powers(self):
        X = np.random.default_rng(0).normal(size=(7, 4))
        exponents = monomial_exponents(4, 3)
        expected = [[math.prod(x**e for x, e in zip(row, term, strict=True)) for term in exponents] for row in X]
        np.testing.assert_allclose(monomial_values(X, exponents), expected, rtol=1e-13)

    @pytest.mark.parametrize("outputs", [None, 1, 3])
    def test_gradient_is_the_slope_of_predict(self, outputs):
        polynomial, step = random_polynomial(outputs), 1e-5
        X = np.random.default_rng(1).normal(size=(6, 4))
        gradient = polynomial.gradient(X)
        assert gradient.shape == ((6, 4) if outputs is None else (6, outputs, 4))
        for j in range(4):
            move = step * np.eye(4)[j]
            slope = (polynomial.predict(X + move) - polynomial.predict(X - move)) / (2 * step)
            np.testing.assert_allclose(gradient[..., j], slope, atol=1e-8)

    def test_support_counts_nonzero_terms_only(self):
        polynomial = Polynomial(np.array([[1, 1, 0], [0, 0, 2], [0, 0, 0]]), np.array([0.0, 3.0, 1.0]))
        np.testing.assert_array_equal(polynomial.support, [False, False, True])
        both = Polynomial(polynomial.exponents, np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]]))
        np.testing.assert_array_equal(both.support, [True, True, False])

    def test_empty_polynomial(self):
        empty = Polynomial(np.zeros((0, 3), dtype=int), np.zeros(0))
        np.testing.assert_array_equal(empty.predict(np.ones((2, 3))), np.zeros(2))
        np.testing.assert_array_equal(empty.gradient(np.ones((2, 3))), np.zeros((2, 3)))
        assert empty.equation() == "0"
        assert not empty.support.any()

    def test_long_tables_are_predicted_in_pieces(self, monkeypatch):
        polynomial, X = random_polynomial(2), np.random.default_rng(1).normal(size=(25, 4))
        whole = polynomial.predict(X)
        monkeypatch.setattr("fewvars.polynomials.polynomial._CHUNK_ELEMENTS", 40)
        np.testing.assert_allclose(polynomial.predict(X), whole, rtol=1e-13)

    @pytest.mark.parametrize(
        ("exponents", "coefficients"),
        [([[-1]], [1.0]), ([1], [1.0]), ([[1]], [1.0, 2.0]), ([[1]], [[[1.0]]])],
    )
    def test_mistakes(self, exponents, coefficients):
        with pytest.raises(ValueError, match=r"exponents|coefficients"):
            Polynomial(np.array(exponents), np.array(coefficients))

    def test_wrong_inputs(self):
        with pytest.raises(ValueError, match=r"\(n, 4\)"):
            random_polynomial().predict(np.ones((3, 5)))


def evaluated(text, names, X):
    """Value of an equation's text: quoted names become columns, `^` a power, a blank a product."""
    for j, name in enumerate(names):
        quoted = name if name.isidentifier() else "`" + name.replace("`", "``") + "`"
        text = re.sub(rf"(?<![\w`]){re.escape(quoted)}(?![\w`])", f"X[:,{j}]", text)
    text = re.sub(r"(?<=[\d.]) (?=[X(])", "*", text.replace("^", "**"))
    return eval(text, {"X": X, "e": None})  # fmt: skip


class TestEquation:
    @pytest.mark.parametrize(
        "names",
        [
            ["x1", "x2", "x3", "x4"],
            ["x1", "x11", "x111", "e1"],
            ["wind speed", "a*b", "2", "x^2"],
            ["a`b", "", "a + b", "größe"],
        ],
    )
    def test_text_evaluates_to_predict(self, names):
        polynomial, X = random_polynomial(), np.random.default_rng(1).normal(size=(6, 4))
        text = polynomial.equation(names, digits=17)
        np.testing.assert_allclose(evaluated(text, names, X), polynomial.predict(X), rtol=1e-12)

    def test_the_promised_form(self):
        exponents = np.zeros((4, 40), dtype=int)
        exponents[1, 24] = exponents[2, [22, 23]] = exponents[3, [23, 25]] = 1
        polynomial = Polynomial(exponents, np.array([7.99, -1.0006, -1.00312, 0.998]))
        names = [f"x{j}" for j in range(1, 41)]
        assert polynomial.equation(names) == "-1.003 x23*x24 + 0.998 x24*x26 - 1.001 x25 + 7.99"

    def test_powers_default_names_and_several_outputs(self):
        polynomial = Polynomial(np.array([[0, 1], [3, 0]]), np.array([[1.5, 0.0], [-2.0, 1e-7]]))
        assert polynomial.equation() == ["-2 x0^3 + 1.5 x1", "1e-07 x0^3"]

    def test_offsets_that_cancel_need_more_digits(self):
        rng = np.random.default_rng(0)
        X = np.column_stack([293.15 + 5 * rng.normal(size=300), 1013.25 + 8 * rng.normal(size=300)])
        warmer = X[:, 0] - 290.3
        y = warmer**2 + 0.5 * warmer * (X[:, 1] - 1009.7)
        polynomial = fit_polynomial(X, np.column_stack([y, y])).polynomial
        text = polynomial.equation(["T", "p"])[1]
        assert (evaluated(text, ["T", "p"], X) - y).std() < 2e-3 * y.std()
        assert fit_polynomial(X - X.mean(axis=0), y).polynomial.digits == 4
        assert fit_polynomial(X, np.full(300, 0.1)).polynomial.equation() == "0.1"

    @pytest.mark.parametrize("constant", [1e3, -1e6, 1e9])
    def test_a_large_constant_has_digits_for_the_spread(self, constant):
        X = np.random.default_rng(0).standard_normal((300, 2))
        coefficients = np.array([constant + 6.5e-4, 1e-3, 5e-4])
        polynomial = Polynomial(np.array([[0, 0], [1, 0], [0, 2]]), coefficients).with_digits_for(X)
        values = polynomial.predict(X)
        assert abs(evaluated(polynomial.equation(["a", "b"]), ["a", "b"], X) - values).max() < 2e-3 * values.std()

    @pytest.mark.parametrize("names", [["a"], ["a", "a", "b", "c"]])
    def test_names_must_fit_and_differ(self, names):
        with pytest.raises(ValueError, match="4 different names"):
            random_polynomial().equation(names)


class TestRecovery:
    @pytest.mark.parametrize("splits", [None, BLOCKS])
    @pytest.mark.parametrize("degree", [2, 3, 4])
    def test_a_noiseless_polynomial_comes_back(self, degree, splits):
        X, y = example()
        found = terms(fit_polynomial(X, y, max_degree=degree, cv=splits).polynomial)
        assert found.keys() == TRUE_TERMS.keys()
        for exponents, coefficient in TRUE_TERMS.items():
            assert found[exponents] == pytest.approx(coefficient, rel=1e-9)

    def test_with_large_means_and_scales(self):
        rng = np.random.default_rng(0)
        X = np.array([1e4, 1e-4, 100.0]) * rng.normal(10, 1, (400, 3))
        y = 0.01 * X[:, 0] * X[:, 1] + 3e3 * X[:, 1] - 1e6
        found = terms(fit_polynomial(X, y).polynomial)
        assert found.keys() == {(1, 1, 0), (0, 1, 0), (0, 0, 0)}
        # The product varies by 1e-7 of the constant, which costs seven of sixteen digits.
        assert found[(1, 1, 0)] == pytest.approx(0.01, rel=1e-7)
        assert found[(0, 1, 0)] == pytest.approx(3e3, rel=1e-7)
        assert found[(0, 0, 0)] == pytest.approx(-1e6, rel=1e-10)

    @pytest.mark.slow
    @pytest.mark.parametrize("noise", [0.0, 0.05])
    @pytest.mark.parametrize("offset", [100.0, -1e3, 1e6, 1e9, 1e15])
    def test_an_offset_does_not_change_the_support(self, offset, noise):
        exact = 0
        for seed in range(5):
            rng = np.random.default_rng(seed)
            Z = rng.normal(size=(300, 6))
            y = Z[:, 0] * Z[:, 1] + Z[:, 2] + noise * rng.normal(size=300)
            plain, shifted = fit_polynomial(Z, y, cv=BLOCKS), fit_polynomial(Z + offset, y, cv=BLOCKS)
            exact += np.array_equal(shifted.polynomial.support, [True, True, True, False, False, False])
            # The data themselves have few digits left at large offsets.
            lost = 1e-9 + 3 * np.finfo(float).eps * abs(offset)
            np.testing.assert_allclose(
                shifted.polynomial.predict(Z + offset), plain.polynomial.predict(Z), atol=0.3 * noise + 10 * lost
            )
        assert exact >= 4

    def test_an_offset_is_written_into_the_equation(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 3)) + np.array([1000.0, -5e4, 0.0])
        model = SparseDictionaryRegressor().fit(X, (X[:, 0] - 1000) * (X[:, 1] + 5e4) + 2 * X[:, 2])
        assert model.equation_ == "1 (x0 - 1000)*(x1 + 50000) + 2 x2"
        np.testing.assert_array_equal(model.origin_, [1000.0, -5e4, 0.0])
        gradient = np.stack((X[:, 1] + 5e4, X[:, 0] - 1000, np.full(300, 2.0)), axis=1)
        np.testing.assert_allclose(model.gradient(X), gradient, atol=1e-6)

    def test_raw_monomials_are_kept_where_they_are_shorter_and_exact(self):
        X = np.random.default_rng(0).normal(size=(300, 4)) + 100.0
        model = SparseDictionaryRegressor().fit(X, X[:, 0] * X[:, 1] + X[:, 2])
        assert model.equation_ == "1 x0*x1 + 1 x2"
        assert not model.origin_.any()

    def test_an_output_far_from_zero_is_not_taken_for_a_constant(self):
        Z = np.random.default_rng(0).normal(size=(300, 4))
        fit = fit_polynomial(Z, 1e13 + Z[:, 0] * Z[:, 1], cv=BLOCKS)
        np.testing.assert_array_equal(fit.polynomial.support, [True, True, False, False])

    def test_with_more_monomials_than_samples(self):
        X, y = example(n=120, d=20)
        found = fit_polynomial(X, y, max_degree=2).polynomial
        assert monomial_count(20, 2) > 120
        assert len(found.exponents) == 4
        np.testing.assert_allclose(found.predict(X), y, rtol=1e-10)

    def test_many_inputs_start_again_from_the_best_columns(self):
        X, y = example(n=1500, d=20, noise=0.1)
        path = subset_path(compress(X, y[:, None], np.ones(1500), monomial_exponents(20, 2)[1:], True).output(0))
        sizes = path.n_terms
        assert sizes[0] == monomial_count(20, 2)
        assert 101 in sizes
        assert (np.diff(sizes) < 0).all()
        assert sizes[-1] == 0
        assert set(terms(fit_polynomial(X, y, cv=BLOCKS).polynomial)) == set(TRUE_TERMS_OF_20)

    @pytest.mark.parametrize("splits", [None, BLOCKS])
    @pytest.mark.parametrize("noise", [0.0, 0.5])
    def test_the_constant_is_dropped_like_any_other_term(self, noise, splits):
        X, y = example(noise=noise)
        found = terms(fit_polynomial(X, y + 4.0, cv=splits).polynomial)
        assert found.keys() == TRUE_TERMS.keys() - {(0,) * 5}

    def test_without_a_constant_in_the_dictionary(self):
        X, y = example()
        found = terms(fit_polynomial(X, y + 4.0, constant=False).polynomial)
        assert found.keys() == TRUE_TERMS.keys() - {(0,) * 5}
        assert (0,) * 5 not in terms(fit_polynomial(X, y, constant=False).polynomial)

    def test_copies_of_lower_terms_are_left_out(self):
        # A switch equals its square, and x2 copies x0: the first of each is taken.
        rng = np.random.default_rng(0)
        switch, x = rng.integers(0, 2, 200).astype(float), rng.normal(size=200)
        X = np.stack((switch, x, switch, np.full(200, 3.0)), axis=1)
        found = terms(fit_polynomial(X, 2 * switch - x + 1).polynomial)
        assert found.keys() == {(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 0)}

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("splits", [None, BLOCKS])
    def test_a_constant_output_needs_only_the_constant(self, method, splits):
        X, _ = example()
        fit = fit_polynomial(X, np.full(300, 7.0), method=method, cv=splits)
        assert terms(fit.polynomial) == {(0,) * 5: 7.0}
        assert terms(fit_polynomial(X, np.zeros(300), method=method, cv=splits).polynomial) == {}
        assert terms(fit_polynomial(X, np.full(300, 7.0), method=method, strength=0.1).polynomial) == {(0,) * 5: 7.0}

    def test_pure_noise_leaves_nothing(self):
        X, _ = example()
        y = np.random.default_rng(9).standard_normal(300)
        fit = fit_polynomial(X, y, cv=BLOCKS)
        assert not fit.polynomial.support.any()
        assert fit.strength == np.inf

    @pytest.mark.slow
    def test_lorenz_equation_from_a_noisy_trajectory(self):
        # Elimination from all 861 monomials alone loses a true term here, hence the second start.
        data = lorenz96_dataset(lorenz_equation(33), noise_x=0.04, noise_y=0.04, seed=200, n_train=4000)
        model = SparseDictionaryRegressor().fit(data.X_train, data.y_train)
        assert metrics.sensitivity(data.support, model.support_) == 1
        assert metrics.specificity(data.support, model.support_) >= 0.9
        assert metrics.relative_error(data.y_test, model.predict(data.X_test)) < 0.12


TRUE_TERMS_OF_20 = {key + (0,) * 15: value for key, value in TRUE_TERMS.items()}


class TestObjective:
    def compressed(self, Y, weight=None, n=200):
        X = np.random.default_rng(0).normal(1, 2, (n, 4))
        exponents = monomial_exponents(4, 2, constant=False)
        weight = np.ones(n) if weight is None else weight
        return X, compress(X, Y, weight, exponents, True), monomial_values(X, exponents)

    def outputs(self, k, n=200):
        rng = np.random.default_rng(5)
        X = np.random.default_rng(0).normal(1, 2, (n, 4))
        Y = (X[:, [0]] * X[:, [1]]) * np.arange(1, k + 1) + X[:, [2]] * np.arange(k)
        return Y + rng.standard_normal((n, k))

    @pytest.mark.parametrize("k", [1, 3])
    @pytest.mark.parametrize("block", [20, 64, 4096])
    def test_the_factor_gives_every_residual_sum_of_squares(self, k, block, monkeypatch):
        monkeypatch.setattr("fewvars.polynomials.compressed.block_rows", lambda width: block)
        rng, Y = np.random.default_rng(1), self.outputs(k)
        weight = rng.integers(0, 4, 200).astype(float)
        _, data, table = self.compressed(Y, weight)
        for _ in range(3):
            b = rng.normal(size=(1, 14))
            for j in range(k):
                one = data.output(j)
                raw, constants = one.in_users_units(b, np.array([True]))
                residual = (Y[:, j] - table @ raw[0] - constants) / one.scale
                np.testing.assert_allclose(((one.target - one.factor @ b[0]) ** 2).sum(), weight @ residual**2)
        assert data.n == weight.sum()
        np.testing.assert_allclose((data.factor**2).sum(axis=0), data.n)

    def test_residuals_along_the_subset_path_are_least_squares(self):
        Y = self.outputs(1)
        _, data, table = self.compressed(Y)
        path = subset_path(data.output(0))
        assert set(path.constant) == {False, True}
        for coefficients, constant, residual in zip(path.coefficients, path.constant, path.residuals, strict=True):
            design = np.column_stack((np.ones((200, int(constant))), table[:, coefficients != 0]))
            best = np.linalg.lstsq(design, Y[:, 0], rcond=None)[0]
            rss = ((Y[:, 0] - design @ best) ** 2).sum() / data.output_scales[0] ** 2
            np.testing.assert_allclose(residual, rss, rtol=1e-9)

    def test_strengths_of_the_subset_path_are_the_smallest_standardised_coefficients(self):
        _, data, table = self.compressed(self.outputs(1))
        path = subset_path(data.output(0))
        raw, _ = data.output(0).in_users_units(path.coefficients, path.constant)
        sizes = np.abs(raw) * table.std(axis=0) / self.outputs(1).std()
        smallest = np.where(sizes > 0, sizes, np.inf).min(axis=1)
        np.testing.assert_allclose(path.strengths, smallest, rtol=1e-9)

    @pytest.mark.parametrize("seed", range(4))
    def test_small_subsets_are_the_best_of_all_subsets(self, seed):
        rng = np.random.default_rng(seed)
        mixing = np.eye(8) + 0.9 * rng.normal(size=(8, 8))
        table = rng.normal(size=(60, 8)) @ mixing  # strongly correlated
        target = table[:, [0, 3]].sum(axis=1) + 0.5 * rng.normal(size=60)

        def residual(chosen):
            return fit_columns(np.ascontiguousarray(table.T), target, np.array(chosen, np.int64))[0]

        for chosen in best_subsets(Columns.of(table, target)):
            least = min(residual(other) for other in combinations(range(8), len(chosen)))
            assert residual(chosen) == pytest.approx(least, rel=1e-9)

    @pytest.mark.parametrize("strength", [0.0, 0.01, 0.1, 0.5, 10.0])
    def test_a_fixed_threshold_takes_the_first_fit_that_passes(self, strength):
        X, y = example(noise=1.0)
        free, fixed = fit_polynomial(X, y), fit_polynomial(X, y, strength=strength)
        first = np.flatnonzero(free.strengths >= strength)[0]
        assert fixed.criterion == "fixed"
        assert fixed.strength == free.strengths[first]
        assert len(fixed.polynomial.exponents) == free.n_terms[first]

    @pytest.mark.parametrize("strength", [0.3, 0.03, 0.003])
    def test_l1_is_scikit_learns_minimiser_on_the_standardised_table(self, strength):
        Y = self.outputs(1)
        _, data, table = self.compressed(Y)
        found = l1_path(data.output(0), strengths=np.array([strength])).coefficients[0]
        columns = (table - table.mean(axis=0)) / table.std(axis=0)
        output = (Y[:, 0] - Y.mean()) / Y.std()
        rival = Lasso(alpha=strength, tol=1e-12, max_iter=100_000).fit(columns, output)
        # Tolerances: ours stops at a duality gap of 1e-3 of the residual.
        np.testing.assert_allclose(found, rival.coef_, atol=2e-3)

        def objective(b):
            return ((output - columns @ b) ** 2).sum() / 400 + strength * np.abs(b).sum()

        assert objective(found) <= objective(rival.coef_) * 1.001

    def test_l1_is_zero_just_above_the_first_strength_of_its_grid(self):
        _, data, _ = self.compressed(self.outputs(1))
        one = data.output(0)
        first = l1_path(one).strengths[0]
        assert not l1_path(one, strengths=np.array([first * 1.0001])).coefficients.any()
        assert l1_path(one, strengths=np.array([first * 0.9])).n_terms[0] == 2

    def test_bic_is_the_stated_formula(self):
        Y = self.outputs(1)
        _, data, table = self.compressed(Y)
        one = data.output(0)
        path = subset_path(one)
        raw, constants = one.in_users_units(path.coefficients, path.constant)
        rss = ((Y[:, 0] - raw @ table.T - constants[:, None]) ** 2).sum(axis=1)
        expected = 200 * np.log(rss / 200) + np.log(200) * ((raw != 0).sum(axis=1) + (constants != 0))
        np.testing.assert_allclose(bic(one, path.residuals, path.n_terms), expected)

    @pytest.mark.parametrize("method", METHODS)
    def test_held_out_errors_are_those_of_fits_without_the_rows(self, method):
        X, y = example(n=150, noise=2.0)
        exponents = monomial_exponents(5, 2, constant=False)
        splits = list(BLOCKS.split(X))
        fit = fit_polynomial(X, y, method=method, cv=splits)
        squares = np.zeros((150, len(fit.strengths)))
        for train, test in splits:
            part = compress(X[train], y[train, None], np.ones(len(train)), exponents, True).output(0)
            paths = {"subsets": subset_path, "threshold": threshold_path}
            path = l1_path(part, strengths=fit.strengths) if method == "l1" else paths[method](part)
            same = slice(None) if method == "l1" else [list(path.n_terms).index(size) for size in fit.n_terms]
            raw, constants = part.in_users_units(path.coefficients[same], path.constant[same])
            squares[test] = (y[test, None] - monomial_values(X[test], exponents) @ raw.T - constants) ** 2
        np.testing.assert_allclose(fit.scores, squares.mean(axis=0) / y.var())

    def test_held_out_choice_is_the_smallest_within_some_standard_errors(self):
        values = np.array([[1.0, 1.0, 1.2, 3.0], [2.0, 2.2, 2.0, 3.0], [3.0, 3.1, 3.1, 9.0]])
        n_terms = np.array([9, 5, 3, 0])
        errors = HeldOutErrors(values, np.ones(3))
        # Logarithms of the ratios of three terms: 0.18, 0, 0.03, mean 0.07, standard error 0.056.
        assert errors.fewest_terms(n_terms, 1.0) == 0
        assert errors.fewest_terms(n_terms, 1.5) == 2
        values[2, 2] = 2.9  # 0.18, 0, -0.03: mean 0.05, standard error 0.066
        assert errors.fewest_terms(n_terms, 1.0) == 2
        assert HeldOutErrors(values[:1], np.ones(1)).fewest_terms(n_terms, 1.0) == 1  # one piece: ties only

    def test_each_output_has_its_own_terms(self):
        X, y = example(noise=0.1)
        Y = np.stack((y, X[:, 4] ** 2, np.zeros(300)), axis=1)
        fit = fit_polynomial(X, Y).polynomial
        assert fit.coefficients.shape == (5, 3)
        np.testing.assert_array_equal((fit.coefficients != 0).sum(axis=0), [4, 1, 0])
        for j in range(3):
            np.testing.assert_allclose(fit.predict(X)[:, j], fit_polynomial(X, Y[:, j]).polynomial.predict(X))

    def test_an_output_without_a_monomial_has_a_zero_there_and_not_rounding(self):
        X, _ = example()
        Y = np.stack((X[:, 0] * X[:, 1], X[:, 2] + 1), axis=1)
        fit = fit_polynomial(X, Y).polynomial
        assert len(fit.exponents) == 3
        np.testing.assert_array_equal(fit.coefficients != 0, [[False, True], [False, True], [True, False]])

    def test_one_column_of_outputs_is_one_output(self):
        X, y = example(noise=0.1)
        one, column = fit_polynomial(X, y).polynomial, fit_polynomial(X, y[:, None]).polynomial
        np.testing.assert_array_equal(one.coefficients, column.coefficients[:, 0])

    def test_coefficient_tolerance_is_entrywise_in_the_users_units(self):
        X, y = example()
        Y = np.stack((y, 1e-3 * y), axis=1)
        full = fit_polynomial(X, Y, strength=0.0).polynomial
        cut = fit_polynomial(X, Y, strength=0.0, coefficient_tolerance=1e-3).polynomial
        expected = np.where(np.abs(full.coefficients) < 1e-3, 0.0, full.coefficients)
        np.testing.assert_array_equal(cut.coefficients, expected[expected.any(axis=1)])
        assert (cut.coefficients[cut.exponents.sum(axis=1) == 1, 1] == 0).all()

    def test_units_of_inputs_and_outputs_do_not_matter(self):
        X, y = example(noise=1.0)
        units = np.array([1e-3, 10.0, 1e4, 1.0, 1e-2])
        plain, scaled = fit_polynomial(X, y), fit_polynomial(X * units, 1e5 * y)
        np.testing.assert_array_equal(scaled.polynomial.exponents, plain.polynomial.exponents)
        factors = 1e5 / monomial_values(units[None], plain.polynomial.exponents)[0]
        np.testing.assert_allclose(scaled.polynomial.coefficients, plain.polynomial.coefficients * factors)
        assert scaled.strength == pytest.approx(plain.strength)


class TestWeights:
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("n", [30, 300])
    def test_weights_count_rows(self, method, n):
        X, y = example(n=n, noise=1.0)
        counts = np.random.default_rng(1).integers(0, 4, n)
        weighted = fit_polynomial(X, y, method=method, sample_weight=counts)
        repeated = fit_polynomial(np.repeat(X, counts, axis=0), np.repeat(y, counts), method=method)
        np.testing.assert_array_equal(weighted.polynomial.exponents, repeated.polynomial.exponents)
        np.testing.assert_allclose(weighted.polynomial.coefficients, repeated.polynomial.coefficients, rtol=1e-6)
        np.testing.assert_allclose(weighted.scores, repeated.scores, rtol=1e-6)

    def test_weights_count_in_held_out_errors(self):
        X, y = example(n=60, noise=1.0)
        counts = np.random.default_rng(1).integers(1, 4, 60)
        rows = np.repeat(np.arange(60), counts)
        splits = list(BLOCKS.split(X))
        again = [tuple(np.flatnonzero(np.isin(rows, part)) for part in pair) for pair in splits]
        weighted = fit_polynomial(X, y, sample_weight=counts, cv=splits)
        repeated = fit_polynomial(X[rows], y[rows], cv=again)
        np.testing.assert_allclose(weighted.scores, repeated.scores, rtol=1e-6)

    def test_normalised_weights_are_refused_with_a_remedy(self):
        X, y = example()
        with pytest.raises(ValueError, match="multiply normalised weights by n"):
            fit_polynomial(X, y, sample_weight=np.full(300, 1 / 300))


class TestLimits:
    def test_the_dictionary_is_not_built_when_it_would_not_fit(self):
        with pytest.raises(MemoryError, match=r"135,751 columns .* Degree 3 would fit"):
            fit_polynomial(np.ones((8000, 40)), np.ones(8000), max_degree=4)
        with pytest.raises(MemoryError, match="Not even degree 1"):
            check_memory(1000, 50, max_degree=3, max_memory=1000)
        check_memory(8000, 40, max_degree=3)

    def test_long_data_need_no_more_memory(self):
        assert memory_estimate(10**9, 10, degree=3) == memory_estimate(10**6, 10, degree=3)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"method": "ridge"}, "method"),
            ({"strength": -1.0}, "strength"),
            ({"strength": np.nan}, "strength"),
            ({"strength": 0.0, "method": "l1"}, "strength"),
            ({"max_degree": 0}, "max_degree"),
            ({"max_degree": 1.5}, "max_degree"),
            ({"coefficient_tolerance": -1.0}, "coefficient_tolerance"),
            ({"sample_weight": np.ones(3)}, "sample_weight"),
            ({"sample_weight": -np.ones(300)}, "sample_weight"),
            ({"cv": []}, "cv"),
            ({"cv": BLOCKS, "sample_weight": np.arange(300) >= 100}, "positive weight"),
        ],
    )
    def test_mistakes_are_named(self, options, message):
        X, y = example()
        with pytest.raises(ValueError, match=message):
            fit_polynomial(X, y, **options)

    @pytest.mark.parametrize(
        ("X", "y"),
        [
            (np.ones(3), np.ones(3)),
            (np.ones((3, 1)), np.ones(4)),
            (np.ones((0, 2)), np.ones(0)),
            (np.full((3, 1), np.nan), np.ones(3)),
        ],
    )
    def test_wrong_shapes_and_values(self, X, y):
        with pytest.raises(ValueError, match=r"do not fit|finite"):
            fit_polynomial(X, y)

    @pytest.mark.parametrize(("x", "y"), [(1e200, 1.0), (1e-200, 1.0), (1e-200, 1e-200), (1e-100, 1e150)])
    def test_terms_that_no_float_can_hold_are_reported(self, x, y):
        X, outputs = example()
        with pytest.raises(ValueError, match="overflows or underflows"):
            fit_polynomial(x * X, y * outputs)

    @pytest.mark.slow
    @pytest.mark.parametrize("criterion", [None, BLOCKS])
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize(("x", "y"), [(1e120, 1.0), (1e-100, 1.0), (1.0, 1e-200), (1.0, 1e300), (1e-60, 1e-200)])
    def test_extreme_units_do_not_matter(self, x, y, method, criterion):
        X, outputs = example(noise=1.0)
        plain = fit_polynomial(X, outputs, method=method, cv=criterion)
        scaled = fit_polynomial(x * X, y * outputs, method=method, cv=criterion)
        np.testing.assert_array_equal(scaled.polynomial.exponents, plain.polynomial.exponents)
        np.testing.assert_allclose(scaled.polynomial.predict(x * X) / y, plain.polynomial.predict(X), rtol=1e-6)
        assert scaled.polynomial.digits == plain.polynomial.digits
        if criterion is None:
            np.testing.assert_allclose(scaled.scores - plain.scores, 2 * 300 * np.log(y), rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("method", METHODS)
    def test_fits_leave_the_warnings_of_the_process_alone(self, method):
        X, y = example(noise=1.0)
        before = list(warnings.filters)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: fit_polynomial(X, y, method=method), range(8)))
        assert warnings.filters == before

    @pytest.mark.parametrize("d", [1, 40, 10**6])
    def test_an_absurd_degree_is_refused_at_once(self, d):
        with pytest.raises(MemoryError, match=r"would fit"):
            check_memory(100, d, max_degree=10**30)
        with pytest.raises(MemoryError, match="more than 2\\^60 columns" if d > 1 else "columns"):
            check_memory(100, d, max_degree=10**30, max_memory=np.inf)

    def test_unconverged_l1_is_recorded_and_warned_about(self, monkeypatch):
        monkeypatch.setattr(_dictionary_path, "_MAX_SWEEPS", 1)
        X, y = example(noise=1.0)
        with pytest.warns(ConvergenceWarning, match="did not converge"):
            fit = fit_polynomial(X, y, method="l1", strength=1e-4)
        assert not fit.converged
        assert fit_polynomial(X, y, method="l1").converged  # the grid ends before that


class TestEstimator:
    @pytest.mark.slow
    @parametrize_with_checks(
        [
            SparseDictionaryRegressor(),
            SparseDictionaryRegressor(criterion="bic"),
            SparseDictionaryRegressor(criterion="bic", method="l1"),
        ]
    )
    def test_scikit_learn_contract(self, estimator, check):
        check(estimator)

    def test_attributes(self):
        X, y = example()
        model = SparseDictionaryRegressor().fit(X, y)
        assert model.n_terms_ == 4
        assert model.exponents_.shape == (4, 5)
        assert model.coef_.shape == (4,)
        np.testing.assert_array_equal(model.support_, [True, True, True, True, False])
        assert model.equation_ == "2.5 x0*x2 - 0.7 x1^2 + 0.3 x3 - 4"
        assert model.score(X, y) == pytest.approx(1.0)
        assert model.path_.criterion == "held_out"
        assert model.path_.strengths[model.path_.n_terms == 4] == model.lambda_
        np.testing.assert_array_equal(model.gradient(X), model.polynomial_.gradient(X))
        assert model.gradient(X).shape == X.shape

    def test_several_outputs(self):
        X, y = example()
        model = SparseDictionaryRegressor().fit(X, np.stack((y, -y), axis=1))
        assert model.coef_.shape == (2, 4)
        assert model.equation_[1] == "-2.5 x0*x2 + 0.7 x1^2 - 0.3 x3 + 4"
        np.testing.assert_allclose(model.predict(X)[:, 1], -y)

    def test_names_come_from_the_columns(self):
        X, y = example()
        frame = pd.DataFrame(X, columns=["u", "wind speed", "w", "p", "q"])
        model = SparseDictionaryRegressor().fit(frame, y)
        assert model.equation_ == "2.5 u*w - 0.7 `wind speed`^2 + 0.3 p - 4"

    def test_zero_weights_are_no_rows(self):
        X, y = example(noise=1.0)
        weight = (np.arange(300) >= 100).astype(float)
        weighted = SparseDictionaryRegressor().fit(X, y, sample_weight=weight)
        plain = SparseDictionaryRegressor().fit(X[100:], y[100:])
        np.testing.assert_allclose(weighted.coef_, plain.coef_)

    def test_criterion_and_splits_are_used(self):
        X, y = example(noise=1.0)
        assert SparseDictionaryRegressor(criterion="bic").fit(X, y).path_.criterion == "bic"
        assert SparseDictionaryRegressor(strength=0.1).fit(X, y).path_.criterion == "fixed"
        given = SparseDictionaryRegressor(cv=3).fit(X, y).path_
        np.testing.assert_array_equal(given.scores, fit_polynomial(X, y, cv=KFold(3)).scores)
        with pytest.raises(ValueError, match="criterion"):
            SparseDictionaryRegressor(criterion="aic").fit(X, y)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"strength": "a"}, "strength='a': give a finite number of at least 0"),
            ({"strength": -1.0}, r"strength=-1\.0"),
            ({"method": "l1", "strength": np.inf}, "strength=inf: give a finite number above 0"),
            ({"method": "l1", "strength": 0}, "strength=0"),
            ({"method": "ridge"}, "method='ridge'"),
            ({"max_memory": "2GB"}, "max_memory='2GB'"),
        ],
        ids=str,
    )
    def test_bad_parameters(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            SparseDictionaryRegressor(**parameters).fit(*example(n=20, d=4))

    def test_no_bounds(self):
        X, y = example(n=50)
        model = SparseDictionaryRegressor(strength=np.inf, max_memory=np.inf).fit(X, y)
        assert model.n_terms_ == 0

    @pytest.mark.parametrize("criterion", ["held_out", "bic"])
    def test_negative_weights_are_refused(self, criterion):
        X, y = example()
        with pytest.raises(ValueError, match=r"[Nn]egative"):
            SparseDictionaryRegressor(criterion=criterion).fit(X, y, sample_weight=np.r_[-1.0, np.ones(299)])

    def test_weights_that_leave_one_row_are_refused(self):
        with pytest.raises(ValueError, match="sample_weight leaves 1 of"):
            SparseDictionaryRegressor().fit(*example(), sample_weight=np.r_[5.0, np.zeros(299)])

    def test_grid_search_finds_the_degree(self):
        X, y = example(noise=0.1)
        y = y + X[:, 0] ** 3
        search = GridSearchCV(SparseDictionaryRegressor(criterion="bic"), {"max_degree": [1, 2, 3]}, cv=3)
        assert search.fit(X, y).best_params_ == {"max_degree": 3}
        assert clone(search.best_estimator_).max_degree == 3


def test_products_that_few_rows_carry_are_left_out():
    X = np.zeros((100, 3))
    X[:50, 0] = X[45:70, 1] = 1.0
    X[:, 2] = np.linspace(-1, 1, 100)
    exponents = monomial_exponents(3, 2, constant=False)
    kept = carried_monomials(exponents, X, 6).tolist()
    assert [1, 1, 0] not in kept  # five rows
    assert len(kept) == len(exponents) - 1
    np.testing.assert_array_equal(carried_monomials(exponents, X, 5), exponents)
    y = X[:, 0] - X[:, 1] + 3 * X[:, 0] * X[:, 1]
    assert "x0*x1" in fit_polynomial(X, y).polynomial.equation()
    assert "x0*x1" not in fit_polynomial(X, y, fewest_rows=6).polynomial.equation()
