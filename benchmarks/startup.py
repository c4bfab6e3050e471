"""How long a user waits for the compiler: the first fit ever, and the first fit of a later process.

Run with `.venv/bin/python -m benchmarks.startup`. The first line is the difference between the first fit with an
empty cache and the same fit with a full one.
"""

import os
import subprocess
import sys
import tempfile

SCRIPT = """
import time
import numpy as np
from fewvars import FewVariablesRegressor, solvers
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
imported = time.perf_counter()
rng = np.random.default_rng(0)
X = rng.standard_normal((1000, 10))
y = X[:, 1] * X[:, 2] + X[:, 5]
samples = Samples.of(X, y, dtype=np.float32)
solvers.adam(Network(10), samples, n_updates=1)
started = time.perf_counter()
FewVariablesRegressor(random_state=0).fit(X, y)
print(started - imported, time.perf_counter() - imported)
"""


def run(cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    found = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return [float(part) for part in found.stdout.split()]


def main():
    with tempfile.TemporaryDirectory() as cache:
        _, cold = run(cache)
        warm = [run(cache) for _ in range(3)]
    print(f"compiling, first default fit after installation: {cold - min(fit for _, fit in warm):.1f} s")
    print(f"from import to the first update, later process:  {min(start for start, _ in warm):.2f} s")


if __name__ == "__main__":
    main()
