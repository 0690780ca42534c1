"""The index that the search reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from shared.platform.database.client import open_container
from shared.platform.database.container import Container

INDEX: Final = "search"


async def open_index() -> Container:
    """Return the index. Raises SettingsError, DatabaseUnavailable."""
    return await open_container(INDEX)


def index_definition() -> dict[str, Any]:
    """Return the definition of the index in containers.json."""
    file = Path(__file__).parent / "containers.json"
    (definition,) = json.loads(file.read_text(encoding="utf-8"))["containers"]
    return dict(definition)


# The language of all texts. Besides en-US, Cosmos DB supports de-DE, es-ES, fr-FR, it-IT, pt-BR and pt-PT in preview:
# https://learn.microsoft.com/azure/cosmos-db/gen-ai/full-text-search
LANGUAGE: Final[str] = index_definition()["fullTextPolicy"]["defaultLanguage"]
