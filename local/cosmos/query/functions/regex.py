"""REGEXMATCH and LIKE, on Python's regular expressions.

The service uses PCRE with its own limits. Python's matcher backtracks, and a pattern such as `(a+)+b` takes
time exponential in the text; so a repeated group that can match the same text in several ways is refused
with a 400, and so are over-long patterns and many unbounded repetitions (a polynomial of that degree). What
remains can still be slow in proportion to a low power of the text's length.
"""

from __future__ import annotations

import re
from functools import lru_cache

from local.cosmos.query.errors import evaluation_error
from local.cosmos.query.values import UNDEFINED, JsonOrUndefined, Undefined

MAX_PATTERN = 1000
MAX_UNBOUNDED = 8

_FLAGS = {"m": re.MULTILINE, "s": re.DOTALL, "i": re.IGNORECASE, "x": re.VERBOSE}
_FOREIGN = ("bad escape", "unknown extension")
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|.", re.DOTALL)


def regex_match(text: JsonOrUndefined, pattern: JsonOrUndefined, modifiers: JsonOrUndefined = "") -> bool | Undefined:
    """Whether the pattern occurs in the text; undefined for a malformed pattern or an unknown modifier."""
    if type(text) is not str or type(pattern) is not str or type(modifiers) is not str:
        return UNDEFINED
    if not set(modifiers) <= _FLAGS.keys():
        return UNDEFINED
    compiled = _compiled(pattern, "".join(sorted(set(modifiers))))
    return UNDEFINED if compiled is None else compiled.search(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str, modifiers: str) -> re.Pattern[str] | None:
    _refuse_explosive(pattern)
    flags = re.ASCII
    for modifier in modifiers:
        flags |= _FLAGS[modifier]
    try:
        return re.compile(re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", pattern), flags)
    except re.error as error:
        if error.msg.startswith(_FOREIGN):
            raise evaluation_error(f"REGEXMATCH: the emulator does not support '{pattern}': {error}.") from None
        return None
    except (OverflowError, RecursionError):
        raise evaluation_error("REGEXMATCH: the pattern is too complex for the emulator.") from None


def _refuse_explosive(pattern: str) -> None:
    """Refuses the patterns whose matching time can explode: see the module's description."""
    if len(pattern) > MAX_PATTERN:
        raise evaluation_error(f"REGEXMATCH: the pattern is longer than {MAX_PATTERN} characters.")
    ambiguous = [False]
    unbounded = 0
    after_group: bool | None = None
    for piece in _PIECE.findall(pattern):
        if piece in "*+" or (piece.startswith("{") and len(piece) > 1):
            unbounded += 1
            if after_group:
                message = f"REGEXMATCH: the emulator does not run '{pattern}': a repeated group repeats inside."
                raise evaluation_error(message)
            ambiguous[-1] = True
        elif piece in ("?", "|"):
            ambiguous[-1] = True
        if piece == "(":
            ambiguous.append(False)
        after_group = None
        if piece == ")" and len(ambiguous) > 1:
            after_group = ambiguous.pop()
            ambiguous[-1] |= after_group
    if unbounded > MAX_UNBOUNDED:
        raise evaluation_error(f"REGEXMATCH: the pattern has more than {MAX_UNBOUNDED} repetitions.")


@lru_cache(maxsize=256)
def like_pattern(pattern: str, escape: str | None) -> re.Pattern[str]:
    """The expression that a LIKE pattern stands for, to be matched against a whole text.

    `%` any text, `_` one character, `[a-f]` and `[^a-f]` one of a set; a character after the escape stands
    for itself. Each part after a `%` is matched at its first place and not tried again, so time stays
    linear in the text for each part.
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
