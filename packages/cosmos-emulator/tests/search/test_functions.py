"""The search functions in SELECT and WHERE."""

# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import sys
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from tests.errors import fails_with
from tests.search.containers import TEXTS, create, ids

IN_P = {"partition_key": "p"}


async def filled(database: DatabaseProxy, **options: Any) -> ContainerProxy:
    container = await create(database, **options)
    for name, text in TEXTS.items():
        await container.create_item({"id": name, "pk": "p", "t": text})
    return container


async def value(container: ContainerProxy, expression: str, item: dict[str, Any], parameters: Any = None) -> Any:
    """Return the value of an expression of an item; None if it is undefined."""
    await container.upsert_item({"id": "item", "pk": "one", **item})
    query = "SELECT " + expression + " AS found FROM c"
    rows = container.query_items(query, parameters=parameters, partition_key="one")
    return (await anext(aiter(rows))).get("found")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("VectorDistance(c.v, [1, 0])", 0.6),
        ("VectorDistance([1, 0], c.v)", 0.6),
        ("VectorDistance(c.v, @v, true)", 0.6),
        ("VectorDistance(c.v, @v, false, {distanceFunction: 'Euclidean', dataType: 'Float32'})", 20**0.5),
        ("VectorDistance(c.v, [1, 0], false, {'distanceFunction': 'dotproduct'})", 3),
        ("VectorDistance(c.v, [1, 0], false, {searchListSizeMultiplier: 10, filterPriority: 0.5})", 0.6),
        ("VectorDistance(c['v'], [0, 0])", None),
        ("VectorDistance(c.v, [1, 0, 0])", None),
        ("VectorDistance(c.v, [[1, 0]])", None),
        ("VectorDistance(c.v, ['1', 0])", None),
        ("VectorDistance(c.v, [true, 0])", None),
        ("VectorDistance(c.missing, [1, 0])", None),
        ("VectorDistance([3, 4], [3, 4])", 1),
    ],
)
async def test_vector_distance(database: DatabaseProxy, expression: str, expected: float | None) -> None:
    container = await create(database)

    found = await value(container, expression, {"v": [3, 4]}, [{"name": "@v", "value": [1, 0]}])

    assert found == (None if expected is None else pytest.approx(expected))


async def test_vector_distance_uses_the_policy_of_its_path(database: DatabaseProxy) -> None:
    container = await create(database, distance="euclidean")
    item = {"v": [3, 4], "w": [3, 4]}

    assert await value(container, "VectorDistance(c.v, [0, 0])", item) == pytest.approx(5)
    assert await value(container, "VectorDistance(c.w, [3, 4])", item) == pytest.approx(1)  # cosine
    name = [{"name": "@name", "value": "v"}]
    assert await value(container, "VectorDistance(c[@name], [0, 0])", item, name) == pytest.approx(5)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("FullTextContains(c.t, 'bicycle')", ["red", "bicycle"]),
        ("FullTextContains(c.t, 'Bicycles')", ["red", "bicycle"]),
        ("FullTextContains(c.t, 'red bicycle')", ["red"]),
        ("FullTextContains(c.t, 'the')", []),
        ("FullTextContains(c.t, @term)", ["tree"]),
        ("FullTextContainsAll(c.t, 'red', 'bicycle')", ["red", "bicycle"]),
        ("FullTextContainsAll(c.t, 'red bicycle', 'car')", []),
        ("FullTextContainsAny(c.t, 'tree', 'red bicycle')", ["tree", "red"]),
        ("FullTextContains(c.t, 'red') AND FullTextContains(c.t, 'forest')", ["red"]),
        ("FullTextContains(c.t, 'tree') OR FullTextContains(c.t, 'car')", ["tree", "bicycle"]),
        ("FullTextContains(c.t, 'forest') AND c.id = 'red'", ["red"]),
        ("FullTextContains(c.t, 'tree') OR c.id = 'none'", ["tree", "none"]),
        ("NOT FullTextContains(c.t, 'forest')", ["bicycle", "none"]),
        ("FullTextContains(c.missing, 'tree')", []),
    ],
)
@pytest.mark.parametrize("options", [IN_P, {}])
async def test_full_text_contains(database: DatabaseProxy, condition: str, expected: list[str], options: Any) -> None:
    container = await filled(database)
    parameters = [{"name": "@term", "value": "trees"}]

    assert await ids(container, "SELECT * FROM c WHERE " + condition, parameters, **options) == expected
    query = "SELECT VALUE COUNT(1) FROM c WHERE " + condition
    assert [count async for count in container.query_items(query, parameters=parameters, **options)] == [len(expected)]


async def test_full_text_functions_in_select(database: DatabaseProxy) -> None:
    container = await create(database)

    assert await value(container, "FullTextContains(c.t, 'tree')", {"t": "Trees"}) is True
    assert await value(container, "FullTextContainsAny(c.t, 'car', 'house')", {"t": "Trees"}) is False
    assert await value(container, "FullTextContains(c.t, 'tree')", {"t": 1}) is None


async def test_texts_are_in_the_language_of_their_policy(database: DatabaseProxy) -> None:
    container = await create(database, language="de-DE")
    item = {"t": "die Häuser"}

    assert await value(container, "FullTextContains(c.t, 'Haus')", item) is True
    assert await value(container, "FullTextContains(c.t, 'die')", item) is True  # no stop words


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT FullTextScore(c.t, 'a') AS s FROM c",
            "SC2240.*FullTextScore function is only allowed in the ORDER BY",
        ),
        ("SELECT c.id FROM c WHERE RRF(FullTextScore(c.t, 'a')) > 0", "SC2240.*SC2005.*'RRF' is not a recognized"),
        ("SELECT VectorDistance(c.v) FROM c", "SC2050.*requires 2 to 4"),
        ("SELECT FullTextContains(c.t, 'a', 'b') FROM c", "SC2050.*requires 2 argument"),
        ("SELECT VALUE VectorDistance(c.v, [1, 0], false, {other: 1}) FROM c", "options of VectorDistance can be"),
        ("SELECT VALUE VectorDistance(c.v, [1, 0], false, {dataType: 'x'}) FROM c", "SC2210.*'dataType'"),
        ("SELECT * FROM c WHERE FullTextContains(c.t, {term: 'a', distance: 1})", "'fuzzy search'"),
        ("SELECT * FROM c ORDER BY RANK FullTextScore(c.t, {term: 'a', distance: 1})", "'fuzzy search'"),
        ("SELECT * FROM c ORDER BY RANK FullTextScore(c.t, ['a'])", "SC2241"),
        ("SELECT * FROM c ORDER BY RANK FullTextScore(c.t)", "SC2050.*at least 2"),
        ("SELECT * FROM c ORDER BY RANK FullTextScore(c.t || 'a', 'a')", "SC2990"),
        ("SELECT * FROM c ORDER BY RANK FullTextScore(c.t, 'a') DESC", "sort order .ASC or DESC. in the ORDER BY RANK"),
        ("SELECT * FROM c ORDER BY RANK LOWER(c.t)", "SC2221"),
        ("SELECT * FROM c ORDER BY RANK RRF(c.t)", "SC2233"),
        ("SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.t, 'a'), LOWER(c.t))", "SC2221"),
        ("SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.t, 'a'), [1, 2])", "SC2229"),
        ("SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.t, 'a'), ['1'])", "SC2229"),
        ("SELECT * FROM c ORDER BY RANK FullTextScore(c.t, 'a'), c.id", "SC1001"),
        ("SELECT * FROM c ORDER BY RANK FullTextScore(c.t, 'a', 'b', 'c', 'd', 'e', 'f')", "SC3032.*limit is 5"),
        ("SELECT DISTINCT c.a FROM c JOIN p IN c.parts ORDER BY RANK RRF(c.t)", "SC2224.*SC2223.*SC2233.*SC2220"),
        ("SELECT VALUE VectorDistance(c.v, [1, 0], 1) FROM c", "SC2212"),
        ("SELECT VALUE VectorDistance(c.v, [1, 0], true, {searchListSizeMultiplier: 0}) FROM c", "SC2213"),
        ("SELECT * FROM c ORDER BY VectorDistance(c.v, [1, 0]) ASC", "sorting order .ASC or DESC. with VectorDistance"),
        ("SELECT * FROM c ORDER BY VectorDistance(c.v, [1, 0]), c.id", "SC2990.*with other items"),
        ("SELECT * FROM c ORDER BY VectorDistance(c.v, c.w)", "SC2990"),
        ("SELECT p FROM c JOIN p IN c.parts ORDER BY VectorDistance(p.v, [1, 0])", "SC2990"),
        ("SELECT COUNT(1) AS n FROM c ORDER BY VectorDistance(c.v, [1, 0])", "SC2990.*groups or aggregates"),
    ],
)
async def test_invalid_searches_are_rejected(database: DatabaseProxy, query: str, message: str) -> None:
    container = await filled(database)

    with fails_with(400, match=message):
        await ids(container, query, **IN_P)


async def test_without_the_packages_the_error_says_what_to_install(
    database: DatabaseProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    container = await filled(database)
    for name in ("search_indexes", "texts", "vectors"):
        monkeypatch.delitem(sys.modules, f"cosmos_emulator.search.{name}", raising=False)
        monkeypatch.delattr(sys.modules["cosmos_emulator.search"], name, raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)

    for query in (
        "SELECT VectorDistance(c.v, [1, 0]) FROM c",
        "SELECT FullTextContains(c.t, 'a') FROM c",
        "SELECT * FROM c WHERE FullTextContains(c.t, 'a')",
        "SELECT * FROM c ORDER BY RANK FullTextScore(c.t, 'a')",
    ):
        with fails_with(400, match=r"pip install 'cosmos-emulator\[search\]'"):
            await ids(container, query, **IN_P)


async def test_a_computed_property_is_searched_by_its_value(database: DatabaseProxy) -> None:
    computed = [{"name": "lower", "query": "SELECT VALUE CONCAT(c.t, ' bicycle') FROM c"}]
    container = await database.create_container("c", PartitionKey("/pk"), computed_properties=computed)
    await container.create_item({"id": "a", "pk": "p", "t": "red", "lower": "green"})

    assert await ids(container, "SELECT * FROM c WHERE FullTextContains(c.lower, 'red bicycle')", **IN_P) == ["a"]
    assert await ids(container, "SELECT * FROM c WHERE FullTextContains(c.lower, 'green')", **IN_P) == []
    with fails_with(400, match="SC2990"):
        await ids(container, "SELECT * FROM c ORDER BY RANK FullTextScore(c.lower, 'red')", **IN_P)


async def test_numbers_beyond_a_vector_have_no_distance(database: DatabaseProxy) -> None:
    container = await create(database)
    huge = 1e300

    assert await value(container, "VectorDistance(c.v, [1, 0])", {"v": [1e300, 1e-300]}) is None
    query = "SELECT TOP 1 c.id FROM c ORDER BY VectorDistance(c.v, @v)"
    assert await ids(container, query, [{"name": "@v", "value": [huge, 1]}], partition_key="one") == ["item"]
