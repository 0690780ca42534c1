"""Rename fan-out: writes a user's current name to their posts, comments and likes.

By transactional batches, or by the article's stored procedure, which has the same condition as `_OUTDATED`. `Pace`
leaves some of the database's throughput for readers.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from shared.database.charges import Charge, add_share, metered
from shared.database.container import Container, Operation, patch_of
from shared.database.refusals import BatchRefused
from shared.database.retries import RENAMING_REFUSALS
from shared.errors import DatabaseUnavailable, NoProgress
from shared.models.base import Item
from shared.models.post import Post
from shared.models.user import name_version
from shared.observability.spans import stamp
from shared.propagation.change_feed import for_each

_PORTION: Final = 1000
_MAX_TRANSACTIONS: Final = 10_000
TRANSACTIONS_AT_ONCE: Final = 8
# An item costs about 11 RU to rename, and a container has at least 400 RU/s.
ITEMS_PER_TRANSACTION: Final = 25

# Seconds between transactions, for each of their items: at first 50 items a second, later at least 10.
_FIRST_S: Final = 0.02
_LONGEST_S: Final = 0.1
# The factor by which the interval shrinks in a second: before the first 429, and after it.
_UNTIL_429: Final = 0.5
_AFTER_429: Final = 0.8

# The items that do not have the user's current username yet.
_OUTDATED: Final = (
    "c.userId = @userId AND c.type IN ('post', 'comment', 'like')"
    " AND (NOT IS_DEFINED(c.userUsername) OR c.userUsername != @username)"
    " AND (NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= @nameVersion)"
)
_EVERYWHERE: Final = f"SELECT c.id, c.type, c.postId FROM c WHERE {_OUTDATED}"  # noqa: S608 - no values
_IN_POST: Final = f"SELECT c.id, c.type FROM c WHERE {_OUTDATED} OFFSET 0 LIMIT @limit"  # noqa: S608 - no values


async def fan_out_rename(posts: Container, user: Item, procedure: str | None, pace: Pace) -> int:
    """Rename all posts, comments and likes of the user; return how many.

    Costs one query over all partitions, because no container records where a user has commented or liked. It also costs
    a transaction for each 25 items of a post: a batch, or a call of `procedure`. The query sees all items from
    before it. The posts change feed corrects later ones with the old name.

    Each portion is renamed before the next one is read, so the next attempt after an unfinished one finds fewer items.
    """

    async def rename(items: Sequence[Item]) -> None:
        by_post: defaultdict[str, list[Item]] = defaultdict(list)
        for item in items:
            by_post[str(item["postId"])].append(item)

        async def rename_in(post_id: str) -> None:
            if procedure is None:
                await _rename_items(posts, post_id, by_post[post_id], user, pace)
            else:
                await _call(procedure, posts, post_id, user, pace, expected=len(by_post[post_id]))

        await for_each(by_post, rename_in)

    await posts.catch_up()
    portion: list[Item] = []
    count = 0
    async for item in posts.query_across(_EVERYWHERE, _parameters(user), page_size=_PORTION):
        portion.append(item)
        count += 1
        if len(portion) == _PORTION:
            await rename(portion)
            portion = []
    await rename(portion)
    return count


async def rename_in_post(
    posts: Container, post_id: str, user: Item, *, procedure: str | None = None, pace: Pace | None = None
) -> None:
    """Write the user's current name to all their items of one post; safe to repeat.

    A query in one partition and a batch for each 25 items, until the query finds none, or calls of `procedure`. It sees
    every item from before this call. Items that a later rename wrote stay unchanged. Raises NoProgress.
    """
    pace = pace or Pace()
    if procedure is not None:
        await _call(procedure, posts, post_id, user, pace, expected=1)
        return
    parameters = _parameters(user) | {"limit": ITEMS_PER_TRANSACTION}
    refusals = 0
    await posts.catch_up(post_id)
    for _ in range(_MAX_TRANSACTIONS):
        items = await posts.query(_IN_POST, parameters, partition_key=post_id, page_size=ITEMS_PER_TRANSACTION)
        if not items:
            return
        try:
            async with pace.transaction(len(items)):
                await posts.batch(post_id, [_rename(item, user) for item in items])
            refusals = 0
        except BatchRefused as refused:  # an item was written or deleted after the query
            refusals += 1
            if refusals == RENAMING_REFUSALS:
                raise NoProgress(f"renames in post {post_id} were refused {refusals} times in a row") from refused
    raise DatabaseUnavailable(f"renaming in post {post_id} did not finish in {_MAX_TRANSACTIONS} batches")


def is_outdated(item: Item, user: Item) -> bool:
    """Return whether the item has a name from before the user's latest rename."""
    is_newer = item.get("nameVersion") is not None and item["nameVersion"] > name_version(user)
    return not is_newer and item.get("userUsername") != user["username"]


async def _rename_items(posts: Container, post_id: str, items: Sequence[Item], user: Item, pace: Pace) -> None:
    """Rename known items of one post; only their `id` and `type` are used. If a batch is refused, rename all."""
    try:
        for start in range(0, len(items), ITEMS_PER_TRANSACTION):
            some = items[start : start + ITEMS_PER_TRANSACTION]
            async with pace.transaction(len(some)):
                await posts.batch(post_id, [_rename(item, user) for item in some])
    except BatchRefused:
        await rename_in_post(posts, post_id, user, pace=pace)


async def _call(procedure: str, posts: Container, post_id: str, user: Item, pace: Pace, *, expected: int) -> None:
    """Call the stored procedure for each 25 items, or earlier if its time runs out.

    It finds the items itself. The pace counts the `expected` number of items.
    """
    options = {"limit": ITEMS_PER_TRANSACTION, **stamp()}
    vain = 0
    for _ in range(_MAX_TRANSACTIONS):
        async with pace.transaction(min(expected, ITEMS_PER_TRANSACTION)):
            answer = await posts.execute(procedure, post_id, *_parameters(user).values(), options)
        if not answer["more"]:
            return
        vain = 0 if answer["updated"] else vain + 1
        if vain == RENAMING_REFUSALS:
            raise NoProgress(f"{procedure} ran out of time {vain} times in a row before it renamed an item")
    raise DatabaseUnavailable(f"{procedure} did not finish in {_MAX_TRANSACTIONS} calls")


def _parameters(user: Item) -> dict[str, Any]:
    return {"userId": user["id"], "username": user["username"], "nameVersion": name_version(user)}


def _rename(item: Item, user: Item) -> Operation:
    version = name_version(user)
    increments = {"version": 1} if item["type"] == Post.TYPE else {}
    patch = patch_of({"userUsername": user["username"], "nameVersion": version, **stamp()}, **increments)
    # A predicate takes no parameters. Nothing in it comes from a client: a known type and an integer.
    older = f"(NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= {version:d})"
    return ("patch", (item["id"], patch), {"filter_predicate": f"FROM c WHERE c.type = '{item['type']}' AND {older}"})


class Pace:
    """Limits the renaming transactions of one delivery of changes: a few at once, started at intervals.

    Only a 429 shows how much throughput the database has left. The transactions therefore start slowly and become
    faster until the first 429. Each 429 doubles the interval. While the database throttles a transaction, no other
    starts.
    """

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(TRANSACTIONS_AT_ONCE)
        self._turn = asyncio.Lock()
        self._running: dict[int, Charge] = {}
        self._next_s = 0.0
        self._interval_s = _FIRST_S
        self._left_after_a_second = _UNTIL_429
        self._slowed_s = 0.0

    @asynccontextmanager
    async def transaction(self, items: int) -> AsyncIterator[None]:
        """Wait until the next transaction may start. The block sends it, and it writes about `items` items."""
        async with self._slots:
            async with self._turn:
                while (wait_s := self._wait_s()) > 0:  # noqa: ASYNC110 - a 429 can prolong it
                    await asyncio.sleep(wait_s)
                started_s = time.monotonic()
                self._next_s = started_s + items * self._interval_s
                self._interval_s *= self._left_after_a_second ** (items * self._interval_s)
            try:
                with metered() as charge:
                    self._running[id(charge)] = charge
                    yield
            finally:
                del self._running[id(charge)]
                add_share(charge, 1)
                # Transactions that ran at the same time met the same 429.
                if charge.throttled and started_s >= self._slowed_s:
                    self._slow_down(items)

    def _wait_s(self) -> float:
        # The SDK waits for the same time before it sends a throttled transaction again.
        throttled_s = (charge.retry_after_s or 0.0 for charge in self._running.values())
        return max(self._next_s - time.monotonic(), *throttled_s, 0.0)

    def _slow_down(self, items: int) -> None:
        self._slowed_s = time.monotonic()
        self._interval_s = min(max(_FIRST_S, 2 * self._interval_s), _LONGEST_S)
        self._left_after_a_second = _AFTER_429
        self._next_s = self._slowed_s + items * self._interval_s
