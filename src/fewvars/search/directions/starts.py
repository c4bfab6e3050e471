"""Starting points for the fits at each rank: networks along the path, truncated to the rank and trained further."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, adam
from fewvars.search.directions.ranks import RankSearch
from fewvars.search.directions.ridge_functions import RidgeFunction


def low_rank(network: Network, theta: FloatArray, rank: int) -> tuple[Network, FloatArray]:
    """Truncate the first layer to a rank and factor it: W_1 ~ (U sqrt(S)) (sqrt(S) V^T), the inner factor linear."""
    first, *rest = network.layers(theta)
    U, s, Vt = np.linalg.svd(first.weights.astype(float), full_matrices=False)
    roots = np.sqrt(s[:rank])
    activations = ("identity", *network.activation)
    factored = Network(network.n_inputs, (rank, *network.widths), network.n_outputs, activations)
    parts = [roots[:, None] * Vt[:rank], np.zeros(rank), U[:, :rank] * roots, first.biases]
    for layer in rest:
        parts += [layer.weights, layer.biases]
    return factored, np.concatenate([part.ravel() for part in parts])


def refined_starts(
    search: RankSearch,
    network: Network,
    thetas: Mapping[int, FloatArray],
    train: Samples,
    most: int,
    *,
    n_updates: int,
    ridge: float,
    **options: Any,
) -> tuple[dict[int, FloatArray], int]:
    """Truncate networks along the path to each rank, and train all their factors jointly by Adam.

    Parameters
    ----------
    thetas : mapping of rank to parameters of `network`
    train : Samples
        The training rows of the first split.
    most : int
        Largest rank to return.

    Returns
    -------
    directions by rank, (rank, d), and the rank with the smallest typical error on the first split
    """
    one_split = search.on_first_split()
    directions, errors = {}, {}
    for rank in range(1, min(most, max(thetas, default=0)) + 1):
        enough = thetas[min(r for r in thetas if r >= rank)]
        factored, start = low_rank(network, enough, rank)
        fit = adam(
            factored,
            train,
            theta=start.astype(train.X.dtype),
            n_updates=n_updates,
            schedule="cosine",
            ridge=ridge,
            first_ridge=ridge,
            **options,
        )
        theta = start if fit.outcome is Outcome.DIVERGED else fit.theta.astype(float)
        directions[rank] = factored.layers(theta)[0].weights
        errors[rank] = one_split.error_of(RidgeFunction(factored, theta))
        search.on_refit()
    return directions, min(errors, key=lambda rank: errors[rank], default=0)
