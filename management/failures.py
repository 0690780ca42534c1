"""Changes kept as failures (shared/data/failures.py): shown, and replayed once their cause is mended.

A replay reads the present state of the item, gives it to the reaction that the function runs, and deletes the failure
under the etag that it had before: a newer failure of the same item stays. When the reaction fails again it has itself
kept the failure with the new error. So replays may be cut off, repeated, and run at the same time as each other and the
app. At worst one of two that meet keeps a failure that the other has mended; replaying that one takes it away.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from azure.cosmos.partition_key import NonePartitionKeyValue

from management.account import Blog
from management.errors import ManagementError
from shared.cosmos import ConditionFailed, Container, ItemMissing
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from shared.models.base import Item
from shared.models.post import DELETED_TYPE
from shared.propagation.change_feed import POSTS_FEED, USERS_FEED, ChangeFeed, for_each
from shared.propagation.posts import PostChangeHandler
from shared.propagation.users import UserChangeHandler

# Of one run; a run can be repeated.
MOST = 10_000
_PAGE_SIZE = 100
# Each reaction works on several items at a time by itself.
_CONCURRENCY = 8

# Everything but the change, which may have a megabyte.
_FIELDS = "c.id, c.source, c.container, c.itemId, c.partitionKey, c.error, c.failureDate"
_ALL = f"SELECT {_FIELDS} FROM c WHERE IS_NULL(@source) OR c.source = @source ORDER BY c.failureDate"  # noqa: S608 - constants

OnChanged = Callable[[Iterable[Mapping[str, Any]]], Awaitable[list[Exception]]]


@dataclass(frozen=True)
class Failure:
    """A change that `source` could not handle: of which item of which container, why, and since when."""

    id: str
    source: str
    container: str
    item_id: str
    partition_key: Any
    error: str
    date: str

    @classmethod
    def of(cls, item: Item) -> Failure:
        """From an item of `failures`."""
        error = item.get("error") or {}
        return cls(
            item["id"],
            item["source"],
            str(item.get("container")),
            str(item.get("itemId")),
            item.get("partitionKey"),
            f"{error.get('type')}: {error.get('message')}",
            str(item.get("failureDate")),
        )


class Result(Enum):
    """What became of a failure."""

    REPLAYED = "replayed"
    DROPPED = "dropped"
    FAILED = "failed again"

    @property
    def is_good(self) -> bool:
        return self is not Result.FAILED


@dataclass(frozen=True)
class Outcome:
    """`detail` says why, where that is not plain."""

    failure: Failure
    result: Result
    detail: str = ""


async def list_failures(blog: Blog, source: str | None) -> AsyncIterator[Failure]:
    """Those of one function or all, oldest first: one query, page by page. Raises DatabaseUnavailable."""
    async for item in blog.failures.query_across(_ALL, {"source": source}, page_size=_PAGE_SIZE):
        yield Failure.of(item)


async def find_failures(blog: Blog, ids: Collection[str], source: str | None) -> list[Failure]:
    """Those with the `ids`, or without ids all, at most `MOST`. Raises ManagementError for an id that no failure
    has."""
    found: list[Failure] = []
    async for failure in list_failures(blog, source):
        if not ids or failure.id in ids:
            found.append(failure)
        if len(found) == MOST:
            break
    unknown = sorted(set(ids) - {failure.id for failure in found})
    if unknown:
        raise ManagementError(f"There is no failure {', '.join(unknown)}; see `manage.py failures list`.")
    return found


async def replay_failures(blog: Blog, failures: Iterable[Failure], report: Callable[[Outcome], None]) -> bool:
    """Replay each failure by itself, some at a time, and report its outcome; whether all went well. A failure costs two
    point reads, a deletion, and what the reaction costs. Raises the SDK's AzureError."""
    replay = _Replay(blog)
    outcomes: list[Outcome] = []

    async def replay_one(failure: Failure) -> None:
        outcome = await replay.outcome(failure)
        outcomes.append(outcome)
        report(outcome)

    await for_each(failures, replay_one, concurrency=_CONCURRENCY)
    return all(outcome.result.is_good for outcome in outcomes)


@dataclass(frozen=True)
class _Way:
    """How changes of one function are handled: whose they are, and by what."""

    feed: ChangeFeed
    container: Container
    on_changed: OnChanged


class _Replay:
    def __init__(self, blog: Blog) -> None:
        self._failures = blog.failures
        on_users = UserChangeHandler(blog.users, blog.posts, blog.failures)
        on_posts = PostChangeHandler(blog.users, blog.posts, blog.feed, blog.failures)
        self._ways = {
            USERS_FEED.function: _Way(USERS_FEED, blog.users, on_users.on_changed),
            POSTS_FEED.function: _Way(POSTS_FEED, blog.posts, on_posts.on_changed),
        }

    async def outcome(self, failure: Failure) -> Outcome:
        """What came of one. A database that fails is an outcome, too: the others may fare better."""
        try:
            return await self._replay(failure)
        except (DatabaseThrottled, DatabaseUnavailable) as error:
            reason = error.reason if isinstance(error, DatabaseUnavailable) else str(error)
            return Outcome(failure, Result.FAILED, f"the database failed: {reason}")

    async def _replay(self, failure: Failure) -> Outcome:
        way = self._ways.get(failure.source)
        if way is None:
            return Outcome(failure, Result.FAILED, f"there is no function {failure.source} that could replay it")
        stored = await self._failures.read(failure.id, failure.source)
        if stored is None:
            return Outcome(failure, Result.DROPPED, "replayed by someone else meanwhile")
        change = await _present_state(way.container, stored)
        if change is None:
            await self._delete(stored)
            return Outcome(failure, Result.DROPPED, "the item is gone")
        errors = await way.on_changed([change])
        if errors:
            return Outcome(failure, Result.FAILED, f"{type(errors[0]).__name__}: {errors[0]}")
        await self._delete(stored)
        return Outcome(failure, Result.REPLAYED)

    async def _delete(self, stored: Item) -> None:
        with suppress(ConditionFailed, ItemMissing):  # a newer failure of the item, or replayed by someone else
            await self._failures.delete(stored["id"], stored["source"], etag=stored["_etag"])


async def _present_state(container: Container, stored: Item) -> Item | None:
    """The item as it is now: a point read, or two where its partition key is none. Of a post that was deleted so long
    ago that its mark is gone the mark, where the failure has it: its copies may still be there."""
    key = stored.get("partitionKey")
    # An item without the property and one with null are in different partitions, and the failure tells them not apart.
    candidates: tuple[Any, ...] = (NonePartitionKeyValue, None) if key is None else (key,)
    for candidate in candidates:
        item = await container.read(stored["itemId"], candidate)
        if item is not None:
            return item
    change: Item | None = stored.get("change")
    return change if change is not None and change.get("type") == DELETED_TYPE else None
