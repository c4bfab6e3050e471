"""One decorator for all kernels: compiled once, cached on disk where possible, without the GIL."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

# Reordering sums and fusing multiply-adds lets LLVM vectorise reductions. `nnan` and `ninf`
# stay off: the training loops must be able to see that a number is not finite.
FASTMATH = {"contract", "reassoc", "nsz"}


def _forget_stale_machine_code(folder: Path) -> None:
    """Delete cached kernels when any kernel source has changed.

    Numba checks only the file of the cached function itself, so an edited helper in a neighbouring
    file would leave stale machine code in its callers.
    """
    digest = hashlib.sha256(b"".join(f.read_bytes() for f in sorted(folder.glob("*.py")))).hexdigest()
    cache = folder / "__pycache__"
    stamp = cache / "kernels.sha256"
    try:
        if stamp.is_file() and stamp.read_text() == digest:
            return
        cache.mkdir(exist_ok=True)
        for stale in cache.glob("*.nb[ic]"):
            stale.unlink(missing_ok=True)
        stamp.write_text(digest)
    except OSError:  # a read-only installation cannot change
        return


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": FASTMATH}


def jit(function: Callable[..., Any]) -> Any:
    """Compile `function` lazily, once for each element type and never for a new shape."""
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # neither the package nor the home directory can be written to
        return numba.njit(**_OPTIONS)(function)


def part_of_kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` only as part of its callers, which saves compile time."""
    return numba.njit(inline="always", **_OPTIONS)(function)


_forget_stale_machine_code(Path(__file__).parent)
