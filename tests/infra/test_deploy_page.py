"""The commands in the pages about deployment can be copied."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from manage import app
from tests.running_app import REPOSITORY

PAGES = ("deploy", "parameters", "sign-in", "domain", "github-actions", "cost", "manage", "migration", "upgrade")
PAGE = "\n".join((REPOSITORY / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in PAGES)
BLOCKS = re.findall(r"^ *```(\w*)\n(.*?)^ *```$", PAGE, re.DOTALL | re.MULTILINE)
BASH = shutil.which("bash")
POWERSHELL = "ForEach-Object"
IDENTIFIER = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.parametrize("block", [block for language, block in BLOCKS if not language and POWERSHELL not in block])
def test_a_block_of_commands_is_valid(block: str) -> None:
    commands = textwrap.dedent(block)
    checked = subprocess.run([str(BASH), "-n"], input=commands, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command

    assert checked.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="runs sh")
def test_azure_trusts_the_subject_that_github_sends(tmp_path: Path) -> None:
    """Since July 2026, the subject of a new repository has the IDs of its owner and its own."""
    (commands,) = [textwrap.dedent(block) for _, block in BLOCKS if "federated-credential" in block]
    fakes = {
        "gh": 'case "$1" in api) echo repo:ada@1/blog@2;; *) echo ada/blog;; esac',
        "az": 'while [ "$1" != --parameters ]; do shift; done; echo "$2"',
    }
    for name, body in fakes.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CLIENT": "client"}
    run = subprocess.run([str(BASH), "-c", commands], env=environment, capture_output=True, text=True, check=True)  # noqa: S603 - the commands of the page

    assert json.loads(run.stdout)["subject"] == "repo:ada@1/blog@2:environment:production"


@pytest.mark.skipif(sys.platform == "win32", reason="runs sh")
def test_the_role_of_moderators_is_given_to_a_person(tmp_path: Path) -> None:
    (commands,) = [textwrap.dedent(block) for _, block in BLOCKS if "--method POST --url $GIVEN" in block]
    fakes = {
        "azd": "echo client",
        "az": """case "$*" in
            "ad sp show --id client --query id "*) echo app;;
            "ad sp show --id client --query appRoles[?value=='Moderator'].id "*) echo role;;
            "ad user show --id ada@example.com "*) echo ada;;
            rest*) printf '%s\\n' "$@";;
            esac""",
    }
    for name, body in fakes.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    run = subprocess.run([str(BASH), "-c", commands], env=environment, capture_output=True, text=True, check=True)  # noqa: S603 - the commands of the page

    arguments = run.stdout.splitlines()
    assert "https://graph.microsoft.com/v1.0/servicePrincipals/app/appRoleAssignedTo" in arguments
    assert json.loads(arguments[-1]) == {"principalId": "ada", "resourceId": "app", "appRoleId": "role"}


@pytest.mark.parametrize(("command", "option"), re.findall(r"manage\.py ([a-z][\w-]*)(?: (--\w+))?", PAGE))
def test_the_commands_of_manage_exist(command: str, option: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})

    assert shown.exit_code == 0
    assert option in shown.output


def _page(name: str) -> str:
    return (REPOSITORY / "docs" / f"{name}.md").read_text(encoding="utf-8")


def test_the_page_and_azd_need_the_same_version() -> None:
    azure = yaml.safe_load((REPOSITORY / "azure.yaml").read_text(encoding="utf-8"))
    version = azure["requiredVersions"]["azd"].removeprefix(">= ")

    assert f"(`azd`) {version} or newer" in _page("deploy")


def test_the_page_names_the_parameters_that_azd_down_removes() -> None:
    """azd deletes the outputs, and with them what was set: https://github.com/Azure/azure-dev/pull/2278."""
    main = (REPOSITORY / "infra" / "main.bicep").read_text(encoding="utf-8")
    parameters = json.loads((REPOSITORY / "infra" / "main.parameters.json").read_text(encoding="utf-8"))["parameters"]
    variables = {parameter["value"].strip("${}") for parameter in parameters.values()}
    outputs = set(re.findall(r"^output (\w+)", main, re.MULTILINE))
    removal = _page("deploy").partition("\n## Removal\n")[2]
    listed = removal.partition("are among them")[0].rpartition("from its environment.")[2]

    # azd asks for the region, and the budget is gone.
    assert set(re.findall(r"`(\w+)`", listed)) == (variables & outputs) - {"AZURE_LOCATION", "BUDGET_START"}


def test_what_is_turned_off_has_the_names_of_the_templates() -> None:
    infra = REPOSITORY / "infra"
    templates = "".join(path.read_text(encoding="utf-8") for path in infra.glob("*.bicep"))
    section = _page("deploy").partition("\n## Remove optional resources\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"([\w-]+)-\$SUFFIX", section))

    assert named == {"blog-unavailable", "health", "budget", "appi", "pep-cosmos", "pep-blob"}
    of_endpoints = {f"pep-{name}" for name in re.findall(r"^    name: '(cosmos|blob)'", templates, re.MULTILINE)}
    assert named - of_endpoints == {name for name in named if f"name: '{name}-${{suffix}}'" in templates}
    for type_ in re.findall(r"--resource-type (\S+)", section):
        assert f"'{type_}@" in templates
    (version,) = re.findall(r"api-version=([\d-]+)", section)
    assert f"'Microsoft.Consumption/budgets@{version}'" in templates


def test_the_costs_add_up_to_their_totals() -> None:
    rows = [row.strip("| \n").split(" | ") for row in _page("cost").splitlines() if row.startswith("| ")][2:]
    costs = [[int(cell.strip("*").replace(",", "")) for cell in row[1:]] for row in rows]
    (serverless, autoscale, *others), totals = costs[:-1], costs[-1]

    cheaper = map(min, serverless, autoscale)
    assert [sum(column) for column in zip(cheaper, *others, strict=True)] == totals


def test_the_deployment_can_assign_only_the_roles_of_the_templates() -> None:
    """Cosmos DB's data role is not one of Azure's roles, and needs no permission to assign roles."""
    templates = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "infra").glob("*.bicep")]
    assigning = "".join(text for text in templates if "'Microsoft.Authorization/roleAssignments@" in text)
    (condition,) = [block for _, block in BLOCKS if "ForAnyOfAnyValues" in block]
    allowed = [re.findall(IDENTIFIER, each) for each in re.findall(r"GuidEquals \{(.*?)\}", condition, re.DOTALL)]

    assert [sorted(roles) for roles in allowed] == [sorted(re.findall(f"'({IDENTIFIER})'", assigning))] * 2
