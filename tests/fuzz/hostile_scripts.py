"""Server-side scripts that try to get out, to run or allocate without end, or to break the engine from inside."""

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


def script(dice: random.Random) -> str:
    """The body of a stored procedure or trigger."""
    statements = [_statement(dice) for _ in range(dice.choice([1, 1, 2, 3, 5, 8]))]
    body = f"{BEFORE} {' '.join(statements)}"
    if dice.random() < 0.1:
        body = f"const loop = () => {{ {statements[0]} }}; {body} loop();"
    if dice.random() < 0.03:
        at = dice.randrange(len(body))
        body = (
            body[:at] + dice.choice(["}", "(", "\u2028", "`", "\ud83d", "*/", "\x00", "class { static {"]) + body[at:]
        )
    kind = dice.choice(
        ["function (a, b)", "function name(a)", "async function ()", "function* ()", "(a) =>", "async () =>"]
    )
    return f"{kind} {{ {body} }}"


def function(dice: random.Random) -> str:
    """The body of a user-defined function, which has no context."""
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
    return f"function (a) {{ {before} {_filled(dice, dice.choice(TAMPERING))} {dice.choice(names)} }}"


def _statement(dice: random.Random) -> str:
    match dice.randrange(10):
        case 0:
            made = dice.choice(ENDLESS)
        case 1 | 2:
            made = f"{_filled(dice, dice.choice(TAMPERING))}"
        case 3 | 4:
            made = (
                f"__.response.setBody(String({dice.choice(ESCAPES)}));"
                if dice.random() < 0.5
                else f"{dice.choice(ESCAPES)};"
            )
        case _:
            made = f"{_filled(dice, dice.choice(CALLS))};"
    match dice.randrange(8):
        case 0:
            return f"try {{ {made} }} catch (e) {{ {_filled(dice, dice.choice(CALLS))}; }} finally {{ o.p = [o]; }}"
        case 1:
            return f"__.readDocument(L + '/docs/i0', function (e, d) {{ {made} }});"
        case 2:
            return f"Promise.resolve().then(() => {{ {made} }});"
        case 3 | 4:
            return f"try {{ {made} }} catch {{ }}"
    return made


def _filled(dice: random.Random, text: str) -> str:
    for mark, choices in (("NAME2", ARRAY), ("NAME3", STRING), ("NAME4", OBJECT), ("NAME5", REFLECT)):
        text = text.replace(mark, f"'{dice.choice(choices)}'")
    text = text.replace("NAME", f"'{dice.choice(NAMES)}'")
    parts = text.split("V")
    made = parts[0]
    for part in parts[1:]:
        made += f"({dice.choice(VALUES)})" + part
    return made
