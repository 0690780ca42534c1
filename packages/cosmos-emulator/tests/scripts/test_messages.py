"""getContext(): request, response and log."""

from __future__ import annotations

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json
from cosmos_emulator.scripts import ScriptLimits
from tests.scripts.memory_operations import MemoryOperations, execute, result_of


def _after(statements: str) -> Json:
    return result_of(f"function () {{ const response = getContext().getResponse(); {statements} }}")


@pytest.mark.parametrize(
    ("statements", "body"),
    [
        ("response.appendBody('a'); response.appendBody('b');", "ab"),
        ("for (let i = 0; i < 10; i++) response.appendValue('Body', i);", "0123456789"),
        ("response.setBody(1); response.appendBody(2);", 3),
        ("response.setBody(1); response.appendBody('2');", "12"),
        ("response.setBody(null); response.appendBody({ a: 1 });", {"a": 1}),
        ("response.appendBody({ a: 1 });", "[object Object]"),
        ("response.setBody({ a: 1 }); response.appendBody('x');", "[object Object]x"),
        ("response.setValue('Body', [1]);", [1]),
        ("response.setBody(1); response.setBody([response.getBody(), response.getValue('Body')]);", [1, 1]),
        ("response.setBody(typeof response.getBody());", "string"),
        ("__.response.setBody(__.response === response);", True),
    ],
)
def test_the_body_is_set_and_appended(statements: str, body: Json) -> None:
    assert _after(statements) == body


@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        ("response.setValue('Status', 1)", 400),
        ("response.appendValue('toString', 1)", 400),
        ("response.setValue({}, 1)", 400),
        ("response.getValue('Status')", "TypeError"),
        ("__.request.setBody(1)", "TypeError"),
        ("__.request.setValue('Body', 1)", "TypeError"),
    ],
)
def test_unknown_and_read_only_properties_throw(call: str, outcome: Json) -> None:
    assert _after(f"try {{ {call}; }} catch (e) {{ response.setBody(e.number ?? e.name); }}") == outcome


def test_the_request_body_of_a_procedure_is_its_arguments_as_json() -> None:
    body = "function () { __.response.setBody([__.request.getBody(), getContext().getRequest() === __.request]); }"

    assert result_of(body, "a", 1) == ['["a",1]', True]


@pytest.mark.parametrize(
    "call", ["setBody('x'.repeat(101))", "appendBody('x'.repeat(101))", "setBody(['x'.repeat(99)])"]
)
def test_a_body_over_the_limit_throws_413(call: str) -> None:
    limits = ScriptLimits(response_bytes=100)

    caught = f"function () {{ try {{ __.response.{call}; }} catch (e) {{ __.response.setBody(e.number); }} }}"
    assert result_of(caught, limits=limits) == 413
    with pytest.raises(CosmosError) as failure:
        result_of(f"function () {{ __.response.{call}; }}", limits=limits)
    assert failure.value.status == 413


def test_a_body_can_grow_to_the_limit_by_appending() -> None:
    limits = ScriptLimits(response_bytes=100)
    body = """function () {
        let n = 0;
        try { for (;; n++) __.response.appendBody('0123456789'); } catch (e) { __.response.setBody([n, e.number]); }
    }"""

    assert result_of(body, limits=limits) == [10, 413]


@pytest.mark.parametrize("text", ["'\u20ac'.repeat(40)", "(() => { const b = []; b.length = 60; return b; })()"])
def test_a_body_over_the_limit_as_json_is_rejected_at_the_end(text: str) -> None:
    with pytest.raises(CosmosError) as failure:
        result_of(
            f"function () {{ const b = {{ t: '' }}; __.response.setBody(b); b.t = {text}; }}",
            limits=ScriptLimits(response_bytes=100),
        )

    assert failure.value.status == 413


def test_a_413_thrown_by_the_script_is_an_ordinary_failure() -> None:
    with pytest.raises(CosmosError) as failure:
        result_of("function () { throw new Error(413, 'mine'); }")

    assert (failure.value.status, failure.value.sub_status) == (400, 413)


@pytest.mark.parametrize(
    ("calls", "log"),
    [
        ("console.log('a'); console.log('b');", "ab"),
        ("console.log('%s is %s%%', 'x', 5);", "x is 5%"),
        ("console.log('%s and %s', 'x');", "x and undefined"),
        ("console.log('called with', 'Ada', 5);", "called with Ada 5"),
        ("console.log('%s:', 'Ada', 5);", "Ada: 5"),
        ("console.log('100%', 1);", "100% 1"),
        ("console.log('%s');", "%s"),
        ("console.log(5); console.log({}); console.log(null);", "5[object Object]null"),
        ("console.log('\u20ac %d\\n', 1);", "\u20ac %d\n 1"),
        ("console.log('\\ud83d');", "\ufffd"),
        ("", ""),
    ],
)
def test_the_log_is_the_concatenation_of_its_calls(calls: str, log: str) -> None:
    assert execute(MemoryOperations(), f"function () {{ {calls} }}", log=True).log == log


@pytest.mark.parametrize("call", ["console.log()", "console.log(1, 2)", "console.log({}, 'a')"])
def test_a_log_call_with_invalid_arguments_throws_400(call: str) -> None:
    body = f"function () {{ try {{ {call}; }} catch (e) {{ __.response.setBody(e.number); }} }}"

    assert execute(MemoryOperations(), body, log=True).body == 400


def test_log_calls_do_nothing_without_logging() -> None:
    result = execute(MemoryOperations(), "function () { console.log('a'); console.log(1, 2); }")

    assert result.log == ""


def test_a_log_over_its_limit_throws_413() -> None:
    body = "function () { for (;;) console.log('0123456789'); }"

    with pytest.raises(CosmosError) as failure:
        execute(MemoryOperations(), body, log=True, limits=ScriptLimits(log_characters=1000))

    assert failure.value.status == 413


def test_shortcuts_refer_to_the_same_collection_and_context() -> None:
    body = """function () {
        const context = getContext();
        __.response.setBody([context === getContext(), context.getCollection() === Object.getPrototypeOf(__),
            __.getAltLink(), context.getCollection().getSelfLink()]);
    }"""

    assert result_of(body) == [True, True, "dbs/blog/colls/posts", "dbs/AbCdEA==/colls/AbCdEFgHiJk=/"]
