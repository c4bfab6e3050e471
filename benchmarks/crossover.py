"""Where BLAS begins to beat the hand-blocked loops: both products of one layer, over its size and the batch.

Run with `.venv/bin/python -m benchmarks.crossover`; the result is `BLAS_FROM` in `fewvars/engine/kernels/layers.py`.
"""

import time

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from fewvars.engine.kernels import layers


def compiled(blas_from):
    """Compile both products with another threshold."""
    namespace = {**layers.__dict__, "BLAS_FROM": blas_from}
    options = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "reassoc", "nsz"}}
    functions = []
    for name in ("multiply", "multiply_transposed"):
        python = getattr(layers, name).py_func
        copy = type(python)(python.__code__, namespace, name)
        functions.append(numba.njit(**options)(copy))
    return functions


def repeated(function):
    @numba.njit(nogil=True)
    def run(times, *args):
        for _ in range(times):
            function(*args)

    return run


def best(run, times, *args):
    run(1, *args)
    spans = []
    for _ in range(7):
        start = time.perf_counter()
        run(times, *args)
        spans.append(time.perf_counter() - start)
    return min(spans)


def main():
    rng = np.random.default_rng(0)
    loops = [repeated(f) for f in compiled(10**9)]
    blas = [repeated(f) for f in compiled(0)]
    print("time of the loops / time of BLAS: above one, BLAS is faster")
    titles = "".join(f"{name:>26}" for name in ("W A, batch 32/128/256", "D A^T"))
    print(f"{'out':>5}{'in':>6}{'products':>10}  {titles}")
    with threadpool_limits(1):
        for n_out, n_in in ((20, 40), (20, 100), (40, 40), (20, 200), (64, 64), (80, 80), (20, 1000), (200, 200)):
            ratios = [[], []]
            for batch in (32, 128, 256):
                W = rng.standard_normal((n_out, n_in)).astype(np.float32)
                A = rng.standard_normal((n_in, batch)).astype(np.float32)
                Z = rng.standard_normal((n_out, batch)).astype(np.float32)
                bias = np.zeros(n_out, np.float32)
                times = max(1, int(2e7 / (n_out * n_in * batch)) * 10)
                for k, args in enumerate(((W, A, bias, Z), (Z, A, W))):
                    ratios[k].append(best(loops[k], times, *args) / best(blas[k], times, *args))
            cells = "".join(f"{'/'.join(f'{r:.2f}' for r in row):>26}" for row in ratios)
            print(f"{n_out:>5}{n_in:>6}{n_out * n_in:>10}  {cells}", flush=True)


if __name__ == "__main__":
    main()
