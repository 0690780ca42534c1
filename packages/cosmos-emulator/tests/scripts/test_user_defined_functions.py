"""User-defined functions."""

from __future__ import annotations

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined
from cosmos_emulator.scripts import ScriptLimits, UdfRuntime


def _runtime(body: str, *, time_limit_s: float = 5.0) -> UdfRuntime:
    return UdfRuntime({"f": body}, ScriptLimits(time_limit_s=time_limit_s))


def _call(body: str, *arguments: JsonOrUndefined) -> JsonOrUndefined:
    with _runtime(body) as runtime:
        return runtime.call("f", list(arguments))


def _failure(body: str, *, time_limit_s: float = 5.0) -> CosmosError:
    with _runtime(body, time_limit_s=time_limit_s) as runtime, pytest.raises(CosmosError) as failure:
        runtime.call("f", [])
    return failure.value


@pytest.mark.parametrize(
    "value", [UNDEFINED, None, True, 0, 1.5, -7, "", "text \U0001f600", [], [1, [None]], {"a": {"b": 1}}, 2**53]
)
def test_arguments_and_results_are_passed_unchanged(value: JsonOrUndefined) -> None:
    assert _call("function (x) { return x; }", value) == value


@pytest.mark.parametrize("length", [100, 600, 9_000, 2_000_000])
def test_results_of_any_length_are_returned(length: int) -> None:
    assert _call("(n) => 'a'.repeat(n) + 'b'.repeat(n)", length) == "a" * length + "b" * length


def test_an_undefined_argument_counts_toward_arguments_length() -> None:
    body = "function (a, b, c) { return [typeof a, b, typeof c, arguments.length]; }"

    assert _call(body, UNDEFINED, None) == ["undefined", None, "undefined", 2]


@pytest.mark.parametrize("body", ["() => {}", "() => undefined", "() => Symbol()", "() => Math.sin"])
def test_results_without_a_json_form_are_undefined(body: str) -> None:
    assert _call(body) is UNDEFINED


def test_numbers_have_javascript_semantics() -> None:
    assert repr(_call("(n) => n / 2", 4)) == "2"
    assert _call("() => 0.1 + 0.2") == 0.30000000000000004
    assert _call("() => NaN") is None


def test_functions_are_compiled_once_and_share_one_context() -> None:
    functions = {"tax": "function tax(n) { return n * 2; };", "name": "(d) => d.name.toUpperCase()"}

    with UdfRuntime(functions, ScriptLimits()) as runtime:
        assert [runtime.call("tax", [n]) for n in range(3)] == [0, 2, 4]
        assert runtime.call("name", [{"name": "ada"}]) == "ADA"
        assert runtime.call("tax", [5]) == 10


def test_a_function_has_no_context_object() -> None:
    assert _call("() => [typeof getContext, typeof __, typeof console, typeof ErrorCodes]") == ["undefined"] * 4


def test_the_error_for_an_unknown_function_names_it() -> None:
    with pytest.raises(CosmosError, match=r"udf\.missing") as failure:
        _runtime("() => 1").call("missing", [])

    assert failure.value.status == 400


def test_a_thrown_error_returns_400_with_its_number() -> None:
    failure = _failure("() => { throw new Error(1234, 'x'); }")

    assert (failure.status, failure.sub_status) == (400, 1234)
    assert "Exception = Error: x\r\n" in failure.message


def test_the_runtime_continues_after_a_throw() -> None:
    with _runtime("(n) => { if (n > 1) throw new Error('x'); return n; }") as runtime:
        with pytest.raises(CosmosError):
            runtime.call("f", [2])

        assert runtime.call("f", [1]) == 1


def test_a_compile_error_returns_400() -> None:
    assert (_failure("function (").status, _failure("function (").sub_status) == (400, 65535)


@pytest.mark.parametrize("body", ["async () => 1", "() => Promise.resolve(1)"])
def test_returning_a_promise_is_rejected(body: str) -> None:
    assert "promise" in _failure(body).message


@pytest.mark.parametrize("body", ["() => { const o = {}; o.o = o; return o; }", "() => 1n", "() => '\\ud83d'"])
def test_a_result_that_cannot_be_serialized_returns_400(body: str) -> None:
    assert _failure(body).status == 400


@pytest.mark.parametrize(
    "body",
    [
        "() => { for (;;); }",
        "() => ({ toJSON() { for (;;); } })",
        "() => { throw { toString() { for (;;); } }; }",
        "() => { throw { get number() { for (;;); } }; }",
    ],
)
def test_an_endless_function_returns_408(body: str) -> None:
    assert _failure(body, time_limit_s=0.1).status == 408


def test_all_calls_share_the_time_limit() -> None:
    body = "() => { const end = Date.now() + 60; while (Date.now() < end); }"

    def call_often() -> None:
        with _runtime(body, time_limit_s=0.2) as runtime:
            for _ in range(10):
                runtime.call("f", [])

    with pytest.raises(CosmosError) as failure:
        call_often()

    assert failure.value.status == 408


def test_a_function_cannot_break_the_runtime_for_another() -> None:
    evil = """function () {
        const bomb = { toString() { for (;;); } };
        Array.prototype[Symbol.iterator] = () => { throw bomb; };
        JSON.parse = JSON.stringify = Reflect.apply = () => { throw bomb; };
        Object.defineProperty(Array.prototype, '0', { set() { throw bomb; }, configurable: true });
        Object.defineProperty(Object.prototype, 'toJSON', { get() { throw bomb; }, configurable: true });
        return 1;
    }"""

    with UdfRuntime({"evil": evil, "good": "(n) => n + 1"}, ScriptLimits(time_limit_s=0.5)) as runtime:
        assert runtime.call("evil", []) == 1
        assert runtime.call("good", [1]) == 2
