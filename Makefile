# The only entry points of the project: `make` lists them. All but clean work in .venv, which they make themselves.

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
# Twice quiet: errors only.
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check
# uv takes a third of pip's time. It knows nothing of pip's settings: where it fails, pip tries, and says what is wrong.
install = $(PIP) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python --editable $(1) 2>/dev/null || $(PIP) --editable $(1)
EXTRAS := dev,database,learning,noise,statistics,studio,pandas,warehouse,spark
DEMO := build/demo
# Some machines forbid Python to keep what it compiles: every process of the tests would compile everything again.
unexport PYTHONDONTWRITEBYTECODE
OLDEST := build/oldest
# Beside the kernels and the contract one file for each library that they do not reach.
OLDEST_TESTS := tests/kernels tests/contract tests/test_installed.py tests/cli/test_program.py tests/cli/test_options.py \
	tests/compare/test_charts.py tests/measures/test_learning.py \
	$(addprefix tests/io/test_,table_formats.py database.py statistics.py)

# What the demo does. The first command makes data, the others are what a user would type.
DEMO_GENERATE := generate table --rows 30000 --seed 7 -o build/people.csv
DEMO_ANONYMIZE := anonymize mondrian build/people.csv --k 10 \
	--quasi age,sex,zip,education --sensitive disease --others drop --hierarchy zip=mask --force -o $(DEMO)
DEMO_VERIFY := verify $(DEMO)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-some test-slow test-nojit test-oldest soak check lint format bench peers results docs docs-check clean

help: ## list the targets
	@echo 'make TARGET [ARGS="..."]'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: .venv/installed ## install, compile, make data, anonymize it, prove it, and leave .venv/bin/shoal ready to use
	@mkdir -p build
	@echo '$$ shoal warm-up'
	@$(BIN)/shoal warm-up
	@echo '$$ shoal $(DEMO_GENERATE)'
	@$(BIN)/shoal $(DEMO_GENERATE)
	@echo '$$ shoal $(DEMO_ANONYMIZE)'
	@$(BIN)/shoal $(DEMO_ANONYMIZE)
	@echo '$$ shoal $(DEMO_VERIFY)'
	@$(BIN)/shoal $(DEMO_VERIFY)
	@echo
	@echo 'Go on    $(BIN)/shoal --help'

test: build/warm ## run the tests on all cores (ARGS="-k mondrian -x" go to pytest; "-n 0" takes one process)
	$(BIN)/python -m pytest -n auto --maxprocesses=4 --dist loadfile --no-loadscope-reorder $(ARGS)

test-some: .venv/installed-dev ## run some tests at once, and compile what they need (ARGS="tests/test_tree.py")
	$(BIN)/python -m pytest -n 0 $(ARGS)

test-slow: .venv/installed-dev ## run the tests that take minutes: a million rows on a cluster, ten lost workers
	$(BIN)/python -m pytest -m slow $(ARGS)

test-nojit: .venv/installed-dev ## run the kernels' tests as plain Python, without numba's compiler
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/kernels tests/methods/test_mondrian_partition.py $(ARGS)

test-oldest: .venv/installed-dev ## test the kernels, the contract and the installed program with the oldest dependencies that pyproject.toml allows
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(OLDEST)
	$(BIN)/uv pip install --quiet --python $(OLDEST) --resolution lowest-direct --editable '.[$(EXTRAS:,spark=)]'
	$(OLDEST)/bin/python -m pytest -m 'not slow' -n auto --maxprocesses=4 --dist loadfile $(OLDEST_TESTS) $(ARGS)

soak: .venv/installed-dev ## run random recipes on every engine and judge them by plain Python (ARGS="--cases 20000 --seed 1")
	$(BIN)/python -m tests.soak $(ARGS)

check: lint ## format, lint, types, layers, tree and style
	$(BIN)/python -m pytest -q tests/test_layers.py tests/test_tree.py tests/test_style.py

lint: .venv/installed-dev ## format, lint and types: what check does and test does not
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/installed-dev ## put the code into the form that check asks for
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/installed-dev ## measure speed and memory (ARGS go to benchmarks/run.py)
	$(BIN)/python benchmarks/run.py $(ARGS)

peers: .venv/installed-dev ## measure Shoal beside other tools, which are installed into build/peers (ARGS="--repeat 1 --arx arx.jar")
	@$(BIN)/shoal warm-up --quiet
	$(BIN)/python -m benchmarks.peers $(ARGS)

results: .venv/installed-dev ## run experiments/ in full and write docs/results (ARGS="mondrian --quick" goes to tools/results.py)
	$(BIN)/python tools/results.py $(ARGS)

docs: .venv/installed ## write docs/reference anew from the program
	$(BIN)/python tools/reference.py

docs-check: .venv/installed ## fail if docs/reference is stale
	$(BIN)/python tools/reference.py --check

clean: ## remove all that make has made
	rm -rf .venv build dist .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo 'Shoal needs Python 3.11 or newer as $(PYTHON): try make PYTHON=python3.11.' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo '$(PYTHON) cannot make a virtual environment: install its venv package' \
		'(on Debian and Ubuntu: apt-get install python3-venv), then call make again.' >&2; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	@echo 'Installing Shoal into .venv ...'
	@$(call install,.)
	@touch $@

# Even what is compiled takes long to load, method by method: only what has changed since is a reason to do it again.
build/warm: .venv/installed-dev $(shell find src/shoal -name '*.py')
	@mkdir -p build
	@$(BIN)/shoal warm-up --quiet
	@touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/python
	@echo 'Installing Shoal and its tests into .venv ...'
	@$(call install,'.[$(EXTRAS)]')
	@touch .venv/installed $@
