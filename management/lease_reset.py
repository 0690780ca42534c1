"""Delete the leases of a change-feed function, which repairs missing and damaged ones.

Without the `.info` document, the host creates the leases again when it starts, and reads the change feed from the
beginning. It is safe to handle a change again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from azure.cosmos.aio import DatabaseProxy

from management.errors import ManagementError
from management.leases import EXPIRED_AFTER_S, UnreadableLeasesError, is_expired, renewed_at
from management.progress import rids_of
from shared.containers import LEASES
from shared.platform.database.container import Container
from shared.platform.database.refusals import ItemMissing
from shared.platform.deliveries.change_feed import ChangeFeed

_ALL = "SELECT * FROM c"
_PAGE = 100


async def reset_leases(database: DatabaseProxy, feed: ChangeFeed, *, account_endpoint: str) -> int:
    """Delete a function's lease documents, and return their number. Raises ManagementError while a host runs."""
    watched, leases = (Container(database.get_container_client(name)) for name in (feed.container, LEASES))
    prefix = f"{feed.lease_prefix}{urlsplit(account_endpoint).hostname or ''}_{await rids_of(watched.proxy)}"
    # A host runs all functions, so it also shows in the leases of the others.
    documents = [lease async for lease in leases.query_across(_ALL, {}, page_size=_PAGE)]
    if any(map(_is_in_use, documents)):
        raise ManagementError(f"A host is running. Stop all hosts, and try again after {EXPIRED_AFTER_S} s.")
    documents = [lease for lease in documents if lease["id"].startswith(prefix)]
    for lease in documents:
        with suppress(ItemMissing):
            await leases.delete(lease["id"], lease["id"], etag=lease["_etag"])
    return len(documents)


def _is_in_use(lease: Mapping[str, Any]) -> bool:
    try:
        renewed = renewed_at(lease)
    except UnreadableLeasesError:
        return False
    return renewed is not None and not is_expired(renewed, datetime.now(UTC))
