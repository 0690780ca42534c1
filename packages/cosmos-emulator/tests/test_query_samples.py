"""Microsoft's query samples and the examples of its query reference, with the results that both publish.

`COSMOS_QUERY_SAMPLES` names a checkout of Azure-Samples/cosmos-db-nosql-query-samples, `COSMOS_QUERY_DOCS` one of
MicrosoftDocs/nosql-query-docs. As in the samples' own test, the items have no partition key. The order of rows counts
only with ORDER BY.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import DatabaseProxy
from azure.cosmos.exceptions import CosmosHttpResponseError
from azure.cosmos.partition_key import NonePartitionKeyValue

SAMPLES, DOCS = os.environ.get("COSMOS_QUERY_SAMPLES"), os.environ.get("COSMOS_QUERY_DOCS")

DEVIATIONS = {
    "documentid": "the number of an item depends on the container",
    "documentid-filter": "the number of an item depends on the container",
    "order-by-multiple": "not validated: no items, and the sample needs a composite index",
    "contains-all-cs-1": "error of the page: CONTAINS_ALL_CS ignores case in its first result",
    "get-started-json-10": "the items are in another block",
    "get-started-json-20": "no result: the next block has other items",
    "get-started-json-22": "the items are in another block",
    "objecttoarray-4": "JOIN with an expression, which the grammar of FROM on the same site does not have",
    "overview-5": "three queries in one block",
    "parameterized-queries-0": "a parameter without a value",
    "select-0": "a grammar",
    "vectordistance": "error of the sample: a comma is missing",
}
"""Samples and examples whose published result no emulator can return as it is, and why."""

_VARIES = re.compile(r"\b(GETCURRENT\w+|RAND|NOW|AGO)\s*\(|\bcp_", re.IGNORECASE)
_BLOCK = re.compile(r"^```(cosmos-db|json|nosql|sql)\s*\n(.*?)^\s*```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Sample:
    """A query with its items and its published result, if it has one."""

    name: str
    query: str
    items: list[dict[str, Any]]
    result: list[Any] | None


def samples() -> Iterator[Sample]:
    for folder in sorted((Path(SAMPLES or "") / "scripts").iterdir()):
        parts = {path.name.partition(".")[0]: path.read_text("utf-8-sig") for path in folder.iterdir()}
        result = json.loads(parts["result"]) if "result" in parts else None
        yield Sample(folder.name, parts["query"], json.loads(parts.get("seed", "[]")), result)


def examples() -> Iterator[Sample]:
    """Return the queries of the reference. JSON after a query is its result, and other JSON the items."""
    for page in sorted((Path(DOCS or "") / "cosmos-db" / "query").glob("*.md")):
        blocks = _BLOCK.findall(page.read_text("utf-8"))
        items: list[dict[str, Any]] = []
        for number, (language, text) in enumerate(blocks):
            if _is_query(language, text):
                result = _loaded(blocks[number + 1][1]) if blocks[number + 1 :] else None
                yield Sample(f"{page.stem}-{number}", text, items, result if isinstance(result, list) else None)
            elif not number or not _is_query(*blocks[number - 1]):
                found = _loaded(text)
                items = [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict)]


def _is_query(language: str, text: str) -> bool:
    return language != "json" and text.lstrip().upper().startswith("SELECT")


def _loaded(text: str) -> Any:
    try:
        return json.loads(re.sub(r',?\s*"\w+": undefined', "", text))
    except ValueError:
        return None


async def check(database: DatabaseProxy, sample: Sample) -> None:
    """Raises AssertionError if the rows differ, CosmosHttpResponseError if the query is rejected."""
    container = await database.create_container("items", PartitionKey("/pk"))
    for number, item in enumerate(sample.items):
        await container.create_item({"id": str(number), **item})
    found = [row async for row in container.query_items(sample.query, partition_key=NonePartitionKeyValue)]
    is_unknown = not sample.items and re.search(r"\bFROM\b", sample.query, re.IGNORECASE)
    if sample.result is None or is_unknown or _VARIES.search(sample.query):
        return  # only that the query runs
    shown = [
        {name: value for name, value in row.items() if name[0] != "_"} if isinstance(row, dict) else row
        for row in found
    ]
    in_order = re.search(r"\bORDER\s+BY\b", sample.query, re.IGNORECASE)
    rows = (
        (shown, sample.result) if in_order else (sorted(shown, key=json.dumps), sorted(sample.result, key=json.dumps))
    )
    # Areas and distances on the same ellipsoid, by other formulas.
    assert close(*rows, tolerance=1e-6 if "ST_" in sample.query.upper() else 1e-12), json.dumps(shown, indent=1)


def close(found: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(expected, float) and type(found) in (int, float):
        return math.isclose(found, expected, rel_tol=tolerance)
    if isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        return all(close(one, other, tolerance) for one, other in zip(found, expected, strict=True))
    if isinstance(expected, dict) and isinstance(found, dict) and found.keys() == expected.keys():
        return all(close(found[name], expected[name], tolerance) for name in found)
    return bool(found == expected)


@pytest.mark.skipif(not (SAMPLES or DOCS), reason="COSMOS_QUERY_SAMPLES and COSMOS_QUERY_DOCS name no checkouts")
@pytest.mark.parametrize(
    "sample", [*(samples() if SAMPLES else ()), *(examples() if DOCS else ())], ids=lambda sample: sample.name
)
async def test_queries_of_microsoft_return_their_published_results(database: DatabaseProxy, sample: Sample) -> None:
    if sample.name in DEVIATIONS:
        with pytest.raises((AssertionError, CosmosHttpResponseError)):
            await check(database, sample)
    else:
        await check(database, sample)
