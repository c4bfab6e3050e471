"""Problems on which settings are chosen, with seeds from 100: no function, shape or seed is that of a reported one."""

import numpy as np

from benchmarks.selection.problems import (
    Problem,
    binary,
    equicorrelated,
    growing,
    heavy,
    lognormal,
    noise_over_time,
    over_time,
    toeplitz,
)


def three_lines(a, b, c):
    return 1.2 * a - b + 0.7 * c


def five_lines(a, b, c, d, e):
    return a + b - c + 0.8 * d - 0.8 * e


def seven_lines(a, b, c, d, e, f, g):
    return a - b + c - d + 0.8 * (e - f) + 0.6 * g


def five_curves(a, b, c, d, e):
    return 1.5 * np.arctan(2 * a) + np.cos(2 * b) + np.maximum(c, 0) * 1.5 + d**3 / 4 + 0.8 * e


def four_curves(a, b, c, d):
    return np.log1p(np.exp(2 * a)) + 2 * np.exp(-(b**2)) + np.sign(c) * np.sqrt(np.abs(c)) + np.sin(d)


def bump_and_products(a, b, c, d, e):
    return 2 * np.exp(-((a - b) ** 2)) + c * (1 + d) + 1.2 * np.arctan(3 * e)


def chained_products(a, b, c):
    return a * b - b * c


def three_products(a, b, c, d, e, f):
    return a * b + c * d - e * f


def forced(a, b, c):
    return np.sin(1.5 * a) + b + 0.5 * b * c + 0.7 * c


def saturating(a, b, c):
    return np.arctan(2 * a) + 1.2 * np.tanh(b) ** 2 + 0.8 * c


def genotype(a, b, c, d, e):
    return a - b + 0.8 * c + 1.5 * d * e


def rare_genotype(a, b, c, d):
    return 1.5 * a - 1.5 * b + c + d


PROBLEMS = [
    Problem("lines", 60, 15, three_lines, 4),
    Problem("lines, neighbours correlated 0.3", 250, 400, seven_lines, 3, toeplitz(0.3)),
    Problem("lines", 200, 1500, five_lines, 6),
    Problem("lines, all correlated 0.5", 300, 80, five_lines, 1.5, equicorrelated(0.5)),
    Problem("curves", 350, 60, five_curves, 3),
    Problem("curves", 4000, 25, four_curves, 0.4),
    Problem("curves, all correlated 0.85", 1200, 30, four_curves, 4, equicorrelated(0.85)),
    Problem("bump and products, neighbours correlated 0.7", 900, 120, bump_and_products, 5, toeplitz(0.7)),
    Problem("pure products", 2500, 700, three_products, 5, tags=("products",)),
    Problem("pure products", 500, 40, chained_products, 4, tags=("products",)),
    Problem("rows correlated 0.9, times known", 1500, 20, forced, 2, over_time(0.9), noise_over_time(0.9), timed=True),
    Problem("rows correlated 0.7", 500, 45, forced, 3, over_time(0.7), noise_over_time(0.7)),
    Problem("binary, 0.3 ones", 450, 80, genotype, 2, binary(0.3)),
    Problem("binary, 0.05 ones", 700, 120, rare_genotype, 2.5, binary(0.05)),
    Problem("noise t2", 800, 35, five_curves, 3, noise=heavy),
    Problem("lognormal inputs", 600, 55, saturating, 4, lognormal),
    Problem("unequal noise", 1300, 45, four_curves, 1, noise=growing),
    Problem("null", 80, 150, None, None),
    Problem("null, rows correlated 0.9", 800, 25, None, None, over_time(0.9), noise_over_time(0.9)),
]
