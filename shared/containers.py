"""The containers, declared in containers.json for the app, provisioning and Bicep."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

USERS = "users"
POSTS = "posts"
FEED = "feed"
FAILURES = "failures"
LEASES = "leases"

# The containers of add-ons, which register them when the app starts. Health checks them, too.
added_containers: Final[list[dict[str, Any]]] = []

_FILE = Path(__file__).with_name("containers.json")


@cache
def container_definitions() -> list[dict[str, Any]]:
    """Return each container's definition.

    `id`, `partitionKey`, `defaultTtl` (-1: only items with a `ttl` expire), `indexingPolicy`, `storedProcedures` (IDs,
    each a file in stored_procedures/) and `triggers` (`id`, `type`, `operation`).
    """
    definitions: list[dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))["containers"]
    return definitions
