# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import pytest
from cosmos_emulator.query import compile_query, parse
from cosmos_emulator.runtime.pacing import OutOfTime, in_worker
from tests.query.rows import refusal, rows

JOINS = " ".join(f"JOIN t{n} IN c.t" for n in range(9))
FAMILIES = [
    {"id": "A", "children": [{"name": "Ann", "grade": 5, "pets": [{"n": "Rex"}, {"n": "Tom"}]}], "tags": ["x", "y"]},
    {"id": "B", "children": [{"name": "Bob", "grade": 1}, {"name": "Eve", "grade": 8, "pets": []}], "tags": []},
    {"id": "C"},
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT VALUE ch.name FROM c JOIN ch IN c.children", ["Ann", "Bob", "Eve"]),
        ("SELECT c.id, t FROM c JOIN t IN c.tags", [{"id": "A", "t": "x"}, {"id": "A", "t": "y"}]),
        ("SELECT VALUE p.n FROM c JOIN ch IN c.children JOIN p IN ch.pets", ["Rex", "Tom"]),
        ("SELECT VALUE [a.name, t] FROM f JOIN a IN f.children JOIN t IN f.tags", [["Ann", "x"], ["Ann", "y"]]),
        ("SELECT VALUE ch.grade FROM ch IN c.children WHERE ch.grade > 4", [5, 8]),
        ("SELECT * FROM ch IN f.children WHERE ch.name = 'Bob'", [{"name": "Bob", "grade": 1}]),
        ("SELECT VALUE children[0].name FROM c JOIN c.children", ["Ann", "Bob"]),
        ("SELECT VALUE x FROM c JOIN x IN c.id", []),
        ("SELECT VALUE s FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t != 'x') AS s", ["y"]),
        ("SELECT VALUE s FROM c JOIN s IN (SELECT VALUE t FROM t IN c.tags)", []),
        ("SELECT VALUE s FROM c JOIN s IN (SELECT VALUE c.tags)", ["x", "y"]),
        ("SELECT VALUE s.k FROM c JOIN s IN (SELECT VALUE OBJECTTOARRAY(c.children[0])) WHERE s.v = 1", ["grade"]),
        ("SELECT VALUE s.n FROM (SELECT c.id AS n FROM c) AS s", ["A", "B", "C"]),
    ],
)
def test_inputs_are_joined_within_one_item(text: str, expected: list[object]) -> None:
    assert rows(text, FAMILIES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'y')", ["A"]),
        ("SELECT VALUE c.id FROM c WHERE NOT EXISTS(SELECT VALUE t FROM t IN c.tags)", ["B", "C"]),
        ("SELECT VALUE EXISTS(SELECT VALUE undefined) FROM c", [False, False, False]),
        ("SELECT VALUE ARRAY(SELECT VALUE ch.name FROM ch IN c.children) FROM c", [["Ann"], ["Bob", "Eve"], []]),
        ("SELECT VALUE (SELECT VALUE COUNT(1) FROM t IN c.tags) FROM c", [2, 0, 0]),
        (
            "SELECT c.id, (SELECT VALUE 1 WHERE c.id = 'A') AS one FROM c WHERE c.id != 'B'",
            [{"id": "A", "one": 1}, {"id": "C"}],
        ),
        ("SELECT VALUE (SELECT VALUE MAX(g.grade) FROM g IN c.children) FROM c", [5, 8]),
        ("SELECT VALUE ARRAY(SELECT DISTINCT VALUE LENGTH(t) FROM t IN c.tags) FROM c WHERE c.id = 'A'", [[1]]),
        (
            "SELECT VALUE ARRAY(SELECT ch.name, ARRAY(SELECT VALUE p.n FROM p IN ch.pets) AS pets"
            " FROM ch IN c.children) FROM c WHERE c.id = 'A'",
            [[{"name": "Ann", "pets": ["Rex", "Tom"]}]],
        ),
        (
            "SELECT VALUE (SELECT VALUE {n: COUNT(1), id: c.id} FROM t IN c.tags) FROM c WHERE c.id != 'C'",
            [{"n": 2, "id": "A"}, {"n": 0, "id": "B"}],
        ),
        (
            "SELECT VALUE ARRAY(SELECT t, COUNT(1) AS n FROM t IN c.tags GROUP BY t) FROM c WHERE c.id = 'A'",
            [[{"t": "x", "n": 1}, {"t": "y", "n": 1}]],
        ),
    ],
)
def test_subqueries_see_enclosing_inputs(text: str, expected: list[object]) -> None:
    assert rows(text, FAMILIES) == expected


def test_a_scalar_subquery_with_two_rows_is_rejected() -> None:
    error = refusal("SELECT VALUE (SELECT VALUE t FROM t IN c.tags) FROM c", FAMILIES)
    assert "cardinality" in error["message"]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT VALUE 1 FROM c {JOINS} WHERE false",
        f"SELECT VALUE COUNT(1) FROM c {JOINS}",
        f"SELECT VALUE EXISTS(SELECT VALUE 1 FROM t IN c.t {JOINS} WHERE false) FROM c",
        f"SELECT VALUE 1 FROM (SELECT VALUE c FROM c {JOINS} WHERE false) AS t",
    ],
)
def test_loops_over_arrays_end_at_the_deadline(text: str) -> None:
    query = compile_query(parse(text), {})
    with in_worker(None, 0.05), pytest.raises(OutOfTime):
        list(query.run([{"t": list(range(1000))}]))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT VALUE x FROM c JOIN x IN d.tags", "SC2001"),
        ("SELECT VALUE ARRAY(SELECT VALUE t FROM t IN other.tags) FROM c", "SC2001"),
        ("SELECT VALUE t FROM c JOIN t IN c.a JOIN t IN c.b", "SC2011"),
        ("SELECT * FROM c JOIN t IN c.tags", "SC2040"),
        ("SELECT VALUE ARRAY(SELECT * FROM t IN c.tags ORDER BY t) FROM c", "SC2202"),
        ("SELECT VALUE ARRAY(SELECT TOP 1 * FROM t IN c.tags) FROM c", "SC2203"),
        ("SELECT VALUE ARRAY(SELECT * FROM t IN c.tags OFFSET 0 LIMIT 1) FROM c", "SC2204"),
        ("SELECT VALUE ALL(SELECT VALUE t FROM t IN c.tags) FROM c", "SC2990"),
        ("SELECT 1 FROM c " + " ".join(f"JOIN t{n} IN c.t" for n in range(11)), "SC3004"),
    ],
)
def test_unresolved_inputs_are_rejected(text: str, code: str) -> None:
    assert refusal(text)["code"] == code
