"""Group commit: concurrent commands on one post share a transactional batch with one patch of its counts.

Fifty likes at once rewrite the post a few times instead of fifty, and do not conflict. This only saves request units
and time. To remove it, delete this file and test_group_commit*.py, and use `add_item` in
shared/transactions/__init__.py (tests/test_template.py does it). Then search the docs for it.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from shared.platform.database.container import Container
from shared.platform.database.refusals import BatchRefused
from shared.platform.database.scope import Scope, current_scope, deadline, request_scope
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable
from shared.platform.models import Item
from shared.platform.telemetry import current_traceparent, span
from shared.transactions.batches import COUNTING, COUNTS, add_item, count_patch

# A batch is limited to 100 operations and 2 MB; a comment can have 60 KB as JSON.
GROUP_LIMIT: Final = 30
# Less than the deadline of a request, so that the error of a batch still reaches all its requests.
COMMIT_DEADLINE_S: Final = 9.0

_Post = tuple[Container, str]


@dataclass(eq=False)
class _Command:
    """A comment or like to add."""

    item: Item
    record: Item | None
    traceparent: str = field(default_factory=current_traceparent)
    # While the command waits: the group that it has to write, or none if another command has written it.
    group: asyncio.Future[list[_Command]] | None = None
    # What the group's batch did for this command. None: nothing, so the command writes itself.
    outcome: Item | Exception | None = None
    # The scope of the group's batch, and the command's share of it.
    group_scope: Scope | None = None
    share: float = 1.0


class GroupCommit:
    """Groups commands that arrive while another one writes to the same post.

    A command that is alone writes its own batch with `add_item`, in its own task. The commands that arrive meanwhile
    wait, and the first of them writes a batch for all. A command that makes the batch fail writes itself afterward, and
    so do all commands of the group if the post is missing or cannot be counted.
    """

    def __init__(self, *, deadline_s: float = COMMIT_DEADLINE_S, overlap_after_s: float = 1.0) -> None:
        """A write delays the next one by at most `overlap_after_s`."""
        self._deadline_s = deadline_s
        self._overlap_after_s = overlap_after_s
        # The waiting commands of each post that a command writes to.
        self._waiting: dict[_Post, deque[_Command]] = {}
        self._commits: set[asyncio.Task[None]] = set()  # the event loop holds only weak references

    async def add(self, posts: Container, item: Item, record: Item | None = None) -> Item:
        """Add a comment or like, as `add_item` does."""
        post, command = (posts, item["postId"]), _Command(item, record)
        group = await self._wait(post, command)
        if len(group) == 1:
            with self._writing(post):
                async with deadline(self._deadline_s):
                    return await add_item(posts, item, record)
        try:
            if group:
                # A task of its own, because the others need the batch even if this request is canceled.
                commit = asyncio.create_task(self._commit(post, group))
                self._commits.add(commit)
                commit.add_done_callback(self._commits.discard)
                with self._writing(post):
                    await asyncio.shield(commit)
            if isinstance(command.outcome, Exception):
                raise command.outcome
        finally:
            if command.group_scope is not None and (scope := current_scope()) is not None:
                scope.add(command.group_scope, share=command.share)
        return command.outcome or await add_item(posts, item, record)

    async def _wait(self, post: _Post, command: _Command) -> list[_Command]:
        """Return the commands that this one has to write; none if another one has written it."""
        if post not in self._waiting:
            self._waiting[post] = deque()
            try:
                await asyncio.sleep(0)  # commands of the same moment join
            except asyncio.CancelledError:
                self._hand_on(post)
                raise
            return [command, *self._next(post, GROUP_LIMIT - 1)]
        command.group = asyncio.get_running_loop().create_future()
        self._waiting[post].append(command)
        try:
            return await command.group
        except asyncio.CancelledError:
            if not command.group.cancelled() and (group := command.group.result()):  # canceled before it could write
                self._waiting[post].extendleft(reversed(group[1:]))
                self._hand_on(post)
            raise

    @contextmanager
    def _writing(self, post: _Post) -> Iterator[None]:
        """Let the next command write when the block ends, or earlier if it takes longer than a write should."""
        timer = asyncio.get_running_loop().call_later(self._overlap_after_s, self._hand_on, post)
        try:
            yield
        finally:
            if timer.when() > asyncio.get_running_loop().time():
                timer.cancel()
                self._hand_on(post)

    def _hand_on(self, post: _Post) -> None:
        """Let the first waiting command write for all that wait."""
        group = self._next(post, GROUP_LIMIT)
        if group and (waiting := group[0].group):
            waiting.set_result(group)
        else:
            del self._waiting[post]

    def _next(self, post: _Post, limit: int) -> list[_Command]:
        waiting, group = self._waiting[post], list[_Command]()
        while waiting and len(group) < limit:
            command = waiting.popleft()
            if command.group is not None and not command.group.done():  # done: canceled
                group.append(command)
        return group

    async def _commit(self, post: _Post, commands: Sequence[_Command]) -> None:
        """Write one batch, and tell each command its outcome."""
        try:
            with span("group commit", links=[command.traceparent for command in commands]), request_scope() as scope:
                for command in commands:
                    command.group_scope, command.share = scope, 1 / len(commands)
                async with deadline(self._deadline_s):
                    await _write(*post, commands)
        except (DatabaseThrottled, DatabaseUnavailable) as error:
            for command in commands:
                command.outcome = error
        except Exception:  # noqa: BLE001, S110 - without an outcome, each command writes itself and gets its own error
            pass
        finally:
            for command in commands[1:]:
                if command.group is not None and not command.group.done():
                    command.group.set_result([])


async def _write(posts: Container, post_id: str, commands: Sequence[_Command]) -> None:
    # The first command for each item: a batch that creates an item twice is refused.
    group = list({command.item["id"]: command for command in reversed(commands)}.values())
    while group:
        differences = Counter(COUNTS[command.item["type"]] for command in group)
        written = [(new, command) for command in group for new in (command.item, command.record) if new is not None]
        operations = [count_patch(post_id, differences), *(("create", (new,)) for new, _ in written)]
        try:
            _, *results = await posts.batch(post_id, operations)
        except BatchRefused as refused:
            if refused.index == COUNTING:
                return
            group.remove(written[refused.index - 1][1])
        else:
            created = {item["id"]: item for item in results}
            for command in group:
                command.outcome = created[command.item["id"]]
            return
