"""Files for editors and GitHub Actions that no other test reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

import tasks
from local.__main__ import _parse

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("name", ["tasks", "launch", "settings", "extensions"])
def test_the_editor_files_are_plain_json(name: str) -> None:
    assert json.loads((ROOT / ".vscode" / f"{name}.json").read_text(encoding="utf-8"))


def test_the_editor_runs_tasks_that_exist() -> None:
    listed = json.loads((ROOT / ".vscode" / "tasks.json").read_text(encoding="utf-8"))["tasks"]

    assert [task["args"][-1] for task in listed if task["args"][-1] not in tasks.TASKS] == []


def test_the_development_container_forwards_the_ports_of_the_local_stack() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    stack = _parse(["--app-dir", str(ROOT)])

    assert container["forwardPorts"] == [stack.port, stack.cosmos_port]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_yaml_whose_jobs_have_steps(workflow: Path) -> None:
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]

    assert [name for name, job in jobs.items() if not (job.get("steps") or job.get("uses"))] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_to_commits(workflow: Path) -> None:
    used = re.findall(r"uses: (.+)", workflow.read_text(encoding="utf-8"))

    assert used
    assert [use for use in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+|\./.+", use)] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_tasks_that_exist(workflow: Path) -> None:
    run = re.findall(r"python -m tasks ([\w-]+)", workflow.read_text(encoding="utf-8"))

    assert [name for name in run if name not in tasks.TASKS] == []


def test_the_deployment_passes_every_parameter_of_the_template() -> None:
    parameters = (ROOT / "infra" / "main.parameters.json").read_text(encoding="utf-8")
    workflow = (ROOT / ".github" / "workflows" / "deploy.yml").read_text(encoding="utf-8")

    names = set(re.findall(r"\$\{(\w+)", parameters))
    secrets = {name for name in names if name.endswith("_SECRET")}
    assert {name for name in names - secrets if f"{name}: ${{{{ vars.{name} }}}}" not in workflow} == set()
    assert {name for name in secrets if f"{name}: ${{{{ secrets.{name} }}}}" not in workflow} == set()
