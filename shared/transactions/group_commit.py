"""Group commit: concurrent commands on one post share a transactional batch with one patch of its counts.

Fifty likes at once rewrite the post a few times instead of fifty, and do not conflict. This only saves request units
and time. To remove it, delete this file, COMMIT_DEADLINE_S, and its tests (test_group_commit*.py, and in test_tour.py
those of fifty likes and of the hot partition), and use `add_item` in shared/transactions/__init__.py. Then search the
docs and the tour for it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Final

from shared.database.charges import Charge, add_share, deadline, metered
from shared.database.coalescer import Coalescer
from shared.database.container import Container
from shared.database.refusals import BatchRefused
from shared.database.retries import COMMIT_DEADLINE_S
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from shared.models.base import Item
from shared.observability.spans import current_traceparent, span
from shared.transactions.batches import COUNTING, COUNTS, Added, add_item, count_patch, creations

# A batch is limited to 100 operations and 2 MB; a comment can have 60 KB as JSON.
GROUP_LIMIT: Final = 30


@dataclass(eq=False)
class _Command:
    """A comment or like to add, in the context of its request: its span and its charge."""

    item: Item
    record: Item | None
    context: Context = field(default_factory=copy_context)
    traceparent: str = field(default_factory=current_traceparent)
    # The charge of the group and its size. Alone, a command charges its request directly.
    bill: tuple[Charge, int] | None = None
    # The simple path, if the command is alone.
    alone: asyncio.Task[Added] | None = None


class GroupCommit:
    """Groups commands that arrive while another one writes to the same post.

    A command that waits alone takes the simple path, `add_item`. So does a command that makes the batch of its group
    fail, and so do all commands of the group if the post is missing or has no counts.
    """

    def __init__(self, *, deadline_s: float = COMMIT_DEADLINE_S, overlap_after_s: float = 1.0) -> None:
        self._deadline_s = deadline_s
        self._commands: Coalescer[tuple[Container, str], _Command, Added | None] = Coalescer(
            self._commit,
            limit=GROUP_LIMIT,
            shared_errors=(DatabaseThrottled, DatabaseUnavailable),
            overlap_after_s=overlap_after_s,
        )

    async def add(self, posts: Container, item: Item, record: Item | None = None) -> Added:
        """Add a comment or like, as `add_item` does."""
        command = _Command(item, record)
        try:
            added = await self._commands.submit((posts, item["postId"]), command)
        except asyncio.CancelledError:
            # After a request has failed at its deadline, its command must not be tried again.
            if command.alone is not None:
                command.alone.cancel()
            raise
        finally:
            if command.bill is not None:
                add_share(*command.bill)
        # None: it was left out of its group, which wrote nothing for it.
        return added or await add_item(posts, item, record)

    async def _commit(self, key: tuple[Container, str], commands: Sequence[_Command]) -> list[Added | None]:
        first, *others = commands
        if others:
            return await asyncio.create_task(self._commit_group(*key, commands), context=first.context)
        first.alone = asyncio.create_task(self._commit_alone(key[0], first), context=first.context)
        return [await first.alone]

    async def _commit_alone(self, posts: Container, command: _Command) -> Added:
        async with deadline(self._deadline_s):
            return await add_item(posts, command.item, command.record)

    async def _commit_group(self, posts: Container, post_id: str, commands: Sequence[_Command]) -> list[Added | None]:
        """Write one batch and return the items as created, or None for commands that have to take the simple path."""
        # The first command for each item: a batch that creates an item twice is refused.
        group = list({command.item["id"]: command for command in reversed(commands)}.values())
        with span("group commit", links=[command.traceparent for command in commands]), metered() as charge:
            for command in commands:
                command.bill = (charge, len(commands))
            async with deadline(self._deadline_s):
                while group:
                    differences = Counter(COUNTS[command.item["type"]] for command in group)
                    written = [(one, command) for command in group for one in creations(command.item, command.record)]
                    operations = [count_patch(post_id, differences), *(operation for operation, _ in written)]
                    try:
                        _, *results = await posts.batch(post_id, operations)
                    except BatchRefused as refused:
                        if refused.index == COUNTING:
                            break
                        group.remove(written[refused.index - 1][1])
                    else:
                        created = {item["id"]: Added(item, created=True) for item in results}
                        return [created[one.item["id"]] if one in group else None for one in commands]
        return [None] * len(commands)
