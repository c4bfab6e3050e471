"""One progress bar for a fit, silent unless asked for."""

import logging
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from tqdm.contrib.logging import logging_redirect_tqdm


class Progress:
    """A bar that shows one stage of a fit after the other, and how long they took at the end; a context manager."""

    def __init__(self, verbose: int) -> None:
        self._shown = bool(verbose)
        self._bar: Any = None
        self._start = 0.0
        self._stack = ExitStack()

    def __enter__(self) -> "Progress":
        if self._shown:  # messages appear above the bar
            self._stack.enter_context(logging_redirect_tqdm([logging.getLogger("fewvars")]))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            if kind is None:
                self._bar.total, self._bar.start_t = None, self._start
                self._bar.bar_format = "fitted in {elapsed}"
            self._bar.close()
        self._stack.close()

    def stage(self, name: str, unit: str, total: int | None = None) -> None:
        """Start counting the units of another stage, of which there are `total` if that is known."""
        if not self._shown:
            return
        if self._bar is None:
            from tqdm.auto import tqdm  # late: in a notebook without widgets it warns as soon as it is imported

            # Any delay, even one below the resolution of the clock, leaves drawing to `refresh`. Drawn while it is
            # made, a bar that Ctrl-C interrupts could not be closed, and its line would stay open.
            self._bar = tqdm(delay=1e-9)
            self._start = self._bar.start_t
        self._bar.unit, self._bar.total = unit, total
        self._bar.desc = name
        self._bar.reset(total)

    def step(self) -> None:
        """Count one unit."""
        if self._bar is not None:
            self._bar.update()

    def reach(self, count: int) -> None:
        """Set the number of units done; a smaller number than before has no effect."""
        if self._bar is not None:
            self._bar.update(max(0, count - self._bar.n))
