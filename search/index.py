"""The index that the search reads."""

from __future__ import annotations

from typing import Final

from shared.database.client import open_container
from shared.database.container import Container

INDEX: Final = "search"


async def open_index() -> Container:
    """Return the index. Raises SettingsError, DatabaseUnavailable."""
    return await open_container(INDEX)
