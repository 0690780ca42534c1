"""Unsupported features are rejected by name."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from tests.errors import fails_with

pytestmark = pytest.mark.emulator_only("the service supports these")

KEY = PartitionKey("/pk")


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ({"analytical_storage_ttl": -1}, "analytical store"),
    ],
)
async def test_an_unsupported_policy_is_rejected_by_name(
    database: DatabaseProxy, policy: dict[str, Any], name: str
) -> None:
    with fails_with(400, match=name):
        await database.create_container("c", KEY, **policy)


async def test_an_item_that_is_excluded_from_the_index_is_found(database: DatabaseProxy) -> None:
    """As in ValidateIndexingDirectives of azure-cosmos-dotnet-v3, GatewayTests.cs, there with automatic indexing.

    No source tells what a query returns with `automatic: false` and no directive.
    """
    policy = {"automatic": False, "indexingMode": "consistent"}
    container = await database.create_container("c", KEY, indexing_policy=policy)
    script = """function () {
        __.createDocument(__.getSelfLink(), {id: 'b', pk: 'p'}, {indexAction: 'exclude'});
    }"""
    await container.scripts.create_stored_procedure({"id": "exclude", "body": script})

    await container.create_item({"id": "a", "pk": "p"}, indexing_directive=1)  # Exclude
    await container.scripts.execute_stored_procedure("exclude", partition_key="p")
    with fails_with(400, match="indexing directive"):
        await container.create_item({"id": "c", "pk": "p"}, indexing_directive=3)

    found = container.query_items("SELECT VALUE c.id FROM c WHERE c.pk = 'p' ORDER BY c.id", partition_key="p")
    assert [item_id async for item_id in found] == ["a", "b"]


async def test_triggers_on_a_patch_are_rejected(container: ContainerProxy) -> None:
    await container.create_item({"id": "a", "pk": "p"})

    with fails_with(400, match="Triggers on the operation Patch"):
        await container.patch_item("a", "p", [{"op": "set", "path": "/n", "value": 1}], pre_trigger_include="t")


async def test_conflict_lists_are_empty_and_conflicts_are_not_found(container: ContainerProxy) -> None:
    assert [conflict async for conflict in container.list_conflicts()] == []
    assert [conflict async for conflict in container.query_conflicts("SELECT * FROM c")] == []
    with fails_with(404, match="Resource Not Found"):
        await container.get_conflict("any", "p")
    with fails_with(404, match="Resource Not Found"):
        await container.delete_conflict("any", "p")


@pytest.mark.parametrize(
    ("query", "feature"),
    [
        ("SELECT COUNT(1) AS n FROM c", "NonValueAggregate"),
        ("SELECT MIN(c.n) AS least, MAX(c.n) AS most FROM c", "NonValueAggregate"),
        ("SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind", "GroupBy"),
    ],
)
async def test_a_query_that_the_python_sdk_cannot_merge_is_rejected(
    container: ContainerProxy, query: str, feature: str
) -> None:
    await container.create_item({"id": "a", "pk": "p", "n": 1, "kind": "k"})

    with fails_with(400, match=feature):
        [item async for item in container.query_items(query)]
    assert len([item async for item in container.query_items(query, partition_key="p")]) == 1
