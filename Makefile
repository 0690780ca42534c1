# make run   sets everything up and serves the blog at http://localhost:7071
# make test  sets everything up and runs every test
# make fuzz  attacks the local stack with hostile input for some minutes (FUZZ_SECONDS for each of its tests)
# make chaos  kills hosts and database under load, 20 seeds one after the other, then large items (CHAOS_SEED, CHAOS_SEEDS)
# make schemathesis  sends 10,000 requests made from the API's description (REQUESTS), some minutes
# make audit  looks for known weaknesses in the dependencies (needs the network) and in the code
# make test-javascript  runs the suite of the JavaScript SDK alone, where there is node
# make test-runtime  runs the app under Microsoft's worker library, where there is Python 3.13
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
AUDIT := .venv-audit/bin

.PHONY: run setup test fuzz chaos schemathesis audit test-javascript test-runtime bench bench-local bench-load lint format clean

run: setup
	$(BIN)/python -m local --seed

setup: $(STAMP)

$(STAMP): requirements.txt requirements-dev.txt packages/cosmos-emulator/pyproject.toml packages/functions-host/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $(STAMP)

test: setup
	$(BIN)/python -m pytest -n 2
	cd packages/cosmos-emulator && ../../$(BIN)/python -m pytest -n 2
	cd packages/functions-host && ../../$(BIN)/python -m pytest -n 2

test-javascript: setup
	cd packages/cosmos-emulator && ../../$(BIN)/python -m pytest tests/javascript

test-runtime: setup
	REQUIRE_AZURE_FUNCTIONS_RUNTIME=1 $(BIN)/python -m pytest tests/test_azure_functions_runtime.py

# Measures the article's three data models and this project's side by side, and keeps the results in docs/benchmarks.
bench: setup
	$(BIN)/python -m bench.models --write

# Measures the local stack against its targets (minutes; needs node), and keeps the results in docs/benchmarks.
bench-local: setup bench/peer/node_modules
	$(BIN)/python -m bench.local_stack --write

# Measures the app under the load of 50 clients and its start, and keeps the results in docs/benchmarks.
bench-load: setup
	$(BIN)/python -m bench.app_load --write

bench/peer/node_modules: bench/peer/package-lock.json
	npm ci --prefix bench/peer --no-audit --no-fund
	@touch $@

fuzz: export FUZZ_SECONDS ?= 30
fuzz: export FUZZ_SEED ?= $(shell date +%s)
fuzz: setup
	$(BIN)/python -m pytest tests/fuzz --tb=short

chaos: CHAOS_SEED ?= 1
chaos: CHAOS_SEEDS ?= 20
chaos: setup
	$(BIN)/python -m tests.chaos --seed $(CHAOS_SEED) --seeds $(CHAOS_SEEDS)
	$(BIN)/python -m tests.chaos.scenarios

schemathesis: export REQUESTS ?= 10000
schemathesis: setup .venv-audit/.installed
	$(BIN)/python -m tests.fuzz.schemathesis_run --tool $(AUDIT)/schemathesis --requests $(REQUESTS)

audit: setup .venv-audit/.installed
	$(BIN)/python .ci/bandit_findings.py $(AUDIT)/bandit
	$(AUDIT)/pip-audit --strict --requirement requirements.txt
	$(AUDIT)/pip-audit --strict --requirement requirements-dev.txt

.venv-audit/.installed: requirements-audit.txt
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-audit.txt
	@touch $@

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .venv-runtime .venv-audit .data .pytest_cache .mypy_cache .ruff_cache .hypothesis
