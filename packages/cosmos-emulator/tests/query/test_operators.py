"""Comparison, arithmetic, bit and text operators, and precedence."""

# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import pytest
from tests.query.rows import value

TRUE, FALSE, UNDEFINED = [True], [False], list[bool]()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 = 1.0", TRUE),
        ("1 = true", FALSE),
        ("0 = false", FALSE),
        ("'1' = 1", FALSE),
        ("null = null", TRUE),
        ("null = 0", FALSE),
        ("1 != 2", TRUE),
        ("1 <> 1", FALSE),
        ("1 != 'a'", TRUE),
        ("'a' != null", TRUE),
        ("NOT ('a' = null)", TRUE),
        ("'a' < 'b'", TRUE),
        ("'B' < 'a'", TRUE),
        ("false < true", TRUE),
        ("null <= null", TRUE),
        ("null < null", FALSE),
        ("[1, 2] = [1, 2.0]", TRUE),
        ("[1, 2] = [2, 1]", FALSE),
        ("[1] = [true]", FALSE),
        ("{'a': 1, 'b': [2]} = {'b': [2], 'a': 1}", TRUE),
        ("{'a': 1} = {'a': 1, 'b': 2}", FALSE),
        ("[1] != [2]", TRUE),
        ("[1] != [1.0]", FALSE),
        ("{'a': 1} != {'a': true}", TRUE),
        ("[] != {}", TRUE),
        ("[1] < [2]", UNDEFINED),
        ("{} < {}", UNDEFINED),
        ("[] = {}", FALSE),
        ("5 BETWEEN 1 AND 5", TRUE),
        ("0 BETWEEN 1 AND 5", FALSE),
        ("'b' BETWEEN 'a' AND 'c'", TRUE),
        ("'b' BETWEEN 1 AND 5", UNDEFINED),
        ("5 NOT BETWEEN 1 AND 5", FALSE),
        ("1 NOT IN (1, 2)", FALSE),
        ("1 NOT IN ('1', null, [1])", TRUE),
        ("1 < true", UNDEFINED),
        ("1 = 'a' ? 1 = 1 : 1 = 2", FALSE),
        ("(1 = 'a') ?? 1", FALSE),
    ],
)
def test_comparison_is_strict_about_types(expression: str, expected: list[bool]) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("operand", [1, 1.5, True, False, None, "a", "", [1], {"k": 1}])
@pytest.mark.parametrize("constant", [1, 1.0, 0, True, False, None, "a", "b", [1], {"k": 1}])
def test_a_filter_agrees_with_its_comparison_as_a_value(operator: str, operand: object, constant: object) -> None:
    item = {"a": operand, "b": constant}
    plain = value(f"c.a {operator} c.b", item)
    assert value(f"c.a {operator} @p", item, p=constant) == plain
    assert value(f"(SELECT VALUE true FROM c WHERE c.a {operator} @p)", item, p=constant) == (plain == TRUE) * TRUE
    assert (
        value(f"(SELECT VALUE true FROM c WHERE @p {operator} c.a)", {"a": constant}, p=operand)
        == (plain == TRUE) * TRUE
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 - 2 - 1", 4),
        ("1 + 1.0", 2),
        ("0.1 + 0.2", 0.30000000000000004),
        ("7 / 2", 3.5),
        ("4 / 2", 2),
        ("7 % 3", 1),
        ("-7 % 3", -1),
        ("- - 2", 2),
        ("+3", 3),
        ("~5", -6),
        ("9007199254740992 + 1", 9007199254740992.0),
        ("6 & 3", 2),
        ("6 | 3", 7),
        ("6 ^ 3", 5),
        ("1 << 3", 8),
        ("-8 >> 1", -4),
        ("-1 >>> 0", 4294967295),
        ("1 << 31", -2147483648),
        ("4294967296 | 1", 1),
        ("1 | 2 = 3", True),
        ("'a' || 'b' || 'c'", "abc"),
        ("1 + 1 = 2 AND 2 * 2 = 4", True),
        ("true OR false AND false", True),
        ("NOT false AND true", True),
        (".5 + 1e1", 10.5),
    ],
)
def test_operators_compute_with_doubles(expression: str, expected: object) -> None:
    [answer] = value(expression)
    assert answer == expected
    assert type(answer) is type(expected)


@pytest.mark.parametrize(
    "expression", ["1 + 'a'", "1 + true", "'a' || 1", "-'a'", "~null", "1 & 'x'", "1 / 0", "0 / 0", "5 % 0"]
)
def test_invalid_operands_and_non_json_results_are_undefined(expression: str) -> None:
    assert value(expression) == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'Sea salt' LIKE '%salt'", TRUE),
        ("'Sea salt' LIKE 'sea%'", FALSE),
        ("'abc' LIKE 'a_c'", TRUE),
        ("'abbc' LIKE 'a_c'", FALSE),
        ("'20%' LIKE '20!%' ESCAPE '!'", TRUE),
        ("'20x' LIKE '20!%' ESCAPE '!'", FALSE),
        ("'so-tps' LIKE '%so[a-z-]tps%'", TRUE),
        ("'soaps' LIKE 'so[^a]ps'", FALSE),
        ("'20-30%' LIKE '20-30[%]'", TRUE),
        ("'a\\nb' LIKE 'a%b'", TRUE),
        ("'' LIKE '%'", TRUE),
        ("'aXbXc' LIKE '%X%X%'", TRUE),
        ("'abab' LIKE '%ab'", TRUE),
        ("'a.c' LIKE 'a.c'", TRUE),
        ("'abc' LIKE 'a.c'", FALSE),
        ("'abc' NOT LIKE 'b%'", TRUE),
        ("1 LIKE '1'", UNDEFINED),
        ("'a' LIKE c.missing", UNDEFINED),
    ],
)
def test_like_matches_wildcard_patterns(expression: str, expected: list[bool]) -> None:
    assert value(expression) == expected


def test_like_with_many_wildcards_stays_fast() -> None:
    assert value("@text LIKE @pattern", text="a" * 20_000, pattern="%a" * 50 + "%b") == [False]
