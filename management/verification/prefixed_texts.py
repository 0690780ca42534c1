"""Texts that look like dates, which earlier versions stored as `text:2026-01-01T00:00:00`.

The Functions host rewrote them otherwise; now host.json says that it does not parse dates. Nothing else distinguishes
such an item from one whose author wrote the prefix, so that one loses it, too. See docs/upgrade.md.
"""

from __future__ import annotations

import re

from shared.platform.models import Item

_TEXTS = ("title", "content")
# A text that already started with the prefix got another one.
_PREFIX = re.compile(r"\Atext:(?=(text:)*(/Date\(.*\)/|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+Zz-]{8,29})\Z)", re.DOTALL)


def restored_texts(item: Item) -> dict[str, str]:
    """Return the texts of a post or comment as they were sent, by property: only those that have the prefix."""
    texts = {name: item[name] for name in _TEXTS if isinstance(item.get(name), str)}
    return {name: _PREFIX.sub("", text) for name, text in texts.items() if _PREFIX.match(text)}
