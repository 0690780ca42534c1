"""Texts that earlier versions stored in another form: not in NFC, or dates as `text:2026-01-01T00:00:00`.

The Functions host rewrote dates otherwise; now host.json says that it does not parse them. Nothing else distinguishes
such an item from one whose author wrote the prefix, so that one loses it, too. See docs/upgrade.md.
"""

from __future__ import annotations

import re
import unicodedata

from shared.platform.models import Item

_TEXTS = ("title", "content")
# A text that already started with the prefix got another one.
_PREFIX = re.compile(r"\Atext:(?=(text:)*(/Date\(.*\)/|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+Zz-]{8,29})\Z)", re.DOTALL)


def restored_texts(item: Item) -> dict[str, str]:
    """Return the texts of a post or comment as they are stored now, by property: only those that differ."""
    texts = {name: item[name] for name in _TEXTS if isinstance(item.get(name), str)}
    restored = {name: unicodedata.normalize("NFC", _PREFIX.sub("", text)) for name, text in texts.items()}
    return {name: text for name, text in restored.items() if text != texts[name]}
