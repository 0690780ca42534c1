"""The container of the moderation, with one logical partition for the reported items, and one for the audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from shared.platform.database.client import open_container
from shared.platform.database.container import Container

NAME: Final = "moderation"


def definitions() -> list[dict[str, Any]]:
    """Return the container's definition, as in shared/containers.json."""
    declared: list[dict[str, Any]] = json.loads(
        Path(__file__).with_name("containers.json").read_text(encoding="utf-8")
    )["containers"]
    return declared


async def open_moderation() -> Container:
    """Return the container. Raises SettingsError, DatabaseUnavailable."""
    return await open_container(NAME)
