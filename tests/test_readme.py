"""The examples in the README and in docstrings run and print what they say."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
WITH_EXAMPLES = sorted(file for file in (ROOT / "src").rglob("*.py") if ">>> " in file.read_text())


@pytest.mark.slow
def test_example_prints_what_the_readme_shows():
    code, shown = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL).groups()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == shown


@pytest.mark.slow
@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=lambda file: file.stem)
def test_examples_of_docstrings(file):
    name = ".".join(file.relative_to(ROOT / "src").with_suffix("").parts)
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
