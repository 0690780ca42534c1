"""One container and the operations that an app uses.

An operation raises an error of refusals.py for a refusal that its caller can handle. It raises `DatabaseThrottled` or
`DatabaseUnavailable` if the database fails, and a `DatabaseRefusal` if it can never succeed. sdk_gaps.py does what
azure-cosmos omits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from azure.core import MatchConditions
from azure.cosmos.aio import ContainerProxy

from shared.platform.database.refusals import (
    BatchRefused,
    ConditionFailed,
    ItemExists,
    ItemMissing,
    ScriptFailed,
    database_errors,
)
from shared.platform.database.scope import nested_scope
from shared.platform.database.sdk_gaps import (
    copied,
    keeping_session,
    key_in,
    require_addressable,
    require_text,
    retry_conflicts,
)
from shared.platform.database.sessions import Session, SessionNotConfirmed
from shared.platform.models import Item, is_item_id

# One operation of a transactional batch, as the SDK takes it: name, arguments, options.
Operation = tuple[str, tuple[Any, ...]] | tuple[str, tuple[Any, ...], dict[str, Any]]
Result = TypeVar("Result")
_Refusals = tuple[type[Exception], ...]
# The refusals of a write to an item that may be missing or have changed.
_OF_EXISTING: _Refusals = (ItemMissing, ConditionFailed)

# https://learn.microsoft.com/azure/cosmos-db/nosql/transactional-batch
BATCH_LIMIT = 100
# A query costs about as much as three point reads of small items, and `catch_up` as one.
_READS_WORTH_A_QUERY = 5
BY_ID = "SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)"
# The ID of no item. Reading a missing item costs 1 RU.
MISSING_ID = "-"


class Container:
    """One container. Every operation can raise `DatabaseThrottled`, `DatabaseUnavailable` and `DatabaseRefusal`."""

    def __init__(self, proxy: ContainerProxy) -> None:
        self.proxy = proxy
        self._keys: dict[str, str] = {}

    async def read(self, item_id: str, partition_key: str) -> Item | None:
        """One point read. Returns None if the item does not exist.

        If no URL can carry the ID, a batch reads it, whatever type its partition key has: a repair needs the item.
        """
        if not is_item_id(item_id):
            return await self.read_latest(item_id, partition_key)
        try:
            return await self.in_session(
                partition_key, lambda: self.proxy.read_item(item_id, partition_key), ItemMissing
            )
        except ItemMissing:
            return None

    async def read_latest(self, item_id: str, partition_key: str) -> Item | None:
        """A `read` at the same cost that includes the latest writes of other processes.

        The primary replica serves batches, even those that only read. Any other replica can lag.
        """
        try:
            [item] = await self.batch(partition_key, [("read", (item_id,))])
        except BatchRefused:
            return None
        return item

    async def create(self, item: Item, *, post_trigger: str | None = None) -> Item:
        """One write. Raises ItemExists."""
        options = {"post_trigger_include": post_trigger}
        return await self._write((ItemExists,), self.proxy.create_item, item, **options)

    async def replace(self, item: Item, *, etag: str) -> Item:
        """One write, if the item still has `etag`. Raises ItemMissing, ConditionFailed."""
        require_addressable(item["id"])
        return await self._write(_OF_EXISTING, self.proxy.replace_item, item["id"], item, **_if_match(etag))

    async def patch(
        self,
        item_id: str,
        partition_key: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        predicate: str | None = None,
        etag: str | None = None,
    ) -> Item:
        """One write of at most ten operations, as `patch_of` returns them. Raises ItemMissing, ConditionFailed.

        `predicate` cannot take parameters, so it must not contain input from a client.
        """
        require_addressable(item_id)
        options = {"filter_predicate": predicate, **_if_match(etag)}
        return await self._write(
            _OF_EXISTING, self.proxy.patch_item, item_id, partition_key, list(operations), **options
        )

    async def delete(self, item_id: str, partition_key: str, *, etag: str | None = None) -> None:
        """One write. Raises ItemMissing, ConditionFailed."""
        require_addressable(item_id)
        await self._write(_OF_EXISTING, self.proxy.delete_item, item_id, partition_key, **_if_match(etag))

    async def _write(
        self, expected: _Refusals, method: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any
    ) -> Item:
        written = await retry_conflicts(self.proxy.id, "a write", lambda: method(*arguments, **options), expected)
        return dict(written or {})

    async def batch(self, partition_key: str, operations: Sequence[Operation]) -> list[Item]:
        """One transaction of at most 100 operations. Raises BatchRefused.

        Returns the item after each operation, empty for a deletion.
        """

        async def attempt() -> list[dict[str, Any]]:
            with keeping_session(self.proxy):
                return await self.proxy.execute_item_batch(copied(operations), partition_key)

        results = await retry_conflicts(self.proxy.id, "a batch", attempt, (BatchRefused,))
        return [dict(result.get("resourceBody") or {}) for result in results]

    async def catch_up(self, partition_key: str | None = None) -> None:
        """Make later reads in this process at least as new as now, in one or all partitions.

        One read by the primary per physical partition, whose session token the SDK sends with later reads.
        """
        if partition_key is not None:
            await self.read_latest(MISSING_ID, partition_key)
            return
        caught_up: set[str] = set()
        # After a partition has split, the SDK learns of the new ones from the responses.
        while behind := [part for part in await self.feed_ranges() if str(part) not in caught_up]:
            keys = [await key_in(self.proxy, feed_range, self._keys) for feed_range in behind]
            await asyncio.gather(*(self.catch_up(key) for key in keys))
            caught_up.update(map(str, behind))

    async def read_many(self, ids: Sequence[str]) -> list[Item]:
        """Return the items whose ID is their partition key, as they are now, in any order; maybe others with these IDs.

        A read by the primary per item or, if that is cheaper, `catch_up` and a query of all partitions.
        """
        if len(ids) < _READS_WORTH_A_QUERY * len(await self.feed_ranges()):
            found = await asyncio.gather(*(self.read_latest(item_id, item_id) for item_id in ids))
            return [item for item in found if item is not None]
        await self.catch_up()
        # After a full page, another request would look for more items.
        return [item async for item in self.query_across(BY_ID, {"ids": list(ids)}, page_size=len(ids) + 1)]

    async def query(self, text: str, parameters: Mapping[str, Any], *, partition_key: str, page_size: int) -> list[Any]:
        """One query in one logical partition, whose text limits it to `page_size` rows."""
        require_text(partition_key)

        async def attempt() -> list[Any]:
            rows = self.proxy.query_items(
                text, parameters=_named(parameters), partition_key=partition_key, max_item_count=page_size
            )
            return [row async for row in rows]

        return await self.in_session(partition_key, attempt)

    async def in_session(
        self, partition_key: str | None, attempt: Callable[[], Awaitable[Result]], *expected: type[Exception]
    ) -> Result:
        """Run a read, in one or all partitions, that is at least as new as the session of the request."""

        async def ask_primary() -> Session:
            with nested_scope() as scope:
                await self.catch_up(partition_key)
            return scope.session

        with database_errors(*expected, container=self.proxy.id):
            try:
                return await attempt()
            except SessionNotConfirmed as refused:
                await refused.session.confirm(refused.rid, ask_primary)
                return await attempt()

    async def query_across(self, text: str, parameters: Mapping[str, Any], *, page_size: int) -> AsyncGenerator[Any]:
        """Query all partitions, page by page. Not for API requests: the charge grows with the container."""
        with database_errors(container=self.proxy.id):
            async for row in self.proxy.query_items(text, parameters=_named(parameters), max_item_count=page_size):
                yield row

    async def execute(self, procedure: str, partition_key: str, *parameters: Any) -> Any:
        """Run one stored procedure, retried on 449 and 503. Raises ScriptFailed for most other numbers it throws."""
        require_text(partition_key)

        async def attempt() -> Any:
            with keeping_session(self.proxy):
                return await self.proxy.scripts.execute_stored_procedure(
                    procedure, partition_key=partition_key, parameters=list(parameters)
                )

        return await retry_conflicts(self.proxy.id, procedure, attempt, (ScriptFailed,))

    async def feed_ranges(self) -> list[dict[str, Any]]:
        """Return a feed range per physical partition. Two requests once per process; the SDK caches the result."""
        with database_errors(container=self.proxy.id):
            return [feed_range async for feed_range in self.proxy.read_feed_ranges()]


def patch_of(values: Mapping[str, object], **increments: int) -> list[dict[str, Any]]:
    """Return the operations of a patch."""
    sets = [{"op": "set", "path": f"/{name}", "value": value} for name, value in values.items()]
    return sets + [{"op": "incr", "path": f"/{name}", "value": value} for name, value in increments.items()]


def _named(parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"@{name}", "value": value} for name, value in parameters.items()]


def _if_match(etag: str | None) -> dict[str, Any]:
    return {} if etag is None else {"etag": etag, "match_condition": MatchConditions.IfNotModified}
