"""Studies in several processes, some of which are killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest

import fewvars as fv
from fewvars import study
from fewvars.study import Experiment, Method, Setting

pytestmark = pytest.mark.slow

FIRST = {"hidden_layer_sizes": (8, 8, 8), "n_first": 20_000}  # a few tenths of a second
SECOND = {"n_second": 400, "n_strengths": 4}
SMALL = {"n_train": 200, "n_test": 60, "d": 8}
HERE = str(Path(__file__).parent)
WAIT = 120.0  # seconds; only ever waited for when something is wrong


def network(name, estimator, choices=FIRST):
    return Method(name, name, name, estimator, tuple(choices.items()))


PLAIN = network("plain", "fewvars:NeuralRegressor")
MINI = (
    Experiment(
        "noise",
        "Noise",
        "noise",
        (Setting("noise 0.02", "equation", 3, 0.02, 0.02, **SMALL),),
        (
            network("literal", "fewvars.paper:AdaptiveGroupLassoRegressor", FIRST | SECOND),
            PLAIN,
            network("group-lasso", "fewvars:GroupLassoRegressor", FIRST | SECOND),
            Method("dictionary", "dictionary", "dictionary", "fewvars:SparseDictionaryRegressor"),
        ),
    ),
    Experiment("noiseless", "Starts", "initialisation", (Setting("none", "equation", 3, **SMALL),), (PLAIN,)),
)
REPLICATES = 2


class Fatal(fv.NeuralRegressor.__mro__[1]):
    """Kills the process that fits it."""

    def _train(self, data, configuration, seed):
        os.kill(os.getpid(), signal.SIGKILL)


class FatalOnce(fv.SparseDictionaryRegressor):
    """Kills the process that fits it unless the file is there, which it then is."""

    def __init__(self, *, file="", random_state=None):
        super().__init__()
        self.file, self.random_state = file, random_state

    def fit(self, X, y):
        if not Path(self.file).exists():
            Path(self.file).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


def comparable(rows):
    """Everything about rows but when, where and how long (and the commit: the checkout may change meanwhile)."""
    where = ("seconds", "finished", "host", "commit")
    return [{k: v for k, v in asdict(row).items() if k not in where} for row in rows]


def n_lines(folder):
    return sum(file.read_bytes().count(b"\n") for file in folder.glob("rows/*.jsonl"))


def until(condition, what, process=None, seconds=WAIT):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        assert process is None or process.poll() is None, f"the process ended before {what}"
        time.sleep(0.01)


def running(group):
    """Return the processes of a group that have not ended; nobody may have asked yet how some of them did."""
    processes = (p for p in psutil.process_iter(["status"]) if p.info["status"] != psutil.STATUS_ZOMBIE)
    return [p for p in processes if os.getpgid(p.pid) == group]


def stop(process):
    """Kill a process with its children: it leads a group."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(WAIT)


@contextmanager
def started(*arguments, **environment):
    """Run Python with arguments, in a group of processes of its own, for the time of the block."""
    paths = os.pathsep.join((HERE, os.environ.get("PYTHONPATH", "")))
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        stop(process)


@contextmanager
def cluster(folder, n_workers, *options, **environment):
    """A scheduler and workers, each a process; give the address and the processes of the workers."""
    address_file = folder / "scheduler.json"
    general = ("--no-dashboard", "--scheduler-file", str(address_file))
    with ExitStack() as stack:
        scheduler = ("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        stack.enter_context(started(*scheduler, *general, **environment))
        until(address_file.exists, "the scheduler")
        worker = ("-m", "distributed.cli.dask_worker", "--nthreads", "1", "--local-directory", str(folder))
        workers = [stack.enter_context(started(*worker, *general, *options, **environment)) for _ in range(n_workers)]
        import distributed

        with distributed.Client(scheduler_file=str(address_file), set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=WAIT)
            address = client.scheduler.address
        yield address, workers


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serial")
    return study.run(folder, experiments=MINI, replicates=REPLICATES)


def test_a_fit_that_kills_its_process_is_recorded_and_the_others_go_on(serial, tmp_path):
    """One always dies, one dies once as if killed from outside: only the first fails."""
    dies = Method("dies", "dies", "dies", "test_study_cluster:Fatal")
    file = str(tmp_path / "here")
    once = Method("once", "once", "once", "test_study_cluster:FatalOnce", (("file", file),))
    experiments = [replace(MINI[0], methods=(dies, once, *MINI[0].methods)), MINI[1]]
    rows = study.run(tmp_path / "rows", experiments=experiments, replicates=1, jobs=2)
    by_method = {row.method: row for row in rows}
    assert by_method["dies"].reason.startswith("WorkerDied")
    assert by_method["once"].fitted
    assert Path(file).exists()
    others = [row for row in rows if row.method not in ("dies", "once")]
    assert comparable(others) == comparable(row for row in serial if row.replicate == 0)


def test_processes_give_the_rows_of_one(serial, tmp_path):
    rows = study.run(tmp_path, experiments=MINI, replicates=REPLICATES, jobs=2)
    assert comparable(rows) == comparable(serial)
    assert n_lines(tmp_path) == len(serial)


SCRIPT = """
import sys
from fewvars import study
from test_study_cluster import MINI, REPLICATES
study.run(sys.argv[1], experiments=MINI, replicates=REPLICATES, jobs=2)
"""


def test_a_run_that_is_killed_goes_on_where_it_was(serial, tmp_path):
    with started("-c", SCRIPT, str(tmp_path)) as process:
        until(lambda: n_lines(tmp_path) >= 2, "two rows", process)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(WAIT)
    kept = n_lines(tmp_path)
    assert 2 <= kept < len(serial)
    # The next line, torn in the middle, as a crash of the machine may leave it.
    (file,) = tmp_path.glob("rows/*.jsonl")
    with file.open("a") as torn:
        torn.write(serial[-1].line()[:50])
    resumed = study.run(tmp_path, experiments=MINI, replicates=REPLICATES)
    assert comparable(resumed) == comparable(serial)
    assert n_lines(tmp_path) == len(serial)
    store = study.Folder(tmp_path)
    assert all((store.curve(row) is not None) == (row.replicate == 0) for row in resumed)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_run_that_is_ended_leaves_no_process(number, code, tmp_path):
    many = ("--only", "noiseless", "--methods", "plain", "--replicates", "10000", "--jobs", "2", "--quiet")
    with started("-m", "fewvars", "reproduce", "--rows", str(tmp_path), *many) as process:
        until(lambda: n_lines(tmp_path) >= 2, "two rows", process)
        process.send_signal(number)
        assert process.wait(WAIT) == code

        # A worker may have to end its fit first, which takes a while on a busy machine; there are 10,000 of them.
        until(lambda: not running(process.pid), "the end of the worker processes", seconds=60.0)


def test_dask_gives_the_same_rows_though_a_worker_is_killed(serial, tmp_path):
    folder = tmp_path / "study"
    with cluster(tmp_path, 2, "--no-nanny") as (address, workers):
        alive = []

        def kill():
            until(lambda: n_lines(folder) >= 2, "two rows")
            alive.append(n_lines(folder))
            workers[0].kill()

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        rows = study.run(folder, experiments=MINI, replicates=REPLICATES, dask=address)
        killer.join(WAIT)
        assert workers[0].wait(WAIT) == -signal.SIGKILL
        assert workers[1].poll() is None
    assert alive[0] < len(serial)  # the kill came in the middle
    assert comparable(rows) == comparable(serial)
    assert n_lines(folder) == len(serial)


def test_a_fit_that_kills_its_dask_worker_is_recorded(serial, tmp_path):
    dies = Method("dies", "dies", "dies", "test_study_cluster:Fatal")
    experiments = [replace(MINI[0], methods=(dies, *MINI[0].methods)), MINI[1]]
    # A nanny starts its worker again; one death is enough to give up.
    with cluster(tmp_path, 1, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as (address, _):
        rows = study.run(tmp_path / "study", experiments=experiments, replicates=1, dask=address)
    assert [row.method for row in rows if not row.fitted] == ["dies"]
    others = [row for row in rows if row.fitted]
    assert comparable(others) == comparable(row for row in serial if row.replicate == 0)


def test_a_cluster_of_its_own(serial, tmp_path):
    rows = study.run(tmp_path, experiments=MINI, replicates=1, dask="local", jobs=2)
    assert comparable(rows) == comparable(row for row in serial if row.replicate == 0)


def test_no_scheduler(tmp_path, monkeypatch):
    monkeypatch.setattr("fewvars._common.cluster._WAIT_SECONDS", 0.5)
    with pytest.raises(OSError, match=r"tcp://127\.0\.0\.1:9"):
        study.run(tmp_path, experiments=MINI, replicates=1, dask="tcp://127.0.0.1:9")
    assert n_lines(tmp_path) == 0
