"""Data with class labels, counts or outliers whose useful variables are known, or mixed with probes that are useless.

A probe of measured data is a column with its rows permuted. Reported problems have seeds from 0 on; settings were
chosen on those called `development`, seeds from 100, which have other shapes and other data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit
from sklearn import datasets

N_TEST = 2000


@dataclass(frozen=True, eq=False)
class Data:
    """Rows to learn from, new rows, and which inputs (d,) are of use; of redundant ones, `needed` would do."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    useful: np.ndarray
    needed: np.ndarray


def _divided(X: np.ndarray, y: np.ndarray, n: int, rng: np.random.Generator, useful: int, needed: int | None) -> Data:
    """Draw n rows to learn from; the first columns are useful, and the first of them needed (None: nobody knows)."""
    order, place = rng.permutation(len(y)), np.arange(X.shape[1])
    learn, new = order[:n], order[n:]
    return Data(X[learn], y[learn], X[new], y[new], place < useful, place < (needed or 0))


def madelon(seed: int, n: int, d: int, informative: int, clusters: int, redundant: int) -> Data:
    """Guyon's construction: clusters of each class at random corners of a cube, and columns of noise."""
    X, y = datasets.make_classification(
        n_samples=n + N_TEST,
        n_features=d,
        n_informative=informative,
        n_redundant=redundant,
        n_clusters_per_class=clusters,
        shuffle=False,
        random_state=seed,
    )
    return _divided(X, y, n, np.random.default_rng(seed), informative + redundant, informative)


def with_probes(seed: int, load: Callable[..., tuple], n_probes: int, classes: tuple[int, ...] | None = None) -> Data:
    """Two thirds of the rows of measured data to learn from, and permuted columns as probes."""
    rng = np.random.default_rng(seed)
    X, y = load(return_X_y=True)
    if classes is not None:
        X, y = X[np.isin(y, classes)], y[np.isin(y, classes)]
    d = X.shape[1]
    sources = np.resize(rng.permutation(d), n_probes)
    probes = np.column_stack([rng.permutation(X[:, j]) for j in sources])
    return _divided(np.column_stack([X, probes]), y, 2 * len(y) // 3, rng, d, None)


def products_of_signs(seed: int, n: int, d: int) -> Data:
    """Log-odds 1.5 sign(x0 x1) + 1.5 sign(x2 x3): no variable has an effect on its own."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n + N_TEST, d))
    log_odds = 1.5 * np.sign(X[:, 0] * X[:, 1]) + 1.5 * np.sign(X[:, 2] * X[:, 3])
    return _divided(X, (rng.random(len(X)) < expit(log_odds)).astype(int), n, rng, 4, 4)


def noise(seed: int, n: int, d: int) -> Data:
    """Labels that depend on nothing."""
    rng = np.random.default_rng(seed)
    return _divided(rng.standard_normal((n + N_TEST, d)), (rng.random(n + N_TEST) < 0.3).astype(int), n, rng, 0, 0)


def counts(seed: int, n: int, d: int) -> Data:
    """Counts with rates from about 0.1 to 40: log rate 0.5 + 1.2 x0 + 0.5 x1 + 0.4 x2 x3 + 0.25 x4."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + N_TEST, d))
    rates = np.exp(0.5 + 1.2 * X[:, 0] + 0.5 * X[:, 1] + 0.4 * X[:, 2] * X[:, 3] + 0.25 * X[:, 4])
    found = _divided(X, rng.poisson(rates).astype(float), n, rng, 5, 5)
    return found


def outliers(seed: int, n: int, d: int, share: float = 0.05) -> Data:
    """x0 x1 + sin(2 x2) + 0.4 x3 with noise 0.5; in some rows to learn from, errors fifty times as large are added."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + N_TEST, d))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.4 * X[:, 3] + 0.5 * rng.standard_normal(len(X))
    found = _divided(X, y, n, rng, 4, 4)
    bad = rng.random(n) < share
    found.y[bad] += 25.0 * rng.standard_normal(int(bad.sum()))
    return found


LABELS = {
    "Madelon": partial(madelon, n=2000, d=485, informative=5, clusters=16, redundant=0),
    "Madelon, 15 redundant": partial(madelon, n=2000, d=500, informative=5, clusters=16, redundant=15),
    "breast cancer, 50 probes": partial(with_probes, load=datasets.load_breast_cancer, n_probes=50),
    "wine, 50 probes": partial(with_probes, load=datasets.load_wine, n_probes=50),
    "digits 3 and 8, 64 probes": partial(with_probes, load=datasets.load_digits, n_probes=64, classes=(3, 8)),
    "products of signs": partial(products_of_signs, n=2000, d=100),
    "noise": partial(noise, n=500, d=100),
}
NUMBERS = {
    "counts": partial(counts, n=300, d=100),
    "outliers": partial(outliers, n=500, d=50),
}
DEVELOPMENT = {
    "Madelon of 4": partial(madelon, n=1500, d=200, informative=4, clusters=8, redundant=0),
    "Madelon of 4, 10 redundant": partial(madelon, n=1500, d=200, informative=4, clusters=8, redundant=10),
    "iris, 50 probes": partial(with_probes, load=datasets.load_iris, n_probes=50),
    "digits 1 and 7, 64 probes": partial(with_probes, load=datasets.load_digits, n_probes=64, classes=(1, 7)),
    "few products of signs": partial(products_of_signs, n=1500, d=60),
    "little noise": partial(noise, n=300, d=60),
}
PROBLEMS = {**LABELS, **NUMBERS, **DEVELOPMENT}
