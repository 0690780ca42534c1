"""Computed properties: definition, queries and indexing."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from cosmos_emulator import CosmosEmulator
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient

KEY = PartitionKey("/pk")
LOWER = {"name": "cp_lower", "query": "SELECT VALUE LOWER(c.name) FROM c"}
TAGS = {"name": "cp_tags", "query": "SELECT VALUE ARRAY_CONCAT(root.tags, ['all']) FROM root"}
DETAIL = {"name": "cp_detail", "query": "SELECT VALUE {length: LENGTH(item.name)} FROM Products item"}
INDEXED = {
    "includedPaths": [{"path": "/*"}, {"path": "/cp_lower/?"}],
    "excludedPaths": [],
    "compositeIndexes": [[{"path": "/cp_lower"}, {"path": "/n", "order": "descending"}]],
}


@pytest.fixture
async def products(database: DatabaseProxy) -> ContainerProxy:
    """Items with several computed properties; `cp_lower` is indexed."""
    container = await database.create_container(
        "items", KEY, computed_properties=[LOWER, TAGS, DETAIL], indexing_policy=INDEXED
    )
    for number, name in enumerate(["Bike", "apple", "BIKE", "Car"]):
        await container.create_item(
            {"id": str(number), "pk": f"key {number}", "n": number, "name": name, "tags": [name]}
        )
    await container.create_item({"id": "nameless", "pk": "key 0", "n": 9})
    return container


async def rows(container: ContainerProxy, query: str, **options: Any) -> list[Any]:
    return [row async for row in container.query_items(query, **options)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT VALUE c.n FROM c WHERE c.cp_lower = 'bike' ORDER BY c.n", [0, 2]),
        ("SELECT VALUE x.n FROM x WHERE x['cp_lower'] > 'b' AND x.n < 9 ORDER BY x.n", [0, 2, 3]),
        ("SELECT VALUE c.n FROM c WHERE NOT IS_DEFINED(c.cp_lower)", [9]),
        ("SELECT c.cp_lower FROM c WHERE c.n = 3", [{"cp_lower": "car"}]),
        ("SELECT VALUE c.cp_detail.length FROM c WHERE c.n = 1", [5]),
        ("SELECT VALUE t FROM c JOIN t IN c.cp_tags WHERE c.n = 3 ORDER BY c.n", ["Car", "all"]),
        ("SELECT VALUE (SELECT VALUE c.cp_lower) FROM c WHERE c.n = 2", ["bike"]),
        ("SELECT VALUE c.cp_lower FROM c WHERE c.n < 9 ORDER BY c.cp_lower", ["apple", "bike", "bike", "car"]),
        ("SELECT VALUE c.n FROM c WHERE c.n < 9 ORDER BY c.cp_lower DESC, c.n", [3, 0, 2, 1]),
        ("SELECT DISTINCT VALUE c.cp_lower FROM c ORDER BY c.cp_lower", ["apple", "bike", "car"]),
        ("SELECT VALUE COUNT(c.cp_lower) FROM c", [4]),
        ("SELECT VALUE c.n FROM c WHERE c.cp_lower IN ('car', 'apple') ORDER BY c.n", [1, 3]),
    ],
)
async def test_a_query_uses_computed_properties_like_stored_ones(
    products: ContainerProxy, query: str, expected: list[Any]
) -> None:
    assert await rows(products, query) == expected


async def test_groups_can_be_computed(products: ContainerProxy) -> None:
    query = "SELECT c.cp_lower, COUNT(1) AS n FROM c WHERE IS_DEFINED(c.cp_lower) GROUP BY c.cp_lower"
    await products.create_item({"id": "second", "pk": "key 0", "name": "bIKE"})

    assert await rows(products, query, partition_key="key 0") == [{"cp_lower": "bike", "n": 2}]


async def test_whole_items_do_not_have_computed_properties(products: ContainerProxy) -> None:
    for query in ("SELECT * FROM c WHERE c.n = 1", "SELECT VALUE c FROM c WHERE c.n = 1"):
        assert "cp_lower" not in (await rows(products, query))[0]
    assert "cp_lower" not in await products.read_item("1", "key 1")


async def test_a_computed_property_hides_a_stored_one_except_in_whole_items(products: ContainerProxy) -> None:
    await products.create_item({"id": "both", "pk": "key 1", "name": "NEW", "cp_lower": "stored"})

    assert await rows(products, "SELECT VALUE c.cp_lower FROM c WHERE c.id = 'both'") == ["new"]
    assert (await rows(products, "SELECT * FROM c WHERE c.cp_lower = 'new'"))[0]["cp_lower"] == "stored"


async def test_an_order_by_a_computed_property_needs_an_index_of_its_own(
    database: DatabaseProxy, products: ContainerProxy
) -> None:
    properties = {"computed_properties": [LOWER]}
    await database.replace_container("items", KEY, **properties)  # the default policy: `/*`

    with fails_with(400, match="order-by item is excluded"):
        await rows(products, "SELECT * FROM c ORDER BY c.cp_lower")
    with fails_with(400, match="does not have a corresponding composite index"):
        await rows(products, "SELECT * FROM c ORDER BY c.cp_lower, c.n")
    await database.replace_container("items", KEY, **properties, indexing_policy=INDEXED)
    assert len(await rows(products, "SELECT * FROM c WHERE IS_DEFINED(c.cp_lower) ORDER BY c.cp_lower")) == 4


async def test_long_scans_do_not_index_stored_values_in_place_of_computed_ones(
    products: ContainerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cosmos_emulator.reads.execution.LONG_SCAN", 1)

    for _ in range(20):  # between the queries, an index could be built
        assert await rows(products, "SELECT VALUE c.n FROM c WHERE c.cp_lower = 'bike' ORDER BY c.n") == [0, 2]


async def test_replacing_a_container_replaces_its_computed_properties(
    database: DatabaseProxy, products: ContainerProxy, emulator: CosmosEmulator
) -> None:
    upper = {"name": "cp_upper", "query": "SELECT VALUE UPPER(c.name) FROM c"}

    await database.replace_container("items", KEY, computed_properties=[upper])

    assert (await products.read())["computedProperties"] == [upper]
    assert await rows(products, "SELECT VALUE c.cp_upper FROM c WHERE c.n = 0") == ["BIKE"]
    assert await rows(products, "SELECT VALUE c.cp_lower FROM c WHERE c.n = 0") == []
    await database.replace_container("items", KEY)
    assert "computedProperties" not in await products.read()


async def test_an_index_of_stored_values_does_not_serve_a_new_computed_property_of_its_path(
    database: DatabaseProxy, raw: RawClient
) -> None:
    policy = {"includedPaths": [{"path": "/*"}, {"path": "/name/?"}], "excludedPaths": []}
    container = await database.create_container("items", KEY, indexing_policy=policy)
    await container.create_item({"id": "a", "pk": "p", "name": "stored", "title": "computed"})

    body = {**await container.read(), "computedProperties": [{"name": "name", "query": "SELECT VALUE c.title FROM c"}]}
    response = await raw.send("PUT", f"/{CONTAINER}", kind="colls", link=CONTAINER, body=body)

    assert response.status == 200
    assert await rows(container, "SELECT VALUE c.id FROM c WHERE c.name = 'computed'") == ["a"]
    assert await rows(container, "SELECT VALUE c.id FROM c WHERE c.name = 'stored'") == []


async def test_scripts_query_computed_properties(products: ContainerProxy) -> None:
    body = """function () {
        __.queryDocuments(__.getSelfLink(), "SELECT VALUE c.cp_lower FROM c WHERE c.n = 0", function (error, found) {
            if (error) throw error;
            __.response.setBody(found);
        });
    }"""
    await products.scripts.create_stored_procedure({"id": "query", "body": body})

    assert await products.scripts.execute_stored_procedure("query", partition_key="key 0") == ["bike"]


VALID = "SELECT VALUE c.a FROM c"


def named(query: str, name: str = "cp") -> list[dict[str, str]]:
    return [{"name": name, "query": query}]


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        (LOWER, "One of the specified inputs is invalid"),
        (["cp"], "One of the specified inputs is invalid"),
        ([{"name": "cp"}], r"One of the specified inputs is invalid\\?\""),
        ([{"query": VALID}], r"One of the specified inputs is invalid\\?\""),
        (named(VALID, ""), "'name' is either empty or unspecified"),
        (named("", "cp"), "'query' is either empty or unspecified"),
        (named(VALID, "a/b"), "name"),
        (named(VALID, "id"), "The system property name 'id' cannot be used as a computed property name."),
        (named(VALID, "_ts"), "system property name '_ts'"),
        (named(VALID, "pk"), "partition key"),
        (named(VALID) * 2, "Computed property name 'cp' cannot be used in multiple definitions."),
        ([{"name": f"cp{number}", "query": VALID} for number in range(21)], "20"),
        (named("SELECT VALUE FROM c"), "Syntax error"),
        (named("SELECT VALUE x.a FROM c"), "could not be resolved"),
        (named("SELECT VALUE c.cp_other FROM c") + named(VALID, "cp_other"), "another computed property"),
        (named("SELECT VALUE 1"), "FROM"),
        (
            named("SELECT c.a FROM c"),
            "VALUE expression missing from computed property query 'SELECT c.a FROM c' at index",
        ),
        (
            named("SELECT c.a FROM r"),
            r"index \(0\) has a malformed query: 'SELECT c.a FROM r' Error details: .*code[^,]*:2001,",
        ),
        (named("SELECT * FROM c"), "VALUE"),
        (named("SELECT VALUE a FROM a IN c.list"), "root item"),
        (named("SELECT VALUE a FROM c JOIN a IN c.list"), "JOIN"),
        (named("SELECT VALUE a FROM (SELECT VALUE 1) a"), "root item"),
        (named(VALID + " WHERE true"), "WHERE"),
        (named(VALID + " GROUP BY c.a"), "GROUP BY"),
        (named(VALID + " ORDER BY c.a"), "ORDER BY"),
        (named("SELECT TOP 1 VALUE c.a FROM c"), "TOP"),
        (named("SELECT DISTINCT VALUE c.a FROM c"), "DISTINCT"),
        (named(VALID + " OFFSET 0 LIMIT 1"), "OFFSET LIMIT"),
        (named("SELECT VALUE EXISTS(SELECT VALUE 1) FROM c"), "subquery"),
        (named("SELECT VALUE COUNT(1) FROM c"), "aggregate"),
        (named("SELECT VALUE RAND() FROM c"), "deterministic"),
        (named("SELECT VALUE GetCurrentDateTime() FROM c"), "deterministic"),
        (named("SELECT VALUE udf.f(c.a) FROM c"), "user-defined"),
        (named("SELECT VALUE ST_ISVALID(c.a) FROM c"), "spatial functions"),
        (named("SELECT VALUE @p FROM c"), "parameter|Parameter"),
    ],
)
async def test_an_invalid_computed_property_is_rejected(database: DatabaseProxy, properties: Any, reason: str) -> None:
    with fails_with(400, match=reason):
        await database.create_container("c", KEY, computed_properties=properties)
