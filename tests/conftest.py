"""Settings shared by all tests, and models that several files look at."""

import os

# Before NumPy is imported, and for child processes too: on a busy machine, BLAS threads that wait for each other can
# take twenty times the work of one.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import pytest
from hypothesis import settings

import fewvars as fv
from problems import EASY, EASY_DIRECTIONS, product_and_line

# The same examples in every run, and no verdict by the clock of a busy machine.
settings.register_profile("fewvars", derandomize=True, max_examples=60, deadline=None, database=None)
settings.load_profile("fewvars")


@pytest.fixture(scope="session")
def three_variables():
    """A model of three of eight variables, with a path and a polynomial; do not change it. Also its X and y."""
    X, y = product_and_line(n=300, seed=100)
    return fv.FewVariablesRegressor(**EASY, head="dictionary", judge="network", random_state=0).fit(X, y), X, y


@pytest.fixture(scope="session")
def two_directions():
    """A model of two combinations of five inputs in different units; do not change it. Also its X and y."""
    rng = np.random.default_rng(103)
    X = rng.standard_normal((300, 5)) * [1, 10, 1, 1, 1]
    y = (X[:, 0] + X[:, 1] / 10) ** 2 + 2 * X[:, 3] + 0.05 * rng.standard_normal(300)
    model = fv.FewDirectionsRegressor(**EASY_DIRECTIONS, head="dictionary", n_resamples=1, random_state=0)
    return model.fit(X, y), X, y
