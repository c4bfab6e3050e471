# Every target creates or reuses its own environment; nothing else needs setting up.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
BIN := $(VENV)/bin
# The tests of a file stay in one process, which fits their shared models once. Reordering would put files of few tests
# last, which are the longest, and leave one process idle at the end.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
# Many tests start processes; without bytecode, each of these would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test coverage lint docs bench clean

# One stamp per set of extras, so that `make demo` does not wait for the test tools.
$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plot,parquet]'
	touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint,docs]'
	touch $@

$(BENCH)/.bench: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench,plot]'
	touch $@

demo: $(VENV)/.demo  ## the main job on simulated Lorenz-96 data
	$(BIN)/python -m fewvars demo

check: lint  ## what to run while working: the linters and the quick tests
	$(PYTEST) -q -m "not slow"

test: $(VENV)/.test  ## the whole suite
	$(PYTEST)

coverage: $(VENV)/.test  ## the whole suite again, a third slower, then the kernels as plain Python; fails below 90%
	$(PYTEST) --cov --cov-report=
	NUMBA_DISABLE_JIT=1 $(PYTEST) --cov --cov-append --cov-report= tests/kernels
	$(BIN)/python -m coverage report --skip-covered --fail-under=90

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.test
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(BENCH)/.bench  ## the engine against PyTorch, JAX and scikit-learn, as ratios within one run
	$(BENCH)/bin/python -m benchmarks.engine --out benchmarks/results/engine.md

clean:
	rm -rf $(VENV) $(BENCH) docs/_build docs/api
	find . -name '*.nb[ic]' -delete
