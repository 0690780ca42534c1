PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
AUDIT := .venv-audit/bin
PACKAGES := packages/cosmos-emulator packages/functions-host
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --custom-compile-command "make lock"

.DEFAULT_GOAL := help
.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: setup ## Run the blog on http://localhost:7071 with sample data
	@$(BIN)/python -m local --seed

.PHONY: setup
setup: $(STAMP) ## Create .venv and install the dependencies

$(STAMP): requirements-dev.txt $(PACKAGES:=/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is required. To choose an interpreter: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $(STAMP)

.PHONY: test
test: setup ## Run the tests of the blog and of both packages
	$(BIN)/python -m pytest -n 2
	@for package in $(PACKAGES); do (cd $$package && ../../$(BIN)/python -m pytest -n 2) || exit 1; done

.PHONY: test-javascript
test-javascript: setup ## Test the emulator with @azure/cosmos (needs Node.js 20)
	cd packages/cosmos-emulator && ../../$(BIN)/python -m pytest tests/javascript

.PHONY: test-runtime
test-runtime: setup ## Test the app with Microsoft's worker library (needs Python 3.13)
	REQUIRE_AZURE_FUNCTIONS_RUNTIME=1 $(BIN)/python -m pytest tests/test_azure_functions_runtime.py

.PHONY: lint
lint: setup ## Check formatting, lint, types and spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/codespell

.PHONY: format
format: setup ## Format the code and apply automatic lint fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: lock
lock: setup ## Update the locked dependencies to the newest allowed versions
	$(LOCK) --upgrade requirements.in --output-file requirements.txt
	$(LOCK) --upgrade requirements-dev.in --constraint requirements.txt --output-file requirements-dev.txt
	$(LOCK) --upgrade requirements-audit.in --output-file requirements-audit.txt

# Without --upgrade, uv keeps each pin that still satisfies the .in file, so the output differs only if the lock is stale.
.PHONY: lock-check
lock-check: setup ## Fail if a lock file does not match its .in file
	@cp requirements.txt requirements-dev.txt requirements-audit.txt $(VENV)/
	@$(LOCK) requirements.in --output-file $(VENV)/requirements.txt
	@$(LOCK) requirements-dev.in --constraint requirements.txt --output-file $(VENV)/requirements-dev.txt
	@$(LOCK) requirements-audit.in --output-file $(VENV)/requirements-audit.txt
	@for file in requirements requirements-dev requirements-audit; do \
		diff $$file.txt $(VENV)/$$file.txt || { echo "$$file.txt is out of date. Run: make lock"; exit 1; }; done

.PHONY: screenshots
screenshots: setup ## Take the pictures of the web site in docs/images (needs Chromium)
	$(BIN)/python -m tests.site.screenshots

.PHONY: chaos
chaos: CHAOS_SEED ?= 1
chaos: CHAOS_SEEDS ?= 20
chaos: setup ## Kill hosts and the database under load and check that nothing is lost
	$(BIN)/python -m tests.chaos --seed $(CHAOS_SEED) --seeds $(CHAOS_SEEDS)
	$(BIN)/python -m tests.chaos.scenarios

.PHONY: fuzz
fuzz: export FUZZ_SECONDS ?= 30
fuzz: export FUZZ_SEED ?= $(shell date +%s)
fuzz: setup ## Send hostile input to the emulator and the host
	$(BIN)/python -m pytest tests/fuzz --tb=short

.PHONY: schemathesis
schemathesis: export REQUESTS ?= 10000
schemathesis: setup .venv-audit/.installed ## Send requests generated from the OpenAPI description
	$(BIN)/python -m tests.fuzz.schemathesis_run --tool $(AUDIT)/schemathesis --requests $(REQUESTS)

.PHONY: audit
audit: setup .venv-audit/.installed ## Scan the code and the dependencies for vulnerabilities
	$(BIN)/python .ci/bandit_findings.py $(AUDIT)/bandit
	$(AUDIT)/pip-audit --strict --requirement requirements.txt
	$(AUDIT)/pip-audit --strict --requirement requirements-dev.txt

.venv-audit/.installed: requirements-audit.txt
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-audit.txt
	@touch $@

.PHONY: bench
bench: setup ## Compare the request charges of the article's models and the blog
	$(BIN)/python -m bench.models --write

.PHONY: bench-local
bench-local: setup bench/peer/node_modules ## Measure the emulator and the host (needs Node.js)
	$(BIN)/python -m bench.local_stack --write

.PHONY: bench-load
bench-load: setup ## Measure the app with 50 clients, and its start time
	$(BIN)/python -m bench.app_load --write

bench/peer/node_modules: bench/peer/package-lock.json
	npm ci --prefix bench/peer --no-audit --no-fund
	@touch $@

.PHONY: clean
clean: ## Remove environments, caches and local data
	rm -rf $(VENV) .venv-runtime .venv-audit .data .pytest_cache .mypy_cache .ruff_cache .hypothesis
