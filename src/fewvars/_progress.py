"""A progress bar for fits of unknown length, silent unless asked for."""

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

    def stage(self, name: str) -> None:
        """Start counting the steps of another stage."""
        self._close()
        if self._shown:
            self._bar = tqdm(desc=name, unit="step")

    def step(self) -> None:
        """Count one step."""
        if self._bar is not None:
            self._bar.update()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
