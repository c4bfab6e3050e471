"""Progress bars for the stages of a fit, silent unless asked for."""

from types import TracebackType
from typing import Any

from tqdm.auto import tqdm


class Progress:
    """One bar for each stage of a fit; a context manager."""

    def __init__(self, verbose: int) -> None:
        self._shown = bool(verbose)
        self._bar: Any = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def stage(self, name: str, unit: str, total: int | None = None) -> None:
        """Start counting the units of another stage, of which there are `total` if that is known."""
        self._close()
        if self._shown:
            # Any delay, even one below the resolution of the clock, leaves drawing to `refresh`. Drawn while it is
            # made, a bar that Ctrl-C interrupts could not be closed, and its line would stay open.
            self._bar = tqdm(desc=name, unit=unit, total=total, delay=1e-9)
            self._bar.refresh()

    def step(self) -> None:
        """Count one unit."""
        if self._bar is not None:
            self._bar.update()

    def reach(self, count: int) -> None:
        """Say that so many units are done; fewer than before are as many."""
        if self._bar is not None:
            self._bar.update(max(0, count - self._bar.n))

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
