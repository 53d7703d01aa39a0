# Everything on a fresh machine with Python 3.11+, make and git:
#   make demo   set-up, then prove, trace, train and prove more, with real Lean
#   make test   set-up, then the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_OUTPUT ?= demo-output
# Two engines and two test workers suit two cores; more cores may set more.
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-all house lint format base-model docs reference clean

help: ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(STAMP) ## Make .venv and install the project into it (once; 2 to 4 minutes, about 2 GB).

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Say PYTHON=python3.12 make …"; exit 1; }
	@echo "== Set-up: a virtual environment in $(VENV) (2 to 4 minutes, about 2 GB)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@# torch by its exact version first, so that no other requirement chooses another build.
	$(BIN)/python -m pip install --quiet "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(STAMP) ## Prove, trace the sample with real Lean, train, prove more (about 5 minutes on 2 cores).
	@echo "== Demo: prove, trace, train, prove more; results go to $(DEMO_OUTPUT)"
	$(BIN)/lean-dojo demo --output-dir $(DEMO_OUTPUT)

test: $(STAMP) ## Run the tests (about 5 minutes on 2 cores; the first run fetches Lean, 120 MB).
	@echo "== Tests: about 5 minutes on 2 cores"
	$(BIN)/lean-dojo lean install
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist loadfile

test-slow: $(STAMP) ## Run the slow tests alone.
	$(BIN)/lean-dojo lean install
	$(BIN)/python -m pytest -m slow -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 40

test-all: test test-slow ## Run all tests.

house: $(STAMP) ## Print lines of code, layers and import cycles.
	$(BIN)/python experiments/house.py

lint: $(STAMP) ## ruff, mypy --strict, import layers.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

base-model: $(STAMP) ## Rebuild the shipped model: mine Lean's library, train, self-train, measure (1.5 hours on 2 cores; resumes after a stop).
	$(BIN)/lean-dojo lean install
	$(BIN)/python experiments/base_model.py --modules 400 --ship

docs: $(STAMP) ## Build the documentation into site/; every warning is an error.
	$(BIN)/zensical build --strict

reference: $(STAMP) ## Write the reference pages from the code: commands, docstrings, tables of settings.
	$(BIN)/python docs/tools/settings_tables.py
	$(BIN)/python docs/tools/reference.py

format: $(STAMP) ## Format the code.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove the virtual environment and build results.
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
