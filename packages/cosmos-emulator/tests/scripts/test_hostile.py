"""Scripts that try to run without end, to use up memory, to get out, or to break the engine from inside."""

from __future__ import annotations

import threading
import time

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json
from cosmos_emulator.scripts import ScriptLimits
from tests.scripts.memory_operations import MemoryOperations, execute, result_of

SHORT = ScriptLimits(time_limit_s=0.1)
AMPLE = ScriptLimits(time_limit_s=20)
LINK = "__.getAltLink() + '/docs/1'"
BOMB = "const bomb = { toString() { for (;;); }, get number() { for (;;); }, get stack() { for (;;); } };"


def _failure(body: str, limits: ScriptLimits) -> CosmosError:
    operations = MemoryOperations({"id": "1"})
    with pytest.raises(CosmosError) as failure:
        execute(operations, body, limits=limits)
    assert list(operations.documents) == ["1"]
    return failure.value


@pytest.mark.parametrize(
    "statements",
    [
        "for (;;);",
        "try { for (;;); } catch { __.response.setBody(1); } finally { for (;;); }",
        "/^(a+)+$/.test('a'.repeat(50) + 'b');",
        "(async () => { for (;;) await null; })();",
        "(function again() { Promise.resolve().then(again); })();",
        "__.createDocument(__.getSelfLink(), { id: '2', pk: 'p' }, () => { for (;;); });",
        "__.response.setBody({ toJSON() { for (;;); } });",
        f"{BOMB} throw bomb;",
        f"{BOMB} getContext().abort(bomb);",
        f"{BOMB} __.readDocument({LINK}, () => {{ throw bomb; }});",
        "(function* () { for (;;) yield 1; })().toArray();",
        "[...{ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }].length;",
        "const a = []; a.length = 2 ** 32 - 1; a.indexOf(1);",
        "Array.prototype.forEach.call({ length: 2 ** 53 }, () => {});",
        "new Set(Object.assign([], { length: 2 ** 32 - 1 }));",
    ],
)
def test_what_never_ends_is_a_408_and_rolls_back(statements: str) -> None:
    started = time.perf_counter()

    failure = _failure(f"function () {{ {statements} }}", SHORT)

    assert failure.status == 408 or "out of memory" in failure.message
    assert time.perf_counter() - started < 5


def test_an_endless_chain_of_operations_that_ignores_refusal_ends() -> None:
    operations = MemoryOperations({"id": "1"})
    body = f"function again() {{ __.readDocument({LINK}, again); }}"

    # Refusal begins at nine tenths of the limit: the rest must outlast a pause of a busy machine.
    execute(operations, body, limits=ScriptLimits(time_limit_s=2.0))

    assert len(operations.performed) > 1


def test_a_slow_store_counts_against_the_time_limit() -> None:
    class SlowOperations(MemoryOperations):
        def read_document(self, document_link: str, *, if_none_match: str | None) -> dict[str, Json] | None:
            time.sleep(0.05)
            return super().read_document(document_link, if_none_match=if_none_match)

    body = f"function () {{ for (let n = 0; n < 5; n++) __.readDocument({LINK}); }}"

    with pytest.raises(CosmosError) as failure:
        execute(SlowOperations({"id": "1"}), body, limits=SHORT)

    assert failure.value.status == 408


def test_other_threads_run_while_a_script_loops() -> None:
    failures: list[int] = []
    thread = threading.Thread(
        target=lambda: failures.append(_failure("function () { for (;;); }", ScriptLimits(time_limit_s=0.3)).status)
    )
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
    thread.join()

    assert failures == [408]
    assert turns > 1000


@pytest.mark.parametrize(
    "statements",
    [
        "const a = []; for (;;) a.push(new Array(1000).fill(1));",
        "const a = []; for (;;) a.push('x'.repeat(1000) + a.length);",
        "let s = 'x'; for (;;) s += s;",
        "'x'.repeat(2 ** 29);",
        "new ArrayBuffer(2 ** 31);",
        "Array.from({ length: 1e9 });",
        "new Array(1e9).fill(0);",
        "(function f() { f(); })();",
        "const o = []; let p = o; for (let i = 0; i < 1e5; i++) { p[0] = []; p = p[0]; } JSON.stringify(o);",
        "JSON.parse('['.repeat(1e6));",
        "eval('('.repeat(1e5) + ')'.repeat(1e5));",
        "new RegExp('('.repeat(1e5) + ')'.repeat(1e5));",
        "const o = []; let p = o; for (let i = 0; i < 1e5; i++) { p[0] = []; p = p[0]; } __.response.setBody(o);",
        "2n ** 100000000n;",
        "const keep = []; for (;;) keep.push(new Error('x'));",
        "const a = []; for (;;) { try { a.push(new Array(1000).fill(1)); } catch { throw a; } }",
        "for (;;) __.readDocuments(__.getSelfLink(), { continuation: 'x'.repeat(10000) });",
    ],
)
def test_what_exceeds_memory_or_stack_is_a_400_and_the_process_lives(statements: str) -> None:
    limits = ScriptLimits(time_limit_s=20, memory_bytes=16 * 1024 * 1024)

    assert _failure(f"function () {{ {statements} }}", limits).status == 400
    assert result_of("function () { __.response.setBody('alive'); }") == "alive"


def test_the_stack_limit_holds_in_a_thread_with_a_small_stack() -> None:
    statuses: list[int] = []
    usual = threading.stack_size(2 * 1024 * 1024)
    try:
        thread = threading.Thread(
            target=lambda: statuses.append(_failure("(function f() { [1].map(f); })", AMPLE).status)
        )
        thread.start()
    finally:
        threading.stack_size(usual)
    thread.join()

    assert statuses == [400]


def test_memory_that_is_given_back_lets_the_script_go_on() -> None:
    body = """function () {
        try { const a = []; for (;;) a.push(new Array(1000).fill(1)); } catch {}
        __.response.setBody('recovered');
    }"""

    assert result_of(body, limits=ScriptLimits(memory_bytes=16 * 1024 * 1024)) == "recovered"


@pytest.mark.parametrize(
    "statements",
    [
        "const a = []; a.length = 2 ** 32 - 1; a.METHOD();",
        "Array.prototype.METHOD.call({ length: 2 ** 53 - 1 });",
        "let n = 0; Array.prototype.METHOD.call({ get length() { return n++ ? 2 ** 53 - 1 : 1; } });",
        "let n = 0; const l = { valueOf: () => n++ ? 2 ** 53 - 1 : 1 }; Array.prototype.METHOD.call({ length: l });",
        "const f = Object.defineProperty(() => {}, 'length', { value: 2 ** 53 - 1 }); Array.prototype.METHOD.call(f);",
        "Number.prototype.length = 2 ** 53 - 1; Array.prototype.METHOD.call(5);",
    ],
)
@pytest.mark.parametrize(
    "method", ["copyWithin", "fill", "join", "reverse", "shift", "slice", "sort", "splice", "toLocaleString", "unshift"]
)
def test_loops_of_the_engine_over_enormous_arrays_are_refused(method: str, statements: str) -> None:
    assert _failure(f"function () {{ {statements.replace('METHOD', method)} }}", AMPLE).status == 400


def test_the_texts_of_an_enormous_template_are_refused() -> None:
    assert _failure("function () { String.raw({ raw: { length: 2 ** 53 - 1 } }); }", AMPLE).status == 400


def test_an_array_that_becomes_enormous_while_others_are_joined_is_timed_out() -> None:
    body = """function () {
        const victim = [];
        [].concat({ get [Symbol.isConcatSpreadable]() { victim.length = 2 ** 32 - 1; return false; } }, victim);
    }"""

    assert _failure(body, SHORT).status == 408


@pytest.mark.parametrize("call", ["concat(a)", "flat()", "flatMap((x) => a)", "toString()"])
def test_enormous_arrays_inside_arrays_are_refused_or_timed_out(call: str) -> None:
    failure = _failure(f"function () {{ const a = []; a.length = 2 ** 32 - 1; [a].{call}; }}", SHORT)

    assert failure.status in (400, 408)


@pytest.mark.parametrize(
    "call", ["indexOf(n)", "includes(n)", "lastIndexOf(n)", "split(n)", "replace(n, '')", "replaceAll(n, '')"]
)
@pytest.mark.parametrize("needle", ["n", "{ toString: () => n }"])
def test_the_search_for_a_long_text_in_a_long_text_is_refused(call: str, needle: str) -> None:
    body = f"""function () {{
        const n = 'a'.repeat(1e6) + 'b';
        'a'.repeat(5e6).{call.replace("n", needle, 1) if "includes" not in call else f"includes({needle})"};
    }}"""

    assert _failure(body, AMPLE).status == 400


def test_the_guarded_methods_work_as_ever() -> None:
    body = """function () {
        const pairs = [
            [[3, 1, 2].sort().join('-'), '1-2-3'], [[1, 2].concat(3, [4], [[5]]).length, 5],
            [[1, [2, [3, [4]]]].flat().length, 3], [[1, [2, [3, [4]]]].flat(Infinity).join(), '1,2,3,4'],
            [[1, 2].flatMap((n) => [n, [n]]).length, 4], [[1, , 2].flat().length, 2],
            ['a.b.c'.split('.').length, 3], ['abc'.split('').length, 3], ['a1b'.split(/\\d/).length, 2],
            ['abc'.split().length, 1], ['a.b'.split('.', 1).length, 1],
            ['aXbX'.replace('X', '-'), 'a-bX'], ['aXbX'.replace(/X/g, '-'), 'a-b-'],
            ['ab'.replace('a', (m) => m + m), 'aab'],
            ['aXbX'.replaceAll('X', '-'), 'a-b-'], ['aXbX'.replaceAll(/x/gi, '$&$&'), 'aXXbXX'],
            ['abc'.indexOf('c'), 2], ['abcabc'.indexOf('c', 3), 5], ['abcabc'.lastIndexOf('c'), 5],
            ['abc'.includes('b'), true], ['abc'.includes('a', 1), false], ['undefined'.indexOf(), 0],
            [Array.prototype.slice.call({ length: 2, 0: 'a', 1: 'b' }).join(), 'a,b'],
            [(function () { return Array.prototype.slice.call(arguments, 1).length; })(1, 2, 3), 2],
            [Array.prototype.join.call('abc', '.'), 'a.b.c'],
            [[1, 2, 3].splice(1, 1, { get length() { return 1; } })[0], 2],
            [[].concat('x').sort.name, 'sort'], [[1, , 2].concat([, 3], 4).length, 6], [1 in [1, , 2].concat(), false],
            [[].concat({ length: 1, 0: 'a', [Symbol.isConcatSpreadable]: true })[0], 'a'], [[].concat('ab')[0], 'ab'],
            [String.raw`a\\n${1}b`, 'a\\\\n1b'], [String([1, [2, 3]]), '1,2,3'],
        ];
        const threw = [() => 'a'.replaceAll(/a/, ''), () => 'a'.includes(/a/), () => ''.split.call(null, '')]
            .map((f) => { try { f(); } catch (e) { return e.name; } });
        __.response.setBody([pairs.filter(([got, wanted]) => got !== wanted), threw.join()]);
    }"""

    assert result_of(body) == [[], "TypeError,TypeError,TypeError"]


TAMPERING = [
    "Array.prototype.push = Array.prototype.shift = null;",
    "Array.prototype[Symbol.iterator] = () => { throw 1; };",
    "JSON.stringify = JSON.parse = () => { throw 1; };",
    "Object.prototype.toJSON = function () { return { step: 'done' }; };",
    "for (const n of ['error', 'result', 'step', 'number', 'text', 'operation', 'next', 'failure', 'document', 'body'])"
    " Object.defineProperty(Object.prototype, n, { set() { throw 1; }, configurable: true });",
    "Object.defineProperty(Array.prototype, '0', { set() { throw 1; }, configurable: true });",
    "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1; };",
    "Reflect.apply = Reflect.construct = Reflect.defineProperty = () => { throw 1; };",
    "Date.now = () => { throw 1; }; Math.random = () => { throw 1; };",
    "String.prototype.split = String.prototype.slice = String.prototype.startsWith = () => { throw 1; };",
    "RegExp.prototype.test = () => { throw 1; };",
    "globalThis.Error = globalThis.Object = globalThis.Array = globalThis.String = undefined;",
    "Promise.prototype.then = () => { throw 1; };",
    "Error.prototype.toString = () => { throw 1; };",
    "WeakSet.prototype.has = WeakSet.prototype.add = () => { throw 1; };",
    "console.log = null; delete globalThis.console;",
    "Object.freeze(Object.prototype); Object.freeze(Array.prototype);",
]


@pytest.mark.parametrize("tampering", TAMPERING)
def test_tampering_with_built_ins_does_not_disturb_the_engine(tampering: str) -> None:
    operations = MemoryOperations({"id": "1", "n": 5})
    body = f"""function () {{
        {tampering}
        __.readDocument(__.getAltLink() + '/docs/1', {{}}, function (e, d) {{
            d.n = 6;
            __.replaceDocument(d._self, d, {{ etag: d._etag }}, function (e, d) {{ __.response.setBody(d.n); }});
        }});
    }}"""

    outcome: Json
    try:
        outcome = execute(operations, body, limits=AMPLE).body
    except CosmosError as failure:
        outcome = failure.status

    stored = operations.documents["1"]["n"]
    if outcome == 400:  # what a script breaks for itself ends it, and nothing is left of it
        assert stored == 5
    else:
        assert (outcome, stored) == (6, 6) or "toJSON" in tampering


@pytest.mark.parametrize("tampering", TAMPERING)
def test_tampering_does_not_hide_a_failure(tampering: str) -> None:
    failure = _failure(
        f"""function () {{
        const Failure = Error;
        __.createDocument(__.getSelfLink(), {{ id: '2', pk: 'p' }}, function () {{ throw new Failure(77, 'mine'); }});
        {tampering}
    }}""",
        AMPLE,
    )

    assert failure.status == 400
    assert failure.sub_status == 77


@pytest.mark.parametrize(
    "statements",
    [
        "InternalError.prototype.toString = () => { for (;;); };",
        "Object.defineProperty(InternalError.prototype, 'name', { get() { for (;;); } });",
        "Object.setPrototypeOf(InternalError.prototype, { get stack() { for (;;); } });",
        "Object.prototype[Symbol.toPrimitive] = () => { for (;;); };",
        "Object.defineProperty(Error.prototype, 'stack', { get() { for (;;); } });",
        "Object.defineProperty(Error.prototype, 'message', { get() { for (;;); } });",
        "Error.prototype.toString = () => { for (;;); };",
        "Error.prepareStackTrace = () => { for (;;); };",
        "Object.defineProperty(Object.prototype, 'message', { get() { for (;;); } });",
        "globalThis.InternalError = class { toString() { for (;;); } };",
    ],
)
@pytest.mark.parametrize("end", ["for (;;);", "(async () => { await null; for (;;); })();"])
def test_the_interrupt_cannot_be_turned_into_a_loop_without_limit(statements: str, end: str) -> None:
    failure = _failure(f"function () {{ try {{ {statements} }} catch {{}} {end} }}", SHORT)

    assert failure.status == 408


@pytest.mark.parametrize(
    "statements",
    [
        "const boom = () => { throw bomb; }; class P extends Promise { constructor(f) { super(() => f(boom, boom)); } }"
        " const p = Promise.resolve(); p.constructor = P; p.then(() => {});",
        "class P extends Promise {} P[Symbol.species]; P.resolve(1).then(() => {});",
        "Promise[Symbol.species] = function (f) { f(() => { throw bomb; }, () => { throw bomb; }); };"
        " Promise.resolve().then(() => {});",
        "const boom = () => { throw bomb; };"
        " Object.defineProperty(Promise, Symbol.species, { value: function (f) { f(boom, boom); } });",
        "Promise.prototype.constructor = null; Promise.resolve().finally(() => { throw bomb; });",
        "Promise.resolve({ then() { throw bomb; } });",
        "Promise.reject(bomb);",
        "(async () => { throw bomb; })();",
        "Promise.all.call(function (f) { f(() => { throw bomb; }, () => { throw bomb; }); }, [1]);",
        "import('x');",
    ],
)
def test_nothing_of_the_script_is_thrown_out_of_a_promise_job(statements: str) -> None:
    operations = MemoryOperations()
    body = f"function () {{ {BOMB} try {{ {statements} }} catch {{}} }}"

    assert execute(operations, body, limits=AMPLE).body == ""


def test_the_functions_of_the_engine_cannot_be_reached() -> None:
    body = """function () {
        const seen = [];
        try { seen.push(typeof arguments.callee.caller); } catch (e) { seen.push(e.name); }
        seen.push(typeof globalThis.dispatch, typeof run, typeof enqueue, typeof Error.captureStackTrace,
            Object.getOwnPropertyNames(globalThis).filter((n) => n.startsWith('_')).join());
        __.response.setBody(seen);
    }"""

    result = result_of(body)

    assert isinstance(result, list)
    assert result[0] in ("undefined", "object", "TypeError")
    assert result[1:] == ["undefined", "undefined", "undefined", "undefined", "__"]


def test_a_very_long_message_is_cut() -> None:
    failure = _failure("function () { throw new Error('x'.repeat(1e6)); }", AMPLE)

    assert len(failure.message) < 100_000


def test_many_executions_do_not_grow_the_process() -> None:
    resource = pytest.importorskip("resource", reason="memory is measured by getrusage")

    def peak_kb() -> int:
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    body = "function () { globalThis.kept = new Array(200000).fill(1); __.response.setBody(1); }"
    for _ in range(20):
        result_of(body)
    before = peak_kb()
    for _ in range(100):
        result_of(body)

    assert peak_kb() - before < 50_000
