"""Texts that look like dates, which Cosmos DB stores in another form: `text:2026-01-01T00:00:00`.

The Functions host parses changes with Newtonsoft.Json, which treats such texts as dates. It rewrites them on the way to
the change-feed functions. If a date does not exist, such as `/Date(99999999999999999)/`, it fails before it calls the
function, and delivers nothing more from that physical partition.

Its rule (Newtonsoft.Json, JsonTextReader.ParseReadString and DateTimeUtils.TryParseDateTime) applies to string values,
not to property names. It reads `/Date(…)/` with at least nine characters, and texts of 19 to 40 characters that start
with `yyyy-MM-ddT` and continue with a time and perhaps an offset (DateTimeParser). Here any digits and signs may
follow.

`Container` (container.py) stores this form and returns the text as sent, and a `ChangeFeed` restores the texts of
changes. No other code depends on the form. It applies only to texts that people write. Queries compare other
properties, and no client can choose a value for these that matches the rule. Only the blog's own dates match it, so
code that reads one from a change parses it.
"""

from __future__ import annotations

import re
from typing import Any

# The properties with texts that people write, or with lists of them, at any depth.
TEXTS = ("title", "content", "reason")

_MARK = "text:"
_LOOKS_LIKE_A_DATE = r"(/Date\(.*\)/|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+Zz-]{8,29})"
# A text that already starts with the mark gets another one, so that it can be restored.
_START = re.compile(rf"\A(?=({_MARK})*{_LOOKS_LIKE_A_DATE}\Z)", re.DOTALL)
_MARK_AT_START = re.compile(rf"\A{_MARK}(?=({_MARK})*{_LOOKS_LIKE_A_DATE}\Z)", re.DOTALL)

# For REGEXMATCH with the modifier `s`. Alone, `$` also matches before a line break at the end.
UNMARKED = rf"^{_LOOKS_LIKE_A_DATE}$(?!\n)"


def stored_form(value: Any) -> Any:
    """Return an item, or a list of items, as it is stored."""
    return _converted(value, _START, _MARK)


def as_sent(value: Any) -> Any:
    """Return a stored item, or a list of items, with its texts as they were sent."""
    return _converted(value, _MARK_AT_START, "")


def _converted(value: Any, found: re.Pattern[str], replacement: str, *, is_text: bool = False) -> Any:
    if isinstance(value, dict):
        return {name: _converted(part, found, replacement, is_text=name in TEXTS) for name, part in value.items()}
    if isinstance(value, list):
        return [_converted(part, found, replacement, is_text=is_text) for part in value]
    return found.sub(replacement, value) if is_text and isinstance(value, str) else value
