"""Problems of the reported table, seeds 0 to 19: nothing may be chosen by looking at them."""

import numpy as np

from benchmarks.selection.problems import (
    Problem,
    binary,
    bursts,
    equicorrelated,
    growing_with_size,
    heavy,
    noise_over_time,
    over_time,
    student,
    toeplitz,
    uniform,
)


def linear_four(a, b, c, d):
    return a - 0.9 * b + 0.8 * c - 0.7 * d


def linear_six(a, b, c, d, e, f):
    return a + 0.9 * b - 0.8 * c - 0.8 * d + 0.7 * e - 0.6 * f


def linear_eight(a, b, c, d, e, f, g, h):
    return a - b + c - d + e - f + 0.7 * g - 0.7 * h


def additive_five(a, b, c, d, e):
    return 1.2 * np.tanh(2 * a) + np.sin(2.2 * b) + 0.6 * c**2 + np.exp(0.6 * d) + np.abs(e)


def additive_six(a, b, c, d, e, f):
    return np.tanh(3 * a) + 1.4 * (b > 0.3) + 0.5 * (c**2 - c) + np.sin(1.5 * d) + np.abs(e - 0.5) + 0.8 * f


def additive_three(a, b, c):
    return np.exp(0.5 * a) + 1.1 * np.tanh(2 * b) + 0.8 * np.sin(2 * c)


def friedman_like(a, b, c, d, e):
    return 8 * np.sin(2.5 * a * b) + 16 * (c - 0.4) ** 2 + 6 * d - 5 * e


def ratio(a, b, c, d):
    return (2 * a + b) / (1 + c**2) + 0.8 * d


def thresholds(a, b, c, d):
    return 1.5 * ((a > 0) & (b > -0.3)) - 1.5 * (c > 0.4) * (d < 0.6) + 0.4 * d


def mixture(a, b, c, d, e, f):
    return a * b + 0.8 * a + np.tanh(2 * c) + 0.5 * d**2 + 0.9 * e - 0.8 * f


def two_products(a, b, c, d):
    return a * b + c * d


def pendulum(a, b, c, d):
    return np.sin(1.8 * a) + 0.7 * b * c + 0.6 * c + 0.5 * np.abs(d) + 0.4 * d


def driven(a, b, c, d):
    return 1.2 * np.tanh(1.5 * a) - 0.9 * b + 0.6 * c**2 + 0.6 * np.exp(0.5 * d)


def common_mutations(a, b, c, d, e, f):
    return 1.2 * a - b + 0.9 * c - 0.8 * d + 1.4 * (e * f)


def rare_mutations(a, b, c, d, e, f):
    return 2 * a - 2 * b + 1.6 * c + 1.4 * d - 1.4 * e + 1.2 * f


def bounded(a, b, c, d):
    return np.tanh(a) + 0.8 * np.sin(b) + 0.7 * np.minimum(np.abs(c), 3) + 0.5 * d


PROBLEMS = [
    Problem("linear", 50, 10, linear_four, 3),
    Problem("linear, neighbours correlated 0.5", 100, 200, linear_four, 5, toeplitz(0.5)),
    Problem("linear", 300, 2000, linear_eight, 4),
    Problem("linear, all correlated 0.7", 400, 50, linear_six, 2, equicorrelated(0.7)),
    Problem("linear, neighbours correlated 0.9", 600, 100, linear_six, 1, toeplitz(0.9)),
    Problem("additive", 150, 20, additive_three, 10),
    Problem("additive", 300, 40, additive_five, 3),
    Problem("additive, neighbours correlated 0.5", 800, 300, additive_six, 2, toeplitz(0.5)),
    Problem("additive", 5000, 30, additive_five, 0.3),
    Problem("additive, all correlated 0.9", 2000, 20, additive_three, 3, equicorrelated(0.9)),
    Problem("Friedman-like, uniform inputs", 250, 75, friedman_like, 5, uniform),
    Problem("ratio, neighbours correlated 0.3", 500, 24, ratio, 10, toeplitz(0.3)),
    Problem("thresholds", 1500, 60, thresholds, 2),
    Problem("products and curves", 1000, 1000, mixture, 5),
    Problem("pure products", 3000, 1000, two_products, 4, tags=("products",)),
    Problem("pure products", 600, 70, two_products, 3, tags=("products",)),
    Problem(
        "rows correlated 0.95, times known", 2000, 30, pendulum, 2, over_time(0.95), noise_over_time(0.95), timed=True
    ),
    Problem("rows correlated 0.8", 600, 50, driven, 2, over_time(0.8), noise_over_time(0.8)),
    Problem("binary, half ones", 400, 100, common_mutations, 1.5, binary(0.5)),
    Problem("binary, 0.03 ones", 800, 150, rare_mutations, 2, binary(0.03)),
    Problem("noise t2", 1000, 50, additive_five, 3, noise=heavy),
    Problem("inputs t3", 700, 36, bounded, 3, student(3)),
    Problem("noise in bursts", 1600, 64, additive_six, 0.7, noise=bursts),
    Problem("unequal noise", 400, 32, additive_three, 1.5, noise=growing_with_size),
    Problem("null", 50, 200, None, None),
    Problem("null, neighbours correlated 0.8", 1000, 100, None, None, toeplitz(0.8)),
    Problem("null, noise t2", 2000, 12, None, None, noise=heavy),
    Problem("null, rows correlated 0.95", 900, 30, None, None, over_time(0.95), noise_over_time(0.95)),
]
