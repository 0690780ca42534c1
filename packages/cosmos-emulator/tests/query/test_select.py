"""SELECT, FROM, paths, literals, parameters, TOP and OFFSET LIMIT."""

# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import pytest
from cosmos_emulator.query import compile_condition, compile_query, parse
from tests.query.rows import rows, value

ITEM = {"id": "1", "a b": 1, "arr": [10, [20]], "o": {"x": {"y": 2}}, "ключ": "да", "order": 3}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("c.id", ["1"]),
        ('c["a b"]', [1]),
        ("c['o'].x['y']", [2]),
        ("c.arr[0]", [10]),
        ("c.arr[1][0]", [20]),
        ("c.arr[2]", []),
        ("c.arr[-1]", []),
        ("c.arr['0']", []),
        ("c.o[0]", []),
        ("c[@name].x.y", [2]),
        ("c.ключ", ["да"]),
        ("c.ID", []),
        ("c['order']", [3]),
        ("{'a': {'b': 7}}.a.b", [7]),
        ("[1, 2, 3][1]", [2]),
    ],
)
def test_paths_reach_into_objects_and_arrays(path: str, expected: list[object]) -> None:
    assert value(path, ITEM, name="o") == expected


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("'it''s'", None),
        (r"'it\'s'", "it's"),
        (r'"say \"hi\""', 'say "hi"'),
        ("'say \"hi\"'", 'say "hi"'),
        (r"'\u00e9\n\t\\\/'", "é\n\t\\/"),
        (r"'\ud83d\ude00'", "😀"),
        ("'-- no comment'", "-- no comment"),
        ("1e3", 1000),
        ("1.50", 1.5),
        ("true", True),
        ("'\\d'", "\\d"),
        ("null", None),
        ("[]", []),
        ("{}", {}),
        ("{a: 1, 'b c': 2}", {"a": 1, "b c": 2}),
    ],
)
def test_literals_evaluate_to_their_values(literal: str, expected: object) -> None:
    if literal != "'it''s'":
        assert value(literal) == [expected]


def test_comments_and_keyword_case_are_ignored() -> None:
    assert rows("select c.id -- the id\nFrom c WHERE true -- end", [ITEM]) == [{"id": "1"}]


def test_rows_have_the_selected_properties() -> None:
    text = "SELECT c.id, c.o.x AS p, c['a b'], c.arr[0], 1 + 1, c FROM c"
    assert rows(text, [{"id": "1", "a b": 2, "arr": [3], "o": {"x": 4}}]) == [
        {
            "id": "1",
            "p": 4,
            "a b": 2,
            "$1": 3,
            "$2": 2,
            "c": {"id": "1", "a b": 2, "arr": [3], "o": {"x": 4}},
        }
    ]


@pytest.mark.parametrize("source", ["c", "Root c", "Root AS c", "posts c", "ROOT AS c"])
def test_the_container_can_have_any_name(source: str) -> None:
    assert rows(f"SELECT VALUE c.id FROM {source}", [ITEM]) == ["1"]


def test_from_can_start_inside_the_item() -> None:
    items = [{"n": {"m": 1}}, {"n": {"m": 2}}, {}]
    assert rows("SELECT VALUE m FROM c.n.m", items) == [1, 2]
    assert rows("SELECT * FROM c.n", items) == [{"m": 1}, {"m": 2}]
    assert rows("SELECT VALUE x FROM c['n'].m AS x", items) == [1, 2]


def test_a_query_without_from_has_one_row() -> None:
    assert rows("SELECT 1 AS one, @p AS p", [{}, {}, {}], {"@p": [None]}) == [{"one": 1, "p": [None]}]


@pytest.mark.parametrize("content", [None, True, 0, 1.5, "x", [1, {"a": None}], {"k": [1]}])
def test_parameters_of_every_json_type(content: object) -> None:
    assert rows("SELECT VALUE @p FROM c", [{}], {"@p": content, "@unused": 1}) == [content]
    assert rows("SELECT VALUE 1 FROM c WHERE c.a = @p", [{"a": content}], {"@p": content}) == [1]


NUMBERED = [{"n": n} for n in range(5)]


@pytest.mark.parametrize(
    ("head", "tail", "expected"),
    [
        ("TOP 2", "", [0, 1]),
        ("TOP 0", "", []),
        ("TOP @two", "", [0, 1]),
        ("TOP 99", "", [0, 1, 2, 3, 4]),
        ("", "OFFSET 1 LIMIT 2", [1, 2]),
        ("", "OFFSET 0 LIMIT 0", []),
        ("", "OFFSET 9 LIMIT 1", []),
        ("", "OFFSET 2 LIMIT 2147483649", [2, 3, 4]),
        ("", "OFFSET @two LIMIT @two", [2, 3]),
        ("", "ORDER BY c.n DESC OFFSET 1 LIMIT 2", [3, 2]),
        ("TOP 2", "ORDER BY c.n DESC", [4, 3]),
    ],
)
def test_top_and_offset_limit_select_a_range_of_rows(head: str, tail: str, expected: list[int]) -> None:
    assert rows(f"SELECT {head} VALUE c.n FROM c {tail}", NUMBERED, {"@two": 2}) == expected


def test_distinct_compares_deeply() -> None:
    items = [{"v": v} for v in (1, 1.0, True, {"a": 1, "b": 2}, {"b": 2, "a": 1}, [1], [1.0], None, "1")]
    assert rows("SELECT DISTINCT VALUE c.v FROM c", items) == [1, True, {"a": 1, "b": 2}, [1], None, "1"]


def test_distinct_keeps_one_empty_row_for_undefined() -> None:
    assert rows("SELECT DISTINCT c.v FROM c", [{}, {"v": 1}, {}]) == [{}, {"v": 1}]


def test_distinct_applies_before_top() -> None:
    assert rows("SELECT DISTINCT TOP 2 VALUE c.v FROM c", [{"v": v} for v in (1, 1, 2, 3)]) == [1, 2]


def test_user_defined_functions_in_select_where_and_order_by() -> None:
    def call(name: str, arguments: list[object]) -> object:
        assert name == "negate"
        return -arguments[0] if isinstance(arguments[0], int) else None

    text = "SELECT VALUE udf.negate(c.n) FROM c WHERE udf.negate(c.n) < 0 ORDER BY udf.negate(c.n)"
    assert rows(text, NUMBERED, udfs=call) == [-4, -3, -2, -1]


def test_one_compiled_query_serves_interleaved_runs() -> None:
    query = compile_query(parse("SELECT VALUE {n: c.n, t: t} FROM c JOIN t IN c.t"), {})
    items = [{"n": n, "t": [n, -n]} for n in range(1, 4)]
    pairs = list(zip(query.run(items), query.run(reversed(items)), strict=True))
    assert [first for first, _ in pairs] == list(query.run(items))
    assert [second for _, second in pairs] == list(query.run(reversed(items)))


def test_a_condition_matches_items() -> None:
    condition = compile_condition("FROM c WHERE c.n >= 2 AND IS_DEFINED(c.ok)")
    assert [condition.matches({"n": n, "ok": None}) for n in (1, 2)] == [False, True]
    assert not condition.matches({"n": 2})


def test_streaming_queries_are_recognized() -> None:
    def streams(text: str) -> bool:
        return compile_query(parse(text), {}).is_streaming

    assert streams("SELECT c.id, t FROM c JOIN t IN c.t WHERE t > 1")
    for text in (
        "SELECT TOP 1 * FROM c",
        "SELECT DISTINCT c.a FROM c",
        "SELECT * FROM c ORDER BY c.a",
        "SELECT COUNT(1) FROM c",
        "SELECT c.a FROM c GROUP BY c.a",
        "SELECT * FROM c OFFSET 0 LIMIT 1",
        "SELECT 1",
    ):
        assert not streams(text)


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("c.n count", [{"count": 1}]),
        ("COUNT(1) total, MAX(c.n) most", [{"total": 1, "most": 1}]),
        ("c.n AS 'a number', c.n AS \"b\"", [{"a number": 1, "b": 1}]),
        ("DISTINCT c.n one, c.n AS two", [{"one": 1, "two": 1}]),
    ],
)
def test_an_alias_needs_no_as(select: str, expected: list[object]) -> None:
    assert rows(f"SELECT {select} FROM c", [{"n": 1}]) == expected
