"""The JavaScript query API."""

from __future__ import annotations

import json

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.scripts import ScriptLimits, run_pre_trigger
from tests.scripts.memory_operations import MemoryOperations, execute

PEOPLE: list[JsonObject] = [
    {"id": "1", "name": "Cho", "age": 30, "kids": [{"n": "Ann", "pets": ["a", "b"]}, {"n": "Ben", "pets": ["c"]}]},
    {"id": "2", "name": "Ada", "age": 20, "kids": [{"n": "Cid", "pets": []}]},
    {"id": "3", "name": "Bob", "age": 25, "tags": [["x", ["y"]], "z"]},
]


def _run(statements: str, *, limits: ScriptLimits | None = None) -> Json:
    return execute(MemoryOperations(*PEOPLE), f"function () {{ {statements} }}", limits=limits).body


def _appended(call: str) -> Json:
    """The result of a query without callback, which is appended to the body as JSON text."""
    text = _run(f"const r = {call}; if (r.isAccepted !== true) throw new Error('not accepted');")
    assert isinstance(text, str)
    value: Json = json.loads(text)
    return value


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("__.map((d) => d.name)", ["Cho", "Ada", "Bob"]),
        ("__.map(__, (d) => d.name)", ["Cho", "Ada", "Bob"]),
        ("__.map(getContext().getCollection(), (d) => d.name)", ["Cho", "Ada", "Bob"]),
        ("__.pluck('age')", [30, 20, 25]),
        ("__.chain().filter((d) => d.age > 20).map((d) => d.name).value()", ["Cho", "Bob"]),
        ("__.chain().filter((d) => d.age > 20).pluck('id').value()", ["1", "3"]),
        ("__.chain().sortBy((d) => d.name).pluck('name').value()", ["Ada", "Bob", "Cho"]),
        ("__.chain().sortByDescending((d) => d.age).pluck('age').value()", [30, 25, 20]),
        ("__.chain().filter((d) => d.tags).pluck('tags').flatten().value()", ["x", "y", "z"]),
        ("__.chain().filter((d) => d.tags).pluck('tags').flatten(true).value()", [["x", ["y"]], "z"]),
        ("__.chain().filter((d) => d.tags).map((d) => d.tags).flatten(false).value()", ["x", "y", "z"]),
        ("__.chain().unwind((d) => d.kids).pluck('n').value()", ["Ann", "Ben", "Cid"]),
        (
            "__.chain().unwind((d) => d.kids, (d, k) => ({ p: d.name, k }))"
            ".unwind((dk) => dk.k.pets, (dk, pet) => dk.p + dk.k.n + pet).value()",
            ["ChoAnna", "ChoAnnb", "ChoBenc"],
        ),
    ],
)
def test_without_a_callback_the_result_is_appended_to_the_body(call: str, result: Json) -> None:
    assert _appended(call) == result


def test_the_results_of_several_queries_are_concatenated() -> None:
    assert _run("__.pluck('id'); __.chain().pluck('age').value();") == '["1","2","3"][30,20,25]'


@pytest.mark.parametrize(
    "call",
    [
        "__.filter((d) => d.age > 20, CB)",
        "__.filter((d) => d.age > 20, {}, CB)",
        "__.filter(__, (d) => d.age > 20, {}, CB)",
        "__.chain().filter((d) => d.age > 20).value(CB)",
        "__.chain().filter((d) => d.age > 20).value({}, CB)",
        "__.flatten(CB)",
        "__.flatten(true, {}, CB)",
        "__.pluck('id', CB)",
        "__.unwind((d) => d.kids, undefined, undefined, CB)",
    ],
)
def test_a_callback_receives_the_result_and_options(call: str) -> None:
    callback = "(...all) => __.response.setBody([all.length, typeof all[0], Array.isArray(all[1]), all[2].statusCode])"

    assert _run(f"{call.replace('CB', callback)};") == [3, "undefined", True, 200]


def test_queries_process_one_page_at_a_time() -> None:
    statements = """const pages = [];
        const next = (continuation) => __.chain().sortBy((d) => d.age).pluck('age')
            .value({ pageSize: 2, continuation }, (e, ages, o) => {
                pages.push(ages);
                if (o.continuation) next(o.continuation); else __.response.setBody(pages); });
        next();"""

    assert _run(statements) == [[20, 30], [25]]


def test_queries_see_own_writes() -> None:
    statements = """__.createDocument(__.getSelfLink(), { id: '9', pk: 'p' }, () =>
        __.pluck('id', (e, ids) => __.response.setBody(ids)));"""

    assert _run(statements) == ["1", "2", "3", "9"]


def test_keys_sort_by_type_and_then_by_value() -> None:
    order = "{ Cho: 'text', Ada: null, Bob: 5 }"

    assert _appended(f"__.chain().sortBy((d) => ({order})[d.name]).pluck('name').value()") == ["Ada", "Bob", "Cho"]


def test_an_exception_in_a_predicate_goes_to_the_callback() -> None:
    statements = """__.filter(() => { throw new Error(7, 'x'); }, (e) => __.response.setBody(e.number));"""

    assert _run(statements) == 7


def test_an_exception_in_a_predicate_without_a_callback_fails_the_script() -> None:
    with pytest.raises(CosmosError) as failure:
        _run("__.filter((d) => d.none.none);")

    assert failure.value.status == 400
    assert "TypeError" in failure.value.message


@pytest.mark.parametrize(
    "call",
    [
        "__.filter()",
        "__.filter({})",
        "__.map('name')",
        "__.pluck()",
        "__.pluck('')",
        "__.unwind()",
        "__.unwind(() => [])",
        "__.unwind((d) => [], (d) => d)",
        "__.filter((d) => d, 5)",
        "__.chain().filter((d) => d, {})",
        "__.chain().filter((d) => d, () => {})",
        "__.chain().pluck('x', {})",
    ],
)
def test_wrong_arguments_throw_400(call: str) -> None:
    assert _run(f"try {{ {call}; }} catch (e) {{ __.response.setBody(e.number); }}") == 400


@pytest.mark.parametrize("call", ["__.filter((d) => d)", "__.chain().map((d) => d).value()"])
def test_a_refused_query_is_not_accepted(call: str) -> None:
    limits = ScriptLimits(accepted_operations=0)

    assert _run(f"__.response.setBody({call});", limits=limits) == {"isAccepted": False}


def test_a_query_without_a_response_requires_a_callback() -> None:
    with pytest.raises(CosmosError, match="requires a callback"):
        run_pre_trigger(
            "t", "function () { __.pluck('id'); }", {"id": "1"}, "Create", MemoryOperations(), ScriptLimits()
        )
