"""The way to Cosmos DB: one client per process, and the few operations that the blog uses, in words of its own.

The SDK's exceptions end here. What an operation can refuse is an error of this module (`ItemExists`, `ItemMissing`,
`ConditionFailed`, `BatchRefused`, `ScriptFailed`), which the data functions turn into the blog's; that the database
throttles or is out of reach is the blog's `DatabaseThrottled` and `DatabaseUnavailable` at once. A write that met a
concurrent one (449, nothing was written) is tried again here.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.request import getproxies

from azure.core import MatchConditions
from azure.core.exceptions import AzureError
from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from shared.charges import add_charge
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from shared.models.base import Item
from shared.patience import advised_wait_s, check_patience
from shared.retries import CONFLICT_RETRIES, CONFLICT_WAIT_S, SILENCE_S, THROTTLE_RETRIES, THROTTLE_WAIT_S
from shared.sessions import noting_session
from shared.settings import Settings, settings

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential

# Of a transactional batch, as the SDK takes it: the name, its arguments, and options where there are any.
Operation = tuple[str, tuple[Any, ...]] | tuple[str, tuple[Any, ...], dict[str, Any]]
Result = TypeVar("Result")

# Operations of a transactional batch: https://learn.microsoft.com/azure/cosmos-db/nosql/transactional-batch
BATCH_LIMIT = 100
# A query costs as much as about three point reads of small items.
_READS_WORTH_A_QUERY = 4

_RETRY_WITH = 449
_REFUSED_FOR_TIME = 503
_UNAVAILABLE = {401, 403, 408, 410, 500, 502, 503, 504}
_OWNER_MISSING = 1003


class ItemExists(Exception):
    """409: the logical partition has an item with this id."""


class ItemMissing(Exception):
    """404: there is no such item."""


class ConditionFailed(Exception):
    """412: the etag or the predicate of a patch does not hold."""


class BatchRefused(Exception):
    """An operation of a transactional batch was refused, so that nothing of it was written: which one, and why
    (`ItemExists`, `ItemMissing`, `ConditionFailed`)."""

    def __init__(self, index: int, reason: Exception) -> None:
        super().__init__(f"Operation {index}: {type(reason).__name__}.")
        self.index = index
        self.reason = reason


class _ConcurrentWrite(DatabaseUnavailable):
    """449: another write to the same items was under way; nothing was written."""

    def __init__(self) -> None:
        super().__init__("the database answered 449")


class ScriptFailed(Exception):
    """A stored procedure threw `new Error(number, message)` and wrote nothing."""

    def __init__(self, number: int) -> None:
        super().__init__(f"The script refused with {number}.")
        self.number = number


_REFUSALS: dict[int, type[Exception]] = {404: ItemMissing, 409: ItemExists, 412: ConditionFailed}


@dataclass(frozen=True)
class FeedLook:
    """What stands first in a change feed after some position: `change`, None where there is nothing. `session_token`
    has the number of the container's last transaction, `date` is the database's clock, as in HTTP."""

    change: Item | None
    session_token: str
    date: str


def connect(configuration: Settings) -> CosmosClient:
    """A client of the account: by key where there is one, else with the identity of the process."""
    return CosmosClient(
        configuration.account_endpoint,
        configuration.account_key or _identity(),
        raw_response_hook=_on_answer,
        retry_throttle_total=THROTTLE_RETRIES,
        retry_throttle_backoff_max=THROTTLE_WAIT_S,
        read_timeout=SILENCE_S,
        user_agent_suffix="blog",
        transport=_transport(),
    )


def _on_answer(response: Any) -> None:
    # Called by the SDK's pipeline for every answer, also those it retries, in the task that asked.
    add_charge(response)
    check_patience(response)


def _transport() -> AioHttpTransport:
    # The SDK's default asks for the environment's proxies before every request, in another thread, which adds a fifth
    # to the time of a point read. Where there are none now, there are none later.
    return AioHttpTransport(use_env_settings=bool(getproxies()))


def _identity() -> AsyncTokenCredential:
    # Imported only where no key is given: it is slow to import.
    from azure.identity.aio import DefaultAzureCredential

    return DefaultAzureCredential()


@cache
def _client() -> CosmosClient:
    return connect(settings())


# Guards what is done once: signing in, and the first look at each container.
_opening = asyncio.Lock()
_opened: dict[str, Container] = {}


async def container(name: str) -> Container:
    """The container of this process's database. Raises SettingsError, DatabaseUnavailable.

    The first call signs in: it asks the account for its consistency. Only a client that knows it to be Session sends
    session tokens, without which a read may miss what this very process has written. The first call for each container
    reads its definition, as the SDK would with the first item: a container that is missing must not look like one
    without the item.
    """
    if name not in _opened:
        async with _opening:
            if name not in _opened:
                _opened[name] = await _open(name)
    return _opened[name]


async def _open(name: str) -> Container:
    opened = open_container(name)
    try:
        with _blog_errors():
            if not _opened:
                await _client().__aenter__()
            await opened.proxy.read()
    except ItemMissing as error:
        raise DatabaseUnavailable(f"the container {name} is missing; run manage.py provision") from error
    return opened


@cache
def open_container(name: str) -> Container:
    """The container without signing in, for questions whose answers do not depend on earlier writes. Raises
    SettingsError."""
    return Container(_client().get_database_client(settings().database).get_container_client(name))


class Container:
    """The operations of one container. Each docstring says what it costs in operations; all raise
    `DatabaseThrottled` and `DatabaseUnavailable`."""

    def __init__(self, proxy: ContainerProxy) -> None:
        self.proxy = proxy

    async def read(self, item_id: str, partition_key: str) -> Item | None:
        """One point read. None when there is no such item."""
        try:
            with _blog_errors():
                return dict(await self.proxy.read_item(item_id, partition_key))
        except ItemMissing:
            return None

    async def create(self, item: Item, *, post_trigger: str | None = None) -> Item:
        """One write. Raises ItemExists."""
        return await self._write(lambda: self.proxy.create_item(item, post_trigger_include=post_trigger))

    async def upsert(self, item: Item, *, post_trigger: str | None = None) -> Item:
        """One write."""
        return await self._write(lambda: self.proxy.upsert_item(item, post_trigger_include=post_trigger))

    async def replace(self, item: Item, *, etag: str, post_trigger: str | None = None) -> Item:
        """One write, if the item still has `etag`. Raises ItemMissing, ConditionFailed."""
        return await self._write(
            lambda: self.proxy.replace_item(item["id"], item, post_trigger_include=post_trigger, **_if_match(etag))
        )

    async def patch(
        self,
        item_id: str,
        partition_key: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        predicate: str | None = None,
        etag: str | None = None,
    ) -> Item:
        """One write, at most ten operations. `predicate` is a text of ours: it takes no parameters, so nothing that a
        caller wrote may be in it. Raises ItemMissing, ConditionFailed."""
        return await self._write(
            lambda: self.proxy.patch_item(
                item_id,
                partition_key,
                [dict(operation) for operation in operations],
                filter_predicate=predicate,
                **_if_match(etag),
            )
        )

    async def delete(self, item_id: str, partition_key: str, *, etag: str | None = None) -> None:
        """One write. Raises ItemMissing, ConditionFailed."""
        await self._write(lambda: self.proxy.delete_item(item_id, partition_key, **_if_match(etag)))

    async def _write(self, operation: Callable[[], Awaitable[Mapping[str, Any] | None]]) -> Item:
        async def attempt() -> Item:
            with _blog_errors():
                return dict(await operation() or {})

        return await _despite_conflicts(f"a write to {self.proxy.id}", attempt)

    async def batch(self, partition_key: str, operations: Sequence[Operation]) -> list[Item]:
        """One transaction of at most 100 operations: the items as they are then, in the order of the operations, empty
        for a deleted one. Raises BatchRefused."""

        async def attempt() -> list[Item]:
            with _blog_errors(), noting_session(self.proxy):
                # The SDK takes the options out of what it is given.
                given: list[Any] = [(name, arguments, dict(*options)) for name, arguments, *options in operations]
                results = await self.proxy.execute_item_batch(given, partition_key)
                return [dict(result.get("resourceBody") or {}) for result in results]

        return await _despite_conflicts(f"a batch on {self.proxy.id}", attempt)

    async def read_many(self, ids: Sequence[str]) -> list[Item]:
        """The items that exist of those whose partition key is their id, in any order: a point read each, or one query
        per physical partition where that is cheaper."""
        ranges = await self.feed_ranges()
        if len(ids) < _READS_WORTH_A_QUERY * len(ranges):
            found = await asyncio.gather(*(self.read(item_id, item_id) for item_id in ids))
            return [item for item in found if item is not None]
        with _blog_errors():
            return [dict(item) for item in await self.proxy.read_items([(item_id, item_id) for item_id in ids])]

    async def query(self, text: str, parameters: Mapping[str, Any], *, partition_key: str, page_size: int) -> list[Any]:
        """One query inside one partition whose text limits it to `page_size` rows: one page."""
        with _blog_errors():
            rows = self.proxy.query_items(
                text, parameters=_named(parameters), partition_key=partition_key, max_item_count=page_size
            )
            return [row async for row in rows]

    async def query_across(self, text: str, parameters: Mapping[str, Any], *, page_size: int) -> AsyncIterator[Any]:
        """A query over all partitions, page by page. Not for requests: its cost grows with the container."""
        rows = self.proxy.query_items(text, parameters=_named(parameters), max_item_count=page_size)
        iterator = rows.__aiter__()
        while True:
            with _blog_errors():
                try:
                    row = await iterator.__anext__()
                except StopAsyncIteration:
                    return
            yield row

    async def execute(self, procedure: str, partition_key: str, *parameters: Any) -> Any:
        """One stored procedure, retried when it met a concurrent write or was refused for time. Raises ScriptFailed
        for what the script itself refuses."""

        async def attempt() -> Any:
            try:
                with _blog_errors(script=True), noting_session(self.proxy):
                    return await self.proxy.scripts.execute_stored_procedure(
                        procedure, partition_key=partition_key, parameters=list(parameters)
                    )
            except ScriptFailed as failure:
                if failure.number in (_RETRY_WITH, _REFUSED_FOR_TIME):
                    raise _ConcurrentWrite from failure
                raise

        return await _despite_conflicts(procedure, attempt)

    async def rids(self) -> str:
        """`<database rid>_<container rid>`, by which lease documents name the container. One request."""
        with _blog_errors():
            properties = await self.proxy.read()
        _, database_rid, _, container_rid, *_ = str(properties["_self"]).split("/")
        return f"{database_rid}_{container_rid}"

    async def feed_ranges(self) -> list[Mapping[str, Any]]:
        """The ranges of the physical partitions: two requests, once per process; the SDK keeps them."""
        with _blog_errors():
            return [feed_range async for feed_range in self.proxy.read_feed_ranges()]

    async def look_at_feed(self, first: str, end: str, continuation: str | None) -> FeedLook:
        """One page, of one change or one transaction, of the change feed of the keys from `first` to `end`, after the
        etag `continuation` as leases have it or from the beginning."""
        seen: dict[str, str] = {}

        def remember(headers: Mapping[str, str], _: object) -> None:
            seen.update((name.lower(), value) for name, value in headers.items())

        # "Beginning" sends no condition of its own, so that the etag's is the one that counts.
        condition: dict[str, Any] = {}
        if continuation is not None:
            condition = {"etag": continuation, "match_condition": MatchConditions.IfModified}
        bounds = {"min": first, "max": end, "isMinInclusive": True, "isMaxInclusive": False}
        with _blog_errors():
            pages = self.proxy.query_items_change_feed(
                feed_range={"Range": bounds},
                start_time="Beginning",
                max_item_count=1,
                response_hook=remember,
                **condition,
            ).by_page()
            change = await _first_of(pages)
        return FeedLook(change, seen.get("x-ms-session-token", ""), seen.get("date", ""))


async def _despite_conflicts(name: str, attempt: Callable[[], Awaitable[Result]]) -> Result:
    """What `attempt` returns, tried again while it meets concurrent writes."""
    for number in range(CONFLICT_RETRIES + 1):
        try:
            return await attempt()
        except _ConcurrentWrite as conflict:
            last = conflict
        await asyncio.sleep(random.uniform(0, CONFLICT_WAIT_S * 2**number))  # noqa: S311 - jitter
    raise DatabaseUnavailable(f"{name} met concurrent writes {CONFLICT_RETRIES + 1} times") from last


async def _first_of(pages: AsyncIterator[AsyncIterator[Item]]) -> Item | None:
    """The first item of the first page; the pages after it are not asked for."""
    async for page in pages:
        async for item in page:
            return dict(item)
        return None
    return None


def _named(parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"@{name}", "value": value} for name, value in parameters.items()]


def _if_match(etag: str | None) -> dict[str, Any]:
    if etag is None:
        return {}
    return {"etag": etag, "match_condition": MatchConditions.IfNotModified}


@contextmanager
def _blog_errors(*, script: bool = False) -> Iterator[None]:
    """Turn the SDK's exceptions into this module's."""
    try:
        yield
    except (CosmosHttpResponseError, CosmosBatchOperationError) as error:
        raise _translated(error, script) from error
    except (AzureError, OSError) as error:
        raise DatabaseUnavailable(type(error).__name__) from error


def _translated(error: CosmosHttpResponseError | CosmosBatchOperationError, script: bool) -> Exception:
    if isinstance(error, CosmosBatchOperationError) and error.status_code in _REFUSALS:
        return BatchRefused(error.error_index, _REFUSALS[error.status_code](error.message))
    status, sub_status = error.status_code or 0, getattr(error, "sub_status", None) or 0
    if script and status == 400 and sub_status:
        # A script that throws a number answers 400, with the number as the sub-status.
        # https://learn.microsoft.com/rest/api/cosmos-db/http-status-codes-for-cosmosdb
        return ScriptFailed(sub_status)
    if status == _RETRY_WITH:
        return _ConcurrentWrite()
    if status == 404 and (script or sub_status == _OWNER_MISSING):
        return DatabaseUnavailable("the database, a container or a script is missing; run manage.py provision")
    if status == 429:
        return DatabaseThrottled(advised_wait_s(getattr(error, "headers", None) or {}))
    if status in _REFUSALS:
        return _REFUSALS[status](error.message)
    if status in _UNAVAILABLE:
        return DatabaseUnavailable(f"the database answered {status}")
    return error
