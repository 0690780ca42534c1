"""Pieces of hostile scripts. V stands for a value, NAME for a property, NAME2 to NAME5 for a method."""

from __future__ import annotations

from typing import Final

from tests.fuzz.hostile_json import words

# Busy inside a built-in, where QuickJS does not check the time.
OUTLASTING: Final = [
    r"for (;;) new RegExp('\\p{L}'.repeat(200), 'iu');",
    "for (;;) new RegExp('a|'.repeat(1e6));",
    "const big = Object.fromEntries(Array.from({ length: 1e5 }, (_, n) => ['k' + n, n])); "
    "for (;;) Object.assign({}, big);",
    "const long = Array.from({ length: 2e5 }, (_, n) => 'text ' + (n * 7919) % 1e6); for (;;) [...long].sort();",
    "const many = Array(5e5).fill(1); for (;;) JSON.stringify(many);",
    "const text = 'ä'.repeat(1e6); for (;;) text.normalize('NFD');",
    "const huge = 7n ** 20000n; for (;;) String(huge);",
]
ENDLESS: Final = [
    *OUTLASTING,
    *("for (;;);", "while (true) x = 1;", "(function f() { f(); })();", "/(a+)+$/.test('a'.repeat(60) + 'b');"),
    *("(async () => { for (;;) await null; })();", "(function again() { Promise.resolve().then(again); })();"),
    *(
        "function more() { __.queryDocuments(L, 'SELECT * FROM c', more); } more();",
        "[...(function* () { for (;;) yield 1; })()];",
    ),
    *(
        "'x'.padEnd(2 ** 28).match(/(x+x+)+y/);",
        "new Date(NaN).toISOString(); for (;;) JSON.parse('[1]');",
        "10n ** 10000000n;",
    ),
    *(
        "let p = Promise.resolve(); for (;;) p = p.then(() => {});",
        "for (;;) eval('1');",
        "for (;;) new Function('return 1')();",
    ),
    *(
        "__.filter(() => { for (;;); });",
        "__.chain().map(() => { for (;;); }).value();",
        "__.sortBy(() => { for (;;); });",
    ),
    *(
        "Array.from({ length: 2 ** 32 - 1 });",
        "new Array(2 ** 32 - 1).join('x');",
        "'a'.repeat(2 ** 29).localeCompare('b');",
    ),
    *(
        "Object.assign({}, 'x'.repeat(2 ** 26));",
        "structuredClone?.(o);",
        "new Intl.NumberFormat();",
        "[].concat(...Array(1e6));",
    ),
    *(
        "String.raw({ raw: { length: 2 ** 53 - 1 } });",
        "Reflect.apply(String.fromCharCode, null, { length: 2 ** 31 });",
    ),
    *(
        "new Uint8Array(2 ** 30).sort();",
        "new Float64Array(1e7).fill(1).toSorted();",
        "'a,'.repeat(1e7).split(',').sort(() => { for (;;); });",
    ),
    *(
        "new Map(Array.from({ length: 1e7 }, (_, i) => [i, i]));",
        "JSON.stringify({ toJSON() { return this; }, a: 'x'.repeat(1e8) });",
    ),
    *(
        "encodeURIComponent('\\u{1F600}'.repeat(1e7));",
        "'\\u0130'.repeat(1e7).toLowerCase().normalize('NFD');",
        "(1e300).toFixed(100);",
    ),
    *(
        "new RegExp('(?:' + 'a?'.repeat(3000) + ')' + 'a'.repeat(3000)).test('a'.repeat(3000));",
        "/(?=(a+))*b/.test('a'.repeat(99));",
    ),
    *(
        "BigInt('9'.repeat(1e6)).toString();",
        "parseInt('9'.repeat(1e7), 36);",
        "Array.prototype.push.apply([], new Array(1e7));",
    ),
    *(
        "new Array(1e6).fill(0).map((_, i) => new Array(i));",
        "const w = new WeakMap(); for (;;) w.set({}, new Array(1e4));",
    ),
    *(
        "let b = new ArrayBuffer(8, { maxByteLength: 2 ** 32 }); b.resize(2 ** 31);",
        "Symbol('x'.repeat(2 ** 28)); for (;;) Symbol.for(Math.random());",
    ),
]
ESCAPES: Final = [
    *(
        "typeof require",
        "typeof process",
        "typeof std",
        "typeof os",
        "typeof scriptArgs",
        "typeof module",
        "typeof XMLHttpRequest",
    ),
    *(
        "typeof fetch",
        "typeof load",
        "typeof read",
        "typeof print",
        "typeof Deno",
        "typeof importScripts",
        "typeof WebAssembly",
    ),
    *(
        "Function('return this')()",
        "(0, eval)('this')",
        "Object.getOwnPropertyNames(globalThis)",
        "new Error().stack",
        "import.meta",
    ),
    *("[].constructor.constructor('return process.env')()", "(function () { return arguments.callee.caller; })()"),
    *(
        "getContext.constructor('return this')().process",
        "getContext().getCollection.constructor('return typeof os')()",
    ),
    *(
        "Object.getOwnPropertyDescriptors(__)",
        "Object.getOwnPropertyNames(Object.getPrototypeOf(__))",
        "getContext.toString()",
    ),
    *(
        "String(dispatch)",
        "String(run)",
        "Reflect.ownKeys(getContext().getRequest())",
        "getContext().getResponse().getValue('__proto__')",
    ),
    *(
        "__.readDocument(L + '/docs/i0', (e, d) => __.response.setBody(d))",
        "__.readDocument(L + '/docs/../../canary', f)",
    ),
    *(
        "__.queryDocuments(L, 'SELECT * FROM c', (e, r) => __.response.setBody(r))",
        "__.readDocuments(L, (e, r) => __.response.setBody(r))",
    ),
    *(
        "__.queryDocuments('dbs/canary/colls/x', 'SELECT * FROM c', f)",
        "__.queryDocuments(L, \"SELECT * FROM c WHERE c.pk = 'other'\", (e, r) => __.response.setBody(r))",
    ),
    *(
        "__.createDocument(L, { id: 'n', pk: 'other' }, f)",
        "__.replaceDocument(L + '/docs/i1', { id: 'i1', pk: 'other' }, f)",
    ),
    *(
        "__.queryDocuments(L, 'SELECT * FROM c', { continuation: 'eyJnaXZlbiI6MX0=' }, f)",
        "__.queryDocuments(L, { query: 'SELECT udf.same(c) FROM c' }, f)",
    ),
    *(
        "import('fs').then((m) => __.response.setBody(Object.keys(m)), (e) => __.response.setBody(String(e)))",
        "import('/etc/passwd')",
    ),
]
TAMPERING: Final = [
    *(
        "Object.prototype.toJSON = function () { return T; };",
        "Array.prototype.toJSON = () => { throw T; };",
        "JSON.stringify = JSON.parse = f;",
    ),
    *("Object.defineProperty(Object.prototype, NAME, { get() { return T; }, set() {}, configurable: true });",),
    *(
        "Object.prototype[NAME] = T;",
        "Array.prototype[Symbol.iterator] = f;",
        "String.prototype[NAME] = f;",
        "Function.prototype[NAME] = f;",
    ),
    *(
        "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = f;",
        "Promise.prototype.then = f;",
        "Promise = f;",
    ),
    *(
        "globalThis[NAME] = T;",
        "delete globalThis.Object;",
        "Error = f; TypeError = f; RangeError = f;",
        "Object.freeze(globalThis);",
    ),
    *(
        "Object.setPrototypeOf(Object.prototype, null);",
        "Object.setPrototypeOf(globalThis, T);",
        "Symbol.iterator = f; Reflect.apply = f;",
    ),
    *(
        "Error.prototype.toString = f;",
        "Error.stackTraceLimit = Infinity;",
        "RegExp.prototype.exec = f;",
        "Date.now = () => -1;",
        "Math.random = f;",
    ),
    *(
        "Object.preventExtensions(__);",
        "__.__proto__ = T;",
        "getContext = f;",
        "__ = T;",
        "console = T;",
        "ErrorCodes.BadRequest = T;",
    ),
    *(
        "Map.prototype.get = Set.prototype.has = f;",
        "Object.keys = Object.hasOwn = Object.create = f;",
        "Array.isArray = () => true;",
    ),
    *(
        "Object.defineProperty(globalThis, 'undefined', { value: 1 });",
        "undefined = 1;",
        "var eval = f;",
        "Number.isInteger = () => true;",
    ),
]
VALUES: Final = [
    *(
        "null",
        "undefined",
        "0",
        "NaN",
        "-1",
        "1e308",
        "10n",
        "'x'",
        "'\\ud800'",
        "'x'.repeat(3e6)",
        "{}",
        "[]",
        "[,]",
        "f",
        "o",
        "T",
        "Symbol()",
    ),
    *(
        "new Date()",
        "/x/g",
        "new Error('e')",
        "new Map([[1, 2]])",
        "new Proxy({}, {})",
        "Promise.resolve(1)",
        "(function* () {})()",
    ),
    *(
        "Object.create(null)",
        "{ get a() { throw 1; } }",
        "{ toJSON() { return f; } }",
        "{ toString() { for (;;); } }",
        "new Uint8Array(9)",
    ),
    *(
        "{ valueOf() { throw o; } }",
        "{ then(r) { r(this); } }",
        "{ length: 2 ** 53 }",
        "[[[[1]]]]",
        "globalThis",
        "__",
        "getContext()",
        "async () => {}",
    ),
    *(
        "{ pageSize: 1 }",
        "{ pageSize: -1, continuation: 'x' }",
        "{ etag: {} }",
        "{ accessCondition: { type: 'IfMatch', condition: 'x' } }",
    ),
    *(
        "{ id: 'z', pk: 'p' }",
        "{ id: 'i0', pk: 'p', ttl: -5 }",
        "{ id: '\\ud800', pk: 'p' }",
        "L",
        "L + '/docs/i0'",
        "'SELECT * FROM c'",
        "d",
    ),
]
NAMES: Final = [
    *(
        "error",
        "result",
        "step",
        "number",
        "text",
        "operation",
        "next",
        "failure",
        "document",
        "body",
        "value",
        "get",
        "set",
        "then",
    ),
    *(
        "length",
        "0",
        "constructor",
        "toString",
        "message",
        "stack",
        "name",
        "writable",
        "__proto__",
        "pageSize",
        "continuation",
        "log",
    ),
    *(
        "isAccepted",
        "selfLink",
        "kind",
        "arguments",
        "logging",
        "toJSON",
        "valueOf",
        "options",
        "writable",
        "configurable",
        "enumerable",
    ),
]
CALLS: Final = [
    *(
        "__.createDocument(V, V, V, V)",
        "__.upsertDocument(L, V, V)",
        "__.replaceDocument(V, V, V)",
        "__.deleteDocument(V, V, V)",
    ),
    *(
        "__.readDocument(V, V, V)",
        "__.readDocuments(L, V, V)",
        "__.queryDocuments(L, V, V, V)",
        "__.filter(V, V, V)",
        "__.map(V, V)",
    ),
    *(
        "__.chain().filter(V).map(V).value(V, V)",
        "__.pluck(V, V)",
        "__.flatten(V, V)",
        "__.unwind(V, V, V)",
        "__.sortBy(V, V)",
    ),
    *(
        "__.response.setBody(V)",
        "__.response.appendBody(V)",
        "__.response.setValue(V, V)",
        "__.response.appendValue('Body', V)",
    ),
    *(
        "__.request.getValue(V)",
        "__.request.setBody(V)",
        "getContext().abort(V)",
        "console.log(V, V)",
        "__.isAccepted(V)",
        "__.getSelfLink.call(V)",
    ),
    *(
        "Array.prototype[NAME2].call(V, V, V)",
        "String.prototype[NAME3].call(V, V, V)",
        "Object[NAME4](V, V, V)",
        "Reflect[NAME5](V, V, V)",
    ),
    *(
        "new (V)(V)",
        "(V)(V)",
        "Reflect.construct(V, V)",
        "JSON.stringify(V, V, V)",
        "JSON.parse(V, V)",
        "eval(V)",
        "Function(V, V)",
    ),
    *(
        "Promise.all(V)",
        "Promise.resolve(V).then(V, V)",
        "Array.from(V, V)",
        "new RegExp(V, V).exec(V)",
        "V[Symbol.toPrimitive](V)",
    ),
]
ARRAY: Final = words(
    """
    concat copyWithin fill find flat flatMap forEach includes indexOf join map push reduce reverse shift slice
    sort splice toSorted toSpliced unshift with at entries
    """
)
STRING: Final = words(
    """
    at charAt concat endsWith includes indexOf lastIndexOf localeCompare match matchAll normalize padEnd
    padStart repeat replace replaceAll search slice split substring toUpperCase trim
    """
)
OBJECT: Final = words(
    """
    assign create defineProperties defineProperty entries freeze fromEntries getOwnPropertyDescriptors
    getOwnPropertyNames groupBy is keys seal setPrototypeOf values
    """
)
REFLECT: Final = words(
    """
    apply construct defineProperty deleteProperty get getOwnPropertyDescriptor getPrototypeOf has isExtensible
    ownKeys preventExtensions set setPrototypeOf
    """
)
BEFORE: Final = (
    "var L = __.getSelfLink(), o = {}, d = 'x'; o.o = o; var n = 0;"
    " var T = { get number() { throw T; }, toString() { throw T; } };"
    " function f(e, r) { if (n++ > 50) throw new Error(4, 'enough'); return r; }"
)
