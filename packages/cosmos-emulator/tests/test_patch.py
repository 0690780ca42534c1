"""Patch: six operations, conditions, and what may not be touched."""

from __future__ import annotations

from typing import Any

import pytest
from azure.core import MatchConditions
from azure.cosmos.aio import ContainerProxy
from tests.raw_client import RawClient
from tests.refusals import refused


@pytest.fixture
async def item(container: ContainerProxy) -> dict[str, Any]:
    return await container.create_item(
        {"id": "a", "pk": "p", "n": 4, "list": [1, 2, 3], "o": {"x": 1}, "text": "t", "a/b": 1}
    )


@pytest.mark.parametrize(
    ("operation", "changed"),
    [
        ({"op": "add", "path": "/new", "value": {"y": 1}}, {"new": {"y": 1}}),
        ({"op": "add", "path": "/list/1", "value": 9}, {"list": [1, 9, 2, 3]}),
        ({"op": "add", "path": "/list/3", "value": 9}, {"list": [1, 2, 3, 9]}),
        ({"op": "add", "path": "/list/-", "value": 9}, {"list": [1, 2, 3, 9]}),
        ({"op": "set", "path": "/list/1", "value": 9}, {"list": [1, 9, 3]}),
        ({"op": "set", "path": "/o/y", "value": 2}, {"o": {"x": 1, "y": 2}}),
        ({"op": "replace", "path": "/o/x", "value": None}, {"o": {"x": None}}),
        ({"op": "remove", "path": "/list/0"}, {"list": [2, 3]}),
        ({"op": "remove", "path": "/text"}, {"text": ...}),
        ({"op": "incr", "path": "/n", "value": -6}, {"n": -2}),
        ({"op": "incr", "path": "/n", "value": 0.5}, {"n": 4.5}),
        ({"op": "incr", "path": "/count", "value": 3}, {"count": 3}),
        ({"op": "move", "from": "/o/x", "path": "/y"}, {"o": {}, "y": 1}),
        ({"op": "set", "path": "/a~1b", "value": 2}, {"a/b": 2}),
    ],
)
async def test_an_operation_changes_what_it_names(
    container: ContainerProxy, item: dict[str, Any], operation: dict[str, Any], changed: dict[str, Any]
) -> None:
    patched = await container.patch_item("a", "p", [operation])

    expected = {name: value for name, value in {**item, **changed}.items() if value is not ...}
    system = ("_etag", "_ts")
    assert {k: v for k, v in patched.items() if k not in system} == {
        k: v for k, v in expected.items() if k not in system
    }
    assert patched["_etag"] != item["_etag"]
    assert await container.read_item("a", "p") == patched


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "/list/5", "value": 1},
        {"op": "add", "path": "/none/x", "value": 1},
        {"op": "replace", "path": "/none", "value": 1},
        {"op": "remove", "path": "/none"},
        {"op": "remove", "path": "/list/3"},
        {"op": "incr", "path": "/text", "value": 1},
        {"op": "incr", "path": "/n", "value": "1"},
        {"op": "move", "from": "/none", "path": "/y"},
        {"op": "move", "from": "/o", "path": "/o/z"},
        {"op": "set", "path": "/id", "value": "b"},
        {"op": "set", "path": "/pk", "value": "q"},
        {"op": "remove", "path": "/pk"},
        {"op": "set", "path": "/_ts", "value": 1},
        {"op": "set", "path": "no slash", "value": 1},
        {"op": "set", "path": "/x"},
        {"op": "test", "path": "/n", "value": 4},
    ],
)
async def test_an_operation_that_cannot_apply_is_refused_and_nothing_changes(
    container: ContainerProxy, item: dict[str, Any], operation: dict[str, Any]
) -> None:
    with refused(400):
        await container.patch_item("a", "p", [{"op": "set", "path": "/first", "value": 1}, operation])

    assert await container.read_item("a", "p") == item


async def test_the_condition_decides(container: ContainerProxy, item: dict[str, Any]) -> None:
    operations = [{"op": "incr", "path": "/n", "value": 1}]

    patched = await container.patch_item("a", "p", operations, filter_predicate="from c where c.n = 4")
    with refused(412):
        await container.patch_item("a", "p", operations, filter_predicate="from c where c.n = 4")

    assert patched["n"] == 5
    assert (await container.read_item("a", "p"))["n"] == 5


async def test_the_etag_decides(container: ContainerProxy, item: dict[str, Any]) -> None:
    operations = [{"op": "incr", "path": "/n", "value": 1}]
    condition = {"etag": item["_etag"], "match_condition": MatchConditions.IfNotModified}

    await container.patch_item("a", "p", operations, **condition)
    with refused(412):
        await container.patch_item("a", "p", operations, **condition)


async def test_ten_operations_are_taken_and_eleven_refused(container: ContainerProxy, item: dict[str, Any]) -> None:
    operations = [{"op": "incr", "path": "/n", "value": 1}] * 10

    assert (await container.patch_item("a", "p", operations))["n"] == 14
    with refused(400):
        await container.patch_item("a", "p", [*operations, operations[0]])


async def test_the_bare_array_of_the_javascript_sdk_is_taken(
    raw: RawClient, container: ContainerProxy, item: dict[str, Any]
) -> None:
    answer = await raw.send(
        "PATCH",
        "/dbs/db/colls/items/docs/a",
        kind="docs",
        link="dbs/db/colls/items/docs/a",
        body=[{"op": "incr", "path": "/n", "value": 1}],
        headers={"x-ms-documentdb-partitionkey": '["p"]'},
    )

    assert (answer.status, answer.json["n"]) == (200, 5)


@pytest.mark.parametrize("op", [["add"], {}, None, 1])
async def test_an_operation_whose_name_is_no_text_is_refused(
    raw: RawClient, container: ContainerProxy, item: dict[str, Any], op: Any
) -> None:
    answer = await raw.send(
        "PATCH",
        "/dbs/db/colls/items/docs/a",
        kind="docs",
        link="dbs/db/colls/items/docs/a",
        body={"operations": [{"op": op, "path": "/n", "value": 1}]},
        headers={"x-ms-documentdb-partitionkey": '["p"]'},
    )

    assert answer.status == 400


async def test_a_missing_item_is_not_found(container: ContainerProxy) -> None:
    with refused(404):
        await container.patch_item("none", "p", [{"op": "set", "path": "/n", "value": 1}])
