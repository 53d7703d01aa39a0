# Everything on a fresh machine with Python 3.11+, make and git:
#   make demo   set-up, then prove, trace, train and prove more, with real Lean
#   make test   set-up, then the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# What the demo needs, and the developers' tools beside it.
STAMP := $(VENV)/.installed
TOOLS := $(VENV)/.installed-tools
DEMO_OUTPUT ?= demo-output
# Two engines and two test workers suit two cores; more cores may set more.
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-all house lint format base-model engine-program docs reference clean

help: ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(TOOLS) ## Make .venv with the project, Lean and the developers' tools (once; 2 to 4 minutes, about 3 GB).

$(STAMP): pyproject.toml core/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Say PYTHON=python3.12 make …"; exit 1; }
	@echo "== Set-up: a virtual environment in $(VENV), and Lean (1 to 3 minutes, about 2 GB)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@# torch by its exact version first, so that no other requirement chooses another build.
	$(BIN)/python -m pip install --quiet --no-compile "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e .
	@# Lean is installed meanwhile; if that fails, the commands that need it say so again. pip would compile on
	@# one core, and the libraries' own tests; some of their templates are no Python.
	$(BIN)/python -m compileall -q -j 0 -x '/tests?/' $(VENV)/lib > /dev/null 2>&1 & compiling=$$!; \
	  $(BIN)/lean-dojo lean install; wait $$compiling || true
	@touch $@

$(TOOLS): $(STAMP)
	@echo "== Set-up: the developers' tools (about a minute)"
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(STAMP) ## Prove, trace the sample with real Lean, train, prove more (3 to 10 minutes on 2 cores).
	@echo "== Demo: prove, trace, train, prove more; results go to $(DEMO_OUTPUT)"
	$(BIN)/lean-dojo demo --output-dir $(DEMO_OUTPUT)

test: $(TOOLS) ## Run the tests (4 to 10 minutes on 2 cores).
	@echo "== Tests: 4 to 10 minutes on 2 cores"
	$(BIN)/lean-dojo lean install
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist loadfile --by-subject

test-slow: $(TOOLS) ## Run the slow tests alone.
	$(BIN)/lean-dojo lean install
	$(BIN)/python -m pytest -m slow -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 40

test-all: test test-slow ## Run all tests.

house: $(TOOLS) ## Print lines of code, layers and import cycles.
	$(BIN)/python experiments/house.py

lint: $(TOOLS) ## ruff, mypy --strict, import layers.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

base-model: $(STAMP) ## Rebuild the shipped model: mine Lean's library, train, self-train, measure (1.5 hours on 2 cores; resumes after a stop).
	$(BIN)/lean-dojo lean install
	$(BIN)/python experiments/base_model.py --modules 400 --ship

engine-program: $(STAMP) ## Compile the Lean program that comes with the package, after a change of its source.
	$(BIN)/python -m lean_dojo_v2.lean.engines.embedded.ship

docs: $(TOOLS) ## Build the documentation into site/; every warning is an error.
	$(BIN)/zensical build --strict

reference: $(TOOLS) ## Write the reference pages from the code: commands, docstrings, tables of settings.
	$(BIN)/python docs/tools/settings_tables.py
	$(BIN)/python docs/tools/reference.py

format: $(TOOLS) ## Format the code.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove the virtual environment and build results.
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
