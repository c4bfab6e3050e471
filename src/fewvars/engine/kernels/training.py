"""The training loop: Adam, or proximal gradient with momentum, without Python between the steps.

The loop runs one step for each learning rate and then returns, so that its caller can be interrupted between two
calls. The caller keeps the state in arrays: `clock` = (batches done in this epoch, updates in total), `random` =
(state of the generator), `order` = (order of the samples in this epoch).
"""

import math

import numpy as np

from fewvars.engine.kernels._jit import jit, part_of_kernel
from fewvars.engine.kernels.evaluation import add_ridge, loss_gradient
from fewvars.engine.kernels.passes import workspace
from fewvars.engine.kernels.proximal import shrink_groups

ADAM, MOMENTUM = range(2)
FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8


@part_of_kernel
def shuffle(order, random):
    """Shuffle in place (Fisher and Yates) with Marsaglia's 64-bit xorshift generator."""
    x = random[0]
    for i in range(order.size - 1, 0, -1):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        j = x % np.uint64(i + 1)
        order[i], order[j] = order[j], order[i]
    random[0] = x


@part_of_kernel
def next_batch(n_batches, order, clock, random):
    """Return (start, stop) of the next mini-batch; they differ in size by one sample at most."""
    if clock[0] == n_batches:
        clock[0] = 0
    if clock[0] == 0:
        shuffle(order, random)
    k, n = clock[0], order.size
    clock[0] += 1
    return k * n // n_batches, (k + 1) * n // n_batches


@part_of_kernel
def all_finite(theta):
    """Return whether all parameters are finite."""
    # Zero times x is zero unless x is infinite or NaN. A difference x - x would not do: LLVM, which is allowed to
    # reorder sums, cancels it.
    zero = theta.dtype.type(0)
    total = zero
    for i in range(theta.size):
        total += zero * theta[i]
    return math.isfinite(total)


@part_of_kernel
def copy(source, target):
    """Write the entries of `source` into `target`."""
    for i in range(source.size):
        target[i] = source[i]


@part_of_kernel
def adam_update(theta, grad, first, second, rate, count):
    """Make one step of Adam (Kingma and Ba, 2015)."""
    real = theta.dtype.type
    keep_1, keep_2, epsilon = real(FIRST_DECAY), real(SECOND_DECAY), real(EPSILON)
    new_1, new_2 = real(1.0 - FIRST_DECAY), real(1.0 - SECOND_DECAY)
    rate_1 = real(rate / (1.0 - FIRST_DECAY**count))
    root_2 = real(1.0 / math.sqrt(1.0 - SECOND_DECAY**count))
    for i in range(theta.size):
        g = grad[i]
        m = keep_1 * first[i] + new_1 * g
        v = keep_2 * second[i] + new_2 * (g * g)
        first[i], second[i] = m, v
        theta[i] -= rate_1 * m / (np.sqrt(v) * root_2 + epsilon)


@part_of_kernel
def momentum_update(theta, grad, velocity, rate, momentum):
    """v <- momentum v + g,  theta <- theta - rate v."""
    step, keep = theta.dtype.type(rate), theta.dtype.type(momentum)
    for i in range(theta.size):
        velocity[i] = keep * velocity[i] + grad[i]
        theta[i] -= step * velocity[i]


@jit
def train(
    theta, sizes, codes, X, Y, weights, loss, ridge, rates, n_batches, order, clock, random, losses,
    optimiser, first, second, momentum, layer, labels, thresholds,
):  # fmt: skip
    """Run one step for each learning rate; return the number of steps done.

    It stops early only if a loss or a parameter stops being finite, and leaves the last finite `theta`.
    After each step comes the prox of tau J on the weights of the given layer, J = sum_g thresholds[g] norm_g
    over groups of columns (no thresholds: no prox).
    With momentum, tau = rate / (1 - momentum), the step that a constant gradient makes in the long run.
    """
    work = workspace(theta, sizes, order.size // n_batches + 1)
    grad, part, previous = np.empty_like(theta), np.empty_like(theta), theta.copy()
    place = 0
    for k in range(layer):
        place += (sizes[k] + 1) * sizes[k + 1]
    W = theta[place : place + sizes[layer] * sizes[layer + 1]].reshape(sizes[layer + 1], sizes[layer])
    for step in range(rates.size):
        start, stop = next_batch(n_batches, order, clock, random)
        losses[step] = loss_gradient(theta, sizes, codes, X, Y, weights, loss, order, start, stop, work, grad, part)
        if not math.isfinite(losses[step]):
            return step
        add_ridge(theta, sizes, ridge, grad)
        clock[1] += 1
        if optimiser == ADAM:
            adam_update(theta, grad, first, second, rates[step], clock[1])
        else:
            momentum_update(theta, grad, first, rates[step], momentum)
        # Checked before the prox, which is meaningless for numbers that are not finite.
        if not all_finite(theta):
            copy(previous, theta)
            return step
        if thresholds.size > 0:
            shrink_groups(W, labels, thresholds, rates[step] / (1.0 - momentum))
        copy(theta, previous)
    return rates.size
