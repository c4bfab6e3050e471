"""Steps among the terms: they follow sharp functions of single inputs, on any rows alike."""

import numpy as np

from fewvars.search.variables.ridge_judge import COLUMNS
from fewvars.search.variables.terms import Term, Terms

Z = np.random.default_rng(0).standard_normal((400, 2))


def unexplained(terms, kind, y):
    design = terms.design([Term(kind, (0,))])
    return np.var(y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) / np.var(y)


def test_steps_follow_what_curves_cannot():
    terms, y = Terms.of(Z, np.arange(2)).with_steps(), np.tanh(8.0 * (Z[:, 0] - 0.5))
    assert unexplained(terms, "curve", y) > 0.05
    assert unexplained(terms, "steps", y) < 0.005


def test_steps_of_some_rows_are_those_of_all():
    terms, rows, steps = Terms.of(Z, np.arange(2)).with_steps(), np.arange(0, 400, 7), Term("steps", (1,))
    np.testing.assert_array_equal(terms.rows(rows).columns(steps), terms.columns(steps)[rows])
    assert terms.columns(steps).shape[1] == COLUMNS["steps"]
