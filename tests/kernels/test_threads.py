"""One BLAS thread inside, the original number again outside, whoever comes and goes in between."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from fewvars._common.threads import _controller, single_blas_thread
from fewvars.engine import network as network_module
from fewvars.engine.network import Network


def _blas_threads():
    return {library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_threads():
    # More than one also on a machine with one core, so that there is something to restore.
    with threadpool_limits(limits=2, user_api="blas"):
        assert _blas_threads() == {2}
        yield
        assert _blas_threads() == {2}


def test_nested():
    with single_blas_thread():
        assert _blas_threads() == {1}
        with single_blas_thread():
            assert _blas_threads() == {1}
        assert _blas_threads() == {1}
    assert _blas_threads() == {2}


def test_an_exception_restores_as_well():
    with pytest.raises(KeyError), single_blas_thread(), single_blas_thread():
        raise KeyError
    assert _blas_threads() == {2}


def test_the_first_in_may_be_the_first_out():
    # The order in which plain nested limits go wrong: in, in, first out, second out.
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()
    seen = []

    def first():
        with single_blas_thread():
            first_in.set()
            second_in.wait()
        first_out.set()

    def second():
        first_in.wait()
        with single_blas_thread():
            second_in.set()
            first_out.wait()
            seen.append(_blas_threads())

    with ThreadPoolExecutor(2) as pool:
        for done in (pool.submit(first), pool.submit(second)):
            done.result(timeout=60)
    assert seen == [{1}]
    assert _blas_threads() == {2}


def test_many_at_once():
    def work(seed):
        pause = random.Random(seed)
        seen = set()
        for _ in range(20):
            with single_blas_thread():
                time.sleep(pause.random() * 1e-3)
                seen |= _blas_threads()
        return seen

    with ThreadPoolExecutor(6) as pool:
        assert set().union(*pool.map(work, range(6))) == {1}
    assert _blas_threads() == {2}


def test_predictions_use_one_thread(monkeypatch):
    seen = []
    kernel = network_module.kernels.predict

    def spy(*arguments):
        seen.append(_blas_threads())
        kernel(*arguments)

    monkeypatch.setattr(network_module.kernels, "predict", spy)
    network = Network(3, (4,))
    network.predict(network.initialise(0), np.ones((5, 3)))
    assert seen == [{1}]
