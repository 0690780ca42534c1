"""The memory of rows and groups is limited."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from cosmos_emulator.query import compile_query, parse, sizes
from tests.query.rows import refusal, rows

COUNT = 500
LONG = 20_000


def _items() -> Iterator[dict[str, Any]]:
    """Return items with a unique id and a different long text each."""
    for number in range(COUNT):
        yield {
            "id": str(number),
            "k": number % 2,
            "o": {"n": number},
            "ids": [str(number)] * 2,
            "t": str(number) * LONG,
        }


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT VALUE c.id FROM c",
        "SELECT DISTINCT c.id, c.k FROM c",
        "SELECT DISTINCT VALUE c.id FROM c ORDER BY c.id",
        "SELECT c.id, COUNT(1) AS n FROM c GROUP BY c.id",
        "SELECT c.k, MAKELIST(c.id) AS ids FROM c GROUP BY c.k",
        "SELECT VALUE MAKESET(c.id) FROM c",
        "SELECT c.id, MAX(c.t) AS t FROM c GROUP BY c.id",
        "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.id FROM c)",
    ],
)
def test_a_query_that_keeps_too_much_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MAX_KEPT", 1 << 15)

    message = refusal(text, _items())["message"]

    assert message.startswith("Query exceeded the maximum allowed memory usage of 0 MB.")
    assert "add filters" in message


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("SELECT DISTINCT VALUE c.k FROM c", 2),
        ("SELECT VALUE MAKESET(c.k) FROM c", 1),
        ("SELECT c.k, MAX(c.t) AS t FROM c GROUP BY c.k", 2),
        ("SELECT VALUE ARRAY(SELECT DISTINCT VALUE x FROM x IN c.ids) FROM c", COUNT),
        ("SELECT VALUE c.id FROM c ORDER BY c.id", COUNT),
    ],
)
def test_only_what_a_query_keeps_counts(text: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MAX_KEPT", 1 << 18)

    assert len(rows(text, _items())) == count


@pytest.mark.parametrize(
    "text",
    [
        "SELECT c.id, COUNT(1) AS n FROM c GROUP BY c.id",
        "SELECT c.o.n, UPPER(c.id) AS u, MAX(c.k) AS m FROM c GROUP BY c.o, c.id ORDER BY c.id",
    ],
)
def test_groups_do_not_keep_items(text: str) -> None:
    query = compile_query(parse(text), {})
    tracemalloc.start()

    found = list(query.run(_items()))
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(found) == COUNT
    assert most_bytes < COUNT * LONG / 10


def test_a_subquery_of_a_group_sees_the_item() -> None:
    items = [{"id": "1", "tags": ["a", "b"]}, {"id": "2", "tags": ["c"]}]

    assert rows("SELECT VALUE ARRAY(SELECT VALUE UPPER(t) FROM t IN c.tags) FROM c GROUP BY c.tags", items) == [
        ["A", "B"],
        ["C"],
    ]
