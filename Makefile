# The tasks are in tasks.py, which also works without make: `python -m tasks` (on Windows, `py -m tasks`).
PYTHON ?= python3
TASKS := setup run test test-javascript test-runtime package lint format lock lock-check screenshots chaos fuzz schemathesis \
	audit audit-infra bench bench-local bench-load clean

.PHONY: help $(TASKS)
help: ## List the tasks
	@$(PYTHON) -m tasks

# Variables on the command line (make chaos CHAOS_SEED=3) are in the environment of the task.
$(TASKS):
	@$(PYTHON) -m tasks $@

.PHONY: trace bench-telemetry
# Show the traces of a comment and of a rename, from HTTP to the feed.
trace: setup
	@.venv/bin/python -m bench.trace

# Measure what telemetry adds to the response times.
bench-telemetry: setup
	@.venv/bin/python -m bench.telemetry --write
