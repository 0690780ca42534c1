"""Fan-outs: write to all posts, comments and likes of a user, wherever they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from shared.platform.database.container import Container, Operation
from shared.platform.database.refusals import BatchRefused
from shared.platform.deliveries.concurrency import for_each
from shared.platform.deliveries.delivery import DATABASE_ERRORS
from shared.platform.deliveries.pacing import Pace, TurnOver
from shared.platform.errors import DatabaseUnavailable, NoProgress
from shared.platform.models import Item

# Transactions in one post.
MAX_TRANSACTIONS: Final = 10_000
# Consecutive refusals of its batches in one post, before the change is stored in `failures`.
FAN_OUT_REFUSALS: Final = 20
# An item costs about 11 RU to rename, and a container has at least 400 RU/s.
ITEMS_PER_TRANSACTION: Final = 25
# A delivery handles about as many in its turn, and the query is charged for what it returns.
_PORTION: Final = 200


async def fan_out(
    posts: Container,
    condition: str,
    parameters: Mapping[str, Any],
    write_in: Callable[[str, Sequence[Item]], Awaitable[None]],
    pace: Pace,
    *,
    fields: Sequence[str] = ("id", "type"),
) -> int:
    """Call `write_in` for each post with items that meet the condition; return how many items there are.

    Costs one query over all partitions, because no container records where a user has commented or liked. The query
    finds everything that was written before it, and returns these `fields`. Each portion is written before the next
    one is read, so after an unfinished delivery, the next one finds fewer items. A post that cannot be written does not
    stop the others; the first error is raised at the end, or in a turn in which nothing could be written.
    """
    errors: list[Exception] = []

    async def write(items: Sequence[Item]) -> None:
        by_post: defaultdict[str, list[Item]] = defaultdict(list)
        for item in items:
            if isinstance(item.get("postId"), str):  # `verify` reports the others
                by_post[item["postId"]].append(item)

        async def write_to(post_id: str) -> None:
            try:
                await write_in(post_id, by_post[post_id])
            except (*DATABASE_ERRORS, TurnOver):
                raise
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)

        await for_each(by_post, write_to)

    await posts.catch_up()
    portion: list[Item] = []
    count = 0
    selected = ", ".join(f"c.{name}" for name in (*fields, "postId"))
    everywhere = f"SELECT {selected} FROM c WHERE {condition}"  # noqa: S608 - no values
    try:
        async for item in posts.query_across(everywhere, parameters, page_size=_PORTION):
            portion.append(item)
            count += 1
            if len(portion) == _PORTION:
                await write(portion)
                portion = []
        await write(portion)
    except TurnOver:
        if not errors or pace.has_advanced:
            raise
    if errors:
        raise errors[0]
    return count


async def write_found(
    posts: Container,
    post_id: str,
    query: str,
    parameters: Mapping[str, Any],
    write: Callable[[Sequence[Item], bool], Awaitable[bool]],
) -> None:
    """Query one post for 25 items and `write` them, until the query finds none; safe to repeat.

    The query finds everything that was written before this call. `write` returns False if it was refused because one of
    the items has changed since the query. Its second argument says whether it was refused before. Raises NoProgress.
    """
    parameters = {**parameters, "limit": ITEMS_PER_TRANSACTION}
    refusals = 0
    await posts.catch_up(post_id)
    for _ in range(MAX_TRANSACTIONS):
        items = await posts.query(query, parameters, partition_key=post_id, page_size=ITEMS_PER_TRANSACTION)
        if not items:
            return
        refusals = 0 if await write(items, refusals > 0) else refusals + 1
        if refusals == FAN_OUT_REFUSALS:
            raise NoProgress(f"writes to items of post {post_id} were refused {refusals} times in a row")
    raise DatabaseUnavailable(f"the writes to items of post {post_id} did not finish in {MAX_TRANSACTIONS} batches")


async def write_batch(posts: Container, post_id: str, operations: Sequence[Operation]) -> bool:
    """Write a batch; return False if it was refused because one of its items is missing or has changed."""
    try:
        await posts.batch(post_id, operations)
    except BatchRefused:
        return False
    return True
