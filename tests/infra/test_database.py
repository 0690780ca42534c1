"""The templates and `manage.py provision` create the same database."""

from __future__ import annotations

import json
from typing import Any

from management.definitions import changeable_differences, unchangeable_differences
from shared.database.containers import container_definitions
from tests.blog import STORED_PROCEDURES, Blog
from tests.infra import golden
from tests.infra.bicep import INFRA, Resource, Template


def _golden() -> dict[str, Any]:
    return dict(json.loads(golden.FILE.read_text(encoding="utf-8")))


def test_containers_scripts_and_roles_match_the_golden_file() -> None:
    assert golden.current() == _golden(), "If the change is intended, run: python -m tests.infra.golden"


async def test_provisioned_containers_match_the_golden_file(blog: Blog) -> None:
    present = {properties["id"]: properties async for properties in blog.database.list_containers()}

    declared = {definition["id"]: definition for definition in _golden()["containers"]}
    assert present.keys() == declared.keys()
    for name, definition in declared.items():
        assert unchangeable_differences(definition, present[name]) == []
        assert changeable_differences(definition, present[name]) == []


async def test_provisioned_scripts_match_the_templates(blog: Blog) -> None:
    present = {}
    for definition in container_definitions():
        scripts = blog.database.get_container_client(definition["id"]).scripts
        found = [script async for script in scripts.list_stored_procedures()]
        found += [script async for script in scripts.list_triggers()]
        if found:
            present[definition["id"]] = found

    wanted = golden.scripts()
    assert present.keys() == wanted.keys()
    for container, scripts in wanted.items():
        kept = [
            {name: script[name] for name in wanted_script}
            for script, wanted_script in zip(present[container], scripts, strict=True)
        ]
        assert kept == scripts


def test_the_template_deploys_every_property_of_the_definitions() -> None:
    deployed = {definition["id"]: definition for definition in golden.containers()}

    for definition in container_definitions():
        scripts = golden.scripts().get(definition["id"], [])
        assert deployed[definition["id"]] == {
            name: value for name, value in definition.items() if name not in ("storedProcedures", "triggers")
        }
        assert [script["id"] for script in scripts] == [
            *definition["storedProcedures"],
            *(trigger["id"] for trigger in definition["triggers"]),
        ]


def test_the_template_deploys_each_script_once() -> None:
    deployed = [script for scripts in golden.scripts().values() for script in scripts]

    files = {path.stem: path.read_text(encoding="utf-8") for path in STORED_PROCEDURES.glob("*.js")}
    assert {script["id"]: script["body"] for script in deployed} == files
    assert len(deployed) == len(files)


def test_without_a_developer_only_the_app_has_the_data_role() -> None:
    assignments = golden.deployment("minimum").of_type("Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments")

    assert len(assignments) == 1
    assert "userAssignedIdentities" in assignments[0]["properties"]["principalId"]


def test_the_account_has_what_the_blog_relies_on() -> None:
    """One write region and Session consistency: docs/architecture.md."""
    (account,) = golden.deployment().of_type("Microsoft.DocumentDB/databaseAccounts")
    properties = account["properties"]

    assert len(properties["locations"]) == 1
    assert properties["enableMultipleWriteLocations"] is False
    assert properties["consistencyPolicy"]["defaultConsistencyLevel"] == "Session"
    assert properties["backupPolicy"]["type"] == "Continuous"


def test_the_account_has_one_change_at_a_time() -> None:
    """Otherwise Cosmos DB can reject one of them: see infra/cosmos.bicep."""

    def resources(kind: str) -> list[Resource]:
        return [resource for resource in golden.deployment().resources if resource.type.endswith(f"/{kind}")]

    (definition,) = resources("sqlRoleDefinitions")
    first, second = resources("sqlRoleAssignments")

    assert Template(INFRA / "cosmos.bicep").declarations["container"].decorator("batchSize") == 1
    (created,) = definition.body["dependsOn"]
    assert len(created) == len(golden.containers())
    assert second.body["dependsOn"] == [first]


def test_capacity_is_serverless_or_autoscale() -> None:
    def account_and_database(variant: str) -> tuple[Any, Any]:
        (account,) = golden.deployment(variant).of_type("Microsoft.DocumentDB/databaseAccounts")
        (database,) = golden.deployment(variant).of_type("Microsoft.DocumentDB/databaseAccounts/sqlDatabases")
        return account["properties"]["capabilities"], database["properties"]["options"]

    assert account_and_database("defaults") == ([{"name": "EnableServerless"}], {})
    assert account_and_database("everything") == ([], {"autoscaleSettings": {"maxThroughput": 1000}})
