"""Procedures: compilation, arguments and results."""

from __future__ import annotations

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json
from tests.scripts.memory_operations import MemoryOperations, execute, result_of

SET = "getContext().getResponse().setBody"


@pytest.mark.parametrize(
    "body",
    [
        f"function () {{ {SET}(1); }}",
        f"function named() {{ {SET}(1); }}",
        f"function named() {{ {SET}(1); }};",
        f"\n  function named() {{ {SET}(1); }} ;\n\n",
        f"// what it does\nfunction named() {{ {SET}(1); }}",
        f"/* what\n it does */ function named() {{ {SET}(1); }}; // the end",
        f"function named() {{ {SET}(1); }} // the end",
        f"function named() {{ {SET}(1); }}; /* the */ // end\n/* end */;",
        f"() => {{ {SET}(1); }}",
        f"() => {SET}(1)",
        f"() => {SET}(Number('1'.concat('//').slice(0, 1))); // a comment",
        f"async () => {{ {SET}(1); }}",
        f"async function named() {{ await null; {SET}(1); }}",
        f"function named() {{ helper(); function helper() {{ {SET}(1); }} }}",
        f"function named() {{ 'use strict'; {SET}(1); }}",
        f"function named(again) {{ if (again) {SET}(1); else named(true); }}",
    ],
)
def test_every_form_of_function_can_be_a_body(body: str) -> None:
    assert result_of(body) == 1


@pytest.mark.parametrize(
    "body", ["function (", "", "42", "'text'", "function a() {} function b() {}", "}", "{}", "import x from 'y'", "\0"]
)
def test_a_body_that_is_not_one_function_does_not_compile(body: str) -> None:
    with pytest.raises(CosmosError) as failure:
        result_of(body)

    assert (failure.value.status, failure.value.sub_status) == (400, 65535)
    assert "Encountered exception while compiling function. Exception = " in failure.value.message


@pytest.mark.parametrize(
    "value", ["text", "", 1, 1.5, -0.25, True, False, None, [], [1, [2]], {"a": {"b": None}}, "\u2028 \U0001f600 \0"]
)
def test_arguments_and_bodies_round_trip(value: Json) -> None:
    assert result_of(f"function (value) {{ {SET}(value); }}", value) == value


@pytest.mark.parametrize("length", [100, 600, 9_000, 900_000])
def test_arguments_documents_and_bodies_of_any_length_round_trip(length: int) -> None:
    body = f"""function (text) {{
        __.createDocument(__.getSelfLink(), {{ id: '1', pk: 'p', text }}, (e, d) => {SET}(d.text + text));
    }}"""

    assert result_of(body, "é" * (length // 2)) == "é" * (length // 2 * 2)


def test_a_missing_argument_is_undefined_and_null_is_null() -> None:
    body = f"function (a, b) {{ {SET}([typeof a, a, typeof b, arguments.length]); }}"

    assert result_of(body, None) == ["object", None, "undefined", 1]


def test_whole_numbers_are_returned_without_a_fraction() -> None:
    assert repr(result_of(f"function (n) {{ {SET}(n / 2); }}", 4)) == "2"


@pytest.mark.parametrize("statement", ["", f"{SET}(undefined);", f"{SET}(function () {{}});", "return 5;"])
def test_a_procedure_that_sets_no_body_returns_an_empty_string(statement: str) -> None:
    assert result_of(f"function () {{ {statement} }}") == ""


def test_nan_becomes_null() -> None:
    assert result_of(f"function () {{ {SET}({{ n: NaN, u: undefined }}); }}") == {"n": None}


def test_a_body_is_serialized_at_the_end() -> None:
    assert result_of(f"function () {{ const b = {{}}; {SET}(b); b.later = 1; }}") == {"later": 1}


def test_a_body_that_cannot_be_serialized_fails() -> None:
    with pytest.raises(CosmosError, match="circular"):
        result_of(f"function () {{ const b = {{}}; b.b = b; {SET}(b); }}")


def test_a_lone_surrogate_in_the_response_fails_the_script() -> None:
    with pytest.raises(CosmosError) as failure:
        result_of(f"function () {{ {SET}('\\ud83d'); }}")

    assert failure.value.status == 400
    assert "UTF-8" in failure.value.message


def test_executions_share_no_state() -> None:
    operations = MemoryOperations()
    execute(operations, "function () { globalThis.left = 1; Array.prototype.left = 1; JSON.parse = null; }")

    body = f"function () {{ {SET}([typeof left, typeof [].left, JSON.parse('1')]); }}"
    assert execute(operations, body).body == ["undefined", "undefined", 1]


def test_error_messages_include_the_script_location() -> None:
    body = "function outer() {\n  inner();\n  function inner() {\n    throw new Error('no');\n  }\n}"

    with pytest.raises(CosmosError) as failure:
        result_of(body)

    assert failure.value.status == 400
    assert failure.value.sub_status == 0
    assert failure.value.message.startswith(
        "Encountered exception while executing function. Exception = Error: no\r\nStack trace: Error: no\n"
        "   at inner (script.js:4:"
    )
    assert "   at outer (script.js:2:" in failure.value.message
    assert "dispatch" not in failure.value.message


@pytest.mark.parametrize(
    ("thrown", "text", "sub_status"),
    [
        ("new Error(1234, 'x')", "Error: x", 1234),
        ("new Error('x')", "Error: x", 0),
        ("Error(404, 'x')", "Error: x", 404),
        ("new Error('x', { cause: 1 })", "Error: x", 0),
        ("new TypeError('x')", "TypeError: x", 0),
        ("'x'", "x", 0),
        ("undefined", "undefined", 0),
        ("null", "null", 0),
        ("{ number: 409, toString() { return 'mine'; } }", "mine", 409),
        ("new Error(-5, 'x')", "Error: x", 0),
        ("new Error(2 ** 40, 'x')", "Error: x", 0),
        ("Symbol('x')", "Symbol(x)", 0),
        ("'\\ud83d'", "\ufffd", 0),
    ],
)
def test_any_thrown_value_is_reported(thrown: str, text: str, sub_status: int) -> None:
    with pytest.raises(CosmosError) as failure:
        result_of(f"function () {{ throw {thrown}; }}")

    assert f"Exception = {text}\r\nStack trace: " in failure.value.message
    assert (failure.value.status, failure.value.sub_status) == (400, sub_status)


def test_errors_keep_their_number_and_message() -> None:
    body = f"""function () {{
        const e = new Error(404, 'gone');
        class Mine extends Error {{}}
        const mine = new Mine(ErrorCodes.Conflict, 'twice');
        {SET}([e.number, e.message, e instanceof Error, e.name, String(e), Object.keys(e).length,
          mine.number, mine instanceof Mine, mine instanceof Error, new TypeError('t') instanceof Error,
          Error.name, e.constructor === Error, typeof new Error('m').number]);
    }}"""

    assert result_of(body) == [
        *(404, "gone", True, "Error", "Error: gone", 0),
        *(409, True, True, True),
        *("Error", True, "undefined"),
    ]


def test_error_codes_match_the_service_and_are_frozen() -> None:
    body = f"function () {{ ErrorCodes.NotFound = 1; {SET}(ErrorCodes); }}"

    assert result_of(body) == {
        "BadRequest": 400,
        "Forbidden": 403,
        "NotFound": 404,
        "Conflict": 409,
        "PreconditionFailed": 412,
        "RequestEntityTooLarge": 413,
        "RetryWith": 449,
        "InternalServerError": 500,
    }


@pytest.mark.parametrize(
    "name",
    [
        *("std", "os", "require", "process", "setTimeout", "setInterval", "queueMicrotask", "WebAssembly", "Python"),
        *("Worker", "fetch", "performance", "DOMException", "atob", "btoa", "print"),
    ],
)
def test_a_script_cannot_use_host_apis(name: str) -> None:
    assert result_of(f"function () {{ {SET}(typeof globalThis.{name}); }}") == "undefined"


def test_dates_and_random_numbers_exist() -> None:
    assert result_of(f"function () {{ {SET}([new Date(0).toISOString(), Math.random() < 1]); }}") == [
        "1970-01-01T00:00:00.000Z",
        True,
    ]
