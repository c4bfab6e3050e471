"""Small problems with known answers, and budgets that are just large enough for them."""

import numpy as np

# Enough to fit something, which need not be right.
TINY_NETWORKS = {"first_updates": 60, "path_updates": 10, "path_factor": 2.0, "refit_updates": 60}
QUICK = {**TINY_NETWORKS, "max_candidates": 4}
QUICK_DIRECTIONS = {**TINY_NETWORKS, "max_rank": 1}
# Quick and right where the function is a polynomial of degree two.
QUADRATIC = {**QUICK, "head": "dictionary", "max_degree": 2, "random_state": 0}
# Enough to be right on the easy problems below.
EASY = {"first_updates": 400, "path_updates": 60, "path_factor": 1.4, "refit_updates": 800, "max_candidates": 8}
EASY_DIRECTIONS = {
    **{"first_updates": 200, "path_updates": 40, "path_factor": 1.5, "refit_updates": 300},
    "max_rank": 3,
}
# The estimators of the paper: any of them, and those with a path.
PLAIN = {"hidden_layer_sizes": (6, 6, 6), "n_first": 100, "random_state": 0}
LITERAL = {**PLAIN, "n_second": 60, "n_strengths": 4, "first_strength": 1e-3, "last_strength": 1e-2}

TRUTH = [1, 4, 6]  # the inputs of the function below


def product_and_line(n=400, d=8, seed=0, noise=0.05):
    """Return y = x1 x4 + x6 / 2 plus noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 1] * X[:, 4] + 0.5 * X[:, 6] + noise * rng.standard_normal(n)


def failures_by_held_out_rows(estimator):
    """Return the only check of scikit-learn that estimators may fail which hold out rows by themselves."""
    return {
        "check_sample_weight_equivalence_on_dense_data": "holds out rows by itself, as early stopping does; the "
        "kernels show that weight 2 equals a repeated row"
    }
