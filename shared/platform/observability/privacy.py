"""Which partition keys and IDs telemetry and the log must not contain."""

from __future__ import annotations

import re
from typing import Final

# The starts of keys and IDs that contain personal data, such as `email:`. An app adds its own.
private_prefixes: Final[set[str]] = set()


def private_key_hidden(key: str) -> str:
    """Return the key, or only its prefix and `…` if it is private."""
    return next((f"{prefix}…" for prefix in private_prefixes if key.startswith(prefix)), key)


def without_private(text: str) -> str:
    """Return the text with `…` instead of what follows a private prefix, up to a quotation mark or bracket."""
    for prefix in private_prefixes:
        written = re.escape(prefix).replace(":", "(:|%3A)")  # also in a URL
        text = re.sub(rf"{written}[^\"\]]*", f"{prefix}…", text, flags=re.IGNORECASE)
    return text
