# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import json
from typing import Any

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query import compile_condition, compile_query, parse
from hypothesis import given
from hypothesis import strategies as st
from tests.query.rows import refusal, rows


@pytest.mark.parametrize(
    ("text", "near", "start"),
    [
        ("SELECT", "", 6),
        ("SELEC * FROM c", "SELEC", 0),
        ("SELECT * FROM", "", 13),
        ("SELECT * FROM c WHERE", "", 21),
        ("SELECT * FROM c WHERE c.a = ", "", 28),
        ("SELECT *, c.a FROM c", ",", 8),
        ("SELECT VALUE * FROM c", "*", 13),
        ("SELECT c.order FROM c", "order", 9),
        ("SELECT TOP -1 c.a FROM c", "-", 11),
        ("SELECT c.a FROM c OFFSET 1", "", 26),
        ("SELECT c.a, FROM c", "FROM", 12),
        ("SELECT c.a, From c", "near 'From'", 12),
        ("SELECT '\\ud800' FROM c", "\\ud800", 7),
        ("SELECT (1 FROM c", "FROM", 10),
        ("SELECT 1 IS NULL FROM c", "IS", 9),
        ("SELECT 'a' LIKE 'b' ESCAPE 'ab'", "ab", 27),
        ("", "", 0),
    ],
)
def test_syntax_errors_include_the_cause_and_location(text: str, near: str, start: int) -> None:
    error = refusal(text)
    assert error["code"] == ("SC1001" if near else "SC1002")
    assert error["severity"] == "Error"
    assert error["location"]["start"] == start
    assert near in error["message"] if near else error["message"] == "Syntax error, unexpected end-of-file."


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("SELECT BADFUNC(r.age) FROM Root r", "SC2005", "'BADFUNC' is not a recognized built-in function name."),
        ("SELECT RRF(c.a, c.b) FROM c", "SC2005", "'RRF' is a search function, which is not supported here"),
        ("SELECT VALUE VectorDistance(c.a, [1]) FROM c", "SC2005", "'VectorDistance'"),
        ("SELECT STARTSWITH(c.a) FROM c", "SC2050", "The STARTSWITH function requires 2 to 3 argument(s)."),
        ("SELECT VALUE [1, 2][c.x] FROM c", "SC2990", "'member indexer'"),
        ("SELECT VALUE c.list[ARRAY_LENGTH(c.list) % 2] FROM c", "SC2990", "'member indexer'"),
        ("SELECT ABS() FROM c", "SC2050", "The ABS function requires 1 argument(s)."),
        ("SELECT ARRAY_CONTAINS_ANY([]) FROM c", "SC2050", "requires at least 2 argument(s)."),
        ("SELECT x.a FROM c", "SC2001", "Identifier 'x' could not be resolved."),
        ("SELECT c.a", "SC2001", "Identifier 'c' could not be resolved."),
        ("SELECT @p FROM c", "SC2001", "Parameter '@p' is not declared."),
        ("SELECT TOP @p * FROM c", "SC2001", "Parameter '@p' is not declared."),
        ("SELECT TOP 1.5 * FROM c", "SC2060", "must be an integer"),
        ("SELECT TOP 4294967296 * FROM c", "SC2060", "maximum"),
        ("SELECT * FROM c OFFSET 4294967296 LIMIT 1", "SC2062", "The OFFSET count value exceeds the maximum"),
        ("SELECT * FROM c OFFSET 1 LIMIT 4294967296", "SC2061", "The LIMIT count value exceeds the maximum"),
        ("SELECT TOP 1 * FROM c OFFSET 0 LIMIT 1", "SC2990", "TOP together with OFFSET LIMIT"),
        ("SELECT c.a, d.a FROM c JOIN d IN c.d", "SC2022", "'a' specified more than once"),
        ("SELECT *", "SC1021", "if FROM clause is omitted"),
        ("SELECT 'open FROM c", "SC1010", "invalid token"),
        ("SELECT # FROM c", "SC1010", "invalid token '#'"),
        ("SELECT * FROM c; DROP", "SC1010", "invalid token ';'"),
        ("SELECT 1e999 FROM c", "SC1011", "invalid numeric value token '1e999'"),
        ("SELECT udf.f(1) FROM c", "SC2990", "udf.f"),
    ],
)
def test_invalid_queries_report_the_reason(text: str, code: str, message: str) -> None:
    error = refusal(text)
    assert error["code"] == code
    assert message in error["message"]


def test_all_errors_of_a_query_are_reported_those_of_select_last() -> None:
    text = "SELECT d.a, BADFUNC(e.b) FROM c WHERE STARTSWITH(c.a) AND c.n > @least ORDER BY f.a"

    with pytest.raises(CosmosError) as raised:
        rows(text, [])

    errors = json.loads(raised.value.message)["errors"]
    assert [(error["code"], text[error["location"]["start"] : error["location"]["end"]]) for error in errors] == [
        ("SC2050", "STARTSWITH(c.a)"),
        ("SC2001", "@least"),
        ("SC2001", "f"),
        ("SC2001", "d"),
        ("SC2001", "e"),
        ("SC2005", "BADFUNC"),
    ]


@pytest.mark.parametrize("content", ["1", 1.5, -1, None, [1], True])
def test_a_count_parameter_must_be_a_whole_number(content: Any) -> None:
    assert refusal("SELECT TOP @n * FROM c", parameters={"@n": content})["code"] == "SC2060"


def test_a_query_can_call_at_most_ten_udfs() -> None:
    def call(_name: str, arguments: list[Any]) -> Any:
        return arguments[0]

    text = "SELECT VALUE [{}] FROM c"
    calls = ["udf.f(1)"] * 11
    assert rows(text.format(", ".join(calls[:10])), [{}], udfs=call) == [[1] * 10]
    with pytest.raises(CosmosError, match="SC3005"):
        rows(text.format(", ".join(calls)), [{}], udfs=call)


NESTED = {
    "parentheses": "SELECT " + "(" * 10_000,
    "arrays": "SELECT " + "[" * 10_000,
    "objects": "SELECT " + "{'a':" * 10_000,
    "functions": "SELECT " + "ABS(" * 10_000,
    "negations": "SELECT " + "NOT " * 10_000 + "true",
    "sums": "SELECT " + "1+" * 10_000 + "1",
    "paths": "SELECT c" + ".a" * 10_000 + " FROM c",
    "indexes": "SELECT c" + "[0]" * 10_000 + " FROM c",
    "subqueries": "SELECT " + "(SELECT " * 10_000,
    "sources": "SELECT 1 FROM " + "(SELECT 1 FROM " * 10_000,
    "conditionals": "SELECT " + "true ? 1 : " * 10_000 + "1",
    "coalescing": "SELECT 1" + " ?? 1" * 10_000,
    "tests": "SELECT 1" + " IN (1" * 10_000,
    "likes": "SELECT 'a'" + " LIKE 'a'" * 10_000,
}


@pytest.mark.parametrize("shape", NESTED)
def test_deep_nesting_is_rejected(shape: str) -> None:
    assert refusal(NESTED[shape])["code"] == "SC3002"


DEEPEST = {
    "parentheses": "SELECT VALUE " + "(" * 98 + "1" + ")" * 98,
    "functions": "SELECT VALUE " + "ABS(" * 98 + "1" + ")" * 98,
    "arrays": "SELECT VALUE ARRAY_LENGTH(" + "[" * 97 + "1" + "]" * 97 + ")",
    "subqueries": "SELECT VALUE " + "(SELECT VALUE " * 49 + "1" + ")" * 49,
    "sums": "SELECT VALUE ABS(" + "0+" * 97 + "1)",
    "functions of rows": "SELECT VALUE " + "ABS(" * 98 + "c.a" + ")" * 98 + " FROM c",
}


@pytest.mark.parametrize("shape", DEEPEST)
def test_nesting_below_the_limit_runs(shape: str) -> None:
    assert rows(DEEPEST[shape], [{"a": 1}]) == [1]


def test_long_flat_conditions_run() -> None:
    condition = " OR ".join(f"c.a = {n}" for n in range(5000))
    assert rows(f"SELECT VALUE 1 FROM c WHERE {condition}", [{"a": 4999}, {"a": 5000}]) == [1]
    choices = ", ".join(map(str, range(5000)))
    assert rows(f"SELECT VALUE 1 FROM c WHERE c.a IN ({choices})", [{"a": 4999}, {"a": 5000}]) == [1]


def test_text_over_512_kilobytes_is_rejected() -> None:
    assert refusal("SELECT '" + "a" * 512 * 1024 + "'")["code"] == "SC3001"
    assert refusal("SELECT '" + "é" * 256 * 1024 + "'")["code"] == "SC3001"


def test_a_condition_is_not_a_query() -> None:
    with pytest.raises(CosmosError, match="SC1001"):
        compile_condition("SELECT * FROM c")
    with pytest.raises(CosmosError, match="SC1001"):
        parse("FROM c WHERE true")


WORDS = """
SELECT DISTINCT TOP VALUE FROM JOIN IN WHERE GROUP BY ORDER ASC DESC OFFSET LIMIT AND OR NOT BETWEEN LIKE ESCAPE
EXISTS ARRAY AS LEFT UDF udf c t x @p true null undefined 1 0 -1 2.5 'a' "b" '%' * / % + - || | & ^ ~ << >> >>> =
!= <> < <= > >= ? ?? : . , ( ) [ ] { } ABS COUNT SUM LOWER IS_DEFINED c.a c['b'] c.a[0] -- \\ ' " # é
"""
TOKENS = st.sampled_from(WORDS.split())


def _run_or_refuse(text: str) -> None:
    try:
        list(compile_query(parse(text), {"@p": 1}, lambda _name, _arguments: 1).run([{"a": [1], "b": "x"}, {}]))
    except CosmosError as error:
        assert error.status == 400  # noqa: PT017 - the query can also succeed


@given(st.lists(TOKENS, max_size=25))
def test_any_sequence_of_tokens_runs_or_is_rejected(tokens: list[str]) -> None:
    _run_or_refuse(" ".join(tokens))


@given(st.lists(TOKENS, max_size=12), st.lists(TOKENS, max_size=8))
def test_any_clauses_run_or_are_rejected(selection: list[str], condition: list[str]) -> None:
    _run_or_refuse(f"SELECT {' '.join(selection)} FROM c WHERE {' '.join(condition)}")


@given(st.text(max_size=60))
def test_any_text_runs_or_is_rejected(text: str) -> None:
    _run_or_refuse(text)
    _run_or_refuse(f"SELECT * FROM c WHERE {text}")
