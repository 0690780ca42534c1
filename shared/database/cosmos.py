"""Cosmos DB access: one client per process and the operations the blog uses.

SDK exceptions stop here. An operation raises an error of this module for a refusal that its caller can handle,
`DatabaseThrottled` or `DatabaseUnavailable` if the database fails, and a `DatabaseRefusal` if it can never succeed.
What the SDK omits is done here: retries of 449, and session tokens of batches and stored procedures.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar
from urllib.request import getproxies

from azure.core import MatchConditions
from azure.core.exceptions import AzureError
from azure.core.utils import CaseInsensitiveDict
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from shared.database.charges import add_share, current_charge, metered, retry_after_s
from shared.database.date_like_texts import as_sent, stored_form, stored_operations
from shared.database.retries import CONFLICT_RETRIES, CONFLICT_WAIT_S, SILENCE_S, THROTTLE_RETRIES, THROTTLE_WAIT_S
from shared.database.transport import SessionNotConfirmed, SessionTransport
from shared.errors import DatabaseThrottled, DatabaseUnavailable, ItemTooLarge, PartitionFull, RequestRefused
from shared.models.base import Item
from shared.observability import metrics
from shared.settings import Settings, settings

# One operation of a transactional batch, as the SDK takes it: name, arguments, options.
Operation = tuple[str, tuple[Any, ...]] | tuple[str, tuple[Any, ...], dict[str, Any]]
Result = TypeVar("Result")

# https://learn.microsoft.com/azure/cosmos-db/nosql/transactional-batch
BATCH_LIMIT = 100
# A query costs about as much as three point reads of small items, and `catch_up` as one.
_READS_WORTH_A_QUERY = 5
BY_ID = "SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)"
# The ID of no item. Reading a missing item costs 1 RU.
_NO_ITEM = "-"

_RETRY_WITH = 449
_UNAVAILABLE = {401, 403, 408, 410, 500, 502, 503, 504}
# A 403 is an outage: a firewall, an expired token, a missing role (5300), or a region that takes no writes (3). The one
# exception is a logical partition that has reached its maximum size.
# https://learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-forbidden
# https://learn.microsoft.com/rest/api/cosmos-db/http-status-codes-for-cosmosdb
# https://github.com/Azure/azure-sdk-for-python, azure-cosmos http_constants.py, SubStatusCodes
_FORBIDDEN, _PARTITION_FULL = 403, 1014
_TOO_LARGE = 413
_OWNER_MISSING = 1003
_SESSION_NOT_AVAILABLE = 1002


class ItemExists(Exception):
    """409: the logical partition already has an item with this ID."""


class ItemMissing(Exception):
    """404: the item does not exist."""


class ConditionFailed(Exception):
    """412: the etag or the patch predicate does not match."""


@dataclass(eq=False)
class BatchRefused(Exception):
    """A batch wrote nothing: `reason`, an ItemExists, ItemMissing or ConditionFailed, refused operation `index`."""

    index: int
    reason: Exception


@dataclass(eq=False)
class ScriptFailed(Exception):
    """A stored procedure threw `new Error(number, message)` and wrote nothing."""

    number: int


class _ConcurrentWrite(DatabaseUnavailable):
    """449: nothing was written, because another write to the same items was in progress."""


_REFUSALS: dict[int, type[Exception]] = {404: ItemMissing, 409: ItemExists, 412: ConditionFailed}


def connect(configuration: Settings) -> CosmosClient:
    """Create a client that authenticates with the account key, or without one with the identity of the process."""
    credential: Any = configuration.account_key
    if not credential:
        # Slow to import, and not needed with an account key.
        from azure.identity.aio import DefaultAzureCredential

        credential = DefaultAzureCredential()
    return CosmosClient(
        configuration.account_endpoint,
        credential,
        retry_throttle_total=THROTTLE_RETRIES,
        retry_throttle_backoff_max=THROTTLE_WAIT_S,
        read_timeout=SILENCE_S,
        user_agent_suffix="blog",
        # By default the SDK looks up proxies before every request, in a thread: a fifth of the time of a point read.
        transport=SessionTransport(use_env_settings=bool(getproxies())),
    )


@cache
def _client() -> CosmosClient:
    return connect(settings())


_opening = asyncio.Lock()
_opened: dict[str, Container] = {}


async def container(name: str) -> Container:
    """Return a container of the blog's database. Raises SettingsError, DatabaseUnavailable.

    The first call reads the account, because only a client that knows its consistency level sends session tokens. The
    first call for each container also reads the container: otherwise a missing one looks like a missing item.
    """
    if name not in _opened:
        async with _opening:
            if name not in _opened:
                opened = open_container(name)
                with _blog_errors(about_item=False):
                    if not _opened:
                        await _client().__aenter__()
                    await opened.proxy.read()
                _opened[name] = opened
    return _opened[name]


@cache
def open_container(name: str) -> Container:
    """Return a container without any request, for reads that need no session token. Raises SettingsError."""
    return Container(_client().get_database_client(settings().database).get_container_client(name))


class Container:
    """One container. Every operation can raise `DatabaseThrottled`, `DatabaseUnavailable` and `DatabaseRefusal`.

    The texts of items have another form in the database (shared/database/date_like_texts.py).
    """

    def __init__(self, proxy: ContainerProxy) -> None:
        self.proxy = proxy
        self._keys: dict[str, str] = {}

    async def read(self, item_id: str, partition_key: str) -> Item | None:
        """One point read. Returns None if the item does not exist."""
        try:
            read = await self._confirmed(partition_key, lambda: self.proxy.read_item(item_id, partition_key))
        except ItemMissing:
            return None
        return dict(as_sent(read))

    async def read_latest(self, item_id: str, partition_key: str) -> Item | None:
        """Like `read`, but of the present state, whatever other processes have written; at the same cost.

        The primary replica serves batches, even those that only read. Any other replica can lag.
        """
        try:
            [item] = await self.batch(partition_key, [("read", (item_id,))])
        except BatchRefused:
            return None
        return item

    async def create(self, item: Item, *, post_trigger: str | None = None) -> Item:
        """One write. Raises ItemExists."""
        return await self._write(self.proxy.create_item, stored_form(item), post_trigger_include=post_trigger)

    async def upsert(self, item: Item, *, post_trigger: str | None = None) -> Item:
        """One write."""
        return await self._write(self.proxy.upsert_item, stored_form(item), post_trigger_include=post_trigger)

    async def replace(self, item: Item, *, etag: str, post_trigger: str | None = None) -> Item:
        """One write, if the item still has `etag`. Raises ItemMissing, ConditionFailed."""
        options = {"post_trigger_include": post_trigger, **_if_match(etag)}
        return await self._write(self.proxy.replace_item, item["id"], stored_form(item), **options)

    async def patch(
        self,
        item_id: str,
        partition_key: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        predicate: str | None = None,
        etag: str | None = None,
    ) -> Item:
        """One write of at most ten operations. Raises ItemMissing, ConditionFailed.

        `predicate` cannot take parameters, so it must not contain input from a client.
        """
        options = {"filter_predicate": predicate, **_if_match(etag)}
        return await self._write(
            self.proxy.patch_item, item_id, partition_key, stored_operations(operations), **options
        )

    async def delete(self, item_id: str, partition_key: str, *, etag: str | None = None) -> None:
        """One write. Raises ItemMissing, ConditionFailed."""
        await self._write(self.proxy.delete_item, item_id, partition_key, **_if_match(etag))

    async def _write(self, method: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any) -> Item:
        written = await self._retry_conflicts("a write", lambda: method(*arguments, **options))
        return dict(as_sent(written or {}))

    async def batch(self, partition_key: str, operations: Sequence[Operation]) -> list[Item]:
        """One transaction of at most 100 operations. Raises BatchRefused.

        Returns the item after each operation, empty for a deletion.
        """
        _require_text(partition_key)

        async def attempt() -> list[dict[str, Any]]:
            # The SDK removes entries from the options it gets.
            copied: list[Any] = [
                (name, _stored(name, arguments), dict(*options)) for name, arguments, *options in operations
            ]
            with _keeping_session(self.proxy):
                return await self.proxy.execute_item_batch(copied, partition_key)

        results = await self._retry_conflicts("a batch", attempt)
        return [dict(as_sent(result.get("resourceBody") or {})) for result in results]

    async def catch_up(self, partition_key: str | None = None) -> None:
        """Make later reads in this process at least as new as now, in one or all partitions.

        One read by the primary per physical partition, whose session token the SDK sends with later reads.
        """
        if partition_key is not None:
            await self.read_latest(_NO_ITEM, partition_key)
            return
        caught_up: set[str] = set()
        # After a partition has split, the SDK learns of the new ones from the responses.
        while behind := [one for one in await self.feed_ranges() if str(one) not in caught_up]:
            keys = [await self._key_in(feed_range) for feed_range in behind]
            await asyncio.gather(*(self.catch_up(key) for key in keys))
            caught_up.update(map(str, behind))

    async def _key_in(self, feed_range: dict[str, Any]) -> str:
        """Return a partition key of the physical partition, found by trial and cached."""
        name, number = str(feed_range), 0
        while name not in self._keys:
            hashed = await self.proxy.feed_range_from_partition_key(str(number))
            if await self.proxy.is_feed_range_subset(feed_range, hashed):
                self._keys[name] = str(number)
            number += 1
        return self._keys[name]

    async def read_many(self, ids: Sequence[str]) -> list[Item]:
        """Return the present state of the existing items whose ID is their partition key, in any order.

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
        _require_text(partition_key)

        async def attempt() -> list[Any]:
            rows = self.proxy.query_items(
                text, parameters=_named(parameters), partition_key=partition_key, max_item_count=page_size
            )
            return [as_sent(row) async for row in rows]

        return await self._confirmed(partition_key, attempt)

    async def _confirmed(self, partition_key: str, attempt: Callable[[], Awaitable[Result]]) -> Result:
        """Run a read, and once more with what the primary knows if no replica has reached the request's session token.

        The primary has every acknowledged write, so a token that is ahead of it is forged or of a restored database.
        """
        with _blog_errors():
            try:
                return await attempt()
            except SessionNotConfirmed:
                with metered() as asked:
                    await self.read_latest(_NO_ITEM, partition_key)
                add_share(asked, 1)
                if (charge := current_charge.get()) is not None:
                    charge.session.confirm(asked.session)
                return await attempt()

    async def query_across(self, text: str, parameters: Mapping[str, Any], *, page_size: int) -> AsyncIterator[Any]:
        """Query all partitions, page by page. Not for API requests: the charge grows with the container."""
        with _blog_errors():
            async for row in self.proxy.query_items(text, parameters=_named(parameters), max_item_count=page_size):
                yield as_sent(row)

    async def execute(self, procedure: str, partition_key: str, *parameters: Any) -> Any:
        """Run one stored procedure, retried on 449 and 503. Raises ScriptFailed for any other number it throws."""
        _require_text(partition_key)

        async def attempt() -> Any:
            with _keeping_session(self.proxy):
                return await self.proxy.scripts.execute_stored_procedure(
                    procedure, partition_key=partition_key, parameters=stored_form(list(parameters))
                )

        return as_sent(await self._retry_conflicts(procedure, attempt, about_item=False))

    async def feed_ranges(self) -> list[dict[str, Any]]:
        """Return a feed range per physical partition. Two requests once per process; the SDK caches the result."""
        with _blog_errors():
            return [feed_range async for feed_range in self.proxy.read_feed_ranges()]

    async def _retry_conflicts(
        self, what: str, attempt: Callable[[], Awaitable[Result]], *, about_item: bool = True
    ) -> Result:
        for number in range(CONFLICT_RETRIES + 1):
            if number:
                # Without jitter, writes that conflicted once would conflict again.
                await asyncio.sleep(random.uniform(0, CONFLICT_WAIT_S * 2 ** (number - 1)))  # noqa: S311 - not secret
                metrics.retries.add(1, {"db.collection.name": self.proxy.id})
            try:
                with _blog_errors(about_item=about_item):
                    return await attempt()
            except _ConcurrentWrite as conflict:
                last = conflict
        raise DatabaseUnavailable(
            f"{what} on {self.proxy.id} met concurrent writes {CONFLICT_RETRIES + 1} times"
        ) from last


def _require_text(partition_key: object) -> None:
    """Raise TypeError unless it is a string. With None, azure-cosmos queries all partitions (aio/_container.py)."""
    if not isinstance(partition_key, str):
        raise TypeError(f"a partition key must be a string, not {partition_key!r}")


@contextmanager
def _keeping_session(proxy: ContainerProxy) -> Iterator[None]:
    """Keep the session token of the one batch or script in this block, even if the batch is refused.

    The SDK keeps the tokens of single-item writes only (azure-cosmos 4.17, aio/_cosmos_client_connection_async.py,
    `Batch` and `ExecuteStoredProcedure`). With only those, a read could miss what the same process wrote in a batch.
    """
    try:
        yield
    except CosmosBatchOperationError as error:
        _keep_session(proxy, error.headers or {})
        raise
    # No other task has run since the SDK stored these headers, so they belong to this response.
    _keep_session(proxy, proxy.client_connection.last_response_headers)


def _keep_session(proxy: ContainerProxy, headers: Mapping[str, str]) -> None:
    connection = proxy.client_connection
    if connection.session is not None:  # only with Session consistency, in a client that was entered
        # The SDK identifies the container by this header, which is documented for item responses only.
        of_container = CaseInsensitiveDict({**headers, "x-ms-alt-content-path": proxy.container_link})
        connection.session.update_session(connection, {}, of_container)  # type: ignore[no-untyped-call]  # in the SDK


async def has_multiple_write_regions(owner: CosmosClient | ContainerProxy) -> bool:
    """Whether the account breaks unique usernames and exact counts, which need a single write region: one request."""
    account = await owner.client_connection.GetDatabaseAccount()
    return bool(account._EnableMultipleWritableLocations)


def patch_of(values: Mapping[str, object], **increments: int) -> list[dict[str, Any]]:
    """Return the patch operations that set `values` and add `increments`."""
    sets = [{"op": "set", "path": f"/{name}", "value": value} for name, value in values.items()]
    return sets + [{"op": "incr", "path": f"/{name}", "value": value} for name, value in increments.items()]


def _stored(operation: str, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Return the arguments of a batch operation with the texts as they are stored."""
    if operation == "patch":
        item_id, operations = arguments
        return item_id, stored_operations(operations)
    return tuple(map(stored_form, arguments))


def _named(parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"@{name}", "value": value} for name, value in parameters.items()]


def _if_match(etag: str | None) -> dict[str, Any]:
    return {} if etag is None else {"etag": etag, "match_condition": MatchConditions.IfNotModified}


@contextmanager
def _blog_errors(*, about_item: bool = True) -> Iterator[None]:
    try:
        yield
    except (CosmosHttpResponseError, CosmosBatchOperationError) as error:
        raise _translated(error, about_item) from error
    except (AzureError, OSError) as error:
        raise DatabaseUnavailable(type(error).__name__) from error


def _translated(error: CosmosHttpResponseError | CosmosBatchOperationError, about_item: bool) -> Exception:
    if isinstance(error, CosmosBatchOperationError) and error.status_code in _REFUSALS:
        return BatchRefused(error.error_index, _REFUSALS[error.status_code](error.message))
    status, sub_status = error.status_code or 0, _sub_status(error)
    if not about_item and status == 400 and sub_status:
        # A script that throws a number returns 400, with the number as the sub-status.
        # https://learn.microsoft.com/rest/api/cosmos-db/http-status-codes-for-cosmosdb
        if sub_status in (_FORBIDDEN, _TOO_LARGE):  # rethrown from a write; scripts learn no sub-status
            return PartitionFull(error.message) if sub_status == _FORBIDDEN else ItemTooLarge(error.message)
        return _ConcurrentWrite(str(sub_status)) if sub_status in (_RETRY_WITH, 503) else ScriptFailed(sub_status)
    if status == _RETRY_WITH:
        return _ConcurrentWrite(str(status))
    if status == 404 and (sub_status == _OWNER_MISSING or not about_item):
        return DatabaseUnavailable("the database, a container or a script is missing; run manage.py provision")
    if status == 404 and sub_status == _SESSION_NOT_AVAILABLE:
        return DatabaseUnavailable("no replica has reached the session token of this process")
    if status == 429:
        return DatabaseThrottled(retry_after_s(getattr(error, "headers", None) or {}))
    if status in _REFUSALS:
        return _REFUSALS[status](error.message)
    if (status, sub_status) == (_FORBIDDEN, _PARTITION_FULL):
        return PartitionFull(error.message)
    if status in _UNAVAILABLE:
        return DatabaseUnavailable(f"the database answered {status}")
    if status in (400, _TOO_LARGE):
        return RequestRefused(error.message) if status == 400 else ItemTooLarge(error.message)
    return error


def _sub_status(error: CosmosHttpResponseError | CosmosBatchOperationError) -> int:
    if isinstance(error, CosmosBatchOperationError) and error.operation_responses:
        # The SDK takes only the status from the refused operation.
        return int(error.operation_responses[error.error_index].get("subStatusCode") or 0)
    return error.sub_status or 0
