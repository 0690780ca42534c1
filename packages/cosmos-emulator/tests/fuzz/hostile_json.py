"""Unexpected JSON values, and text that is not JSON."""

from __future__ import annotations

import copy
import json
import random
from typing import Any, Final

VALUES: Final[list[Any]] = [
    *(None, True, False, 0, 1, -1, 0.5, 1e308, -1e308, 5e-324, 2**31, -(2**31), 2**53 + 1, 2**63, 2**64, 10**40, 1e22),
    *("", " ", "a", "0", "null", "\x00", "\u2028", "ü", "😀", "/", "\\", "../..", "%2F", "' OR 1=1 --", "a" * 3000),
    *([], [[]], [None], [1, "a"], {}, {"": ""}, {"a": {"b": []}}, {"$id": 1}, {"id": {}}, {"__proto__": 1}, [{}] * 50),
]
_ESCAPES: Final = ["\\ud800", "\\udfff\\ud800", "\\u0000", "\\x41", "\\", "\\u12"]
_NUMBERS: Final = [
    "1e400",
    "-1e400",
    "9" * 400,
    "NaN",
    "Infinity",
    "-Infinity",
    "-0",
    "01",
    "1.",
    ".5",
    "0x10",
    "1e",
    "+1",
]


def words(text: str) -> list[str]:
    return text.split()


def changed(rng: random.Random, value: Any, times: int = 1) -> Any:
    """Return a changed copy."""
    root = [copy.deepcopy(value)]
    for _ in range(times):
        _change(rng, root)
    return root[0] if root else None


def _change(rng: random.Random, root: list[Any]) -> None:
    places: list[tuple[Any, Any]] = []
    pending: list[Any] = [root]
    while pending:
        holder = pending.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            places.append((holder, key))
            if isinstance(holder[key], dict | list):
                pending.append(holder[key])
    if not places:
        return
    holder, key = rng.choice(places)
    match rng.randrange(8):
        case 0:
            del holder[key]
        case 1:
            holder[key] = [holder[key]] * rng.choice([1, 2, 20])
        case 2:
            holder[key] = nested(rng, rng.choice([5, 50, 126, 127, 128, 129, 200]))
        case 3 if isinstance(holder, dict):
            holder[str(rng.choice(VALUES))[:50]] = holder.pop(key)
        case 4:
            other_holder, other_key = rng.choice(places)
            holder[key] = copy.deepcopy(other_holder[other_key])
        case 5 if isinstance(holder[key], str):
            holder[key] = changed_text(rng, holder[key])
        case _:
            holder[key] = copy.deepcopy(rng.choice(VALUES))


def nested(rng: random.Random, levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def changed_text(rng: random.Random, text: str) -> str:
    """Cut, insert, repeat or replace a part."""
    at, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    piece = rng.choice(["", text[at:end] * 2, "'", '"', "(", ")", "\x00", "\n", "é", "%", "/", "..", "9" * 20, " "])
    return text[:at] + piece + text[end:]


def encoded(rng: random.Random, value: Any) -> bytes:
    """Encode a body, sometimes as invalid JSON."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.7)
    match rng.randrange(14):
        case 0:
            text = text.replace('"', f'"{rng.choice(_ESCAPES)}', rng.choice([1, 3]))
        case 1:
            text = text.replace(rng.choice("0123n"), rng.choice(_NUMBERS), 1)
        case 2:
            text = text[: rng.randrange(len(text) + 1)]
        case 3 if text.startswith("{") and len(text) > 2:
            text = f"{text[:-1]}, {text[1:]}"  # duplicate every name
        case 4:
            text = changed_text(rng, text)
        case 5:
            text = rng.choice(["\ufeff", "//c\n", "[" * 20000, '{"a":' * 20000, "\x00"]) + text
        case 6:
            return text.encode(rng.choice(["utf-16", "utf-32", "utf-16-le"]), "surrogatepass")
        case 7:
            raw = bytearray(text.encode("utf-8", "surrogatepass"))
            if raw:
                raw[rng.randrange(len(raw))] = rng.randrange(256)
            return bytes(raw)
    return text.encode("utf-8", "surrogatepass")
