"""Scripts that try to escape, run or allocate endlessly, or break the engine."""

from __future__ import annotations

import random

from tests.fuzz.script_pieces import (
    ARRAY,
    BEFORE,
    CALLS,
    ENDLESS,
    ESCAPES,
    NAMES,
    OBJECT,
    OUTLASTING,
    REFLECT,
    STRING,
    TAMPERING,
    VALUES,
)


def script(rng: random.Random) -> str:
    """Return the body of a stored procedure or trigger."""
    statements = [_statement(rng) for _ in range(rng.choice([1, 1, 2, 3, 5, 8]))]
    body = f"{BEFORE} {' '.join(statements)}"
    if rng.random() < 0.1:
        body = f"const loop = () => {{ {statements[0]} }}; {body} loop();"
    if rng.random() < 0.03:
        at = rng.randrange(len(body))
        body = body[:at] + rng.choice(["}", "(", "\u2028", "`", "\ud83d", "*/", "\x00", "class { static {"]) + body[at:]
    kind = rng.choice(
        ["function (a, b)", "function name(a)", "async function ()", "function* ()", "(a) =>", "async () =>"]
    )
    return f"{kind} {{ {body} }}"


def function(rng: random.Random) -> str:
    """Return the body of a user-defined function."""
    names = [
        *OUTLASTING,
        "for (;;);",
        "while (true) x = 1;",
        "(function f() { f(); })();",
        "return a;",
        "return {};",
        "throw a;",
        "return globalThis;",
        "return 'x'.repeat(3e6);",
        "return 1n;",
    ]
    before = "var T = {}, o = {}; function f() {}"
    return f"function (a) {{ {before} {_filled(rng, rng.choice(TAMPERING))} {rng.choice(names)} }}"


def _statement(rng: random.Random) -> str:
    match rng.randrange(10):
        case 0:
            made = rng.choice(ENDLESS)
        case 1 | 2:
            made = f"{_filled(rng, rng.choice(TAMPERING))}"
        case 3 | 4:
            made = (
                f"__.response.setBody(String({rng.choice(ESCAPES)}));"
                if rng.random() < 0.5
                else f"{rng.choice(ESCAPES)};"
            )
        case _:
            made = f"{_filled(rng, rng.choice(CALLS))};"
    match rng.randrange(8):
        case 0:
            return f"try {{ {made} }} catch (e) {{ {_filled(rng, rng.choice(CALLS))}; }} finally {{ o.p = [o]; }}"
        case 1:
            return f"__.readDocument(L + '/docs/i0', function (e, d) {{ {made} }});"
        case 2:
            return f"Promise.resolve().then(() => {{ {made} }});"
        case 3 | 4:
            return f"try {{ {made} }} catch {{ }}"
    return made


def _filled(rng: random.Random, text: str) -> str:
    for mark, choices in (("NAME2", ARRAY), ("NAME3", STRING), ("NAME4", OBJECT), ("NAME5", REFLECT)):
        text = text.replace(mark, f"'{rng.choice(choices)}'")
    text = text.replace("NAME", f"'{rng.choice(NAMES)}'")
    parts = text.split("V")
    made = parts[0]
    for part in parts[1:]:
        made += f"({rng.choice(VALUES)})" + part
    return made
