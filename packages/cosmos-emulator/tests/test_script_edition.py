"""Scripts that the service would reject, because their JavaScript is newer than ES2017."""

from __future__ import annotations

import re
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy
from cosmos_emulator import EmulatorSettings
from tests.emulator_client import emulator_client
from tests.errors import fails_with

NEWER = {
    "return a?.b": "optional chaining (ES2020) at line 2, column 13",
    "let x; x ??= 1": "logical assignment (ES2021) at line 2, column 14",
    "return a ?? 1": "nullish coalescing",
    "return class { #x = 1 }": "a class field (ES2022)",
    "return class { #x() {} }": "a private member (ES2022)",
    "return class { static {} }": "a static block",
    "return 10n": "BigInt (ES2020) at line 2, column 12",
    "return 1_000": "a numeric separator",
    "return {...a}": "object spread",
    "const {b, ...c} = a": "object rest",
    "return async function () { for await (const x of a); }": "for await",
    "return async function* () {}": "an async generator",
    "try { a() } catch { }": "catch without a parameter",
    "return /a.b/s": "the flag s",
    "return /(?<name>a)/": "lookbehind or a named group",
    "return /\\p{L}/u": "a Unicode property",
    "return /(?i:a)b(?-i:c)/": "a modifier in a regular expression (ES2025)",
    "using b = a": "a using declaration (ES2026) at line 2, column 5",
    "for (using b of a);": "a using declaration",
    "return a`\\unicode`": "an invalid escape in a tagged template (ES2018) at line 2, column 14",
    "return a`b${1}\\xyz`": "an invalid escape",
    "return a`\\1`": "an invalid escape",
    "return 'a\u2028'": "U+2028 or U+2029 in a string (ES2019) at line 2, column 13",
    'return "\u2029"': "U+2028 or U+2029 in a string",
    "/* é */ return a?.b": "at line 2, column 21",
}
ACCEPTED = """async function run(first, ...rest) {
    const [a, ...b] = rest, {c: {d} = {}} = {};
    for (const x of [...b, 2 ** 3]) await x;
    function* g() { yield* b; }
    const t = () => String.raw`\\0\\u0041\\u{42}\\x43\\\\u\u2028${/(a)\\1/}` + "\\\u2028";
    class A extends Array { static of() { return new.target; } get size() { return 0b11 + 0o7; } }
    try { throw `t${a}`; } catch (error) { return /[(?<]x\\(?<?(?:[(?i])?/yu.test(error) ? {a, [d]: 1} : (x, y,) => x; }
}"""


def _script(statement: str) -> dict[str, Any]:
    return {"id": "s", "body": f"function (a) {{\n    {statement};\n}}"}


@pytest.mark.parametrize("statement", NEWER)
async def test_newer_syntax_is_refused_with_its_place(container: ContainerProxy, statement: str) -> None:
    with fails_with(400, match=re.escape(NEWER[statement])):
        await container.scripts.create_user_defined_function(_script(statement))


async def test_a_replacement_is_checked_too(container: ContainerProxy) -> None:
    await container.scripts.create_stored_procedure(_script("return 1"))

    with fails_with(400, match="BigInt"):
        await container.scripts.replace_stored_procedure("s", _script("return 1n"))


@pytest.mark.parametrize("end", ["", ";", "\n// the end\n"])
async def test_syntax_up_to_es2017_is_accepted(container: ContainerProxy, end: str) -> None:
    await container.scripts.create_stored_procedure({"id": "s", "body": ACCEPTED + end})

    await container.scripts.execute_stored_procedure("s", partition_key="p", parameters=[])


async def test_other_syntax_errors_are_reported_when_the_script_runs(container: ContainerProxy) -> None:
    await container.scripts.create_stored_procedure({"id": "s", "body": "function ( {"})

    with fails_with(400, 65535, match="SyntaxError"):
        await container.scripts.execute_stored_procedure("s", partition_key="p", parameters=[])


NEWER_BUILT_INS = """function () {
    const found = [
        [].at, [].flat, "".replaceAll, "".at, Object.groupBy, Object.fromEntries, Object.hasOwn, Promise.allSettled,
        Promise.prototype.finally, Set.prototype.union, [].values().map,
    ].map(String);
    found.push(typeof BigInt, typeof WeakRef, typeof globalThis, typeof Iterator);
    found.push(typeof [].includes, typeof Object.entries, typeof "".padStart, typeof Promise.all);
    RESULT
}"""
HIDDEN = ["undefined"] * 15 + ["function"] * 4


async def test_newer_built_ins_are_hidden(container: ContainerProxy) -> None:
    procedure = NEWER_BUILT_INS.replace("RESULT", "getContext().getResponse().setBody(found);")
    await container.scripts.create_stored_procedure({"id": "s", "body": procedure})
    await container.scripts.create_user_defined_function(
        {"id": "f", "body": NEWER_BUILT_INS.replace("RESULT", "return found;")}
    )
    await container.create_item({"id": "a", "pk": "p"})

    assert await container.scripts.execute_stored_procedure("s", partition_key="p", parameters=[]) == HIDDEN
    rows = container.query_items("SELECT VALUE udf.f() FROM c", partition_key="p")
    assert [row async for row in rows] == [HIDDEN]


async def test_an_option_allows_newer_javascript() -> None:
    async with emulator_client(EmulatorSettings(script_edition="latest")) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        body = "function () { const a = null; __.response.setBody([a?.b ?? [1, [2]].flat().at(-1)]); }"
        await container.scripts.create_stored_procedure({"id": "s", "body": body})

        assert await container.scripts.execute_stored_procedure("s", partition_key="p", parameters=[]) == [2]
