"""Where a command puts its results: a saved model, a report, and the answer on stdout as text or JSON."""

import os
import shlex
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewvars._common.optional import require_matplotlib
from fewvars.cli._files import check_outputs, decoded
from fewvars.cli._terminal import say, say_json


@dataclass(frozen=True)
class Results:
    """Files for the model and the report, if they are wanted, and whether the answer is printed as JSON."""

    save: Path | None
    report: Path | None
    as_json: bool

    def check(self, data: str) -> None:
        """Refuse, before anything is computed, to write where that would fail in the end."""
        outputs = {"--save": self.save, "--report": self.report}
        check_outputs([data], outputs)
        if self.as_json:
            _check_stdout_is_free(outputs)
        if self.report is not None:
            require_matplotlib("A report needs")

    def deliver(
        self,
        answer: dict[str, Any],
        sentences: Callable[[dict[str, Any]], Iterable[str]],
        model: Any,
        write_report: Callable[[Path], None],
    ) -> None:
        """Write the files and print the answer, to which their names are added."""
        answer |= {"saved": None, "report": None}
        try:
            if self.save is not None:
                from fewvars.files.persistence import save

                save(model, self.save)
                answer["saved"] = str(self.save)
            if self.report is not None:
                write_report(self.report)
                answer["report"] = str(self.report)
        finally:  # print the answer even if the disk is full
            if self.as_json:
                say_json(answer)
            else:
                written = {"Model": answer["saved"], "Report": answer["report"]}
                files = [f"{what}: {path}" for what, path in written.items() if path]
                for line in (*sentences(answer), *files):
                    say(line)


def command_line() -> str:
    """Return the command that is running, as it can be pasted into a shell."""
    return shlex.join(["fewvars", *map(decoded, sys.argv[1:])])


def _check_stdout_is_free(outputs: dict[str, Path | None]) -> None:
    """Refuse to write a file to stdout, which must hold one JSON object."""
    for option, path in outputs.items():
        with suppress(OSError):  # no such file yet, or stdout is not a file
            if path is not None and os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno())):
                raise ValueError(f"{option} {path} is stdout, which --json needs for itself: name another file.")
