"""Screen all products, or surfaces, of two inputs at once for those that a model lacks."""

import numpy as np

from fewvars.search.variables.growing_model import GrowingModel


def suspicious_products(
    model: GrowingModel, ones: np.ndarray, most: int = 8, among: np.ndarray | None = None
) -> list[tuple[int, int]]:
    """Return the pairs of inputs whose products correlate most with the residual.

    X' diag(r) X holds all sums of products with the residual r; their norms are those of centred products.

    Parameters
    ----------
    ones : numbers of inputs
        One of each pair.
    among : numbers of inputs, optional
        The other of each pair; by default any input.
    """
    others = np.arange(model.terms.Z.shape[1]) if among is None else among
    own, Z = model.terms.Z[:, ones].astype(np.float32), model.terms.Z[:, others].astype(np.float32)
    weights = model.terms.on_samples(model.filter.roots[:, None] ** 2).astype(np.float32)
    squares = (own**2 * weights).T @ Z**2 - ((own * weights).T @ Z) ** 2 / weights.sum()
    squares[~(squares > 1e-3 * model.n_counted)] = np.inf
    shares = np.zeros(squares.shape, np.float32)
    for score in model.terms.on_samples(model.filter.adjoint(model.residual)).astype(np.float32).T:
        shares = np.maximum(shares, np.abs((own * score[:, None]).T @ Z) / np.sqrt(squares))
    shares[ones[:, None] == others] = 0.0
    for term in model.chosen:  # already in the model
        if term.kind == "product":
            one, other = (np.isin(model.terms.labels, g) for g in term.groups)
            for a, b in ((one, other), (other, one)):
                shares[np.ix_(a[ones], b[others])] = 0.0
    return _largest(shares, ones, others, most)


def suspicious_surfaces(model: GrowingModel, ones: np.ndarray, most: int = 8) -> list[tuple[int, int]]:
    """Return the pairs of inputs, one of them among `ones`, of which some x^i y^j correlate most with the residual.

    The powers of each input are orthogonal, so that of independent inputs the products are, too.
    """
    powers = model.terms.orthogonal_powers
    n, _, d = powers.shape
    own = powers[:, :, ones]
    strength = np.zeros((ones.size, d), np.float32)
    for score in model.terms.on_samples(model.filter.adjoint(model.residual)).astype(np.float32).T:
        sums = (own * score[:, None, None]).reshape(n, -1).T @ powers.reshape(n, -1)
        strength = np.maximum(strength, (sums.reshape(3, ones.size, 3, d) ** 2).sum(axis=(0, 2)) / (score @ score))
    strength[ones[:, None] == np.arange(d)] = 0.0
    return _largest(strength, ones, np.arange(d), most)


def _largest(values: np.ndarray, ones: np.ndarray, others: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Return the pairs of the largest of values (ones, others), each pair once."""
    place = np.argpartition(-values, min(2 * most, values.size - 1), axis=None)[: 2 * most]
    place = place[np.argsort(-values.flat[place], kind="stable")]
    pairs = zip(ones[place // others.size].tolist(), others[place % others.size].tolist(), strict=True)
    return list(dict.fromkeys((min(pair), max(pair)) for pair in pairs))[:most]
