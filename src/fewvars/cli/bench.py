"""`fewvars bench`: how fast training and a whole fit are on this machine."""

import platform
import time
from collections.abc import Callable
from typing import Any

import click

from fewvars.cli._terminal import debug_option, say, warnings_as_notes

SIZES = ((4, 10), (40, 20), (200, 80))  # inputs, units in each of three hidden layers
BATCH, N_BATCHES, RATE = 128, 64, 0.001


@click.command()
@click.option("--seconds", type=click.FloatRange(min=0), default=1.0, show_default=True, help="Time per size.")
@click.option("--rows", type=click.IntRange(min=100), default=2000, show_default=True, help="Rows of the fit.")
@click.option("--columns", type=click.IntRange(min=4), default=40, show_default=True, help="Inputs of the fit.")
@debug_option
def bench(seconds: float, rows: int, columns: int) -> None:
    """Measure how fast fewvars is on this machine: training steps at a few sizes, and one default fit.

    The comparison with PyTorch, JAX and scikit-learn is not part of the package: `make bench` runs it in
    the source repository (benchmarks/engine.py).
    """
    import os

    import numpy as np

    from fewvars._common.threads import single_blas_thread
    from fewvars._common.version import __version__
    from fewvars.estimators import FewVariablesRegressor

    say(f"fewvars {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores.")
    say(f"One Adam step, three hidden layers, batch {BATCH}, float32, one thread, best of several:")
    with single_blas_thread():
        for d, units in SIZES:
            step = best_time(training(d, units), seconds) / N_BATCHES
            say(f"  {d:>4} inputs, {units:>3} units   {step * 1e6:>8.1f} us   {BATCH / step:>12,.0f} samples/s")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    y = X[:, 0] * X[:, 1] - X[:, 2] + 0.1 * rng.standard_normal(rows)
    start = time.perf_counter()
    with warnings_as_notes():
        model = FewVariablesRegressor(random_state=0, n_jobs=-1).fit(X, y)
    spent = time.perf_counter() - start
    found = ", ".join(f"x{j}" for j in model.get_support(indices=True))
    say(f"One default fit, {rows} rows, {columns} columns, all cores: {spent:.1f} s; found {found or 'nothing'}.")
    say("Comparison with PyTorch, JAX and scikit-learn: `make bench` in the source repository.")


def training(d: int, units: int) -> Callable[[], Any]:
    """Return a function that makes one pass of Adam over fixed random data."""
    import numpy as np

    from fewvars.engine.network import Network
    from fewvars.engine.samples import Samples
    from fewvars.engine.solvers import Trainer, learning_rates

    rng = np.random.default_rng(0)
    network = Network(d, (units,) * 3)
    n = BATCH * N_BATCHES
    samples = Samples.of(rng.standard_normal((n, d)), rng.standard_normal((n, 1)), dtype=np.float32)
    trainer = Trainer(network, network.initialise(0, np.float32), samples, batch_size=BATCH)
    rates = learning_rates(RATE, N_BATCHES)
    return lambda: trainer.adam(rates)


def best_time(function: Callable[[], Any], seconds: float) -> float:
    """Return the shortest time of the repetitions that fit into `seconds`, at least three, after one that compiles."""
    function()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)
