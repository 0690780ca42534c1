"""REGEXMATCH, on Python's regular expressions.

The service uses PCRE with its own limits. Python's matcher backtracks, and a pattern such as `(a+)+b` takes time
exponential in the text. So a pattern is refused with a 400 when it repeats a group that itself repeats or that has
alternatives which may begin alike, when it has many unbounded repetitions (a polynomial of that degree), or when it
is very long. What remains can still take time in proportion to a low power of the text's length.
"""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass, field
from functools import lru_cache

from cosmos_emulator.query.errors import evaluation_error
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, Undefined

MAX_PATTERN = 1000
MAX_UNBOUNDED = 8
MAX_COUNTED = 4
"""A group that repeats inside may itself be repeated this often, if a number says so: `([0-9]{1,3}[.]){3}`."""

_FLAGS = {"m": re.MULTILINE, "s": re.DOTALL, "i": re.IGNORECASE, "x": re.VERBOSE}
_FOREIGN = ("bad escape", "unknown extension")
_OPENING = r"\((?:\?(?:P?<\w+>|<[=!]|[:=!>]|[aiLmsux-]+[:)]|\#[^)]*\)))?"
_PIECE = re.compile(_OPENING + r"|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|.", re.DOTALL)
_COUNT = re.compile(r"\{(\d*)(,?)(\d*)\}")


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
    if len(pattern) > MAX_PATTERN:
        raise evaluation_error(f"REGEXMATCH: the pattern is longer than {MAX_PATTERN} characters.")
    if "[[:" in pattern:
        raise _unsupported(pattern, "POSIX character classes")
    _refuse_explosive(pattern)
    flags = re.ASCII
    for modifier in modifiers:
        flags |= _FLAGS[modifier]
    try:
        with warnings.catch_warnings():
            # Sets that a later Python may read otherwise; today's meaning is PCRE's.
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", pattern), flags)
    except re.error as error:
        if error.msg.startswith(_FOREIGN):
            raise _unsupported(pattern, error.msg) from None
        return None
    except (OverflowError, RecursionError):
        raise evaluation_error("REGEXMATCH: the pattern is too complex for the emulator.") from None


def _unsupported(pattern: str, reason: str) -> Exception:
    return evaluation_error(f"REGEXMATCH: the emulator does not support the pattern '{pattern}': {reason}.")


@dataclass(slots=True)
class _Group:
    """What has been read of a group: how its alternatives begin, and whether it can match one text in two ways."""

    starts: list[str | None] = field(default_factory=list)
    at_start: bool = True
    repeats: bool = False

    def add(self, piece: str) -> None:
        if self.at_start:
            self.starts.append(piece.lower() if len(piece) == 1 and piece.isalnum() else None)
            self.at_start = False

    @property
    def is_ambiguous(self) -> bool:
        alike = None in self.starts or len(set(self.starts)) < len(self.starts)
        return self.repeats or (len(self.starts) > 1 and alike)


def _refuse_explosive(pattern: str) -> None:
    """Refuses the patterns whose matching time can explode: see the module's description."""
    groups = [_Group()]
    closed: _Group | None = None
    unbounded = 0
    for piece in _PIECE.findall(pattern):
        most = _most_repeats(piece)
        if most is not None:
            if closed is not None and closed.is_ambiguous and most > MAX_COUNTED:
                raise _unsupported(pattern, "a repeated group repeats inside or has alternatives that begin alike")
            groups[-1].repeats = groups[-1].repeats or most > 1 or piece == "?"
            unbounded += most == math.inf
            closed = None
            continue
        closed = None
        if piece == ")" and len(groups) > 1:
            closed = groups.pop()
            groups[-1].repeats = groups[-1].repeats or closed.is_ambiguous
            continue
        if piece == "|":
            groups[-1].at_start = True
            continue
        groups[-1].add(piece)
        if piece.startswith("(") and not piece.endswith(")"):
            groups.append(_Group())
    if unbounded > MAX_UNBOUNDED:
        raise _unsupported(pattern, f"more than {MAX_UNBOUNDED} unbounded repetitions")


def _most_repeats(piece: str) -> float | None:
    """How often at most a quantifier repeats what is before it; None if the piece is no quantifier."""
    if piece in ("*", "+"):
        return math.inf
    if piece == "?":
        return 1
    count = _COUNT.fullmatch(piece)
    if count is None:
        return None
    lowest, comma, highest = count.groups()
    if comma:
        return int(highest) if highest else math.inf
    return int(lowest or 0)
