"""Time one Adam step per training sample: ours, PyTorch, JAX, scikit-learn, and the machine's own limit.

Run with `make bench`. Every figure is the best of several repetitions on one core; only ratios within one
run mean anything. Three hidden layers of H tanh units, one output, float32, mean squared error.
PyTorch and JAX are handed ready-made batches; ours shuffles and gathers its own, as in a real fit.
"""

import argparse
import itertools
import os
import platform
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np

from fewvars.cli.bench import best_time
from fewvars.engine import kernels
from fewvars.engine.kernels import activations
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Trainer, learning_rates

DEPTH, RATE = 3, 0.001
GRID_D, GRID_H, GRID_B = (4, 40, 200, 1000), (10, 20, 80, 200), (32, 128, 1000)
BAR = (40, 20, 128)


def data(d, n):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)).astype(np.float32), rng.standard_normal((n, 1)).astype(np.float32)


def trainer(d, H, batch, n):
    network = Network(d, (H,) * DEPTH)
    samples = Samples.of(*data(d, n), dtype=np.float32)
    return Trainer(network, network.initialise(0, np.float32), samples, batch_size=batch)


def ours(d, H, batch, steps, seconds):
    fit = trainer(d, H, batch, steps * batch)
    rates = learning_rates(RATE, steps)
    return best_time(lambda: fit.adam(rates), seconds)


def pytorch(d, H, batch, steps, seconds):
    import torch

    torch.set_num_threads(1)
    X, Y = (torch.from_numpy(a).reshape(steps, batch, -1) for a in data(d, steps * batch))
    results = []
    for fused in (False, True):
        torch.manual_seed(0)
        widths = (d, *(H,) * DEPTH)
        layers = [m for i, o in itertools.pairwise(widths) for m in (torch.nn.Linear(i, o), torch.nn.Tanh())]
        model = torch.nn.Sequential(*layers, torch.nn.Linear(H, 1))
        optimiser = torch.optim.Adam(model.parameters(), lr=RATE, fused=fused)

        def run(model=model, optimiser=optimiser):
            for x, y in zip(X, Y, strict=True):
                optimiser.zero_grad()
                torch.nn.functional.mse_loss(model(x), y).backward()
                optimiser.step()

        results.append(best_time(run, seconds / 2))
    return min(results)


def jax_scan(d, H, batch, steps, seconds):
    import jax
    import jax.numpy as jnp

    X, Y = (jnp.asarray(a).reshape(steps, batch, -1) for a in data(d, steps * batch))
    network = Network(d, (H,) * DEPTH)
    start = network.initialise(0, np.float32)
    theta = [(jnp.asarray(layer.weights), jnp.asarray(layer.biases)) for layer in network.layers(start)]

    def loss(theta, x, y):
        for W, b in theta[:-1]:
            x = jnp.tanh(x @ W.T + b)
        W, b = theta[-1]
        return jnp.mean((x @ W.T + b - y) ** 2)

    tree = jax.tree_util.tree_map

    def step(state, batch_xy):
        theta, m, v, t = state
        g = jax.grad(loss)(theta, *batch_xy)
        t = t + 1
        m = tree(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = tree(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        c1, c2 = 1 - 0.9**t, 1 - 0.999**t
        theta = tree(lambda p, m, v: p - RATE * (m / c1) / (jnp.sqrt(v / c2) + 1e-8), theta, m, v)
        return (theta, m, v, t), None

    epoch = jax.jit(lambda state, X, Y: jax.lax.scan(step, state, (X, Y))[0])
    zeros = tree(jnp.zeros_like, theta)
    state = (theta, zeros, zeros, jnp.float32(0))
    return best_time(lambda: jax.block_until_ready(epoch(state, X, Y)), seconds)


def sklearn_mlp(d, H, batch, steps, seconds):
    from sklearn.neural_network import MLPRegressor

    X, Y = data(d, steps * batch)
    model = MLPRegressor(
        hidden_layer_sizes=(H,) * DEPTH, activation="tanh", batch_size=batch, max_iter=1, warm_start=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return best_time(lambda: model.fit(X, Y[:, 0]), seconds)


def peak_flops():
    """Return the single-core speed of sgemm on matrices that suit it."""
    A = np.random.default_rng(0).standard_normal((768, 768)).astype(np.float32)
    out = np.empty_like(A)
    return 2 * 768**3 / best_time(lambda: np.dot(A, A, out), 2.0)


def tanh_seconds():
    """Return the time of the vectorised tanh (with its slope) per element, in cache."""
    z = np.random.default_rng(0).standard_normal((20, 128)).astype(np.float32)
    slopes = np.empty_like(z)

    @kernels_jit
    def many(z, slopes):
        for _ in range(2000):
            activations.activate(activations.TANH, z, slopes)

    return best_time(lambda: many(z, slopes), 1.0) / (2000 * z.size)


def kernels_jit(function):
    import numba

    return numba.njit(nogil=True, fastmath=kernels.FASTMATH)(function)


def limit(d, H, batch, steps, peak, per_tanh):
    """Return the time that the arithmetic of the steps needs at the machine's peak.

    Forward and weight gradients: 2 flop per weight each; backward: 2 per weight of all layers but the first.
    """
    weights = d * H + (DEPTH - 1) * H * H + H
    flops = 2 * (3 * weights - d * H)
    return steps * batch * (flops / peak + DEPTH * H * per_tanh)


def two_threads(seconds):
    """Return the throughput of two networks trained in two threads, relative to one."""
    d, H, batch = BAR
    fits = [trainer(d, H, batch, 64 * batch) for _ in range(2)]
    rates = learning_rates(RATE, 20 * 64)

    def run(some):
        with ThreadPoolExecutor(len(some)) as pool:
            list(pool.map(lambda fit: fit.adam(rates), some))

    ratios = [2 * best_time(lambda: run(fits[:1]), seconds) / best_time(lambda: run(fits), seconds) for _ in range(3)]
    return float(np.median(ratios))


def machine():
    name = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    import jax
    import sklearn
    import torch

    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, PyTorch {torch.__version__}, "
    return f"{name}, one core of {os.cpu_count()}; {versions}JAX {jax.__version__}, scikit-learn {sklearn.__version__}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the configuration of the bars")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each measurement")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    grid = [BAR] if options.quick else list(itertools.product(GRID_D, GRID_H, GRID_B))
    peak, per_tanh = peak_flops(), tanh_seconds()
    lines = [
        "# Speed of one Adam step",
        "",
        f"{machine()}.",
        f"Peak of sgemm {peak / 1e9:.0f} GFLOP/s, vectorised tanh {per_tanh * 1e9:.2f} ns. "
        "Made by `make bench`; ratios within one run.",
        "",
        "`fewvars` in ns per training sample; then how many times longer the others take, and the share of the",
        "machine's limit that we reach.",
        "",
        "| d | H | batch | fewvars, ns | PyTorch | JAX | scikit-learn | share of the limit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    for d, H, batch in grid:
        # Enough steps to hide the calls, few enough for the large networks.
        steps = int(np.clip(2e9 / (batch * (d * H + 2 * H * H)), 4, 64))
        # In two rounds, for all alike: the machine has slow moments.
        rounds = [
            [f(d, H, batch, steps, options.seconds / 2) for f in (ours, pytorch, jax_scan, sklearn_mlp)]
            for _ in range(2)
        ]
        mine, *rivals = np.min(rounds, axis=0)
        share = limit(d, H, batch, steps, peak, per_tanh) / mine
        cells = " | ".join(f"{rival / mine:.2f}" for rival in rivals)
        lines.append(f"| {d} | {H} | {batch} | {mine / (steps * batch) * 1e9:.0f} | {cells} | {share:.2f} |")
        print(lines[-1], flush=True)
    lines += [
        "",
        f"Two threads fitting two networks: {two_threads(options.seconds):.2f} times the throughput of one.",
    ]
    print("\n".join(lines[-2:]))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
