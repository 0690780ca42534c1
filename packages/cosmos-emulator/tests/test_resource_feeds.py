"""Pages of the feeds of databases, containers, scripts, users, permissions and offers."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos.aio import CosmosClient
from tests.raw_client import RawClient, RawResponse

NAMES = [f"c{number}" for number in range(5)]
LINK = "dbs/db"
PATH = f"/{LINK}/colls"


@pytest.fixture(autouse=True)
async def filled(client: CosmosClient, raw: RawClient) -> None:
    await client.create_database("db")
    for name in NAMES:
        body = {"id": name, "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}
        assert (await raw.send("POST", PATH, kind="colls", link=LINK, body=body)).status == 201


async def page(raw: RawClient, query: str | None, headers: dict[str, str]) -> RawResponse:
    if query is None:
        return await raw.send("GET", PATH, kind="colls", link=LINK, headers=headers)
    sent = {"x-ms-documentdb-isquery": "True", "content-type": "application/query+json", **headers}
    return await raw.send("POST", PATH, kind="colls", link=LINK, body={"query": query}, headers=sent)


async def pages(raw: RawClient, query: str | None, size: int) -> list[list[Any]]:
    found, headers = [], {"x-ms-max-item-count": str(size)}
    while True:
        response = await page(raw, query, headers)
        assert response.status == 200, response.text
        assert response.headers["x-ms-item-count"] == str(response.json["_count"])
        found.append(response.json["DocumentCollections"])
        if "x-ms-continuation" not in response.headers:
            return found
        headers["x-ms-continuation"] = response.headers["x-ms-continuation"]


@pytest.mark.parametrize("query", [None, "SELECT * FROM c"])
@pytest.mark.parametrize(("size", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (5, [5]), (-1, [5])])
async def test_a_feed_or_a_query_has_pages_of_the_given_size(
    raw: RawClient, query: str | None, size: int, sizes: list[int]
) -> None:
    found = await pages(raw, query, size)

    assert [len(one) for one in found] == sizes
    assert sorted(container["id"] for one in found for container in one) == NAMES


async def test_pages_keep_the_order_of_a_query(raw: RawClient) -> None:
    found = await pages(raw, "SELECT VALUE c.id FROM c ORDER BY c.id DESC", 2)

    assert found == [["c4", "c3"], ["c2", "c1"], ["c0"]]


async def test_a_query_without_from_has_one_row(raw: RawClient) -> None:
    assert await pages(raw, "SELECT VALUE 1", 2) == [[1]]


@pytest.mark.parametrize("query", [None, "SELECT * FROM c"])
async def test_a_client_can_delete_what_it_has_read(raw: RawClient, query: str | None) -> None:
    headers, deleted = {"x-ms-max-item-count": "2"}, []
    while True:
        response = await page(raw, query, headers)
        for container in response.json["DocumentCollections"]:
            link = f"{LINK}/colls/{container['id']}"
            assert (await raw.send("DELETE", f"/{link}", kind="colls", link=link)).status == 204
            deleted.append(container["id"])
        if "x-ms-continuation" not in response.headers:
            break
        headers["x-ms-continuation"] = response.headers["x-ms-continuation"]

    assert sorted(deleted) == NAMES


@pytest.mark.parametrize("query", [None, "SELECT * FROM c"])
@pytest.mark.parametrize(
    ("header", "value"),
    [("x-ms-max-item-count", "-2"), ("x-ms-max-item-count", '"2"'), ("x-ms-continuation", "nonsense")],
)
async def test_an_invalid_page_size_or_continuation_is_rejected(
    raw: RawClient, query: str | None, header: str, value: str
) -> None:
    assert (await page(raw, query, {header: value})).status == 400
