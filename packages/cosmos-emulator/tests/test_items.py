"""Create, read, replace, and delete items."""

from __future__ import annotations

import json
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from azure.cosmos.partition_key import NonePartitionKeyValue, NullPartitionKeyValue
from tests.clock import Clock
from tests.errors import fails_with
from tests.raw_client import CONTAINER, PARTITION_KEY, RawClient, RawResponse


async def test_an_item_can_be_stored_without_its_links(raw: RawClient, container: ContainerProxy) -> None:
    def links(response: RawResponse) -> set[str]:
        return {"_self", "_attachments"} & response.json.keys()

    without = {"x-ms-exclude-system-properties": "True"}

    created = await raw.create_item({"id": "without", "pk": "p", "own": {"_self": 1}}, headers=without)
    usual = await raw.create_item({"id": "usual", "pk": "p"})

    assert (links(created), links(usual)) == (set(), {"_self", "_attachments"})
    assert links(await raw.read_item("without", without)) == set()
    assert links(await raw.read_item("usual", without)) == {"_self", "_attachments"}
    read = await raw.read_item("without")
    assert read.json == await container.read_item("without", "p")
    assert read.json["_self"].endswith(f"/docs/{created.json['_rid']}/")
    assert read.json["own"] == {"_self": 1}


async def test_an_id_is_unique_in_its_logical_partition_only(container: ContainerProxy) -> None:
    await container.create_item({"id": "a", "pk": "one"})

    with fails_with(409):
        await container.create_item({"id": "a", "pk": "one"})
    await container.create_item({"id": "a", "pk": "two"})

    assert (await container.read_item("a", "two"))["pk"] == "two"


async def test_the_server_sets_system_properties(container: ContainerProxy, clock: Clock) -> None:
    sent = {"z": 1, "_etag": "mine", "_ts": 5, "_rid": "x", "id": "a", "pk": "p", "_own": True}

    created = await container.create_item(sent)

    assert list(created) == ["z", "id", "pk", "_own", "_rid", "_self", "_etag", "_attachments", "_ts"]
    assert (created["_ts"], created["_attachments"]) == (int(clock()), "attachments/")
    assert created["_etag"].startswith('"')
    assert created["_etag"] not in ("mine", '"mine"')
    assert created["_self"].endswith(f"docs/{created['_rid']}/")


@pytest.mark.parametrize("document", [{"pk": "p"}, {"id": "", "pk": "p"}, {"id": 5, "pk": "p"}])
async def test_a_missing_or_invalid_id_is_rejected(
    raw: RawClient, container: ContainerProxy, document: dict[str, Any]
) -> None:
    response = await raw.create_item(document)

    assert response.status == 400


async def test_an_id_can_have_at_most_1023_bytes(container: ContainerProxy) -> None:
    await container.create_item({"id": "x" * 1023, "pk": "p"})

    with fails_with(400):
        await container.create_item({"id": "x" * 1024, "pk": "p"})


async def test_the_partition_key_header_must_match_the_item(raw: RawClient, container: ContainerProxy) -> None:
    document = {"id": "a", "pk": "p"}

    other = await raw.create_item(document, headers={"x-ms-documentdb-partitionkey": '["q"]'})
    none = await raw.send("POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body=document)

    assert (other.status, other.headers["x-ms-substatus"]) == (400, "1001")
    assert (none.status, "x-ms-substatus" in none.headers) == (400, False)


async def test_null_undefined_empty_number_and_string_are_distinct_keys(container: ContainerProxy) -> None:
    keys = {"null": None, "empty": "", "number": 1, "text": "1"}
    for name, value in keys.items():
        await container.create_item({"id": "a", "pk": value, "name": name})
    await container.create_item({"id": "a", "name": "undefined"})

    with fails_with(409):
        await container.create_item({"id": "a", "pk": {"an": "object"}})
    assert (await container.read_item("a", NullPartitionKeyValue))["name"] == "null"
    assert (await container.read_item("a", NonePartitionKeyValue))["name"] == "undefined"
    for name in ("empty", "number", "text"):
        assert (await container.read_item("a", keys[name]))["name"] == name


async def test_a_partition_key_path_can_be_nested(database: DatabaseProxy) -> None:
    container = await database.create_container("nested", PartitionKey("/address/city"))
    await container.create_item({"id": "a", "address": {"city": "Bonn"}})

    assert (await container.read_item("a", "Bonn"))["id"] == "a"


async def test_a_hierarchical_key_supports_point_reads_and_prefix_queries(database: DatabaseProxy) -> None:
    container = await database.create_container("levels", PartitionKey(["/a", "/b"], kind="MultiHash"))
    for number, (first, second) in enumerate([("x", "1"), ("x", "2"), ("y", "1")]):
        await container.create_item({"id": str(number), "a": first, "b": second})

    assert (await container.read_item("1", ["x", "2"]))["id"] == "1"
    matches = container.query_items("SELECT VALUE c.id FROM c", partition_key=["x"])
    assert sorted([item_id async for item_id in matches]) == ["0", "1"]


async def test_a_point_operation_needs_every_level_of_a_hierarchical_key(database: DatabaseProxy) -> None:
    container = await database.create_container("levels", PartitionKey(["/a", "/b"], kind="MultiHash"))
    await container.create_item({"id": "1", "a": "x", "b": "y"})

    for read in (container.read_item("1", ["x"]), container.delete_item("1", ["x"])):
        with fails_with(400, 1001, match="doesn't match partition key field values specified in the document[.]"):
            await read


async def test_an_upsert_creates_then_replaces_and_keeps_the_rid(container: ContainerProxy, clock: Clock) -> None:
    created = await container.upsert_item({"id": "a", "pk": "p", "n": 1})
    clock.advance(2)
    replaced = await container.upsert_item({"id": "a", "pk": "p", "n": 2})

    assert created.get_response_headers()["etag"] != replaced.get_response_headers()["etag"]
    assert replaced["_rid"] == created["_rid"]
    assert replaced["_ts"] == created["_ts"] + 2
    assert (await container.read_item("a", "p"))["n"] == 2


async def test_an_item_can_be_replaced_by_id_or_rid_link(container: ContainerProxy) -> None:
    item = await container.create_item({"id": "a", "pk": "p", "n": 1})

    by_link = await container.replace_item(dict(item), {"id": "a", "pk": "p", "n": 2})
    by_id = await container.replace_item("a", {"id": "a", "pk": "p", "n": 3})

    assert (by_link["n"], by_id["n"]) == (2, 3)


async def test_writes_under_a_stale_etag_are_rejected(container: ContainerProxy) -> None:
    item = await container.create_item({"id": "a", "pk": "p", "n": 1})
    await container.upsert_item({"id": "a", "pk": "p", "n": 2})

    with fails_with(412):
        await container.replace_item(
            "a", {"id": "a", "pk": "p"}, etag=item["_etag"], match_condition=MatchConditions.IfNotModified
        )
    with fails_with(412):
        await container.upsert_item(
            {"id": "a", "pk": "p"}, etag=item["_etag"], match_condition=MatchConditions.IfNotModified
        )
    with fails_with(412):
        await container.delete_item("a", "p", etag=item["_etag"], match_condition=MatchConditions.IfNotModified)
    assert (await container.read_item("a", "p"))["n"] == 2


async def test_a_replace_can_change_the_id_but_not_the_partition_key(raw: RawClient, container: ContainerProxy) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    await container.create_item({"id": "b", "pk": "p"})

    await container.replace_item("a", {"id": "c", "pk": "p"})
    with fails_with(409):
        await container.replace_item("c", {"id": "b", "pk": "p"})
    moved = await raw.send(
        "PUT",
        f"/{CONTAINER}/docs/b",
        kind="docs",
        link=f"{CONTAINER}/docs/b",
        body={"id": "b", "pk": "q"},
        headers=PARTITION_KEY,
    )

    assert moved.status == 400
    assert sorted([item["id"] async for item in container.read_all_items()]) == ["b", "c"]


async def test_missing_items_return_404(container: ContainerProxy) -> None:
    await container.create_item({"id": "a", "pk": "p"})

    with fails_with(404):
        await container.read_item("a", "q")
    with fails_with(404):
        await container.replace_item("b", {"id": "b", "pk": "p"})
    await container.delete_item("a", "p")
    with fails_with(404):
        await container.delete_item("a", "p")


async def test_binary_json_is_refused_with_what_to_do(raw: RawClient, container: ContainerProxy) -> None:
    response = await raw.create_item(data=bytes.fromhex("80 ea 06 22 69 64 81 61"))

    assert response.status == 400
    assert "binary JSON" in response.text
    assert "with_enabled(false)" in response.text


async def test_a_read_of_an_unchanged_item_returns_304(raw: RawClient, container: ContainerProxy) -> None:
    item = await container.create_item({"id": "a", "pk": "p"})

    for etag in (item["_etag"], "*"):
        response = await raw.read_item("a", {"If-None-Match": etag})
        assert (response.status, response.text) == (304, "")


async def test_a_write_with_no_response_returns_an_empty_body(container: ContainerProxy) -> None:
    created = await container.create_item({"id": "a", "pk": "p"}, no_response=True)

    assert dict(created) == {}
    assert (await container.read_item("a", "p"))["id"] == "a"


@pytest.mark.filterwarnings("ignore:Sending a large body")
async def test_an_item_over_2_mb_is_rejected(container: ContainerProxy) -> None:
    await container.create_item({"id": "large", "pk": "p", "text": "x" * (2 * 1024 * 1024 - 600)})

    with fails_with(413):
        await container.create_item({"id": "larger", "pk": "p", "text": "x" * (2 * 1024 * 1024)})


@pytest.mark.parametrize(("levels", "status"), [(127, 201), (128, 400)])
async def test_nesting_beyond_128_levels_is_rejected(
    raw: RawClient, container: ContainerProxy, levels: int, status: int
) -> None:
    text = '{"id":"a","pk":"p","deep":' + "[" * levels + "]" * levels + "}"

    response = await raw.create_item(data=text.encode())

    assert response.status == status


async def test_numbers_are_doubles_and_integers_have_no_fraction(raw: RawClient, container: ContainerProxy) -> None:
    text = '{"id":"a","pk":"p","n":[1.0,-0.0,1.5,1e3,123456789012345678901234567890]}'

    response = await raw.create_item(data=text.encode())

    assert '"n":[1,0,1.5,1000,1.2345678901234568e+29]' in response.text
    assert json.loads(response.text)["n"][4] == 1.2345678901234568e29


@pytest.mark.parametrize("by_query", [False, True])
async def test_pages_do_not_shift_when_items_are_written(container: ContainerProxy, by_query: bool) -> None:
    for number in range(5):
        await container.create_item({"id": f"old {number}", "pk": "p"})
    feed = (
        container.query_items("SELECT * FROM c", partition_key="p", max_item_count=2)
        if by_query
        else container.read_all_items(max_item_count=2)
    )
    pages = feed.by_page()

    first = [item["id"] async for item in await anext(pages)]
    await container.create_item({"id": "new", "pk": "p"})
    await container.delete_item("old 1", "p")
    rest = [item["id"] async for page in pages async for item in page]

    assert first == ["old 0", "old 1"]
    assert rest == ["old 2", "old 3", "old 4", "new"]


async def test_the_read_feed_pages_through_all_partitions(container: ContainerProxy) -> None:
    for number in range(30):
        await container.create_item({"id": str(number), "pk": f"key {number}"})

    pages = [[item["id"] async for item in page] async for page in container.read_all_items(max_item_count=7).by_page()]

    assert [len(page) for page in pages] == [7, 7, 7, 7, 2]
    assert sorted(int(item_id) for page in pages for item_id in page) == list(range(30))


@pytest.mark.parametrize(("requested", "count"), [(None, 100), ("-1", 150), ("120", 120)])
async def test_the_default_page_size_is_100(
    raw: RawClient, container: ContainerProxy, requested: str | None, count: int
) -> None:
    for start in (0, 100):
        operations = [("create", ({"id": str(number), "pk": "p"},)) for number in range(start, min(start + 100, 150))]
        await container.execute_item_batch(operations, "p")

    headers = {} if requested is None else {"x-ms-max-item-count": requested}
    response = await raw.send("GET", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, headers=headers)

    assert response.json["_count"] == int(response.headers["x-ms-item-count"]) == count


async def test_an_invalid_continuation_token_is_rejected(raw: RawClient, container: ContainerProxy) -> None:
    for token in ("nonsense", "e30x", "eyJyYW5nZSI6OX0="):
        response = await raw.send(
            "GET", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, headers={"x-ms-continuation": token}
        )
        assert (response.status, token) == (400, token)


async def test_a_logical_partition_can_be_deleted(container: ContainerProxy) -> None:
    for number in range(3):
        await container.create_item({"id": str(number), "pk": "deleted"})
    await container.create_item({"id": "a", "pk": "kept"})

    await container.delete_all_items_by_partition_key("deleted")

    assert [item["pk"] async for item in container.read_all_items()] == ["kept"]


async def test_read_items_reads_from_several_partitions(container: ContainerProxy) -> None:
    for number in range(8):
        await container.create_item({"id": str(number), "pk": f"key {number}"})

    found = await container.read_items([(str(number), f"key {number}") for number in range(6)])

    assert sorted(item["id"] for item in found) == ["0", "1", "2", "3", "4", "5"]


async def test_a_partition_key_value_can_have_at_most_2048_bytes(container: ContainerProxy) -> None:
    await container.create_item({"id": "a", "pk": "x" * 2048})

    with fails_with(400):
        await container.create_item({"id": "a", "pk": "x" * 2049})
    with fails_with(400, 1001):
        await container.create_item({"id": "a", "pk": ["an", "array"]})


@pytest.mark.parametrize(
    ("text", "headers", "has_token"),
    [
        pytest.param(None, {}, True, id="read feed"),
        pytest.param(None, PARTITION_KEY, False, id="read feed of a partition key"),
        pytest.param("SELECT * FROM c", {}, True, id="query"),
        pytest.param("SELECT c.id FROM c", {}, True, id="projection"),
        pytest.param("SELECT * FROM c", PARTITION_KEY, False, id="query of a partition key"),
        pytest.param("SELECT * FROM c WHERE c.n >= 0", {}, False, id="filter"),
        pytest.param("SELECT TOP 4 * FROM c", {}, False, id="TOP"),
        pytest.param("SELECT * FROM c ORDER BY c.n", {}, False, id="ORDER BY"),
        pytest.param("SELECT VALUE COUNT(1) FROM c", {"x-ms-max-item-count": "1"}, False, id="aggregate"),
    ],
)
async def test_a_full_page_without_a_filter_has_a_continuation_also_at_the_end(
    raw: RawClient, container: ContainerProxy, text: str | None, headers: dict[str, str], has_token: bool
) -> None:
    for number in range(4):
        await container.create_item({"id": str(number), "pk": "p", "n": number})
    partition = (await raw.read_item("0")).headers["x-ms-documentdb-partitionkeyrangeid"]
    scope = {"x-ms-documentdb-partitionkeyrangeid": partition}
    query = {"x-ms-documentdb-isquery": "true", "x-ms-documentdb-query-enablecrosspartition": "true"}

    async def page(**more: str) -> RawResponse:
        sent = {"x-ms-max-item-count": "2", **scope, **headers, **more}
        if text is None:
            return await raw.send("GET", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, headers=sent)
        body, sent = {"query": text}, {**query, **sent}
        return await raw.send("POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, headers=sent, body=body)

    pages = [await page()]
    while token := pages[-1].headers.get("x-ms-continuation"):
        pages.append(await page(**{"x-ms-continuation": token}))

    counts = [len(one.json["Documents"]) for one in pages]
    assert counts[-1] == 0 if has_token else counts[-1] > 0
    assert sum(counts) == (1 if text and "COUNT" in text else 4)
