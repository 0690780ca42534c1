"""Routing, planning, and paging of queries. Their results are tested in tests/query."""

# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from cosmos_emulator import EmulatorSettings
from cosmos_emulator.charges.profiles import PASSED_ENTRY_RU
from tests.emulator_client import emulator_client
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient, RawResponse

PATH = f"/{CONTAINER}/docs"
NAMES = [f"key {number}" for number in range(12)]
NEWEST_FIRST = {
    "includedPaths": [{"path": "/type/?"}, {"path": "/n/?"}],
    "excludedPaths": [{"path": "/*"}],
    "compositeIndexes": [
        [{"path": f"/{name}", "order": "descending"} for name in names]
        for names in (("n", "id"), ("type", "n", "id"), ("owner", "rank", "id"))
    ],
}


@pytest.fixture
async def spread(database: DatabaseProxy) -> ContainerProxy:
    """12 partition keys with 3 items each: `n` is 0 to 35, and `even` exists if `n` is even."""
    composite = {"compositeIndexes": [[{"path": "/kind"}, {"path": "/n"}]]}
    container = await database.create_container("items", PartitionKey("/pk"), indexing_policy=composite)
    for number in range(36):
        item: dict[str, Any] = {"id": str(number), "pk": NAMES[number % 12], "n": number, "kind": number % 3}
        await container.create_item(item if number % 2 else {**item, "even": number})
    return container


async def rows(container: ContainerProxy, query: str, **options: Any) -> list[Any]:
    return [row async for row in container.query_items(query, **options)]


async def post(raw: RawClient, query: str, **headers: str) -> RawResponse:
    sent = {"x-ms-documentdb-isquery": "True", "Content-Type": "application/query+json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return await raw.send("POST", PATH, kind="docs", link=CONTAINER, body={"query": query}, headers=sent)


@pytest.mark.parametrize("value", ["a", 'quote " and \\', "ü€😀", 1, 1.5, True, None, [1, "b"], {"x": [None]}])
async def test_a_parameter_can_be_any_json_value(container: ContainerProxy, value: Any) -> None:
    await container.create_item({"id": "a", "pk": "p", "v": value})
    await container.create_item({"id": "b", "pk": "p", "v": "other"})

    found = await rows(
        container,
        "SELECT VALUE c.id FROM c WHERE c.v = @v",
        parameters=[{"name": "@v", "value": value}],
        partition_key="p",
    )

    assert found == ["a"]


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("c.id != null", ["absent", "array", "null", "number", "string"]),
        ('c.n != "a"', ["array", "null", "number"]),
        ('NOT (c.n = "a")', ["array", "null", "number"]),
        ('c.n NOT IN ("a", null)', ["array", "number"]),
        ('NOT (c.n = "a" OR c.n = 1)', ["array", "null"]),
        ('IS_DEFINED(c.n) AND c.n != "a" AND c.n != null', ["array", "number"]),
        ("c.n != [1]", ["null", "number", "string"]),
        ("EXISTS(SELECT VALUE e FROM e IN c.n WHERE e != 'a')", ["array"]),
    ],
)
@pytest.mark.parametrize("indexed", [True, False])
async def test_values_of_different_types_are_not_equal(
    database: DatabaseProxy, condition: str, ids: list[str], *, indexed: bool
) -> None:
    policy = {"includedPaths": [{"path": "/n/?"}, {"path": "/*"}]} if indexed else {"indexingMode": "none"}
    container = await database.create_container("items", PartitionKey("/pk"), indexing_policy=policy)
    for id_, value in {"string": "a", "number": 1, "null": None, "array": [1]}.items():
        await container.create_item({"id": id_, "pk": "p", "n": value})
    await container.create_item({"id": "absent", "pk": "p"})

    found = await rows(container, f"SELECT VALUE c.id FROM c WHERE {condition}", partition_key="p")

    assert sorted(found) == ids


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("SELECT * FROM c WHERE", "SC1002"),
        ("SELECT * FROM c WHERE )", "SC1001"),
        ("SELECT * FROM c WHERE c.x = @unknown", "unknown"),
        ("SELECT nosuch(c.x) FROM c", "SC2005"),
    ],
)
async def test_an_invalid_query_is_rejected(container: ContainerProxy, query: str, match: str) -> None:
    with fails_with(400, match=match):
        await rows(container, query, partition_key="p")


async def test_a_body_without_a_query_is_rejected(raw: RawClient, container: ContainerProxy) -> None:
    headers = {"x-ms-documentdb-isquery": "True", "x-ms-documentdb-partitionkey": '["p"]'}

    for body in ({}, {"query": 5}, {"query": "SELECT 1", "parameters": [{"name": "n", "value": 1}]}):
        response = await raw.send("POST", PATH, kind="docs", link=CONTAINER, body=body, headers=headers)
        assert response.status == 400


async def test_only_a_cross_partition_query_needs_the_flag(raw: RawClient, spread: ContainerProxy) -> None:
    fan_out = await post(raw, "SELECT * FROM c")
    allowed = await post(raw, "SELECT * FROM c", x_ms_documentdb_query_enablecrosspartition="True")
    pinned = await post(raw, "SELECT * FROM c WHERE c.pk = 'key 1'")

    assert fan_out.status == 400
    assert "Cross partition query is required but disabled" in fan_out.json["message"]
    assert (allowed.status, allowed.json["_count"]) == (200, 36)
    assert (pinned.status, pinned.json["_count"]) == (200, 3)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT VALUE COUNT(1) FROM c",
        "SELECT * FROM c ORDER BY c.n",
        "SELECT TOP 1 * FROM c",
        "SELECT DISTINCT c.kind FROM c",
        "SELECT * FROM c OFFSET 1 LIMIT 1",
        "SELECT c.kind FROM c GROUP BY c.kind",
    ],
)
async def test_a_query_that_needs_merging_returns_a_plan_for_the_client(
    raw: RawClient, spread: ContainerProxy, query: str
) -> None:
    response = await post(raw, query, x_ms_documentdb_query_enablecrosspartition="True")

    assert (response.status, response.headers["x-ms-substatus"]) == (400, "1004")
    plan = json.loads(response.json["additionalErrorInfo"])
    assert plan["queryRanges"] == [{"min": "", "max": "FF", "isMinInclusive": True, "isMaxInclusive": False}]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT VALUE COUNT(1) FROM c", [36]),
        ("SELECT VALUE SUM(c.n) FROM c", [630]),
        ("SELECT VALUE AVG(c.n) FROM c", [17.5]),
        ("SELECT VALUE MIN(c.n) FROM c WHERE c.n > 30", [31]),
        ("SELECT VALUE MAX(c.n) FROM c", [35]),
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 2 LIMIT 3", [33, 32, 31]),
        ("SELECT TOP 4 VALUE c.n FROM c ORDER BY c.n", [0, 1, 2, 3]),
        ("SELECT DISTINCT VALUE c.kind FROM c ORDER BY c.kind", [0, 1, 2]),
        ("SELECT VALUE c.n FROM c WHERE c.pk = 'key 3' ORDER BY c.n DESC", [27, 15, 3]),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'key 3'", [3]),
        ("SELECT VALUE c.n FROM c ORDER BY c.kind, c.n OFFSET 11 LIMIT 2", [33, 1]),
    ],
)
@pytest.mark.parametrize("page_size", [None, 2])
async def test_the_sdk_merges_ranges_into_one_result(
    spread: ContainerProxy, query: str, expected: list[Any], page_size: int | None
) -> None:
    assert await rows(spread, query, max_item_count=page_size) == expected


@pytest.mark.parametrize("content_type", ["application/json", "application/query+json"])
async def test_a_query_plan_request_does_not_run_the_query(
    raw: RawClient, container: ContainerProxy, content_type: str
) -> None:
    headers = {
        "Content-Type": content_type,
        "x-ms-cosmos-is-query-plan-request": "True",
        "x-ms-cosmos-supported-query-features": "OrderBy,Top",
    }
    body = {"query": "SELECT TOP 3 * FROM c ORDER BY c.n"}

    plan = await raw.send("POST", PATH, kind="docs", link=CONTAINER, body=body, headers=headers)

    assert (plan.status, plan.json["queryInfo"]["top"], plan.json["queryInfo"]["orderBy"]) == (200, 3, ["Ascending"])
    assert "formattableorderbyquery" in plan.json["queryInfo"]["rewrittenQuery"]
    assert await rows(container, "SELECT * FROM c") == []


async def test_the_plan_for_one_key_targets_its_hash(raw: RawClient, container: ContainerProxy) -> None:
    headers = {"x-ms-cosmos-is-query-plan-request": "True"}
    body = {"query": "SELECT * FROM c WHERE c.pk = 'p1'"}

    plan = await raw.send("POST", PATH, kind="docs", link=CONTAINER, body=body, headers=headers)

    epk = "062B23DEC15212F01B9A85F4E93A940C"
    assert plan.json["queryRanges"] == [{"min": epk, "max": epk, "isMinInclusive": True, "isMaxInclusive": True}]


async def test_a_feature_the_client_does_not_support_is_rejected(raw: RawClient, container: ContainerProxy) -> None:
    headers = {"x-ms-cosmos-is-query-plan-request": "True", "x-ms-cosmos-supported-query-features": "Top"}
    body = {"query": "SELECT * FROM c ORDER BY c.n"}

    assert (await raw.send("POST", PATH, kind="docs", link=CONTAINER, body=body, headers=headers)).status == 400


@pytest.mark.parametrize(
    ("query", "feature"),
    [
        ("SELECT VALUE MAKELIST(c.n) FROM c", "ListAndSetAggregate"),
        ("SELECT VALUE MAKESET(c.kind) FROM c", "ListAndSetAggregate"),
        ("SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.kind FROM c)", "DCount"),
        (
            "SELECT c.kind, COUNT(1) AS n, SUM(c.n) AS s FROM c GROUP BY c.kind",
            "GroupBy MultipleAggregates NonValueAggregate",
        ),
    ],
)
async def test_the_sdk_names_what_it_cannot_merge(spread: ContainerProxy, query: str, feature: str) -> None:
    with fails_with(400, match=f"which the calling client does not support: {feature}"):
        await rows(spread, query)

    assert await rows(spread, query, partition_key="key 1") != []


GROUPS = "SELECT * FROM (SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind) AS d"


@pytest.mark.emulator_only("needs several physical partitions")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (GROUPS, [{"kind": 1, "n": 3}]),
        (f"{GROUPS} WHERE d.n = 2", []),
        ("SELECT VALUE COUNT(1) FROM (SELECT c.kind FROM c GROUP BY c.kind) AS d", [1]),
        ("SELECT VALUE n FROM (SELECT VALUE SUM(c.n) FROM c) AS n", [39]),
        ("SELECT VALUE k FROM (SELECT DISTINCT VALUE c.kind FROM c) AS k", [1]),
    ],
)
async def test_a_subquery_in_from_groups_within_one_key(
    spread: ContainerProxy, raw: RawClient, query: str, expected: list[Any]
) -> None:
    assert await rows(spread, query, partition_key="key 1") == expected
    assert await rows(spread, query.replace("FROM c", "FROM c WHERE c.pk = 'key 1'")) == expected

    with fails_with(400, match="makes rows of its own in each physical partition"):
        await rows(spread, query)
    headers = {"x-ms-cosmos-is-query-plan-request": "True", "x-ms-cosmos-supported-query-features": "Aggregate"}
    plan = await raw.send("POST", PATH, kind="docs", link=CONTAINER, body={"query": query}, headers=headers)
    assert (plan.status, "in each physical partition" in plan.json["message"]) == (400, True)


@pytest.mark.parametrize("partitions", [1])
async def test_a_subquery_in_from_groups_all_items_of_one_physical_partition(spread: ContainerProxy) -> None:
    assert await rows(spread, GROUPS) == [{"kind": kind, "n": 12} for kind in range(3)]
    assert await rows(spread, f"SELECT VALUE COUNT(1) FROM ({GROUPS}) AS e") == [3]
    assert await rows(spread, f"{GROUPS} OFFSET 1 LIMIT 1", max_item_count=1) == [{"kind": 1, "n": 12}]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["@a", "@a"], "Invalid query. Specified duplicate parameter name '@a'."),
        (["@a.b"], "Invalid query. Specified parameter name '@a.b' is invalid."),
        (["a"], "Invalid query. Specified parameter name 'a' is invalid."),
    ],
)
async def test_parameter_names_are_valid_and_unique(container: ContainerProxy, names: list[str], message: str) -> None:
    parameters = [{"name": name, "value": 1} for name in names]

    with fails_with(400, match=message):
        await rows(container, "SELECT * FROM c WHERE c.n = @a", parameters=parameters, partition_key="p")


async def test_an_aggregate_needs_no_composite_index_for_its_order(container: ContainerProxy) -> None:
    await container.create_item({"id": "1", "pk": "p"})

    assert await rows(container, "SELECT VALUE COUNT(1) FROM c ORDER BY c.a, c.b", partition_key="p") == [1]


async def charge_of(container: ContainerProxy, query: str) -> float:
    charges: list[float] = []

    def add(headers: Any, *_: Any) -> None:
        charges.append(float(headers["x-ms-request-charge"]))

    await rows(container, query, response_hook=add)
    return sum(charges)


@pytest.mark.emulator_only("needs several physical partitions")
async def test_a_query_reads_only_the_partitions_of_its_keys(database: DatabaseProxy) -> None:
    tenants = await database.create_container("tenants", PartitionKey(["/tenant", "/user"], kind="MultiHash"))
    for number in range(24):
        await tenants.create_item({"id": str(number), "tenant": f"t{number % 4}", "user": str(number), "n": number})

    everywhere = await charge_of(tenants, "SELECT * FROM c WHERE c.n >= 0")
    for prefix in ("c.tenant = 't1'", "c.tenant IN ('t1')", "c.tenant = 't1' AND c.user IN ('1', '5')"):
        assert await charge_of(tenants, f"SELECT * FROM c WHERE {prefix}") < everywhere / 2
        assert await charge_of(tenants, f"SELECT * FROM c WHERE {prefix} ORDER BY c.n") < everywhere / 2
    assert await rows(tenants, "SELECT VALUE c.n FROM c WHERE c.tenant = 't1' ORDER BY c.n") == [*range(1, 24, 4)]
    both = await rows(tenants, "SELECT VALUE c.n FROM c WHERE c.tenant IN ('t1', 't2')")
    assert sorted(both) == [number for number in range(24) if number % 4 in (1, 2)]
    assert await rows(tenants, "SELECT VALUE c.n FROM c WHERE c.tenant = 'none'") == []


@pytest.mark.emulator_only("needs several physical partitions")
async def test_a_query_reads_only_the_partitions_of_several_keys(spread: ContainerProxy) -> None:
    everywhere = await charge_of(spread, "SELECT * FROM c WHERE c.n >= 0")

    assert await charge_of(spread, "SELECT * FROM c WHERE c.pk IN ('key 1')") < everywhere / 2
    assert await charge_of(spread, "SELECT * FROM c WHERE c.pk IN ('key 1', 'key 1')") < everywhere / 2
    two = "SELECT VALUE c.n FROM c WHERE c.pk IN ('key 1', 'key 5')"
    assert await charge_of(spread, two) < everywhere * 0.6
    found = await rows(spread, two, max_item_count=1)
    assert sorted(found) == [1, 5, 13, 17, 25, 29]


@pytest.mark.emulator_only("needs several physical partitions")
async def test_feed_ranges_partition_the_rows(spread: ContainerProxy) -> None:
    ranges = [feed_range async for feed_range in spread.read_feed_ranges()]

    parts = [await rows(spread, "SELECT VALUE c.n FROM c", feed_range=feed_range) for feed_range in ranges]

    assert sorted(number for part in parts for number in part) == list(range(36))
    assert all(len(part) < 36 for part in parts)


async def test_the_feed_range_of_one_key_returns_its_items(spread: ContainerProxy) -> None:
    one_key = await spread.feed_range_from_partition_key("key 5")

    assert sorted(await rows(spread, "SELECT VALUE c.n FROM c", feed_range=one_key)) == [5, 17, 29]


async def test_an_unknown_range_returns_410(raw: RawClient, container: ContainerProxy) -> None:
    response = await post(raw, "SELECT * FROM c", x_ms_documentdb_partitionkeyrangeid="9")

    assert (response.status, response.headers["x-ms-substatus"]) == (410, "1002")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT VALUE c.n FROM c WHERE c.n % 3 = 0",
        "SELECT VALUE c.n FROM c WHERE c.n % 3 = 0 ORDER BY c.n DESC",
        "SELECT DISTINCT VALUE c.kind FROM c",
        "SELECT VALUE x FROM c JOIN x IN c.pair",
    ],
)
@pytest.mark.parametrize("page_size", [1, 2, 5])
async def test_pages_add_up_to_the_full_result(database: DatabaseProxy, query: str, page_size: int) -> None:
    container = await database.create_container("one", PartitionKey("/pk"))
    for number in range(10):
        await container.create_item(
            {"id": str(number), "pk": "p", "n": number, "kind": number % 2, "pair": [number, -number]}
        )
    whole = await rows(container, query, partition_key="p")

    pages = container.query_items(query, partition_key="p", max_item_count=page_size).by_page()
    parts = [[row async for row in page] async for page in pages]

    assert [row for part in parts for row in part] == whole
    assert all(len(part) <= page_size for part in parts)
    assert len(parts) >= len(whole) // page_size


async def test_an_ordered_query_resumes_at_its_position_despite_writes(container: ContainerProxy) -> None:
    for number in (10, 20, 30, 40):
        await container.create_item({"id": str(number), "pk": "p", "n": number})
    options: dict[str, Any] = {"partition_key": "p", "max_item_count": 2}
    query = "SELECT VALUE c.n FROM c ORDER BY c.n"
    pages = container.query_items(query, **options).by_page()
    first = [row async for row in await anext(pages)]

    await container.create_item({"id": "early", "pk": "p", "n": 5})
    await container.create_item({"id": "late", "pk": "p", "n": 35})
    await container.delete_item("20", "p")
    rest = container.query_items(query, **options).by_page(pages.continuation_token)

    assert first == [10, 20]
    assert [row async for page in rest async for row in page] == [30, 35, 40]


@pytest.mark.parametrize("token", ["x", "e30", "eyJnaXZlbiI6LTF9", "eyJhZnRlciI6e30sImdpdmVuIjoxfQ=="])
async def test_a_malformed_continuation_token_is_rejected(container: ContainerProxy, token: str) -> None:
    await container.create_item({"id": "a", "pk": "p", "n": 1})
    query = container.query_items("SELECT * FROM c ORDER BY c.n", partition_key="p", max_item_count=1)

    with fails_with(400):
        [page async for page in query.by_page(token)]


async def test_a_continuation_token_with_an_oversized_count_is_rejected(
    raw: RawClient, container: ContainerProxy
) -> None:
    token = base64.b64encode(b'{"given": 9223372036854775808}').decode()

    response = await post(
        raw, "SELECT DISTINCT VALUE c.n FROM c", x_ms_documentdb_partitionkey='["p"]', x_ms_continuation=token
    )

    assert response.status == 400


async def test_a_page_stays_below_4_mb(raw: RawClient, container: ContainerProxy) -> None:
    for number in range(5):
        await container.create_item({"id": str(number), "pk": "p", "text": "x" * 1_000_000})

    response = await post(raw, "SELECT * FROM c", x_ms_documentdb_partitionkey='["p"]')

    assert response.json["_count"] == 4
    assert "x-ms-continuation" in response.headers


async def test_a_query_is_charged_for_the_items_it_loads(database: DatabaseProxy, emulator: Any) -> None:
    emulator.settings.lenient_order_by = True
    policy = {"includedPaths": [{"path": "/kind/?"}, {"path": "/n/?"}], "excludedPaths": [{"path": "/*"}]}
    container = await database.create_container("one", PartitionKey("/pk"), indexing_policy=policy)
    for number in range(50):
        await container.create_item({"id": str(number), "pk": "p", "n": number, "kind": number % 10, "free": number})

    async def charge(query: str, **options: Any) -> float:
        charges: list[float] = []
        await rows(
            container,
            query,
            partition_key="p",
            response_hook=lambda headers, _: charges.append(float(headers["x-ms-request-charge"])),
            **options,
        )
        return sum(charges)

    everything = await charge("SELECT * FROM c")
    indexed = await charge("SELECT * FROM c WHERE c.kind = 1")
    scanned = await charge("SELECT * FROM c WHERE c.free = 1")
    first = await charge("SELECT TOP 1 * FROM c WHERE c.kind > 0 ORDER BY c.kind DESC")
    unordered = await charge("SELECT TOP 1 * FROM c WHERE c.kind > 0 ORDER BY c.free DESC")

    assert first < indexed < scanned
    assert scanned > everything  # the same items plus a filter
    assert unordered > indexed


async def test_a_query_is_charged_for_index_entries_that_its_order_passes_over(database: DatabaseProxy) -> None:
    container = await database.create_container("one", PartitionKey("/pk"), indexing_policy=NEWEST_FIRST)
    for number in range(5):
        await container.create_item({"id": f"c{number}", "pk": "p", "type": "comment", "n": number})

    async def charge(query: str) -> float:
        found = await rows(container, query, partition_key="p")
        headers: Any = container.client_connection.last_response_headers
        assert [item["n"] for item in found] == [4, 3, 2, 1, 0]
        return float(headers["x-ms-request-charge"])

    passing = "SELECT * FROM c WHERE c.type IN ('comment', 'deleted') ORDER BY c.n DESC, c.id DESC OFFSET 0 LIMIT 5"
    single = "SELECT * FROM c WHERE c.type = 'comment' ORDER BY c.n DESC OFFSET 0 LIMIT 5"
    seeking = passing.replace("ORDER BY", "ORDER BY c.type DESC,")
    ranged = "SELECT * FROM c WHERE c.n < 5 ORDER BY c.n DESC OFFSET 0 LIMIT 5"
    before = {query: await charge(query) for query in (passing, single, seeking, ranged)}
    assert before[passing] == before[seeking]
    for number in range(400):
        await container.create_item({"id": f"l{number}", "pk": "p", "type": "like", "n": 5 + number})
    after = {query: await charge(query) for query in before}

    assert after[seeking] == before[seeking]
    assert after[ranged] == before[ranged]
    assert after[passing] == pytest.approx(before[passing] + 400 * PASSED_ENTRY_RU, abs=0.011)
    assert after[single] == pytest.approx(before[single] + 400 * PASSED_ENTRY_RU, abs=0.011)


@pytest.mark.parametrize("policy", [None, {"includedPaths": [{"path": "/n/?"}, {"path": "/type/?"}]}])
async def test_the_charge_of_passed_entries_does_not_depend_on_the_named_paths(
    database: DatabaseProxy, policy: dict[str, Any] | None
) -> None:
    if policy is not None:
        policy["excludedPaths"] = [{"path": "/*"}]
    container = await database.create_container("one", PartitionKey("/pk"), indexing_policy=policy)
    for number in range(40):
        type_ = "comment" if number % 10 == 0 else "like"
        await container.create_item({"id": str(number), "pk": "p", "type": type_, "n": number})
    query = "SELECT * FROM c WHERE c.type = 'comment' ORDER BY c.n DESC"

    charges: list[float] = []
    pages = container.query_items(query, partition_key="p", max_item_count=2).by_page()
    async for page in pages:
        assert len([item async for item in page]) in (2, 0)
        headers: Any = container.client_connection.last_response_headers
        charges.append(float(headers["x-ms-request-charge"]))

    start_ru, item_ru = 2.82, 0.0195 * 0.25
    # From 39 to 20, then from 19 to 0: 18 likes each.
    assert charges == [pytest.approx(start_ru + 2 * item_ru + 18 * PASSED_ENTRY_RU, abs=0.015)] * 2


COMPOSITE_MISSING = "The order by query does not have a corresponding composite index that it can be served from."
PATH_EXCLUDED = "The index path corresponding to the specified order-by item is excluded."


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM c ORDER BY c.type, c.n", COMPOSITE_MISSING),  # only the start of an index
        ("SELECT * FROM c ORDER BY c.id DESC, c.n DESC", COMPOSITE_MISSING),  # another sequence
        ("SELECT * FROM c ORDER BY c.n DESC, c.id", COMPOSITE_MISSING),  # one direction reversed
        ("SELECT * FROM c WHERE c.free = 1 ORDER BY c.free, c.n, c.id", COMPOSITE_MISSING),
        ("SELECT * FROM c WHERE c.owner = 'a' ORDER BY c.rank, c.id", COMPOSITE_MISSING),  # the filter is not named
        ("SELECT * FROM c ORDER BY c.free", PATH_EXCLUDED),
    ],
)
async def test_an_order_without_a_matching_index_is_rejected(database: DatabaseProxy, query: str, message: str) -> None:
    container = await database.create_container("one", PartitionKey("/pk"), indexing_policy=NEWEST_FIRST)
    await container.create_item({"id": "a", "pk": "p", "n": 1})

    for options in ({"partition_key": "p"}, {}):
        with fails_with(400, match=message):
            await rows(container, query, **options)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM c ORDER BY c.n DESC, c.id DESC",
        "SELECT * FROM c ORDER BY c.n, c.id",
        "SELECT * FROM c WHERE c.type = 'x' ORDER BY c.type DESC, c.n DESC, c.id DESC",
        "SELECT * FROM c ORDER BY c.n",
    ],
)
async def test_an_order_with_a_matching_index_is_served(database: DatabaseProxy, query: str) -> None:
    container = await database.create_container("one", PartitionKey("/pk"), indexing_policy=NEWEST_FIRST)
    await container.create_item({"id": "a", "pk": "p", "n": 1, "type": "x"})

    assert len(await rows(container, query, partition_key="p")) == len(await rows(container, query)) == 1


async def test_the_default_policy_serves_no_order_by_several_paths(database: DatabaseProxy, emulator: Any) -> None:
    container = await database.create_container("one", PartitionKey("/pk"))
    await container.create_item({"id": "a", "pk": "p"})
    query = "SELECT * FROM c ORDER BY c.a, c.b"
    with fails_with(400, match=COMPOSITE_MISSING):
        await rows(container, query, partition_key="p")

    emulator.settings.lenient_order_by = True

    assert len(await rows(container, query, partition_key="p")) == 1


async def test_metrics_are_returned_on_request(raw: RawClient, spread: ContainerProxy) -> None:
    response = await post(
        raw,
        "SELECT * FROM c WHERE c.kind = 1",
        x_ms_documentdb_partitionkey='["key 1"]',
        x_ms_documentdb_populatequerymetrics="True",
        x_ms_cosmos_populateindexmetrics="True",
    )

    assert "outputDocumentCount=3" in response.headers["x-ms-documentdb-query-metrics"]
    assert "x-ms-cosmos-index-utilization" in response.headers


async def test_the_sdk_decodes_query_and_index_metrics(spread: ContainerProxy) -> None:
    query = "SELECT * FROM c WHERE c.kind = 1"
    await rows(spread, query, partition_key="key 1", populate_query_metrics=True, populate_index_metrics=True)

    headers: Any = spread.client_connection.last_response_headers
    metrics = dict(metric.split("=") for metric in headers["x-ms-documentdb-query-metrics"].strip(";").split(";"))
    served = headers["x-ms-cosmos-index-utilization"]["UtilizedSingleIndexes"]

    assert metrics["outputDocumentCount"] == "3"
    assert [index["IndexSpec"] for index in served] == ["/pk/?", "/kind/?"]  # the partition key's comes first


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("SELECT c.id, c.kind FROM c WHERE STARTSWITH(c.kind, 'a')", ["/kind/?"]),
        ("SELECT VALUE STARTSWITH(c['\u0131'], 's', false) FROM c", ["/\u0131/?"]),
        ("SELECT VALUE STARTSWITH(c['ü \"{<1'], 's', true) FROM c", ['/"ü \\"{<1"/?']),
        ('SELECT VALUE [{"item": SUM(c["kind"])}] FROM c', ["/kind/?"]),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.kind = 1 AND c.kind = 2", ["/kind/?"]),
        ("SELECT VALUE c.kind FROM c", []),
    ],
)
async def test_index_metrics_name_the_paths_of_filters_and_functions(
    raw: RawClient, container: ContainerProxy, query: str, paths: list[str]
) -> None:
    # azure-cosmos-dotnet-v3, IndexMetricsParserBaselineTest.cs: a name that is not an identifier has quotes.
    response = await post(
        raw,
        query,
        x_ms_documentdb_query_enablecrosspartition="True",
        x_ms_documentdb_partitionkeyrangeid="0",
        x_ms_cosmos_populateindexmetrics_v2="True",
    )

    metrics = json.loads(unquote(response.headers["x-ms-cosmos-index-utilization"]))
    assert [index["IndexSpec"] for index in metrics["UtilizedIndexes"]["SingleIndexes"]] == paths


@pytest.mark.parametrize(
    ("order", "reverse"),
    [("", False), ("ORDER BY c.kind", False), ("ORDER BY c.kind DESC", True), ("ORDER BY c.kind, c.n DESC", False)],
)
async def test_a_response_says_in_which_direction_ties_are_ordered(
    raw: RawClient, database: DatabaseProxy, order: str, reverse: bool
) -> None:
    """Without the header, .NET skips the rids that it has seen in the direction of the first key."""
    composite = {"compositeIndexes": [[{"path": "/kind"}, {"path": "/n", "order": "descending"}]]}
    container = await database.create_container("items", PartitionKey("/pk"), indexing_policy=composite)
    for number in range(6):
        await container.create_item({"id": str(number), "pk": "p", "kind": 1, "n": 1})
    found: list[str] = []
    token: str | None = ""

    while token is not None:
        sent = {"x_ms_documentdb_partitionkey": '["p"]', "x_ms_max_item_count": "4", "x_ms_continuation": token}
        response = await post(raw, f"SELECT VALUE c.id FROM c {order}", **sent)
        info = json.loads(response.headers["x-ms-cosmos-query-execution-info"])
        assert info == {"reverseRidEnabled": False, "reverseIndexScan": reverse}
        found += response.json["Documents"]
        token = response.headers.get("x-ms-continuation")

    assert found == sorted(found, reverse=reverse)


@pytest.mark.parametrize(
    ("query", "retrieved"),
    [
        ("SELECT VALUE COUNT(1) FROM c", 0),
        ("SELECT VALUE COUNT(1) FROM c WHERE LENGTH(c.id) > 0", 3),
        ("SELECT VALUE COUNT(1) FROM c JOIN d IN c.list", 3),
        ("SELECT * FROM c", 3),
    ],
)
async def test_a_count_of_items_comes_from_the_index_alone(spread: ContainerProxy, query: str, retrieved: int) -> None:
    await rows(spread, query, partition_key="key 1", populate_query_metrics=True)

    headers: Any = spread.client_connection.last_response_headers
    metrics = dict(metric.split("=") for metric in headers["x-ms-documentdb-query-metrics"].split(";"))
    assert int(metrics["retrievedDocumentCount"]) == retrieved
    assert (metrics["retrievedDocumentSize"] == "0") == (retrieved == 0)
    assert float(metrics["indexUtilizationRatio"]) == 1


@pytest.mark.parametrize(
    ("filtered", "loaded", "hits", "ratio"),
    [
        ("WHERE c.n = 7", 1, 1, "1.00"),
        ("WHERE UPPER(c.s) = 'S7'", 100, 1, "0.01"),
        ("WHERE c.n < 10 AND UPPER(c.s) = 'S7'", 10, 1, "0.10"),
        ("WHERE c.n = -1", 0, 0, "1.00"),
        ("JOIN x IN c.a WHERE c.n = 7", 1, 1, "1.00"),
    ],
)
async def test_the_metrics_show_what_an_index_saves(
    raw: RawClient, container: ContainerProxy, filtered: str, loaded: int, hits: int, ratio: str
) -> None:
    """Sources: troubleshoot-query-performance.md in azure-docs, and IndexHitRatio of the .NET SDK's QueryMetrics."""
    await _store_numbers(container, 100)

    [page] = await _pages(raw, f"SELECT c.n FROM c {filtered}")

    metrics = dict(metric.split("=") for metric in page.headers["x-ms-documentdb-query-metrics"].split(";"))
    size = int(metrics["retrievedDocumentSize"])
    assert int(metrics["retrievedDocumentCount"]) == loaded
    assert 100 * loaded <= size <= 400 * loaded
    assert (metrics["indexHitDocumentCount"], metrics["indexUtilizationRatio"]) == (str(hits), ratio)


async def test_an_empty_page_has_a_continuation_token(
    raw: RawClient, container: ContainerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        await container.create_item({"id": str(number), "pk": "p", "free": [number]})
    query = "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.free, 4)"
    monkeypatch.setattr("cosmos_emulator.reads.paging.MAX_PAGE_S", 0.0)  # every page times out immediately
    monkeypatch.setattr("cosmos_emulator.reads.execution.STEP", 1)

    first = await post(raw, query, x_ms_documentdb_partitionkey='["p"]')

    assert (first.status, first.json["_count"]) == (200, 0)
    assert "x-ms-continuation" in first.headers
    assert await rows(container, query, partition_key="p") == ["4"]
    assert await rows(container, query) == ["4"]


UNSTREAMED = [
    "SELECT DISTINCT VALUE c.n FROM c",
    "SELECT c.n, COUNT(1) AS count, MAX(c.id) AS last FROM c GROUP BY c.n",
    "SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n DESC",
    "SELECT VALUE c.n FROM c OFFSET 7 LIMIT 60",
    "SELECT DISTINCT VALUE x FROM c JOIN x IN c.a",
]


@pytest.mark.parametrize("query", UNSTREAMED)
@pytest.mark.parametrize("in_worker", [False, True])
async def test_all_pages_of_a_query_load_each_item_once(
    raw: RawClient, container: ContainerProxy, query: str, monkeypatch: pytest.MonkeyPatch, *, in_worker: bool
) -> None:
    monkeypatch.setattr("cosmos_emulator.reads.execution.LONG_SCAN", 1 if in_worker else 1000)
    await _store_numbers(container, 100)
    [whole] = await _pages(raw, query)

    pages = await _pages(raw, query, x_ms_max_item_count="5")

    assert len(pages) >= 10
    assert [row for page in pages for row in page.json["Documents"]] == whole.json["Documents"]
    assert sum(map(_loaded, pages)) <= 100
    assert sum(float(page.headers["x-ms-request-charge"]) for page in pages[1:]) < 100


@pytest.mark.parametrize("query", UNSTREAMED)
async def test_a_repeated_page_request_returns_the_same_rows(
    raw: RawClient, container: ContainerProxy, query: str
) -> None:
    await _store_numbers(container, 30)
    first = await post(raw, query, x_ms_documentdb_partitionkey='["p"]', x_ms_max_item_count="5")
    sent = {"x_ms_documentdb_partitionkey": '["p"]', "x_ms_max_item_count": "5"}
    sent["x_ms_continuation"] = first.headers["x-ms-continuation"]

    second, again = [await post(raw, query, **sent) for _ in range(2)]
    other = await post(raw, "SELECT DISTINCT VALUE c.id FROM c", **sent)

    assert second.json["Documents"] == again.json["Documents"]
    assert other.json["Documents"] == [str(number) for number in range(5, 10)]


@pytest.mark.parametrize(("limit", "most"), [("MOST", 2), ("MOST_BYTES", 10_000)])
async def test_only_some_unfinished_queries_are_remembered(
    raw: RawClient, container: ContainerProxy, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(f"cosmos_emulator.reads.unfinished.{limit}", most)
    await _store_numbers(container, 30)
    query = "SELECT VALUE COUNT(1) FROM c GROUP BY c.n"
    sent = {"x_ms_documentdb_partitionkey": '["p"]', "x_ms_max_item_count": "20"}
    sent["x_ms_documentdb_populatequerymetrics"] = "true"
    starts = [await post(raw, query, **sent) for _ in range(3)]

    nexts = [
        await post(raw, query, **sent, x_ms_continuation=one.headers["x-ms-continuation"]) for one in reversed(starts)
    ]

    assert [one.json["Documents"] for one in nexts] == [[1] * 10] * 3
    assert [_loaded(one) for one in nexts] == [0, 0, 30]


async def test_an_unfinished_query_is_remembered_for_a_limited_time(
    raw: RawClient, container: ContainerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cosmos_emulator.reads.unfinished.KEPT_S", 0)
    await _store_numbers(container, 30)
    query = "SELECT VALUE COUNT(1) FROM c GROUP BY c.n"

    pages = await _pages(raw, query, x_ms_max_item_count="10")

    assert [row for page in pages for row in page.json["Documents"]] == [1] * 30
    assert [_loaded(page) for page in pages] == [30] * 3


async def _store_numbers(container: ContainerProxy, count: int) -> None:
    items = [
        {"id": str(number), "pk": "p", "n": number, "s": f"s{number}", "a": [number, -number]}
        for number in range(count)
    ]
    await container.execute_item_batch([("create", (item,)) for item in items], "p")


async def _pages(raw: RawClient, query: str, **headers: str) -> list[RawResponse]:
    sent = {"x_ms_documentdb_partitionkey": '["p"]', "x_ms_max_item_count": "-1"} | headers
    sent["x_ms_documentdb_populatequerymetrics"] = "true"
    pages = [await post(raw, query, **sent)]
    while "x-ms-continuation" in pages[-1].headers:
        pages.append(await post(raw, query, **sent, x_ms_continuation=pages[-1].headers["x-ms-continuation"]))
    return pages


def _loaded(page: RawResponse) -> int:
    metrics = dict(part.split("=") for part in page.headers["x-ms-documentdb-query-metrics"].split(";"))
    return int(metrics["retrievedDocumentCount"])


async def test_a_continuation_token_survives_a_restart(settings: EmulatorSettings, tmp_path: Path) -> None:
    durable = replace(settings, data_dir=tmp_path)
    queries = (
        "SELECT VALUE c.n FROM c",
        "SELECT VALUE c.n FROM c ORDER BY c.n DESC",
        "SELECT DISTINCT VALUE c.n FROM c",
        "SELECT VALUE c.n FROM c JOIN x IN c.a",
    )
    found: dict[str, list[int]] = {}
    tokens: dict[str, str] = {}
    async with emulator_client(durable) as client:
        container = await (await client.create_database("db")).create_container("items", PartitionKey("/pk"))
        for number in range(5):
            await container.create_item({"id": str(number), "pk": "p", "n": number, "a": [1]})
        for query in queries:
            pages = container.query_items(query, partition_key="p", max_item_count=2).by_page()
            found[query] = [row async for row in await anext(pages)]
            tokens[query] = pages.continuation_token

    async with emulator_client(durable) as client:
        container = client.get_database_client("db").get_container_client("items")
        for query in queries:
            rest = container.query_items(query, partition_key="p", max_item_count=2).by_page(tokens[query])
            found[query] += [row async for page in rest async for row in page]

    assert [*found.values()] == [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT VALUE COUNT(1) FROM c", [3]),
        ("SELECT VALUE SUM(c.n) FROM c", [51]),
        ("SELECT VALUE MIN(c.n) FROM c", [5]),
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC", [29, 17, 5]),
        ("SELECT TOP 1 VALUE c.n FROM c ORDER BY c.n", [5]),
        ("SELECT DISTINCT VALUE c.pk FROM c", ["key 5"]),
    ],
)
async def test_a_partial_range_supports_aggregates_and_orders(
    spread: ContainerProxy, query: str, expected: list[Any]
) -> None:
    one_key = await spread.feed_range_from_partition_key("key 5")

    assert await rows(spread, query, feed_range=one_key) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT VALUE s.n FROM (SELECT * FROM c WHERE c.n > 30) s ORDER BY s.n DESC", [35, 34, 33, 32, 31]),
        ("SELECT VALUE s.n FROM (SELECT VALUE c FROM c WHERE c.n > 33) AS s ORDER BY s.n", [34, 35]),
        ("SELECT VALUE s.m FROM (SELECT c.n AS m FROM c WHERE c.n > 33) AS s ORDER BY s.m", [34, 35]),
        ("SELECT VALUE c.n FROM c WHERE c.n < 2 ORDER BY c.list[0]", [1, 0]),
    ],
)
async def test_rows_of_a_subquery_and_array_elements_have_an_order(
    spread: ContainerProxy, query: str, expected: list[int]
) -> None:
    for number in (0, 1):
        await spread.upsert_item({"id": str(number), "pk": NAMES[number], "n": number, "list": [-number]})

    assert await rows(spread, query) == expected
    assert await rows(spread, query, max_item_count=1) == expected


@pytest.mark.parametrize("partitions", [1])
async def test_an_order_over_an_array_element_has_pages_in_a_partition(container: ContainerProxy) -> None:
    for number in range(3):
        await container.create_item({"id": str(number), "pk": "p", "n": number, "list": [-number]})

    found = await rows(container, "SELECT VALUE c.n FROM c WHERE c.n < 2 ORDER BY c.list[0]", max_item_count=1)

    assert found == [1, 0]


async def test_a_udf_is_called_in_select_where_and_order_by(spread: ContainerProxy, emulator: Any) -> None:
    emulator.settings.lenient_order_by = True
    body = "function twice(n) { return n === undefined ? undefined : 2 * n; }"
    await spread.scripts.create_user_defined_function({"id": "twice", "body": body})
    query = "SELECT VALUE udf.twice(c.n) FROM c WHERE udf.twice(c.n) > 20 ORDER BY udf.twice(c.n) DESC"

    assert await rows(spread, query, partition_key="key 3") == [54, 30]


@pytest.mark.parametrize(
    ("body", "status"), [("function f() { throw new Error('no'); }", 400), ("function f() { while (true) {} }", 408)]
)
async def test_a_failing_udf_fails_the_query(
    raw: RawClient, spread: ContainerProxy, emulator: Any, body: str, status: int
) -> None:
    emulator.settings.script_time_limit_s = 0.3
    await spread.scripts.create_user_defined_function({"id": "f", "body": body})

    response = await post(raw, "SELECT udf.f() FROM c", x_ms_documentdb_partitionkey='["key 1"]')
    unknown = await post(raw, "SELECT udf.nosuch() FROM c", x_ms_documentdb_partitionkey='["key 1"]')

    assert (response.status, unknown.status) == (status, 400)
