"""What `fv.<tab>` shows is what the reference documents, and no name depends on what was imported before it."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import fewvars as fv

REFERENCE = (Path(__file__).parent.parent / "docs" / "api.rst").read_text()
NAMES = [name for name in dir(fv) if not name.startswith("_")]


def test_the_reference_lists_the_first_level():
    section = REFERENCE.partition("First level\n-----------\n")[2].partition("\n\nEstimators\n")[0]
    listed = re.findall(r"^\* ``fv\.(\w+)``", section, re.MULTILINE)
    assert sorted(listed) == sorted(NAMES) == sorted(fv.__all__)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'fewvars' has no attribute 'nonsense'"):
        _ = fv.nonsense


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
def test_every_name_can_be_the_first_and_all_come_in_any_order():
    """A name of each module first, in a process without any module of fewvars; all after it, forwards or backwards."""
    firsts = {fv._HOMES.get(name, name): name for name in NAMES}.values()
    script = """
        import os, sys
        import matplotlib, numba, onnx, safetensors.numpy, scipy.linalg, sklearn.base  # to be quick; none is ours
        firsts, names = sys.argv[1].split(), sys.argv[2:]
        assert not any(name.startswith("fewvars") for name in sys.modules)
        for k, name in enumerate(firsts):
            child = os.fork()
            if child == 0:
                import fewvars
                for other in [name, *names[:: 1 if k % 2 else -1]]:
                    getattr(fewvars, other)
                os._exit(0 if sorted(n for n in dir(fewvars) if n[0] != "_") == sorted(names) else 1)
            assert os.waitpid(child, 0)[1] == 0, name
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), " ".join(firsts), *NAMES],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
