"""Functions with regular expressions.

The regex package resembles the service's PCRE, has time limits, and lets other threads run.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from cosmos_emulator.query.errors import evaluation_error
from cosmos_emulator.query.functions.function import Call
from cosmos_emulator.query.sizes import check_text
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, Undefined, is_integral
from cosmos_emulator.runtime.pacing import checkpoint, large_value, remaining_s

if TYPE_CHECKING:
    import regex  # type: ignore[import-untyped]  # has no types

    from cosmos_emulator.errors import CosmosError

T = TypeVar("T")

MAX_PATTERN: Final = 1000
MAX_COPIES: Final = 100_000
MATCH_S: Final = 1.0
QUERY_S: Final = 3.0
"""Time limit of one match and of all matches of a query page. The service publishes no limit."""

CHEAP_STEPS: Final = 100_000
"""Matches of at most this many estimated steps run without the timer, which costs more than most matches."""

_MODIFIERS: Final = frozenset("imsx")
_FOREIGN: Final = ("bad escape", "incomplete escape", "unknown extension", "unknown verb", "ASCII, LOCALE")
_COUNT: Final = re.compile(r"\{(\d+)")
_GROUP_COUNT: Final = re.compile(r"(?<![\w\].])\{(\d+)")
_QUANTIFIER: Final = re.compile(r"[*+?{]")
_BRACE: Final = re.compile(r"\\.(?:\{[^}]*\})?|\{(?!\d+(?:,\d*)?\})", re.DOTALL)


class RegexFunctions:
    """The functions of one query, whose matches share a time limit.

    Each returns undefined if a pattern or modifier is malformed. It raises 400 if a limit is exceeded or the pattern is
    not supported.
    """

    def __init__(self) -> None:
        self._left_s = QUERY_S

    def match(
        self, text: JsonOrUndefined, pattern: JsonOrUndefined, modifiers: JsonOrUndefined = ""
    ) -> bool | Undefined:
        """Return whether the pattern occurs."""
        return self._found(text, pattern, modifiers, lambda on, text, wait: on.search(text, timeout=wait) is not None)

    def extract(
        self,
        text: JsonOrUndefined,
        pattern: JsonOrUndefined,
        modifiers: JsonOrUndefined = "",
        group: JsonOrUndefined = 0,
    ) -> JsonOrUndefined:
        """Return the first match or one of its groups. Without a match, it is undefined: no value is documented."""
        found = self.extract_all(text, pattern, modifiers, group, most=1)
        return found[0] if type(found) is list and found else UNDEFINED

    def extract_all(
        self,
        text: JsonOrUndefined,
        pattern: JsonOrUndefined,
        modifiers: JsonOrUndefined = "",
        group: JsonOrUndefined = 0,
        *,
        most: int | None = None,
    ) -> JsonOrUndefined:
        """Return all matches, or a group of each."""
        if not is_integral(group) or group < 0:
            return UNDEFINED
        number = int(group)

        def find(on: regex.Pattern[str], text: str, wait: float | None) -> JsonOrUndefined:
            if number > on.groups:
                return UNDEFINED
            found = (match[number] for match in on.finditer(text, timeout=wait))
            return [part for part in islice(found, most) if part is not None]

        return self._found(text, pattern, modifiers, find)

    def replace(
        self,
        text: JsonOrUndefined,
        pattern: JsonOrUndefined,
        new: JsonOrUndefined,
        modifiers: JsonOrUndefined = "",
        *,
        most: int = 1,
    ) -> JsonOrUndefined:
        """Replace the first match by a text as it is."""
        if type(new) is not str:
            return UNDEFINED

        def find(on: regex.Pattern[str], text: str, wait: float | None) -> JsonOrUndefined:
            added = 0

            def replacement(_: object) -> str:
                nonlocal added
                added += len(new)
                check_text(added)
                return new

            replaced: str = on.sub(replacement, text, count=most, timeout=wait)
            return replaced

        return self._found(text, pattern, modifiers, find)

    def replace_all(
        self, text: JsonOrUndefined, pattern: JsonOrUndefined, new: JsonOrUndefined, modifiers: JsonOrUndefined = ""
    ) -> JsonOrUndefined:
        """Replace all matches by a text as it is."""
        return self.replace(text, pattern, new, modifiers, most=0)

    def _found(
        self,
        text: JsonOrUndefined,
        pattern: JsonOrUndefined,
        modifiers: JsonOrUndefined,
        find: Callable[[regex.Pattern[str], str, float | None], T],
    ) -> T | Undefined:
        if type(text) is not str or type(pattern) is not str or type(modifiers) is not str:
            return UNDEFINED
        if "regex" not in sys.modules:
            large_value()  # the import takes as long as a long value
        compiled, degree = _compiled(pattern, modifiers)
        if compiled is None:
            return UNDEFINED
        if (len(text) + 2) ** degree <= CHEAP_STEPS:
            return find(compiled, text, None)
        large_value()
        started = time.perf_counter()
        try:
            found = find(compiled, text, min(MATCH_S, self._left_s, remaining_s()))
        except TimeoutError:
            checkpoint()
            raise _refusal(pattern, "the match takes too long; simplify the pattern or filter items first") from None
        checkpoint()
        self._left_s -= time.perf_counter() - started
        if self._left_s <= 0:
            raise _refusal(pattern, f"its matches take longer than {QUERY_S:g} s; filter items first")
        return found


REGEX_FUNCTIONS: Final[dict[str, Call]] = {
    "REGEXEXTRACT": RegexFunctions.extract,
    "REGEXEXTRACTALL": RegexFunctions.extract_all,
    "REGEXMATCH": RegexFunctions.match,
    "REGEXREPLACE": RegexFunctions.replace,
    "REGEXREPLACEALL": RegexFunctions.replace_all,
}


@lru_cache(maxsize=256)
def _compiled(pattern: str, modifiers: str) -> tuple[regex.Pattern[str] | None, float]:
    """Return the pattern (None if malformed) and the polynomial degree of its worst-case time."""
    import regex  # takes 20 ms

    if not set(modifiers) <= _MODIFIERS:
        return None, 0
    if len(pattern) > MAX_PATTERN or _copies(pattern) > MAX_COPIES:
        raise _refusal(pattern[:MAX_PATTERN], "it is too large")
    flags = regex.ASCII | regex.VERSION0
    for modifier in modifiers:
        flags |= regex.RegexFlag[modifier.upper()]
    try:
        compiled = regex.compile(_BRACE.sub(_literal_brace, pattern), flags)
    except (regex.error, ValueError) as error:
        if str(error).startswith(_FOREIGN):
            raise _refusal(pattern, f"the emulator does not support it ({error})") from None
        return None, 0
    except (OverflowError, RecursionError):
        raise _refusal(pattern, "it is too large") from None
    # Without groups, a match can start at any character and each quantifier end at any.
    return compiled, math.inf if "(" in pattern else 1 + len(_QUANTIFIER.findall(pattern))


def _copies(pattern: str) -> int:
    """Return an upper bound of the pattern's size: counted groups are copied."""
    counts = sum(map(int, _COUNT.findall(pattern)))
    return (len(pattern) + counts) * math.prod(max(int(count), 1) for count in _GROUP_COUNT.findall(pattern))


def _literal_brace(found: re.Match[str]) -> str:
    """Escape a brace that is not a quantifier: for regex it means approximate matching."""
    return "\\{" if found[0] == "{" else found[0]


def _refusal(pattern: str, reason: str) -> CosmosError:
    return evaluation_error(f"REGEXMATCH rejected the pattern '{pattern}': {reason}.")
