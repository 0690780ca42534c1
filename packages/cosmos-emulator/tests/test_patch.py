"""Patch: operations, conditions, and read-only properties."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.cosmos.aio import ContainerProxy
from tests.errors import fails_with
from tests.raw_client import CONTAINER, PARTITION_KEY, RawClient

LINK = f"{CONTAINER}/docs/a"


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
async def test_an_operation_changes_its_path(
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
        {"op": "add", "path": f"/list/{'1' * 5000}", "value": 1},
        {"op": "add", "path": f"/list/{'1' * 5000}/x", "value": 1},
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
async def test_an_invalid_operation_changes_nothing(
    container: ContainerProxy, item: dict[str, Any], operation: dict[str, Any]
) -> None:
    with fails_with(400):
        await container.patch_item("a", "p", [{"op": "set", "path": "/first", "value": 1}, operation])

    assert await container.read_item("a", "p") == item


async def test_an_increment_beyond_64_bits_is_a_double(container: ContainerProxy, item: dict[str, Any]) -> None:
    await container.replace_item("a", {**item, "n": 2**64 - 1})

    patched = await container.patch_item("a", "p", [{"op": "incr", "path": "/n", "value": 5}])

    assert patched["n"] == float(2**64)
    assert (await container.read_item("a", "p"))["n"] == float(2**64)


@pytest.mark.parametrize("largest", [sys.float_info.max, -sys.float_info.max])
async def test_an_increment_beyond_the_largest_number_changes_nothing(
    container: ContainerProxy, item: dict[str, Any], largest: float
) -> None:
    operation = {"op": "incr", "path": "/n", "value": largest}
    patched = await container.patch_item("a", "p", [operation])
    assert patched["n"] == largest

    with fails_with(400, match="beyond the range"):
        await container.patch_item("a", "p", [operation])

    assert await container.read_item("a", "p") == patched


async def test_a_patch_with_an_unmet_filter_is_rejected(container: ContainerProxy, item: dict[str, Any]) -> None:
    operations = [{"op": "incr", "path": "/n", "value": 1}]

    patched = await container.patch_item("a", "p", operations, filter_predicate="from c where c.n = 4")
    with fails_with(412):
        await container.patch_item("a", "p", operations, filter_predicate="from c where c.n = 4")

    assert patched["n"] == 5
    assert (await container.read_item("a", "p"))["n"] == 5


async def test_a_patch_under_a_stale_etag_is_rejected(container: ContainerProxy, item: dict[str, Any]) -> None:
    operations = [{"op": "incr", "path": "/n", "value": 1}]
    condition = {"etag": item["_etag"], "match_condition": MatchConditions.IfNotModified}

    await container.patch_item("a", "p", operations, **condition)
    with fails_with(412):
        await container.patch_item("a", "p", operations, **condition)


async def test_a_patch_has_at_most_ten_operations(container: ContainerProxy, item: dict[str, Any]) -> None:
    operations = [{"op": "incr", "path": "/n", "value": 1}] * 10

    assert (await container.patch_item("a", "p", operations))["n"] == 14
    with fails_with(400):
        await container.patch_item("a", "p", [*operations, operations[0]])


async def test_the_javascript_sdks_bare_array_is_accepted(
    raw: RawClient, container: ContainerProxy, item: dict[str, Any]
) -> None:
    body = [{"op": "incr", "path": "/n", "value": 1}]

    response = await raw.send("PATCH", f"/{LINK}", kind="docs", link=LINK, body=body, headers=PARTITION_KEY)

    assert (response.status, response.json["n"]) == (200, 5)


@pytest.mark.parametrize("op", [["add"], {}, None, 1])
async def test_an_operation_name_must_be_a_string(
    raw: RawClient, container: ContainerProxy, item: dict[str, Any], op: Any
) -> None:
    body = {"operations": [{"op": op, "path": "/n", "value": 1}]}

    response = await raw.send("PATCH", f"/{LINK}", kind="docs", link=LINK, body=body, headers=PARTITION_KEY)

    assert response.status == 400


async def test_a_patch_of_a_missing_item_returns_404(container: ContainerProxy) -> None:
    with fails_with(404):
        await container.patch_item("none", "p", [{"op": "set", "path": "/n", "value": 1}])
