"""The Lipschitz constant of the loss's gradient (Theorem 3): as printed, rigorous, and measured."""

import numpy as np

from fewvars._common.validation import FloatArray, check_choice, check_real, check_whole
from fewvars.engine.losses import SQUARED
from fewvars.engine.solvers import Objective

# Largest |s|, |s'| and |s''| of each activation that has all three: tanh'' = -2 t (1 - t^2) is extreme at
# t^2 = 1/3, and sigmoid(z) = 1/2 + 1/2 tanh(z/2).
SLOPES = {
    "tanh": (1.0, 1.0, 4.0 / (3.0 * np.sqrt(3.0))),
    "sigmoid": (1.0, 0.25, 1.0 / (6.0 * np.sqrt(3.0))),
    "sin": (1.0, 1.0, 1.0),
}


def lipschitz_constant(objective: Objective, outer_bound: float, *, form: str = "rigorous") -> float:
    """Return a constant C with |gradient(theta) - gradient(phi)| <= C |theta - phi| on a box.

    The gradient is that of the smooth part, L + ridge with L = sum_i w_i |F(x_i) - y_i|^2 / sum_i w_i, for a
    network with one hidden layer. The box holds every theta whose outer layer, weights *and* biases, has no entry
    larger than `outer_bound` in absolute value; the first layer is unrestricted.

    Parameters
    ----------
    outer_bound : float
        The paper's C_1.
    form : {"rigorous", "printed"}
        "printed" is Theorem 3 as it stands in the paper. It omits y, the ridge, and the factor 2 between |r|^2 and
        |r|^2 / 2, so the gradient can change faster. "rigorous" bounds the operator norm of the Hessian.

    Notes
    -----
    With x^ = (x, 1), h units, k outputs, weights p_i = w_i / sum w, and M[q] the largest eigenvalue of
    sum_i q_i x^_i x^_i^T, the Hessian along a change (P, Q) of the two layers is

        2 sum_i p_i (|dF_i|^2 + r_i . d2F_i),
        dF = Q s^ + W_2 (s' * P x^),   d2F = 2 Q (s' * P x^) + W_2 (s'' * (P x^)^2).

    On the box |r_ic| <= C_1 (h |s| + 1) + |y_ic| =: b_ic. By Minkowski and Cauchy-Schwarz the sum is at most
    the quadratic form, in (|P|, |Q|), of the matrix

        [a^2 + C_1 |s''| M[p |b|_1]    a S + |s'| m]        a = C_1 |s'| sqrt(k h M[p])      S^2 = h |s|^2 + 1
        [a S + |s'| m                  S^2         ]        m^2 = M[p |b|_2] sum_i p_i |b_i|_2

    and C is twice its largest eigenvalue, plus twice the larger ridge.
    """
    if objective.samples.loss != SQUARED:
        raise ValueError(f"loss={objective.samples.loss!r}: Theorem 3 is for squared error.")
    check_real("outer_bound", outer_bound)
    check_choice("form", form, ("rigorous", "printed"))
    size, slope, bend = _slopes(objective)
    _, h, k = (int(n) for n in objective.network.sizes)
    samples = objective.samples
    X = np.column_stack([samples.X.astype(np.float64), np.ones(len(samples))])
    if form == "printed":
        x = np.sqrt((X**2).sum(axis=1).max())
        root = np.sqrt(outer_bound**2 * k * (h + 1) * x**2 + 1.0)
        return float(2 * (h + 1) * (outer_bound * np.sqrt(k) * x + 1.0) * root)

    def top(q: FloatArray) -> float:
        """Return the largest eigenvalue of sum_i q_i x^_i x^_i^T."""
        return float(np.linalg.eigvalsh((X * q[:, None]).T @ X)[-1])

    p = samples.weights.astype(np.float64) / samples.weights.sum(dtype=np.float64)
    b = outer_bound * (h * size + 1.0) + np.abs(samples.Y.astype(np.float64))
    residual, absolute = np.linalg.norm(b, axis=1), b.sum(axis=1)
    a, S = outer_bound * slope * np.sqrt(k * h * top(p)), np.sqrt(h * size**2 + 1.0)
    cross = a * S + slope * np.sqrt(top(p * residual) * (p @ residual))
    inner = a**2 + outer_bound * bend * top(p * absolute)
    return float(2.0 * np.linalg.eigvalsh([[inner, cross], [cross, S**2]])[-1] + 2.0 * objective.ridge.max())


def _slopes(objective: Objective) -> tuple[float, float, float]:
    """Return the bounds on the activation and its derivatives; raise an error if there are none."""
    network = objective.network
    if len(network.widths) != 1:
        raise ValueError(
            f"the network has {len(network.widths)} hidden layers: Theorem 3 is for one. "
            "Use `local_lipschitz`, which works for any depth, but measures the constant at one point only."
        )
    (name,) = network.activation
    if name not in SLOPES:
        raise ValueError(
            f"activation={name!r}: Theorem 3 needs |s|, |s'| and |s''| to be at most 1 everywhere, but "
            f"{_FAULTS[name]}. Choose one of {', '.join(map(repr, SLOPES))}."
        )
    return SLOPES[name]


_FAULTS = {
    "relu": "relu is unbounded and has a kink",
    "softplus": "softplus is unbounded",
    "identity": "the identity is unbounded",
}


def local_lipschitz(
    objective: Objective, theta: FloatArray, *, max_iterations: int = 500, tolerance: float = 1e-6, seed: int = 0
) -> float:
    """Return the norm of the Hessian of L + ridge at theta, for networks of any depth without relu.

    Power iteration on products of the Hessian with a vector, each a central difference of two gradients. The
    estimates approach the norm from below; the iteration ends when they rise by less than the relative tolerance.
    """
    check_whole("max_iterations", max_iterations)
    check_real("tolerance", tolerance)
    if "relu" in objective.network.activation:
        raise ValueError(
            "activation='relu': the gradient jumps and has no Lipschitz constant. Choose a smooth activation."
        )
    theta = np.asarray(theta, np.float64)
    direction = np.random.default_rng(seed).standard_normal(theta.size)
    # Balances the error of a central difference (shift squared) against rounding (1e-16 / shift).
    shift = np.finfo(float).eps ** (1 / 3) * (1.0 + np.abs(theta).max())
    estimate = 0.0
    for _ in range(max_iterations):
        direction /= np.linalg.norm(direction)
        ahead, behind = (objective.smooth(theta + sign * shift * direction)[1] for sign in (1.0, -1.0))
        direction = (ahead - behind) / (2.0 * shift)
        before, estimate = estimate, float(np.linalg.norm(direction))
        if estimate <= (1.0 + tolerance) * before:
            return max(before, estimate)
    return estimate
