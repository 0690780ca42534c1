# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import pytest
from tests.query.rows import rows, value


def test_projections_omit_missing_properties() -> None:
    assert rows("SELECT c.a, c.b FROM c", [{"a": 1}, {"b": None}]) == [{"a": 1}, {"b": None}]


def test_select_value_omits_undefined_and_keeps_null() -> None:
    assert rows("SELECT VALUE c.a FROM c", [{"a": None}, {}, {"a": 0}]) == [None, 0]


def test_literals_omit_undefined_members() -> None:
    assert value('{"a": c.x, "b": [c.x, 1, null]}') == [{"b": [1, None]}]


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("other", ["undefined", "null", "1", "'x'", "true", "[]", "{}"])
def test_comparisons_with_undefined_are_undefined(operator: str, other: str) -> None:
    assert value(f"c.missing {operator} {other}") == []
    assert value(f"{other} {operator} c.missing") == []


TRUTH = {
    ("true", "true"): (True, True),
    ("true", "false"): (False, True),
    ("true", "undefined"): (None, True),
    ("false", "false"): (False, False),
    ("false", "undefined"): (False, None),
    ("undefined", "undefined"): (None, None),
    ("true", "1"): (None, True),
    ("false", "'x'"): (False, None),
    ("true", "null"): (None, True),
}


@pytest.mark.parametrize(("operands", "answers"), TRUTH.items())
def test_logic_is_three_valued(operands: tuple[str, str], answers: tuple[bool | None, bool | None]) -> None:
    left, right = operands
    for operator, answer in zip(("AND", "OR"), answers, strict=True):
        expected = [] if answer is None else [answer]
        assert value(f"{left} {operator} {right}") == expected
        assert value(f"{right} {operator} {left}") == expected
        assert value(f"c['{left}'] {operator} {right}", {"true": True, "false": False}) == expected


@pytest.mark.parametrize(("operand", "answer"), [("true", [False]), ("false", [True]), ("1", []), ("c.x", [])])
def test_not_applies_to_booleans_only(operand: str, answer: list[bool]) -> None:
    assert value(f"NOT {operand}") == answer


@pytest.mark.parametrize("condition", ["c.a", "c.a = 1", "NOT (c.a = 'x')", "c.a != 'x'", "c.a AND true"])
def test_where_keeps_only_exactly_true_conditions(condition: str) -> None:
    items = [{"id": "one", "a": 1}, {"id": "none"}, {"id": "true", "a": True}, {"id": "null", "a": None}]
    others = ["one", "true", "null"]
    expected = {"c.a = 1": ["one"], "NOT (c.a = 'x')": others, "c.a != 'x'": others}.get(condition, ["true"])
    assert rows(f"SELECT VALUE c.id FROM c WHERE {condition}", items) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("c.x ?? 'default'", ["default"]),
        ("null ?? 'default'", [None]),
        ("c.x ?? c.y ?? 3", [3]),
        ("true ? 1 : 2", [1]),
        ("false ? 1 : 2", [2]),
        ("1 ? 1 : 2", [2]),
        ("'true' ? 1 : 2", [2]),
        ("c.x ? 1 : 2", [2]),
        ("false ? 1 : true ? 2 : 3", [2]),
        ("c.x + 1", []),
        ("c.x || 'a'", []),
        ("c['x']['y']", []),
        ("c.x.y.z", []),
        ("undefined", []),
        ("IS_DEFINED(c.x)", [False]),
        ("IS_NULL(c.x)", [False]),
    ],
)
def test_undefined_propagates_unless_an_operator_handles_it(expression: str, expected: list[object]) -> None:
    assert value(expression) == expected


def test_in_equals_an_or_of_equality_comparisons() -> None:
    assert value("1 IN (1, c.x)") == [True]
    assert value("1 IN (2, 3)") == [False]
    assert value("1 IN (2, c.x)") == []
    assert value("1 IN ('1')") == [False]
    assert value("1 NOT IN (2, c.x)") == []
    assert rows(
        "SELECT VALUE c.a FROM c WHERE c.a IN (1, true, null)", [{"a": v} for v in (1, True, None, 0, "1")]
    ) == [
        1,
        True,
        None,
    ]
