"""The containers of the database: declared once, in containers.json, which provisioning and a Bicep template read."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

USERS = "users"
POSTS = "posts"
FEED = "feed"
FAILURES = "failures"
LEASES = "leases"

_FILE = Path(__file__).with_name("containers.json")


def lease_prefix(container: str) -> str:
    """What the ids of the leases of the container's change-feed function begin with."""
    return f"{container}-"


@cache
def container_definitions() -> list[dict[str, Any]]:
    """Each container: `id`, `partitionKey`, `defaultTtl` (-1: items expire only by their own ttl), `indexingPolicy`,
    `storedProcedures` (ids, each a file of stored_procedures/), `triggers` (`id`, `type`, `operation`)."""
    definitions: list[dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))["containers"]
    return definitions
