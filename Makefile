# The tasks are in tasks.py, which also works without make: `python -m tasks` (on Windows, `py -m tasks`).
PYTHON ?= python3
TASKS := setup run test-core test test-all mutants test-javascript test-sdk-programs test-sdk test-dotnet test-javascript-sdk test-go-sdk test-dapr test-spring test-rust-sdk try-libraries \
	test-samples test-runtime test-real-host test-host-fidelity smoke package \
	lint format lock lock-check screenshots \
	chaos fuzz schemathesis audit audit-infra bench bench-local bench-load trace clean

.PHONY: help $(TASKS)
help: ## List the tasks
	@$(PYTHON) -m tasks

# Variables on the command line (make chaos CHAOS_SEED=3) are in the environment of the task.
$(TASKS):
	@$(PYTHON) -m tasks $@
