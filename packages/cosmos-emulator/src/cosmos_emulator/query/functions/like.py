"""LIKE patterns as regular expressions, linear per pattern part."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=256)
def like_pattern(pattern: str, escape: str | None) -> re.Pattern[str]:
    """Convert a LIKE pattern to a regular expression for the whole text.

    `%` matches any text, `_` one character, `[a-f]` and `[^a-f]` one character of a set. The escape makes the next
    character literal. Each part after a `%` matches its first occurrence, without backtracking.
    """
    segments: list[list[str]] = [[]]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == escape and position < len(pattern):
            segments[-1].append(re.escape(pattern[position]))
            position += 1
        elif character == "%":
            segments.append([])
        elif character == "_":
            segments[-1].append(".")
        elif character == "[" and (end := pattern.find("]", position + 1)) > 0:
            segments[-1].append(_character_set(pattern[position:end]))
            position = end + 1
        else:
            segments[-1].append(re.escape(character))
    first, *rest = ("".join(segment) for segment in segments)
    if not rest:
        return re.compile(first, re.DOTALL)
    *middle, last = rest
    return re.compile(first + "".join(f"(?>.*?{part})" for part in middle if part) + ".*" + last, re.DOTALL)


def _character_set(body: str) -> str:
    negated = body.startswith("^") and len(body) > 1
    members = body[1:] if negated else body
    escaped = re.sub(r"[\\\]\[^&~|]", r"\\\g<0>", members)
    try:
        re.compile(f"[{escaped}]")
    except re.error:
        escaped = re.escape(members)
    return f"[{'^' if negated else ''}{escaped}]"
