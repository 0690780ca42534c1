"""API versions: unknown ones, and containers without a partition key of the version before 2018-12-31."""

from __future__ import annotations

import pytest
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from azure.cosmos.partition_key import NonePartitionKeyValue
from tests.raw_client import CONTAINER, RawClient

OLD = {"x-ms-version": "2018-08-31"}


@pytest.mark.parametrize(
    ("version", "status"), [("2015-01-01", 400), ("2015-08-06", 200), ("2018-12-31", 200), ("2030-01-01", 200)]
)
async def test_an_unknown_old_version_is_rejected(raw: RawClient, version: str, status: int) -> None:
    assert (await raw.send("GET", "/dbs", kind="dbs", headers={"x-ms-version": version})).status == status


async def test_items_without_a_partition_key_are_found_by_later_versions(
    raw: RawClient, database: DatabaseProxy
) -> None:
    body = {"id": "items"}
    refused = await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)
    created = await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body, headers=OLD)
    docs = {"kind": "docs", "link": CONTAINER, "headers": OLD}
    written = await raw.send("POST", f"/{CONTAINER}/docs", body={"id": "a", "n": 1}, **docs)
    container = database.get_container_client("items")

    settings = {**body, "defaultTtl": -1}
    replaced = await raw.send("PUT", f"/{CONTAINER}", kind="colls", link=CONTAINER, body=settings, headers=OLD)

    assert (refused.status, created.status, written.status, replaced.status) == (400, 201, 201, 200)
    assert created.json["partitionKey"]["systemKey"] is True
    assert (await container.read_item("a", NonePartitionKeyValue))["n"] == 1
    await container.upsert_item({"id": "b", "_partitionKey": "p"})
    assert (await container.read_item("b", "p"))["id"] == "b"
    assert sorted([item["id"] async for item in container.read_all_items()]) == ["a", "b"]


@pytest.mark.parametrize(("limit", "status"), [("0", 400), ("-1", 400), ("1", 200)])
async def test_a_limit_of_continuation_tokens_must_be_positive(
    raw: RawClient, container: ContainerProxy, limit: str, status: int
) -> None:
    headers = {
        "x-ms-documentdb-isquery": "True",
        "content-type": "application/query+json",
        "x-ms-documentdb-partitionkey": '["p"]',
        "x-ms-documentdb-responsecontinuationtokenlimitinkb": limit,
    }
    query = {"query": "SELECT * FROM c"}

    response = await raw.send("POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body=query, headers=headers)

    assert response.status == status


async def test_the_index_progress_is_part_of_the_quota(raw: RawClient, container: ContainerProxy) -> None:
    headers = {"x-ms-documentdb-populatequotainfo": "True"}
    progress = "x-ms-documentdb-collection-index-transformation-progress"

    plain = await raw.send("GET", f"/{CONTAINER}", kind="colls", link=CONTAINER)
    quota = await raw.send("GET", f"/{CONTAINER}", kind="colls", link=CONTAINER, headers=headers)

    assert (progress in plain.headers, quota.headers[progress]) == (False, "100")


async def test_the_quota_shows_the_number_of_items(raw: RawClient, container: ContainerProxy) -> None:
    headers = {"x-ms-documentdb-populatequotainfo": "True"}
    for number in range(3):
        await container.create_item({"id": str(number), "pk": "p"})

    quota = await raw.send("GET", f"/{CONTAINER}", kind="colls", link=CONTAINER, headers=headers)

    assert "documentsCount=3" in quota.headers["x-ms-resource-usage"].split(";")


@pytest.mark.parametrize(
    "change",
    [{"ttlPropertyPath": "/ttl"}, {"indexingPolicy": {"spatialIndexes": [{"path": "/place/*"}]}}],
    ids=["a TTL path without a default TTL", "a spatial index without types"],
)
async def test_an_incomplete_definition_is_rejected(
    raw: RawClient, database: DatabaseProxy, change: dict[str, object]
) -> None:
    body = {"id": "items", "partitionKey": {"paths": ["/pk"], "kind": "Hash"}, **change}

    assert (await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)).status == 400


async def test_a_replace_of_a_missing_item_without_a_body_is_404(raw: RawClient, container: ContainerProxy) -> None:
    link = f"{CONTAINER}/docs/none"
    headers = {"x-ms-documentdb-partitionkey": '["p"]'}

    assert (await raw.send("PUT", f"/{link}", kind="docs", link=link, headers=headers)).status == 404
