"""Which partition keys and IDs telemetry and the log must not contain."""

from __future__ import annotations

import re
from typing import Final

# The starts of keys and IDs that contain personal data, such as `email:`. An app adds its own.
private_prefixes: Final[set[str]] = set()


def without_private(text: str) -> str:
    """Return the text with `…` instead of what follows a private prefix, up to a quotation mark or bracket."""
    for prefix in private_prefixes:
        text = re.sub(rf"{re.escape(prefix)}[^\"\]]*", f"{prefix}…", text)
    return text
