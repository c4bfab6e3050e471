"""Systems of many units: checked parameters, couplings between units, and their graphs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fewvars._common.validation import FloatArray
from fewvars.problems.systems._base import System

# Which variables of a unit depend on which, of itself or of another, (variables, variables).
Block = Sequence[Sequence[bool]]


def freeze(system: System, *names: str) -> None:
    """Replace arrays of a frozen dataclass by copies in float64 that cannot be written to."""
    for name in names:
        copy = np.array(getattr(system, name), dtype=np.float64)
        copy.flags.writeable = False
        object.__setattr__(system, name, copy)


def checked_square(name: str, matrix: FloatArray) -> int:
    """Size d of a finite (d, d) matrix; raise when it is not one."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"{name} must be a square matrix, got shape {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be finite.")
    return matrix.shape[0]


def checked_vector(name: str, vector: FloatArray, d: int) -> None:
    """Raise unless `vector` is finite of shape (d,)."""
    if vector.shape != (d,) or not np.isfinite(vector).all():
        raise ValueError(f"{name} must be a finite vector of length {d}, got shape {vector.shape}.")


def checked_coupling(name: str, matrix: FloatArray) -> int:
    """Size n of a finite (n, n) matrix whose diagonal is zero; raise when it is not one."""
    size = checked_square(name, matrix)
    if np.diag(matrix).any():
        raise ValueError(f"{name} must have a zero diagonal: what a unit does to itself is not a coupling.")
    return size


def random_coupling(rng: np.random.Generator, size: int, neighbours: int, strength: float) -> FloatArray:
    """Matrix (size, size) with `neighbours` entries of `strength` / `neighbours` in each row, none on the diagonal."""
    if not 0 <= neighbours < size:
        raise ValueError(f"neighbours={neighbours}: give a number in 0..{size - 1}.")
    coupling = np.zeros((size, size))
    for i in range(size):
        others = np.delete(np.arange(size), i)
        coupling[i, rng.choice(others, neighbours, replace=False)] = strength / max(neighbours, 1)
    return coupling


def pull(coupling: FloatArray, u: FloatArray) -> FloatArray:
    """Σ_j K_kj (u_j - u_k) for u of shape (..., units)."""
    return u @ coupling.T - coupling.sum(axis=1) * u


def coupled_graph(own: Block, coupled: NDArray[np.bool_], pulled: Block) -> NDArray[np.bool_]:
    """Graph (d, d) of units that depend on themselves as in `own`, and on units coupled to them as in `pulled`."""
    return np.kron(np.eye(len(coupled), dtype=bool), own) | np.kron(coupled, pulled)


def interleaved(*columns: FloatArray) -> FloatArray:
    """Return u_1, v_1, u_2, v_2, ... (..., units x variables) from u, v, ... of shape (..., units)."""
    return np.stack(columns, axis=-1).reshape(*columns[0].shape[:-1], -1)


def golden_phases(size: int) -> FloatArray:
    """Angles (size,) in [0, 2 pi) a golden angle apart, which no symmetry of a graph shares."""
    return np.mod(np.arange(size) * np.pi * (3 - np.sqrt(5)), 2 * np.pi)
