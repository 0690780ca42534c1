"""Fan-outs: write to all items of `posts` that meet a condition, such as the items of a user, at a pace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.platform.database.container import Container, Operation
from shared.platform.database.refusals import BatchRefused
from shared.platform.deliveries.concurrency import for_each
from shared.platform.deliveries.delivery import DATABASE_ERRORS
from shared.platform.deliveries.pacing import Pace, TurnOver
from shared.platform.errors import NoProgress
from shared.platform.models import Item

# An item costs about 11 RU to rename, and a container has at least 400 RU/s.
ITEMS_PER_TRANSACTION: Final = 25
# Consecutive refusals of its batches in one post, before the change is stored in `failures`.
FAN_OUT_REFUSALS: Final = 20
# A delivery handles about as many in its turn, and the query is charged for what it returns.
_PORTION: Final = 200


@dataclass(frozen=True)
class FanOut:
    """Writes to the items of `posts` that meet a condition, in one post or in all.

    `condition`, with its `parameters`, selects what is still to be written, so a repeated delivery continues where the
    last one ended. `write` is called with a post's ID and at most 25 of its items, of which it gets these `fields`. It
    returns how many of them it has written; none if one of them has changed since the query.
    """

    posts: Container
    condition: str
    parameters: Mapping[str, Any]
    write: Callable[[str, Sequence[Item]], Awaitable[int]]
    pace: Pace
    fields: tuple[str, ...] = ("id", "type")

    async def everywhere(self) -> None:
        """Write to the items of all posts. Raises TurnOver, NoProgress.

        Costs one query over all partitions, because no container records where a user has commented or liked. The query
        finds everything that was written before it. Each portion is written before the next one is read. A post that
        cannot be written does not stop the others; the first error is raised at the end, or in a turn in which nothing
        could be written.
        """
        errors: list[Exception] = []

        async def write_portion(items: Sequence[Item]) -> None:
            by_post: defaultdict[str, list[Item]] = defaultdict(list)
            for item in items:
                if isinstance(item.get("postId"), str):  # `verify` reports the others
                    by_post[item["postId"]].append(item)

            async def write_to(post_id: str) -> None:
                try:
                    await self._write_known(post_id, by_post[post_id])
                except (*DATABASE_ERRORS, TurnOver):
                    raise
                except Exception as error:  # noqa: BLE001 - raised below
                    errors.append(error)

            await for_each(by_post, write_to)

        await self.posts.catch_up()
        portion = list[Item]()
        try:
            async for item in self.posts.query_across(self._query("postId"), self.parameters, page_size=_PORTION):
                portion.append(item)
                if len(portion) == _PORTION:
                    await write_portion(portion)
                    portion = []
            await write_portion(portion)
        except TurnOver:
            if not errors or self.pace.has_advanced:
                raise
        if errors:
            raise errors[0]

    async def in_post(self, post_id: str) -> None:
        """Write to the items of one post, 25 at a time, until a query finds none. Raises TurnOver, NoProgress.

        The query finds everything that was written before this call.
        """
        query = f"{self._query()} OFFSET 0 LIMIT @limit"
        parameters, limit = {**self.parameters, "limit": ITEMS_PER_TRANSACTION}, ITEMS_PER_TRANSACTION
        refusals = 0
        await self.posts.catch_up(post_id)
        while items := await self.posts.query(query, parameters, partition_key=post_id, page_size=limit):
            refusals = 0 if await self._write(post_id, items, is_repetition=refusals > 0) else refusals + 1
            if refusals == FAN_OUT_REFUSALS:
                raise NoProgress(f"writes to items of post {post_id} were refused {refusals} times in a row")

    async def _write_known(self, post_id: str, items: Sequence[Item]) -> None:
        for start in range(0, len(items), ITEMS_PER_TRANSACTION):
            known = items[start : start + ITEMS_PER_TRANSACTION]
            if await self._write(post_id, known) < len(known):
                await self.in_post(post_id)
                return

    async def _write(self, post_id: str, items: Sequence[Item], *, is_repetition: bool = False) -> int:
        async with self.pace.transaction(len(items), is_repetition=is_repetition):
            written = await self.write(post_id, items)
        self.pace.has_advanced |= written > 0
        return written

    def _query(self, *more_fields: str) -> str:
        selected = ", ".join(f"c.{name}" for name in (*self.fields, *more_fields))
        return f"SELECT {selected} FROM c WHERE {self.condition}"  # noqa: S608 - no values


async def write_batch(posts: Container, post_id: str, operations: Sequence[Operation]) -> int:
    """Write one operation for each item; return 0 if one of the items is missing or has changed."""
    try:
        await posts.batch(post_id, operations)
    except BatchRefused:
        return 0
    return len(operations)
