"""A quick least-squares screen for inputs outside a support that could explain the residual."""

from collections.abc import Iterable

import numpy as np

from fewvars._common.validation import FloatArray


def explained_shares(
    X: FloatArray, residual: FloatArray, weights: FloatArray, support: np.ndarray, groups: Iterable[np.ndarray]
) -> list[float]:
    """Return the share of the residual's squares that each group of inputs could explain.

    It is the part that falls into the span of x, x^2, x^3 and |x| of the group's inputs, each alone and times each
    input of the support: interactions and even functions show, which the gradient with respect to the weights of a
    dead input would miss.

    Parameters
    ----------
    X : (n, inputs)
    residual : (n, outputs)
    weights : (n,)
    support : inputs of the support, by number
    groups : for each group, its inputs by number
    """
    weights = weights.astype(float)
    roots = np.sqrt(weights)[:, None]
    residual = roots * (residual - np.average(residual, axis=0, weights=weights))
    factors = np.column_stack([np.ones(len(X)), X[:, support]])
    shares = []
    for members in groups:
        x = X[:, members].astype(float)
        shapes = np.column_stack([x, x**2, x**3, np.abs(x)])
        basis = (factors[:, :, None] * shapes[:, None, :]).reshape(len(X), -1)
        basis = roots * (basis - np.average(basis, axis=0, weights=weights))
        gram = basis.T @ basis
        gram[np.diag_indices_from(gram)] += 1e-6 * np.trace(gram) / len(gram) + 1e-12
        cross = basis.T @ residual
        shares.append(np.sum(cross * np.linalg.solve(gram, cross)) / max(np.sum(residual**2), 1e-300))
    return shares
