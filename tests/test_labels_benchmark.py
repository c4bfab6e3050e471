"""The benchmark of classes, counts and outliers: what its problems hold, and what its tables say about made-up rows."""

import numpy as np
import pytest
from benchmarks.labels import problems, tables


@pytest.mark.parametrize("name", ["wine, 50 probes", "products of signs", "noise", "counts", "outliers"])
def test_problems(name):
    data = problems.PROBLEMS[name](0)
    assert data.X.shape[1] == data.X_test.shape[1] == data.useful.size
    assert len(data.X) == len(data.y)
    assert not (data.needed & ~data.useful).any()


def test_probes_are_permuted_columns():
    data = problems.PROBLEMS["wine, 50 probes"](0)
    whole = np.vstack([data.X, data.X_test])
    assert (~data.useful).sum() == 50
    originals = {tuple(np.sort(column)) for column in whole[:, data.useful].T}
    assert all(tuple(np.sort(column)) in originals for column in whole[:, ~data.useful].T)


def row(method, seed, found, probes, loss):
    figures = {"needed": 4, "found": found, "useful": found, "probes": probes, "selected": [0] * (found + probes)}
    return {"problem": "products of signs", "method": method, "seed": seed, "accuracy": 0.7, "busy": 1.0} | {
        **figures,
        "loss": loss,
    }


def test_tables():
    rows = [row("fewvars", seed, 4, 0, 0.5) for seed in range(3)]
    rows += [row("Boruta", seed, 2, 2, 0.6 + 0.1 * seed) for seed in range(2)]
    rows += [{"problem": "noise", "method": "boosting", "seed": 0, "failure": "ValueError: no"}]
    text = tables.everything(rows)
    assert "| products of signs | fewvars | 12 / 12 | 4.0 | 0.0 | 0.5 ± 0 |" in text
    assert "| products of signs | Boruta | 0.50 | +2 ± 0 | -0.15 ± 0.05 | +0 ± 0 | 2 |" in text
    assert "noise, boosting, seed 0: ValueError: no" in text
