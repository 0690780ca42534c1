"""Later deployments keep what a template took from the clock."""

from __future__ import annotations

import json
import re

from tests.running_app import REPOSITORY

INFRA = REPOSITORY / "infra"


def test_a_budget_keeps_the_month_in_which_it_was_created() -> None:
    """Azure refuses another start: https://github.com/Azure/azure-quickstart-templates/issues/7095."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in INFRA.glob("*.bicep")}
    parameters = json.loads((INFRA / "main.parameters.json").read_text(encoding="utf-8"))["parameters"]

    from_clock = {name: re.findall(r"param (\w+) string = utcNow", text) for name, text in texts.items()}

    assert {name: found for name, found in from_clock.items() if found} == {"main.bicep": ["currentMonth"]}
    assert "currentMonth" not in parameters
    assert "var firstMonth = empty(budgetStart) ? currentMonth : budgetStart" in texts["main.bicep"]
    assert "start: firstMonth" in texts["main.bicep"]
    assert parameters["budgetStart"] == {"value": "${BUDGET_START}"}


def test_a_month_is_stored_only_with_a_budget_and_kept_without() -> None:
    """Otherwise, a budget that is added later would start in a month that Azure refuses."""
    main = (INFRA / "main.bicep").read_text(encoding="utf-8")

    assert "output BUDGET_START string = hasBudget ? firstMonth : budgetStart\n" in main
    assert "module budget 'budget.bicep' = if (hasBudget)" in main


def test_a_deployment_that_does_not_know_the_month_leaves_the_budget_alone() -> None:
    workflow = (REPOSITORY / ".github" / "workflows" / "deploy.yml").read_text(encoding="utf-8")

    assert "BUDGET_START: ${{ vars.BUDGET_START }}" in workflow
    assert '[ -n "${BUDGET_START:-}" ] || export MONTHLY_BUDGET=0' in workflow
