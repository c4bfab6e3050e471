"""Functions whose variables are known: the targets of the paper's experiments (Sec. 4.2 to 4.5)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewvars._common.validation import FloatArray
from fewvars.problems.systems import Lorenz96

_Function = Callable[[FloatArray], FloatArray]


@final
@dataclass(frozen=True, eq=False)
class Target:
    """A function of d inputs together with what it depends on.

    Parameters
    ----------
    name : str
        Short name for tables.
    support : ndarray of bool, shape (d,)
        True for the inputs on which the function depends.
    function : callable
        Maps an array (n, d) to an array (n,).
    directions : ndarray of shape (k, d), optional
        Rows that span the smallest space of linear combinations on which the function depends; given only
        for targets made to have few of them.
    """

    name: str
    support: NDArray[np.bool_]
    function: _Function
    directions: FloatArray | None = None

    def __call__(self, X: ArrayLike) -> FloatArray:
        """Value (n,) of the function at the rows of X (n, d)."""
        values = np.asarray(X, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != self.support.size:
            raise ValueError(f"X must have shape (n, {self.support.size}), got {values.shape}.")
        return self.function(values)


def lorenz_equation(j: int, d: int = 40, forcing: float = 8.0) -> Target:
    """Right-hand side of the j-th Lorenz-96 equation, j counted from one as in the paper.

    ``lorenz_equation(25)`` is -x23 x24 + x24 x26 - x25 + 8 (Sec. 4.2), ``lorenz_equation(10)`` is the
    target of Sec. 4.3. Indices wrap around the ring.
    """
    system = Lorenz96(d, forcing)
    if not 1 <= j <= d:
        raise ValueError(f"j counts the equations from 1 to {d}, got {j}.")
    return Target(f"Lorenz-96 equation {j}", system.graph[j - 1], partial(_equation, system, j - 1))


def paper_setting(number: int, d: int = 40) -> Target:
    """Non-polynomial function of Sec. 4.4, of the variables x16, x17, x18 and x19.

    1: (|x19|^(4/3) - |x16|^(4/3)) |x17|^(4/3) - |x18|^(4/3) + 8;
    2: (exp(x19/50) - exp(x16/50)) exp(x17/50) - exp(x18/50) + 8;
    3: (exp(x19/10) - |x16|^(2/3)) x17 - |x18|^(4/5) + 8.

    The paper writes x^(4/3), x^(2/3) and x^(4/5) of variables that change sign. Their numerators are
    even, so the real-valued reading is a power of the absolute value.
    """
    if number not in _SETTINGS:
        raise ValueError(f"number must be 1, 2 or 3, got {number!r}.")
    if d < 19:
        raise ValueError(f"d must be at least 19, as the settings use x16 to x19; got {d}.")
    support = np.zeros(d, dtype=bool)
    support[15:19] = True
    return Target(f"setting {number}", support, _SETTINGS[number])


def few_directions(seed: int = 0, d: int = 40) -> Target:
    """g(Ax) with g(z) = (z4 - z1) z2 - z3 + 8 and A (4, d) standard normal (Sec. 4.5).

    A is ``numpy.random.default_rng(seed).standard_normal((4, d))``; the paper's text says 4 x 50 for
    inputs in R^40, its caption 4 x 40. The function depends on three directions, not four: the rows of
    `directions` are a4 - a1, a2 and a3, the last much weaker than the first two on Lorenz-96 data.
    """
    if d < 1:
        raise ValueError(f"d must be at least 1, got {d}.")
    matrix = np.random.default_rng(seed).standard_normal((4, d))
    directions = np.stack((matrix[3] - matrix[0], matrix[1], matrix[2]))
    support = np.ones(d, dtype=bool)
    return Target(f"four directions, seed {seed}", support, partial(_of_directions, matrix), directions)


# Module-level functions rather than closures: targets can be pickled and sent to other processes.


def _equation(system: Lorenz96, i: int, X: FloatArray) -> FloatArray:
    d = system.d
    return (X[:, (i + 1) % d] - X[:, i - 2]) * X[:, i - 1] - X[:, i] + system.forcing


def _setting_1(X: FloatArray) -> FloatArray:
    x16, x17, x18, x19 = np.abs(X[:, 15:19].T) ** (4 / 3)
    return (x19 - x16) * x17 - x18 + 8.0


def _setting_2(X: FloatArray) -> FloatArray:
    x16, x17, x18, x19 = np.exp(X[:, 15:19].T / 50)
    return (x19 - x16) * x17 - x18 + 8.0


def _setting_3(X: FloatArray) -> FloatArray:
    x16, x17, x18, x19 = X[:, 15:19].T
    return (np.exp(x19 / 10) - np.abs(x16) ** (2 / 3)) * x17 - np.abs(x18) ** (4 / 5) + 8.0


def _of_directions(matrix: FloatArray, X: FloatArray) -> FloatArray:
    z = X @ matrix.T
    return (z[:, 3] - z[:, 0]) * z[:, 1] - z[:, 2] + 8.0


_SETTINGS: dict[int, _Function] = {1: _setting_1, 2: _setting_2, 3: _setting_3}
