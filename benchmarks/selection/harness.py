"""Fits in processes that can be killed: a fit that takes too long, or dies, is a row that says so."""

import contextlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fewvars as fv
from benchmarks.rows import Row, collect, read, source_digest
from benchmarks.selection import registry

ROOT = Path(__file__).parents[2]
COMMAND = ("-m", "benchmarks.selection.worker")
TIME_LIMIT = 600.0
START_LIMIT = 600.0  # imports and compilation
PATIENCE = 3.0  # seconds of the clock for each of the processor, before a fit is killed
GIVE_UP = 2  # timeouts of a method on a problem, after which its other seeds are not tried
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def processor_seconds(pid: int) -> float:
    """Return how long a process has computed, so that other work on the machine is not held against it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # other systems: only the clock counts
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class CannotRun(RuntimeError):
    """A method cannot be run here at all, which is not a result."""


class Worker:
    """A process that answers one key at a time; it is killed when an answer takes too long, and started when needed."""

    def __init__(self, method: str, source: Path | None = None, data: Path | None = None):
        self.method, self.source, self.data = method, source, data
        self.process: subprocess.Popen | None = None
        self.version = ""

    def ask(self, key: Row, limit: float) -> Row:
        """Return the row of a key, or why there is none."""
        if self.process is None:
            self._start()
        answer = self._exchange(key, limit)
        if answer is None:
            died = self.process.poll() is not None
            self.stop()
            answer = {"failure": "the process died"} if died else {"failure": "timeout", "limit": limit}
        return answer | {"version": self.version}

    def _start(self) -> None:
        folders = [str(self.source)] if self.source else [str(Path(fv.__file__).parents[1])]
        path = os.pathsep.join([*folders, str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [sys.executable, *COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("SELECTION_VERBOSE") else subprocess.DEVNULL,
            env=os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": path},
            start_new_session=True,
        )
        answer = self._exchange({"method": self.method, "data": str(self.data) if self.data else None}, START_LIMIT)
        if answer is None or "failure" in answer:
            self.stop()
            reason = answer["failure"] if answer else "it did not start"
            raise CannotRun(f"{self.method} cannot run: {reason}. Rivals are installed by `make .venv-bench/.bench`.")
        self.version = answer["version"]
        if self.source and Path(answer["package"]).parent != self.source.resolve():
            self.stop()
            raise CannotRun(f"{self.method} took fewvars from {answer['package']}, not from {self.source}")

    def _exchange(self, message: Any, limit: float) -> Row | None:
        """Return the answer to a message, None if there was none in time or the process died."""
        process = self.process
        try:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            process.wait()
            return None
        line = process.stdout.readline() if self._ready(limit) else b""
        if not line and select.select([process.stdout], [], [], 0)[0]:
            process.wait()  # the pipe is at its end: it died
        return json.loads(line) if line else None

    def _ready(self, limit: float) -> bool:
        """Wait for an answer while less than `limit` processor seconds, and `PATIENCE` times that, have passed."""
        start, busy = time.monotonic(), processor_seconds(self.process.pid)
        while time.monotonic() - start < PATIENCE * limit and processor_seconds(self.process.pid) - busy < limit:
            if select.select([self.process.stdout], [], [], min(limit, 1.0))[0]:
                return True
        return False

    def stop(self) -> None:
        """Kill the process and what it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()  # closes the pipes
            self.process = None


@dataclass
class Runner:
    """Rows of one method, from a pool of workers; `source` is the folder its fewvars is imported from, if another."""

    method: str
    file: Path
    jobs: int = 1
    limit: float = TIME_LIMIT
    source: Path | None = None
    data: Path | None = None
    workers: queue.LifoQueue = field(default_factory=queue.LifoQueue)
    timeouts: Counter = field(default_factory=Counter)

    def rows(self, problems: list[Any], seeds: range, *, fresh: bool = False, retry: bool = False) -> list[Row]:
        """Return a row for every problem and seed, those missing made now; with `retry`, failed ones are made again."""
        keys = [{"problem": p.name, "method": self.method, "seed": seed} for seed in seeds for p in problems]
        by_name = {problem.name: problem for problem in problems}
        if not retry:
            last = {(row["problem"], row["seed"]): row for row in read(self.file)}
            self.timeouts.update(name for (name, _), row in last.items() if row.get("failure") == "timeout")
        started = [Worker(self.method, self.source, self.data) for _ in range(self.jobs)]
        for worker in started:
            self.workers.put(worker)
        try:
            return collect(
                self.file,
                self.fit,
                keys,
                n_jobs=self.jobs,
                fresh=fresh,
                code=lambda key: self.digest(by_name[key["problem"]]),
                valid=(lambda row: "failure" not in row) if retry else None,
                threads=True,
            )
        finally:
            for worker in started:
                worker.stop()

    def fit(self, problem: str, method: str, seed: int) -> Row:
        """Return the row of one fit."""
        if self.timeouts[problem] >= GIVE_UP:
            return {"failure": "not tried", "reason": f"{GIVE_UP} fits of this method to this problem timed out"}
        worker = self.workers.get()
        try:
            row = worker.ask({"problem": problem, "method": method, "seed": seed}, self.limit)
        finally:
            self.workers.put(worker)
        self.timeouts[problem] += row.get("failure") == "timeout"
        return row

    def digest(self, problem: Any) -> str:
        """Return what changes with the code a row depends on: problem and method, and fewvars only for our own."""
        method = registry.METHODS[self.method]
        package = None
        if method.ours:
            package = self.source / "fewvars" if self.source else Path(fv.__file__).parent
        return source_digest([*problem.source, *method.source], package)
