"""Scripts that QuickJS does not interrupt because they run inside its built-ins."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.scripts import ScriptLimits, UdfRuntime
from tests.scripts.memory_operations import MemoryOperations, execute, result_of

LIMITS = ScriptLimits(time_limit_s=0.3)
# Only a script that is not killed takes longer.
LATEST_S = 10.0
BIG = "const big = {}; for (let n = 0; n < 1e5; n++) big['k' + n] = n;"
LONG = "const long = Array.from({ length: 2e5 }, (_, n) => 'text ' + (n * 7919) % 1e6);"
UNINTERRUPTIBLE = {
    "regular expressions with Unicode properties": r"for (;;) new RegExp('\\p{L}'.repeat(200), 'iu');",
    "a huge regular expression": "for (;;) new RegExp('a|'.repeat(1e6));",
    "copies of a big object": f"{BIG} for (;;) Object.assign({{}}, big);",
    "big sorts": f"{LONG} for (;;) [...long].sort();",
    "serializing a big object": f"{BIG} for (;;) JSON.stringify(big);",
    "parsing a long text": "const text = JSON.stringify(Array(5e5).fill(1)); for (;;) JSON.parse(text);",
    "digits of a huge number": "const n = 7n ** 20000n; for (;;) String(n);",
    "normal forms of a long text": "const text = 'ä'.repeat(1e6); for (;;) text.normalize('NFD');",
}
WAYS: dict[str, Callable[[str], str]] = {
    "in the body": lambda loop: f"function () {{ {loop} }}",
    "in a callback": lambda loop: (
        f"function () {{ __.createDocument(__.getSelfLink(), {{ id: '2', pk: 'p' }}, () => {{ {loop} }}); }}"
    ),
    "in a promise": lambda loop: f"async function () {{ await null; {loop} }}",
    "in the result": lambda loop: f"function () {{ __.response.setBody({{ toJSON() {{ {loop} }} }}); }}",
}


def assert_timed_out(action: Callable[[], object], what: str) -> None:
    started = time.monotonic()
    with pytest.raises(CosmosError) as failure:
        action()
    took_s = time.monotonic() - started

    message = f"The script '{what}' exceeded its time limit of 0.3 s."
    assert (failure.value.status, failure.value.message) == (408, message)
    assert took_s < LATEST_S


@pytest.mark.parametrize("loop", UNINTERRUPTIBLE.values(), ids=UNINTERRUPTIBLE)
def test_an_uninterruptible_script_is_rolled_back_and_the_next_script_runs(loop: str) -> None:
    operations = MemoryOperations({"id": "1"})

    assert_timed_out(lambda: execute(operations, WAYS["in a callback"](loop), limits=LIMITS), "underTest")

    assert list(operations.documents) == ["1"]
    assert result_of("function () { __.response.setBody('alive'); }") == "alive"


@pytest.mark.nightly
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_loop_times_out_in_every_position(way: Callable[[str], str]) -> None:
    body = way(UNINTERRUPTIBLE["regular expressions with Unicode properties"])

    assert_timed_out(lambda: execute(MemoryOperations({"id": "1"}), body, limits=LIMITS), "underTest")


@pytest.mark.nightly
@pytest.mark.parametrize("loop", UNINTERRUPTIBLE.values(), ids=UNINTERRUPTIBLE)
def test_an_uninterruptible_function_times_out(loop: str) -> None:
    with UdfRuntime({"f": f"() => {{ {loop} }}"}, LIMITS) as runtime:
        assert_timed_out(lambda: runtime.call("f", []), "udf.f")

    with UdfRuntime({"f": "() => 1"}, LIMITS) as runtime:
        assert runtime.call("f", []) == 1
