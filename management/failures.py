"""List and replay the changes that change-feed functions failed to handle (shared/platform/deliveries/delivery.py).

A replay passes the item's current state to the function, then deletes the failure unless a newer one has replaced it.
If the function fails again, it stores the new error. Replays can be interrupted, repeated, and run concurrently. At
worst, one of two concurrent replays restores a resolved failure; replay it again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any

from azure.cosmos.partition_key import NonePartitionKeyValue

from management.errors import ManagementError
from shared.containers import POSTS
from shared.data.blog import Blog
from shared.models.base import DELETED_TYPE
from shared.platform.database.container import Container
from shared.platform.database.refusals import ConditionFailed, ItemMissing
from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.deliveries.concurrency import for_each
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable, RequestRefused
from shared.platform.models import Item, is_whole_number
from shared.propagation.change_feeds import POSTS_CHANGE_FEED, USERS_CHANGE_FEED
from shared.propagation.posts import handle_changed_posts
from shared.propagation.users import handle_changed_users

# Limit per run.
MOST = 10_000
_PAGE_SIZE = 100
_CONCURRENCY = 8

# Of the change, a list needs only the etag.
_FIELDS = (
    "c.id, c.source, c.container, c.itemId, c.partitionKey, c.error, c.failureDate, c.firstFailureDate, c.attempts,"
    ' c["change"]._etag AS changeEtag'
)
_OF_SOURCE = f"SELECT {_FIELDS} FROM c WHERE (IS_NULL(@source) OR c.source = @source)"  # noqa: S608 - constants
# azure-cosmos cannot merge the pages of several partitions if the property to sort by has several types.
_QUERIES = (
    f"{_OF_SOURCE} AND IS_STRING(c.failureDate) ORDER BY c.failureDate",
    f"{_OF_SOURCE} AND NOT IS_STRING(c.failureDate)",
)

Handle = Callable[[Blog, Iterable[Mapping[str, Any]]], Awaitable[list[Exception]]]


@dataclass(frozen=True)
class Failure:
    """A change that `source` failed to handle."""

    id: str
    source: str
    container: str
    item_id: str
    partition_key: Any
    error: str
    first: str  # the date of the first failure
    last: str
    attempts: int
    change_etag: str | None

    @classmethod
    def of(cls, item: Item) -> Failure:
        error = item["error"] if isinstance(item.get("error"), dict) else {}
        attempts = item.get("attempts")
        return cls(
            item["id"],
            str(item.get("source")),
            str(item.get("container")),
            str(item.get("itemId")),
            item.get("partitionKey"),
            f"{error.get('type')}: {error.get('message')}",
            str(item.get("firstFailureDate", item.get("failureDate"))),
            str(item.get("failureDate")),
            attempts if is_whole_number(attempts) else 1,
            item.get("changeEtag"),
        )


class ItemState(StrEnum):
    """What became of the item since its last failure."""

    UNCHANGED = "unchanged"
    CHANGED = "changed since"
    DELETED = "deleted"


class Result(Enum):
    REPLAYED = "replayed"
    DROPPED = "dropped"
    FAILED = "failed again"

    @property
    def is_good(self) -> bool:
        return self is not Result.FAILED


@dataclass(frozen=True)
class Outcome:
    failure: Failure
    result: Result
    detail: str = ""


async def list_failures(blog: Blog, source: str | None) -> AsyncIterator[Failure]:
    """Yield one function's failures, or all, oldest first, then damaged ones without a date.

    Costs two paged queries. Raises DatabaseUnavailable.
    """
    for query in _QUERIES:
        async for item in blog.failures.query_across(query, {"source": source}, page_size=_PAGE_SIZE):
            yield Failure.of(item)


async def state_of(blog: Blog, failure: Failure) -> ItemState:
    """Compare the item with the failed change. Costs one point read, or two without a partition key."""
    container = blog.posts if failure.container == POSTS else blog.users
    item = await _read(container, failure.item_id, failure.partition_key)
    if item is None:
        return ItemState.DELETED
    return ItemState.UNCHANGED if item["_etag"] == failure.change_etag else ItemState.CHANGED


async def find_failures(blog: Blog, ids: Collection[str], source: str | None) -> list[Failure]:
    """Return the failures with these IDs, or up to `MOST` and one more if there are more.

    Raises ManagementError for unknown IDs.
    """
    found: list[Failure] = []
    async for failure in list_failures(blog, source):
        if not ids or failure.id in ids:
            found.append(failure)
        if len(found) > MOST:
            break
    unknown = sorted(set(ids) - {failure.id for failure in found})
    if unknown:
        raise ManagementError(f"No failure has ID {', '.join(unknown)}. Run `manage.py failures list`.")
    return found


async def replay_failures(blog: Blog, failures: Iterable[Failure], report: Callable[[Outcome], None]) -> bool:
    """Replay and report failures; return whether all succeeded.

    Each costs two point reads, a delete, and what the function costs. Raises AzureError.
    """
    replay = _Replay(blog)
    outcomes: list[Outcome] = []

    async def replay_one(failure: Failure) -> None:
        outcome = await replay.outcome(failure)
        outcomes.append(outcome)
        report(outcome)

    await for_each(failures, replay_one, concurrency=_CONCURRENCY)
    return all(outcome.result.is_good for outcome in outcomes)


@dataclass(frozen=True)
class _Handler:
    feed: ChangeFeed
    container: Container
    handle: Handle


class _Replay:
    def __init__(self, blog: Blog) -> None:
        self._blog = blog
        self._handlers = {
            USERS_CHANGE_FEED.function: _Handler(USERS_CHANGE_FEED, blog.users, handle_changed_users),
            POSTS_CHANGE_FEED.function: _Handler(POSTS_CHANGE_FEED, blog.posts, handle_changed_posts),
        }

    async def outcome(self, failure: Failure) -> Outcome:
        """Replay one failure. A database failure is an outcome, so other replays continue."""
        try:
            return await self._replay(failure)
        except (DatabaseThrottled, DatabaseUnavailable) as error:
            reason = error.reason if isinstance(error, DatabaseUnavailable) else str(error)
            return Outcome(failure, Result.FAILED, f"the database failed: {reason}")

    async def _replay(self, failure: Failure) -> Outcome:
        handler = self._handlers.get(failure.source)
        if handler is None:
            return Outcome(failure, Result.FAILED, f"no function named {failure.source} can replay it")
        stored = await self._blog.failures.read(failure.id, failure.source)
        if stored is None:
            return Outcome(failure, Result.DROPPED, "another replay already handled it")
        if not isinstance(stored.get("itemId"), str):
            return Outcome(failure, Result.FAILED, "the failure names no item; repair or delete it")
        change = await _current_state(handler.container, stored)
        if change is None:
            await self._delete(stored)
            return Outcome(failure, Result.DROPPED, "the item no longer exists")
        errors = await handler.handle(self._blog, [change])
        if errors:
            return Outcome(failure, Result.FAILED, f"{type(errors[0]).__name__}: {errors[0]}")
        await self._delete(stored)
        return Outcome(failure, Result.REPLAYED)

    async def _delete(self, stored: Item) -> None:
        with suppress(ConditionFailed, ItemMissing):  # a newer failure of the item, or a concurrent replay
            await self._blog.failures.delete(stored["id"], stored["source"], etag=stored["_etag"])


async def _current_state(container: Container, stored: Item) -> Item | None:
    """Read the item. If it is an expired tombstone, return the stored change, because copies can still exist.

    Costs one point read, or two without a partition key.
    """
    item = await _read(container, stored["itemId"], stored.get("partitionKey"))
    if item is not None:
        return item
    change: Item | None = stored.get("change")
    return change if change is not None and change.get("type") == DELETED_TYPE else None


async def _read(container: Container, item_id: str, partition_key: Any) -> Item | None:
    # A missing and a null key are different partitions, but the failure stores both as null.
    candidates: tuple[Any, ...] = (NonePartitionKeyValue, None) if partition_key is None else (partition_key,)
    for candidate in candidates:
        with suppress(RequestRefused):  # a damaged failure can name an ID that no item can have
            if (item := await container.read(item_id, candidate)) is not None:
                return item
    return None
