"""Independent streams of random numbers from one seed."""

import numpy as np

RESAMPLES = 1  # the first part of the key of streams that draw resamples of the blocks


def stream(seed: int, *key: int) -> np.random.Generator:
    """Return the stream of a key, whole numbers, which differs from those of other keys and of ``default_rng(seed)``.

    ``default_rng([seed, 0])`` would not do: NumPy pads seeds with zeros, so that it equals ``default_rng(seed)``.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
