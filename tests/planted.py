"""Data with a known answer, in the form that tests of terms read, and series whose rows depend on each other."""

import numpy as np
from scipy.signal import lfilter

from fewvars.engine.losses import SQUARED
from fewvars.search.variables.growing_model import GrowingModel
from fewvars.search.variables.terms import Terms
from fewvars.search.variables.testable import Testable


def autoregressive(coefficient, n, columns=1, seed=0):
    """Return e_t = c e_(t-1) + noise, (n, columns), of variance one from the first row on."""
    noise = np.random.default_rng(seed).standard_normal((n, columns))
    noise[1:] *= np.sqrt(1.0 - coefficient**2)
    return lfilter([1.0], [1.0, -coefficient], noise, axis=0)


def standardised(X, y, labels=None, weights=None, ordered=True, loss=SQUARED):
    """Return standardised data to test on: by default every input is a group, and all rows are one run."""
    n, d = X.shape
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return Testable(
        Terms.of(Z, np.arange(d) if labels is None else np.asarray(labels)),
        y.reshape(n, -1).astype(float),
        np.ones(n) if weights is None else weights,
        np.arange(n) == 0,
        ordered,
        loss,
    )


def growing(X, y, **options):
    """Return a model of nothing but a constant."""
    return GrowingModel(standardised(X, y, **options))


def mask(*members, d):
    """Return which of d groups are members."""
    return np.isin(np.arange(d), members)
