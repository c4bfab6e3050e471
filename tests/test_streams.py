"""Streams of random numbers: none repeats another."""

from itertools import product

import numpy as np

from fewvars import FewVariablesRegressor
from fewvars._common.streams import stream
from fewvars._common.validation import check_seed
from fewvars.estimators.preparation import Prepared
from problems import QUADRATIC, product_and_line


def numbers(rng):
    return tuple(rng.integers(2**32, size=4).tolist())


def test_streams_differ_from_each_other_and_from_the_plain_seed():
    keys = [key for length in (1, 2, 3) for key in product(range(3), repeat=length)]
    found = [numbers(stream(7, *key)) for key in keys]
    plain = [numbers(np.random.default_rng(entropy)) for entropy in (7, [7, 1], [7, 2])]
    assert len({*found, *plain}) == len(found) + len(plain)
    assert numbers(np.random.default_rng([7, 0])) == plain[0]  # why keys do not simply follow the seed


def test_resamples_do_not_repeat_the_stream_that_mixed_the_rows(monkeypatch):
    drawn = []

    def resampled(self, rng, n_blocks):
        drawn.append(numbers(rng))
        return self.problem

    monkeypatch.setattr(Prepared, "resampled", resampled)
    FewVariablesRegressor(**QUADRATIC, n_resamples=3).fit(*product_and_line(n=100))
    seed = check_seed(QUADRATIC["random_state"])
    tests_of_inputs = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(8))
    others = {numbers(np.random.default_rng(seed)), *map(numbers, tests_of_inputs)}
    assert len(set(drawn)) == 3
    assert not others & set(drawn)
