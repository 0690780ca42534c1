"""Changes that a change-feed function could not handle, stored with their error until they are replayed.

`failures` has one item per changed item and function: `source` (the function), `container`, `itemId`, `partitionKey`,
`change` (the item as delivered), `error` (`type`, `message`), `failureDate`. A repeated failure replaces the first.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from shared.database.container import Container
from shared.errors import DatabaseRefusal, ItemTooLarge, RequestRefused
from shared.models.base import now

_NAMESPACE = uuid.UUID("0d3f1d07-7c0e-5c07-8a38-0d1a0a6c7b55")
# Items are limited to 2 MB. A larger change is left out; a replay reads the item from its container anyway.
_LARGEST_CHANGE = 1_000_000
_LONGEST_MESSAGE = 2_000


async def keep_failure(
    failures: Container, *, source: str, container: str, partition_key: Any, change: Mapping[str, Any], error: Exception
) -> None:
    """Store a failed change. One write, or two if the database rejects the change as a part of the failure."""
    item_id = str(change.get("id"))
    fits = len(json.dumps(dict(change), default=str)) <= _LARGEST_CHANGE
    message = error.reason if isinstance(error, DatabaseRefusal) else str(error)
    failure = {
        "id": str(uuid.uuid5(_NAMESPACE, json.dumps([source, partition_key, item_id], default=str))),
        "source": source,
        "container": container,
        "itemId": item_id,
        "partitionKey": partition_key,
        "change": dict(change) if fits else None,
        "error": {"type": type(error).__name__, "message": message[:_LONGEST_MESSAGE]},
        "failureDate": now(),
    }
    try:
        await failures.upsert(failure)
    except (ItemTooLarge, RequestRefused):  # for example, the change is nested as deeply as an item can be
        await failures.upsert(failure | {"change": None})
