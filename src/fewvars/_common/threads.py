"""Fits in threads, each with a single BLAS thread."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import scipy.linalg.blas  # noqa: F401  - loads the BLAS that the kernels call, so that the controller sees it
from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")

# With fewer rows, linear algebra is over so quickly that threads mostly wait for the interpreter's lock.
FEWEST_ROWS = 10_000

_lock = threading.Lock()
_active = 0
_limiter = None


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _disown_limits() -> None:
    """Allow any thread to set the next limits.

    Newer versions of threadpoolctl silently ignore all threads but the first that set one; here the first
    one in and the last one out may be any.
    """
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while any thread of this process is inside.

    Limits are global to the process: plain nested `threadpool_limits` in several threads restore each
    other's limits in the wrong order, so the first one in sets the limit and the last one out lifts it.
    """
    global _active, _limiter
    with _lock:
        if _active == 0:
            _disown_limits()
            _limiter = _controller().limit(limits=1, user_api="blas")
        _active += 1
    try:
        yield
    finally:
        with _lock:
            _active -= 1
            if _active == 0 and _limiter is not None:
                _disown_limits()
                _limiter.restore_original_limits()
                _disown_limits()
                _limiter = None


def threads_for(n_rows: int, n_jobs: int | None) -> int | None:
    """Return the number of threads for linear algebra on so many rows; networks, which are compiled, profit always."""
    return n_jobs if n_rows >= FEWEST_ROWS else 1


def in_threads(task: Callable[[T], R], items: Sequence[T], n_jobs: int | None) -> list[R]:
    """Return the task's result for each item, in order; the kernels release the interpreter's lock."""
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        return [task(item) for item in items]
    pool = ThreadPoolExecutor(n_threads)  # not a `with`: after Ctrl-C what is still waiting must not run
    try:
        return list(pool.map(task, items))
    finally:
        pool.shutdown(cancel_futures=True)
