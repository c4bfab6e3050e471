"""Least squares on few of many columns: adding one, exchanging one for another, and leaving out the least important.

Columns are the rows of an array (p, r), so that each of them is contiguous.
"""

import numpy as np

from fewvars.engine.kernels._jit import jit


@jit
def _dot(a, b):
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@jit
def _subtract(a, factor, b):
    for i in range(a.size):
        a[i] -= factor * b[i]


@jit
def orthonormal(columns, chosen):
    """Orthonormal basis (k, r) of the span of k chosen columns, and these columns in that basis (k, k)."""
    k = chosen.size
    basis, upper = np.empty((k, columns.shape[1])), np.zeros((k, k))
    for i in range(k):
        basis[i] = columns[chosen[i]]
        for _ in range(2):  # once leaves rounding behind, twice is enough
            for h in range(i):
                share = _dot(basis[h], basis[i])
                upper[h, i] += share
                _subtract(basis[i], share, basis[h])
        upper[i, i] = np.sqrt(_dot(basis[i], basis[i]))
        if upper[i, i] > 0:
            basis[i] /= upper[i, i]
    return basis, upper


@jit
def inverse(upper):
    """Inverse of a triangular matrix (k, k)."""
    k = len(upper)
    found = np.zeros((k, k))
    for i in range(k - 1, -1, -1):
        found[i, i] = 1.0 / upper[i, i]
        for h in range(i + 1, k):
            _subtract(found[i, i + 1 :], upper[i, h] / upper[i, i], found[h, i + 1 :])
    return found


@jit
def outside(columns, target, basis, least_sizes, chosen):
    """Split target and columns into their parts inside and outside a span.

    Returns the inner parts (k,) and (k, p) in the basis; inner products (p,) of the outer parts of the columns with
    that of the target, and with themselves, where -1 marks a chosen column or one of at most its least size (p,); and
    the square of the outer part of the target.
    """
    k, p = len(basis), len(columns)
    inner_target, inner = np.empty(k), np.empty((k, p))
    left = target.copy()
    for i in range(k):
        inner_target[i] = _dot(basis[i], target)
        _subtract(left, inner_target[i], basis[i])
    products, sizes = np.empty(p), np.empty(p)
    for j in range(p):
        rest = columns[j].copy()
        for i in range(k):
            inner[i, j] = _dot(basis[i], columns[j])
            _subtract(rest, inner[i, j], basis[i])
        products[j], sizes[j] = _dot(left, rest), _dot(rest, rest)
        if sizes[j] <= least_sizes[j]:
            sizes[j] = -1.0
    for i in range(k):
        sizes[chosen[i]] = -1.0
    return inner_target, inner, products, sizes, _dot(left, left)


@jit
def fit_columns(columns, target, chosen):
    """Residual sum of squares of k chosen columns, and its rise (k,) when each of them is left out."""
    basis, upper = orthonormal(columns, chosen)
    inverted, inner, left = inverse(upper), np.empty(chosen.size), target.copy()
    for i in range(chosen.size):
        inner[i] = _dot(basis[i], target)
        _subtract(left, inner[i], basis[i])
    rises = np.empty(chosen.size)
    for i in range(chosen.size):
        rises[i] = _dot(inverted[i], inner) ** 2 / _dot(inverted[i], inverted[i])
    return _dot(left, left), rises


@jit
def best_addition(columns, target, least_sizes, chosen):
    """The column that lowers the residual sum of squares most if it is added to the chosen; -1 if there is none."""
    basis, _ = orthonormal(columns, chosen)
    _, _, products, sizes, _ = outside(columns, target, basis, least_sizes, chosen)
    best, most = -1, -1.0
    for j in range(len(columns)):
        if sizes[j] > 0 and products[j] ** 2 / sizes[j] > most:
            best, most = j, products[j] ** 2 / sizes[j]
    return best


@jit
def exchange(columns, target, least_sizes, chosen, gain, negligible):
    """Exchange one of the chosen columns for another as long as that lowers the residual sum of squares.

    `chosen` is overwritten; the residual sum of squares is returned. An exchange must lower it by a share `gain` of it
    and by more than `negligible`, so that rounding does not lead round in circles.
    """
    k, p = chosen.size, len(columns)
    while True:
        basis, upper = orthonormal(columns, chosen)
        inner_target, inner, products, sizes, residual = outside(columns, target, basis, least_sizes, chosen)
        # Without column i of the chosen, the residual gains its component along the direction that i alone spans.
        alone = inverse(upper)
        lowest, out, into = residual * (1 - gain) - negligible, -1, -1
        for i in range(k):
            alone[i] /= np.sqrt(_dot(alone[i], alone[i]))
            lost = _dot(alone[i], inner_target)
            for j in range(p):
                if sizes[j] > 0:
                    along = 0.0
                    for h in range(k):
                        along += alone[i, h] * inner[h, j]
                    found = residual + lost**2 - (products[j] + lost * along) ** 2 / (sizes[j] + along**2)
                    if found < lowest:
                        lowest, out, into = found, i, j
        if out < 0:
            return residual
        chosen[out] = into


@jit
def improved(columns, target, least_sizes, subsets, gain, negligible):
    """Improve subsets (1 + largest, largest) by growing, shrinking and exchanges.

    Row k holds a subset of k columns; -1 as its first number says that there is none. Those that are given are compared
    with those that grow from none and with those that lose one column of the next larger, each improved by exchanges.
    The last row is only a start. What is lower by less than a share `gain` or than `negligible` is not an improvement.
    """
    largest = subsets.shape[1]
    residuals = np.full(largest, np.inf)
    begun, ended = np.full_like(subsets, -1), np.full_like(subsets, -1)
    for k in range(1, largest):
        if subsets[k, 0] >= 0:
            residuals[k] = fit_columns(columns, target, subsets[k, :k])[0]
    for forward in (True, False):
        for step in range(1, largest):
            k = step if forward else largest - step
            chosen = np.empty(k, np.int64)
            if forward and (k == 1 or subsets[k - 1, 0] >= 0):
                chosen[: k - 1] = subsets[k - 1, : k - 1]
                chosen[k - 1] = best_addition(columns, target, least_sizes, chosen[: k - 1])
                if chosen[k - 1] < 0:
                    continue
            elif not forward and subsets[k + 1, 0] >= 0:
                least = np.argmin(fit_columns(columns, target, subsets[k + 1, : k + 1])[1])
                chosen[:least] = subsets[k + 1, :least]
                chosen[least:] = subsets[k + 1, least + 1 : k + 1]
            else:
                continue
            start = np.sort(chosen)
            if (start == begun[k, :k]).all() or (start == ended[k, :k]).all():
                continue
            residual = exchange(columns, target, least_sizes, chosen, gain, negligible)
            begun[k, :k], ended[k, :k] = start, np.sort(chosen)
            if residual < residuals[k] * (1 - gain) - negligible:
                subsets[k, :k], residuals[k] = chosen, residual


@jit
def elimination(upper, target, by_size):
    """In which step each column of a triangular problem (a, a), (a,) leaves: a tenth of them at a time, (a,).

    Those leave whose removal raises the residual sum of squares least or, with `by_size`, the smallest coefficients.
    """
    a = target.size
    upper, target = upper.copy(), target.copy()
    columns, steps = np.arange(a), np.empty(a, np.int64)
    step = 0
    while a:
        inverted = inverse(upper[:a, :a])
        importance = np.empty(a)
        for i in range(a):
            coefficient = _dot(inverted[i], target[:a])
            importance[i] = abs(coefficient) if by_size else coefficient**2 / _dot(inverted[i], inverted[i])
        leaving = np.sort(np.argsort(importance, kind="mergesort")[: max(1, a // 10)])
        for place in leaving[::-1]:
            steps[columns[place]] = step
            _remove(upper, target, columns, place, a)
            a -= 1
        step += 1
    return steps


@jit
def _remove(upper, target, columns, place, a):
    """Leave out one of the first a columns, and rotate the rows so that they are triangular again."""
    for j in range(place, a - 1):
        columns[j] = columns[j + 1]
        for i in range(j + 2):
            upper[i, j] = upper[i, j + 1]
    for j in range(place, a - 1):
        size = np.hypot(upper[j, j], upper[j + 1, j])
        if size == 0.0:
            continue
        c, s = upper[j, j] / size, upper[j + 1, j] / size
        for h in range(j, a - 1):
            one, other = upper[j, h], upper[j + 1, h]
            upper[j, h], upper[j + 1, h] = c * one + s * other, c * other - s * one
        one, other = target[j], target[j + 1]
        target[j], target[j + 1] = c * one + s * other, c * other - s * one
