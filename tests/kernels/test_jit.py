"""The cache of compiled kernels: none where nothing can be written, fresh when a source changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import fewvars
from fewvars.engine.kernels import _jit

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="there is no cache without compilation")


def _run(code, path, home):
    """Run code in a new interpreter that looks for packages in `path` first."""
    env = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    env |= {"PYTHONPATH": str(path), "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@compiled_only
def test_a_read_only_installation_without_a_home_works(tmp_path):
    # Permissions do not bind the superuser. A file where a folder is wanted stops everybody.
    package = tmp_path / "site" / "fewvars"
    shutil.copytree(Path(fewvars.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "engine" / "kernels" / "__pycache__").write_text("")
    home = tmp_path / "home"
    home.write_text("")
    # All kernels are decorated on import; the smallest one is compiled.
    code = f"""
import numpy as np
import fewvars.engine.network
from fewvars.engine.kernels import layers, predict

assert fewvars.__file__.startswith({str(tmp_path)!r}), fewvars.__file__
sums = np.empty(2)
layers.row_sums(np.array([[1.0, 2.0], [3.0, 4.0]]), sums)
print(*sums, len(layers.row_sums.signatures), layers.row_sums.stats.cache_path, predict.stats.cache_path)
"""
    assert _run(code, package.parent, home) == "3.0 7.0 1 None None"


@compiled_only
def test_compiling_is_announced_once_and_only_when_it_happens(tmp_path):
    package = tmp_path / "site" / "fewvars"
    shutil.copytree(Path(fewvars.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    code = """
import logging, sys
import numpy as np
from fewvars.engine.kernels import layers

logging.basicConfig(stream=sys.stdout, format="%(name)s: %(message)s")
for dtype in ("float32", "float64"):
    layers.row_sums(np.ones((2, 2), dtype), np.empty(2, dtype))
"""
    first, second = (_run(code, package.parent, tmp_path) for _ in range(2))
    assert first.count("fewvars: fewvars is compiling") == 1
    assert second == ""


@pytest.mark.slow
@compiled_only
def test_an_edited_helper_reaches_its_callers(tmp_path):
    package = tmp_path / "edited"
    package.mkdir()
    shutil.copy(_jit.__file__, package / "_jit.py")
    (package / "__init__.py").write_text("")
    imports = "from ._jit import jit\nfrom .helper import helper\n"
    (package / "caller.py").write_text(f"{imports}\n\n@jit\ndef call(x):\n    return 10 * helper(x)\n")
    found = []
    for added in (1, 2, 2):
        (package / "helper.py").write_text(f"from ._jit import jit\n\n\n@jit\ndef helper(x):\n    return x + {added}\n")
        code = "from edited.caller import call; print(call(0), sum(call.stats.cache_hits.values()))"
        found.append(_run(code, tmp_path, tmp_path))
    assert found == ["10 0", "20 0", "20 1"]


def _folder(tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    return cache / "a.f-1.py311.nbi"


def test_indices_go_when_a_source_changes(tmp_path):
    index = _folder(tmp_path)
    index.write_text("")
    _jit._forget_stale_machine_code(tmp_path)
    assert not index.exists(), "code of unknown origin was kept"

    index.write_text("")
    _jit._forget_stale_machine_code(tmp_path)
    assert index.exists(), "fresh code was deleted"

    (tmp_path / "a.py").write_text("a = 2\n")
    _jit._forget_stale_machine_code(tmp_path)
    assert not index.exists()

    index.write_text("")
    (tmp_path / "b.py").write_text("b = 1\n")
    _jit._forget_stale_machine_code(tmp_path)
    assert not index.exists()


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    (tmp_path / "__pycache__").write_text("a file")
    _jit._forget_stale_machine_code(tmp_path)
    assert (tmp_path / "__pycache__").read_text() == "a file"
