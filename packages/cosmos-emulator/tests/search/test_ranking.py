"""The order of searches, in one and in several physical partitions."""

# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import pytest
from azure.cosmos import CosmosClient
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from cosmos_emulator import CosmosEmulator
from cosmos_emulator.operations import query_items
from cosmos_emulator.reads import execution, paging
from cosmos_emulator.reads.entry_access import IndexAccess
from cosmos_emulator.search.texts import bm25, occurrences, terms
from tests.errors import fails_with
from tests.raw_client import RawClient
from tests.search.containers import TEXTS, create, ids

COUNT = 24
NEAREST = "ORDER BY VectorDistance(c.v, [1, 0])"
BY_TEXT = "ORDER BY RANK FullTextScore(c.t, 'red', 'bicycle')"
numbers = IndexAccess.numbers
BY_BOTH = "ORDER BY RANK RRF(FullTextScore(c.t, 'red'), VectorDistance(c.v, [1, 0]))"


def item(number: int, pk: str | None = None) -> dict[str, Any]:
    """An item whose angle to [1, 0] grows with its number, and whose text repeats `red` less often."""
    angle = math.pi * number / COUNT
    text = "red " * (COUNT - number) + "bicycle " * (number % 3) + "in the forest"
    return {
        "id": f"{number:02}",
        "pk": pk or f"key {number}",
        "n": number,
        "v": [math.cos(angle), math.sin(angle)],
        "t": text,
    }


async def filled(database: DatabaseProxy, pk: str | None = None, **options: Any) -> ContainerProxy:
    container = await create(database, **options)
    for number in range(COUNT):
        await container.create_item(item((number * 7) % COUNT, pk))
    return container


def names(*numbers: int) -> list[str]:
    return [f"{number:02}" for number in numbers]


def by_text(*phrases: str) -> list[str]:
    """The expected order, by the formula and with the statistics of all items."""
    found = {number: terms(item(number)["t"], "en-US") for number in range(COUNT)}
    words = sum(map(len, found.values()))
    total = dict.fromkeys(found, 0.0)
    for phrase in phrases:
        wanted = terms(phrase, "en-US")
        hits = sum(occurrences(one, wanted) > 0 for one in found.values())
        for number, one in found.items():
            total[number] += bm25(float(occurrences(one, wanted)), float(len(one)), COUNT, words, hits)
    created = [(number * 7) % COUNT for number in range(COUNT)]
    return names(*sorted(total, key=lambda number: (-total[number], created.index(number))))


def fused(*orders: list[str]) -> list[str]:
    return sorted(orders[0], key=lambda name: -sum(1 / (61 + order.index(name)) for order in orders))


@pytest.mark.parametrize("pk", [None, "p"])
async def test_vector_search(database: DatabaseProxy, pk: str | None) -> None:
    container = await filled(database, pk)
    options: Any = {} if pk is None else {"partition_key": pk}

    async def found(clauses: str, query: str = "SELECT TOP 3 c.id FROM c") -> list[str]:
        return await ids(container, f"{query} {clauses}", [{"name": "@v", "value": [1, 0]}], **options)

    assert await found(NEAREST) == names(0, 1, 2)
    assert await found("ORDER BY VectorDistance(c.v, @v, true)") == names(0, 1, 2)
    assert await found(NEAREST.replace("0])", "0], false, {distanceFunction: 'euclidean'})")) == names(0, 1, 2)
    assert await found("ORDER BY RANK VectorDistance(c.v, [1, 0])") == names(0, 1, 2)
    assert await found("WHERE c.n >= 20 " + NEAREST) == names(20, 21, 22)
    assert await found("WHERE FullTextContains(c.t, 'bicycle') " + NEAREST) == names(1, 2, 4)
    assert await found(NEAREST + " OFFSET 2 LIMIT 2", "SELECT VALUE c.id FROM c") == names(2, 3)
    assert await found(NEAREST, "SELECT DISTINCT TOP 2 c.id FROM c") == names(0, 1)


@pytest.mark.parametrize("distance", ["cosine", "dotproduct", "euclidean"])
async def test_the_nearest_vectors_come_first_for_every_distance(database: DatabaseProxy, distance: str) -> None:
    container = await filled(database, distance=distance)
    query = f"SELECT TOP 5 c.id, VectorDistance(c.v, [1, 0]) AS d FROM c {NEAREST}"

    rows = [row async for row in container.query_items(query)]

    assert [row["id"] for row in rows] == names(0, 1, 2, 3, 4)
    assert rows[0]["d"] == pytest.approx(0 if distance == "euclidean" else 1, abs=1e-6)


async def test_items_without_a_vector_come_last(database: DatabaseProxy) -> None:
    container = await create(database)
    await container.create_item({"id": "none", "pk": "p"})
    await container.create_item({"id": "long", "pk": "p", "v": [1, 0, 0]})
    await container.create_item({"id": "near", "pk": "p", "v": [1, 0.1]})

    assert await ids(container, f"SELECT c.id FROM c {NEAREST}", partition_key="p") == ["near", "none", "long"]


@pytest.mark.parametrize("pk", [None, "p"])
async def test_full_text_search_ranks_by_bm25(database: DatabaseProxy, pk: str | None) -> None:
    container = await filled(database, pk)
    options: Any = {} if pk is None else {"partition_key": pk}

    async def found(clauses: str) -> list[str]:
        return await ids(container, f"SELECT TOP 10 c.id FROM c {clauses}", [{"name": "@w", "value": "red"}], **options)

    assert await found(BY_TEXT) == by_text("red", "bicycle")[:10]
    assert await found("ORDER BY RANK FullTextScore(c.t, @w)") == by_text("red")[:10]
    assert await found("""ORDER BY RANK FullTextScore({"a": c.t}["a"], "red")""") == by_text("red")[:10]
    phrase = "ORDER BY RANK FullTextScore(c.t, 'red bicycle')"
    assert set((await found(phrase))[:8]) == set(by_text("red bicycle")[:8])
    if pk is not None:  # equal scores are in the order of creation
        assert await found(phrase) == by_text("red bicycle")[:10]
    expected = [name for name in by_text("red") if int(name) < 3]
    assert await found("WHERE c.n < 3 ORDER BY RANK FullTextScore(c.t, 'red')") == expected


async def test_rows_without_the_selected_value_are_left_out(database: DatabaseProxy) -> None:
    container = await create(database)
    for number in range(4):
        await container.create_item({**item(number), "x": number} if number % 2 else item(number))

    rows = container.query_items(f"SELECT TOP 3 VALUE c.x FROM c {BY_BOTH}")

    assert sorted([row async for row in rows]) == [1, 3]


async def test_ranking_does_not_filter(database: DatabaseProxy) -> None:
    """Measured by ikvmnet/calcite-cosmos."""
    container = await create(database)
    for name, text in TEXTS.items():
        await container.create_item({"id": name, "pk": "p", "t": text})

    query = "SELECT TOP 10 c.id FROM c ORDER BY RANK FullTextScore(c.t, 'tree')"

    assert await ids(container, query, partition_key="p") == ["tree", "red", "bicycle", "none"]
    assert await ids(container, query) == ["tree", "red", "bicycle", "none"]


@pytest.mark.parametrize("vector", [[0, 0], [1e39, 0], None], ids=["zero", "infinite", "none"])
@pytest.mark.parametrize("first", [True, False])
async def test_a_vector_without_a_distance_ranks_last_in_a_hybrid_search(
    database: DatabaseProxy, vector: list[float] | None, first: bool
) -> None:
    container = await create(database)
    odd = {"id": "odd", "pk": "odd", "t": "red car"} | ({} if vector is None else {"v": vector})
    others = [{"id": name, "pk": name, "t": "red red", "v": [1, 0]} for name in ("a", "b")]
    for one in [odd, *others] if first else [*others, odd]:
        await container.create_item(one)

    assert (await ids(container, f"SELECT TOP 3 c.id FROM c {BY_BOTH}"))[2] == "odd"


@pytest.mark.parametrize("pk", [None, "p"])
async def test_hybrid_search_fuses_ranks(database: DatabaseProxy, pk: str | None) -> None:
    container = await create(database)
    for name, text, vector in (
        ("a", "red red red", [0, 1]),  # ranks 1 and 4
        ("b", "red red car", [0.5, 0.5]),  # 2 and 3
        ("c", "red car car", [1, 0.1]),  # 3 and 2
        ("d", "car car car", [1, 0]),  # 4 and 1
    ):
        await container.create_item({"id": name, "pk": pk or name, "t": text, "v": vector})
    options: Any = {} if pk is None else {"partition_key": pk}

    async def found(weights: str, where: str = "") -> list[str]:
        order = BY_BOTH.replace("0]))", f"0]){weights})")
        return await ids(container, f"SELECT TOP 4 c.id FROM c {where} {order}", **options)

    # 1/61 + 1/64 > 1/62 + 1/63; equal sums are in the order of creation, in one partition.
    assert await found("") == ["a", "d", "b", "c"] or pk is None
    assert sorted((await found(""))[:2]) == ["a", "d"]
    assert await found(", [1, 2]") == ["d", "c", "b", "a"]
    assert await found(", [2, 1]") == ["a", "b", "c", "d"]
    assert await found(", [1, -1]") == ["a", "b", "c", "d"]
    # A text without a match has a score, the lowest (HybridSearchQueryTests.cs).
    assert (await found(", [-1, 0]"))[0] == "d"
    # Without a, c has the ranks 2 and 2, and the others 1 and 3.
    assert (await found("", "WHERE c.id != 'a'"))[2] == "c"


async def test_the_synchronous_sdk_merges_partitions(database: DatabaseProxy, emulator: CosmosEmulator) -> None:
    await filled(database)

    def run() -> None:
        with CosmosClient(emulator.endpoint, emulator.key) as client:
            container = client.get_database_client("db").get_container_client("search")

            def found(order: str, **options: Any) -> list[str]:
                rows = container.query_items(
                    f"SELECT TOP 9 c.id FROM c {order}", enable_cross_partition_query=True, **options
                )
                return [row["id"] for page in rows.by_page() for row in page]

            assert found(NEAREST) == names(*range(9))
            assert found(BY_TEXT, max_item_count=4) == by_text("red", "bicycle")[:9]
            assert found(BY_TEXT, full_text_score_scope="Local")[:1] == by_text("red", "bicycle")[:1]
            assert found(BY_BOTH, max_item_count=4) == fused(by_text("red"), names(*range(COUNT)))[:9]
            vectors = "ORDER BY RANK RRF(VectorDistance(c.v, [1, 0]), VectorDistance(c.v, [1, 0.01]))"
            assert found(vectors) == names(*range(9))

    await asyncio.to_thread(run)


async def test_pages_of_one_partition_key_continue(database: DatabaseProxy) -> None:
    container = await filled(database, "p")

    for order, expected in ((NEAREST, names(*range(10))), (BY_TEXT, by_text("red", "bicycle")[:10])):
        query = f"SELECT TOP 10 c.id FROM c {order}"
        pages = container.query_items(query, partition_key="p", max_item_count=4).by_page()
        found = [[row["id"] async for row in page] async for page in pages]
        assert found == [expected[:4], expected[4:8], expected[8:]]

        first = container.query_items(query, partition_key="p", max_item_count=4).by_page()
        assert [row["id"] async for row in await anext(first)] == expected[:4]
        token = first.continuation_token  # type: ignore[attr-defined]
        rest = container.query_items(query, partition_key="p").by_page(token)
        assert [row["id"] async for page in rest async for row in page] == expected[4:]


async def test_a_search_sees_the_latest_items(database: DatabaseProxy) -> None:
    container = await filled(database, "p")
    query = f"SELECT TOP 2 c.id FROM c {NEAREST}"
    contains = "SELECT c.id FROM c WHERE FullTextContains(c.t, 'tree')"
    assert await ids(container, query, partition_key="p") == names(0, 1)
    assert await ids(container, contains, partition_key="p") == []

    await container.delete_item("00", "p")
    await container.upsert_item({**item(1, "p"), "v": [0, 1]})
    await container.create_item({"id": "new", "pk": "p", "v": [5, 0], "t": "a tree"})

    assert await ids(container, query, partition_key="p") == ["new", "02"]
    assert await ids(container, contains, partition_key="p") == ["new"]
    await container.upsert_item({"id": "new", "pk": "p", "t": "a house"})
    assert await ids(container, query, partition_key="p") == names(2, 3)
    assert await ids(container, contains, partition_key="p") == []


async def test_the_time_to_import_libraries_is_not_that_of_the_first_search(
    database: DatabaseProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    container = await create(database)
    await container.create_item({"id": "a", "pk": "p", "t": "red"})
    monkeypatch.setattr(paging, "MAX_PAGE_S", 0.3)
    monkeypatch.setattr(query_items, "load_libraries", lambda: time.sleep(0.4))  # instead of the import, once

    query = "SELECT VALUE c.id FROM c WHERE FullTextContains(c.t, 'red') AND FullTextContains(c.t, c.t)"

    assert await ids(container, query, partition_key="p") == ["a"]


async def test_a_search_in_one_partition_key_uses_only_its_items(database: DatabaseProxy) -> None:
    container = await filled(database)
    await filled_key(container, "p")

    assert await ids(container, f"SELECT TOP 2 c.id FROM c {NEAREST}", partition_key="p") == ["p0", "p1"]
    assert await ids(container, f"SELECT TOP 2 c.id FROM c WHERE c.pk = 'p' {NEAREST}") == ["p0", "p1"]
    assert await ids(container, "SELECT c.id FROM c WHERE FullTextContains(c.t, 'red')", partition_key="p") == ["p0"]


async def filled_key(container: ContainerProxy, pk: str) -> None:
    await container.create_item({"id": "p0", "pk": pk, "v": [0.5, 0.5], "t": "red"})
    await container.create_item({"id": "p1", "pk": pk, "v": [0, 1], "t": "blue"})


async def test_the_gateway_merges_partitions_for_the_data_explorer(database: DatabaseProxy, raw: RawClient) -> None:
    await filled(database)
    headers = {
        "content-type": "application/query+json",
        "x-ms-documentdb-query-enablecrosspartition": "true",
        "x-ms-cosmos-emulator-merge-partitions": "true",
    }

    for order, expected in ((NEAREST, names(0, 1, 2)), (BY_TEXT, by_text("red", "bicycle")[:3])):
        body = {"query": f"SELECT TOP 3 VALUE c.id FROM c {order}"}
        link = "dbs/db/colls/search"
        answer = await raw.send("POST", f"/{link}/docs", kind="docs", link=link, body=body, headers=headers)
        assert answer.json["Documents"] == expected


async def test_a_search_without_top_needs_a_partition_key(database: DatabaseProxy) -> None:
    container = await filled(database)

    for order in (NEAREST, BY_TEXT):
        with pytest.raises(ValueError, match="without TOP or LIMIT"):
            await ids(container, f"SELECT c.id FROM c {order}")
    with fails_with(400, match="sorting order"):
        await ids(container, f"SELECT TOP 1 c.id FROM c {NEAREST} DESC")


async def test_a_stored_procedure_searches(database: DatabaseProxy) -> None:
    container = await filled(database, "p")
    body = """function () {
        __.queryDocuments(__.getSelfLink(), 'SELECT TOP 2 VALUE c.id FROM c ORDER BY VectorDistance(c.v, [1, 0])', {},
            function (error, documents) { if (error) throw error; __.response.setBody(documents); });
    }""".replace("__.response", "getContext().getResponse()")
    await container.scripts.create_stored_procedure({"id": "search", "body": body})

    assert await container.scripts.execute_stored_procedure("search", partition_key="p") == names(0, 1)


async def test_a_filter_of_a_search_uses_an_index(database: DatabaseProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "LONG_SCAN", COUNT)
    container = await filled(database, "p")
    query = f"SELECT TOP 2 c.id FROM c WHERE c.n = 3 {NEAREST}"
    used: list[set[int] | None] = []
    monkeypatch.setattr(IndexAccess, "numbers", lambda *given: used.append(numbers(*given)) or used[-1])

    async def searched() -> set[int] | None:
        assert await ids(container, query, partition_key="p") == names(3)
        return used[-1]

    assert await searched() is None
    async with asyncio.timeout(60):
        while await searched() is None:  # noqa: ASYNC110 - an index has no event
            await asyncio.sleep(0.01)
    await container.upsert_item({**item(3, "p"), "n": 4})
    await container.upsert_item({**item(20, "p"), "n": 3})
    assert await ids(container, query, partition_key="p") == names(20)
