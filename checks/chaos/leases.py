"""Change leases while hosts own them, so that changes are delivered again.

Leases have the real extension's format: `Owner`, and `ContinuationToken` with the quoted number of the last handled
change.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import Any

from azure.core import MatchConditions
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosAccessConditionFailedError, CosmosResourceNotFoundError

from checks.chaos.retrying import retry_until_available
from shared.propagation.change_feeds import CHANGE_FEEDS

TAKEN = "lease taken from its owner"
REWOUND = "lease set back to an earlier change"
DELETED = "all leases deleted"


class Leases:
    """The leases of all functions, and the number of changes by kind."""

    def __init__(self, container: ContainerProxy, generator: random.Random) -> None:
        self._container = container
        self._random = generator
        self.struck: Counter[str] = Counter({TAKEN: 0, REWOUND: 0, DELETED: 0})

    async def strike(self) -> None:
        """Change one lease or, rarely, delete all."""
        kind = self._random.choices([TAKEN, REWOUND, DELETED], [10, 10, 1])[0]
        if kind == DELETED:
            return await self.delete_all()
        if leases := await self._leases():
            await self._rewrite(self._random.choice(leases), rewound=kind == REWOUND)
        return None

    async def take_all(self) -> None:
        for lease in await self._leases():
            await self._rewrite(lease, rewound=False)

    async def delete_all(self) -> None:
        """Delete the leases and, last, their initialization markers, so that a starting host recreates them.

        Not while a host creates them: it would then mark as complete what has been deleted, as Microsoft's host would.
        """
        items = await retry_until_available(self._items)
        if sum(item["id"].endswith(".info") for item in items) < len(CHANGE_FEEDS):
            return
        for item in sorted(items, key=lambda item: item["id"].endswith(".info")):
            await retry_until_available(partial(self._delete, item))
        self.struck[DELETED] += 1

    async def _rewrite(self, lease: dict[str, Any], *, rewound: bool) -> None:
        changed = lease | {"Owner": None}
        if rewound:
            changed["ContinuationToken"] = self._earlier(lease["ContinuationToken"])
        if await retry_until_available(lambda: self._replace(changed)):
            self.struck[REWOUND if rewound else TAKEN] += 1

    def _earlier(self, continuation: str | None) -> str | None:
        number = int(continuation.strip('"')) if continuation else 0
        return f'"{self._random.randrange(number)}"' if number > 1 and self._random.random() < 0.75 else None

    async def _leases(self) -> list[dict[str, Any]]:
        return [item for item in await retry_until_available(self._items) if "LeaseToken" in item]

    async def _items(self) -> list[dict[str, Any]]:
        return [item async for item in self._container.read_all_items()]

    async def _replace(self, lease: dict[str, Any]) -> bool:
        """Replace a lease; return False if a host changed it first."""
        try:
            await self._container.replace_item(
                lease["id"], lease, etag=lease["_etag"], match_condition=MatchConditions.IfNotModified
            )
        except (CosmosAccessConditionFailedError, CosmosResourceNotFoundError):
            return False
        return True

    async def _delete(self, item: dict[str, Any]) -> None:
        with suppress(CosmosResourceNotFoundError):
            await self._container.delete_item(item["id"], item["id"])
