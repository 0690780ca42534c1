"""Changes that a change-feed function could not handle, stored with their error until they are replayed.

`failures` has one item per changed item and function: `source` (the function), `container`, `itemId`, `partitionKey`,
`change` (properties of the item as delivered), `error` (`type`, `message`), `failureDate`. A repeated failure replaces
the last one, but not `firstFailureDate`, and increments `attempts`.
"""

from __future__ import annotations

import json
import uuid
from contextlib import suppress

from shared.platform.database.container import Container, patch_of
from shared.platform.database.refusals import ItemExists, ItemMissing
from shared.platform.database.retries import ENTRY_ATTEMPTS
from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.errors import DatabaseUnavailable, InternalReason, ItemTooLarge, NoProgress, RequestRefused
from shared.platform.models import Item, now

_NAMESPACE = uuid.UUID("0d3f1d07-7c0e-5c07-8a38-0d1a0a6c7b55")
_LONGEST_MESSAGE = 2_000


async def keep_failure(failures: Container, feed: ChangeFeed, change: Item, error: Exception) -> None:
    """Store a failed change. Two writes for the first failure of an item, and one for each later.

    There is another one if the database rejects the change as a part of the failure.
    """
    item_id, partition_key = str(change.get("id")), change.get(feed.partition_key)
    message = error.reason if isinstance(error, InternalReason) else str(error)
    if what := feed.private(change):
        message = f"{what}: {message if isinstance(error, NoProgress) else 'see the log'}"
    failure = {
        "id": str(uuid.uuid5(_NAMESPACE, json.dumps([feed.function, partition_key, item_id], default=str))),
        "source": feed.function,
        "container": feed.container,
        "itemId": item_id,
        "partitionKey": partition_key,
        "change": {name: change[name] for name in feed.kept if name in change},
        "error": {"type": type(error).__name__, "message": message[:_LONGEST_MESSAGE]},
        "failureDate": now(),
    }
    try:
        await _store(failures, failure)
    except (ItemTooLarge, RequestRefused):  # for example, the change is nested as deeply as an item can be
        await _store(failures, failure | {"change": None})


async def _store(failures: Container, failure: Item) -> None:
    last = {name: failure[name] for name in ("change", "error", "failureDate")}
    for _ in range(ENTRY_ATTEMPTS):
        with suppress(ItemMissing):
            await failures.patch(failure["id"], failure["source"], patch_of(last, attempts=1))
            return
        with suppress(ItemExists):  # a concurrent delivery of the same change
            await failures.create(failure | {"firstFailureDate": failure["failureDate"], "attempts": 1})
            return
    raise DatabaseUnavailable(f"failure {failure['id']} is replayed and stored at the same time")
