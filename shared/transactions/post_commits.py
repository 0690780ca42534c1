"""Group commit: the comments and likes that wait for one post are written in one transactional batch.

The first starts its batch at once. What comes for the same post while that batch is under way waits and goes together
in the next one, so that nobody waits for a timer, and fifty likes at a moment cost one rewrite of the post instead of
fifty, and meet no conflict. The post's counts grow by `incr` under a predicate, first in the batch: a batch whose post
is gone says so before anything else.

A batch is all or nothing. Where an operation in it is refused (the like is there already, the comment was deleted
meanwhile), all that are in it are looked at in one query, those that need no write any more are answered, and the rest
goes into another batch. Two that are about one item, such as a double click, are never in the same batch.

A batch belongs to no single request: it has a deadline of its own, a request that gives up leaves the others alone, and
its charge is shared evenly.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from shared.charges import Charge, add_share, metered
from shared.cosmos import BatchRefused, ConditionFailed, Container, ItemMissing, Operation
from shared.deadline import deadline
from shared.errors import BlogError, DatabaseUnavailable, PostNotFound
from shared.models.base import Item
from shared.models.post import Post
from shared.retries import COMMIT_DEADLINE_S, COMMIT_ROUNDS

# A batch takes 100 operations and 2 MB; a comment may have 60 KB as JSON.
_MOST_TOGETHER = 30
# A batch that takes longer than this does not hold up the next one.
_HELD_UP_S = 1.0

_BY_ID = "SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)"

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """What is answered where nothing needs to be written."""

    value: T_co


@dataclass(frozen=True)
class Note(Generic[T_co]):
    """An operation that changes no count and leaves the post as it is, and the answer that follows from its result."""

    operation: Operation
    done: Callable[[Item], T_co]


class Change(Protocol[T_co]):
    """What one command asks for: one operation on one item, and what it adds to a count of the post."""

    @property
    def item_id(self) -> str: ...
    @property
    def count(self) -> tuple[str, int]:
        """The count's name and the difference."""

    @property
    def first(self) -> Operation | None:
        """What to try without having looked at the item; None to look first."""

    def decide(self, existing: Item | None) -> Operation | Note[T_co] | Answer[T_co]:
        """What to do about the item as it is. Raises the blog's errors."""

    def done(self, written: Item) -> T_co:
        """The answer after the operation, whose result is `written`."""


@dataclass
class _Waiting:
    """A change, its operation as far as it is known, and the request that waits for it."""

    change: Change[Any]
    operation: Operation | None
    note: Note[Any] | None = None
    decided: Answer[Any] | BlogError | None = None
    outcome: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    charge: Charge = field(default_factory=Charge)
    sharers: int = 1

    def answer(self, value: object) -> None:
        if not self.outcome.done():
            self.outcome.set_result(value)

    def fail(self, error: Exception) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)

    def decide(self, existing: Item | None) -> None:
        """Know the operation or the outcome from the item as it is."""
        self.operation, self.note, self.decided = None, None, None
        try:
            decision = self.change.decide(existing)
        except BlogError as error:
            self.decided = error
            return
        if isinstance(decision, Answer):
            self.decided = decision
        elif isinstance(decision, Note):
            self.operation, self.note = decision.operation, decision
        else:
            self.operation = decision

    def written(self, item: Item) -> None:
        """Tell what the operation has written."""
        self.answer(self.note.done(item) if self.note is not None else self.change.done(item))

    def settle(self) -> None:
        """Tell what was decided, where nothing needs to be written."""
        if isinstance(self.decided, Answer):
            self.answer(self.decided.value)
        elif self.decided is not None:
            self.fail(self.decided)


class PostCommits:
    """The changes under way, by post. For one event loop at a time."""

    def __init__(self) -> None:
        self._queues: dict[tuple[Container, str], deque[_Waiting]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def commit(self, posts: Container, post_id: str, change: Change[T]) -> T:
        """Carry out the change. Raises PostNotFound, what the change itself raises, DatabaseThrottled,
        DatabaseUnavailable."""
        waiting = _Waiting(change, change.first)
        key = (posts, post_id)
        if key in self._queues:
            self._queues[key].append(waiting)
        else:
            self._queues[key] = deque([waiting])
            self._start(self._serve(key))
        try:
            answer: T = await waiting.outcome
        finally:
            add_share(waiting.charge, waiting.sharers)
        return answer

    def _start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _serve(self, key: tuple[Container, str]) -> None:
        """One batch after another, until nobody waits for this post."""
        queue = self._queues[key]
        try:
            while together := _take(queue):
                await asyncio.wait([self._start(_Batch(*key, together).run())], timeout=_HELD_UP_S)
        finally:
            del self._queues[key]


def _take(queue: deque[_Waiting]) -> list[_Waiting]:
    """The first that wait, each about another item; those that gave up are left out."""
    taken: dict[str, _Waiting] = {}
    left: list[_Waiting] = []
    while queue and len(taken) < _MOST_TOGETHER:
        waiting = queue.popleft()
        if waiting.outcome.done():
            continue
        if waiting.change.item_id in taken:
            left.append(waiting)
        else:
            taken[waiting.change.item_id] = waiting
    queue.extendleft(reversed(left))
    return list(taken.values())


@dataclass
class _Batch:
    """What goes together. `found` once the database has said that there is such a post; `post` once its counts could
    not be changed without a look at it."""

    posts: Container
    post_id: str
    together: list[_Waiting]
    found: bool = False
    post: Item | None = None

    async def run(self) -> None:
        """Answer or fail everyone in it."""
        with metered() as charge:
            for waiting in self.together:
                waiting.charge, waiting.sharers = charge, len(self.together)
            try:
                async with deadline(COMMIT_DEADLINE_S):
                    await self._commit()
            except Exception as error:  # noqa: BLE001 - whatever it is, those who wait are to be told, not this task
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        for waiting in self.together:
            waiting.fail(error)

    async def _commit(self) -> None:
        for _ in range(COMMIT_ROUNDS):
            if undecided := [waiting for waiting in self._pending() if waiting.operation is None]:
                await self._look(undecided)
            if not (pending := self._pending()):
                return
            if await self._write(pending):
                return
        self._fail(DatabaseUnavailable(f"a batch was refused {COMMIT_ROUNDS} times because of other writes"))

    def _pending(self) -> list[_Waiting]:
        return [waiting for waiting in self.together if not waiting.outcome.done()]

    async def _write(self, pending: Sequence[_Waiting]) -> bool:
        """False when a look at the post or the items is needed before another attempt."""
        operations = [waiting.operation for waiting in pending if waiting.operation is not None]
        counted = [waiting for waiting in pending if waiting.note is None]
        counting = [self._counting(counted)] if counted else []
        try:
            written = await self.posts.batch(self.post_id, [*counting, *operations])
        except BatchRefused as refused:
            if counting and refused.index == 0:
                await self._look_at_post(refused.reason)
            else:
                self.found = self.found or bool(counting)
                for waiting in pending:
                    waiting.operation = None
            return False
        for waiting, item in zip(pending, written[len(counting) :], strict=True):
            waiting.written(item)
        return True

    def _counting(self, pending: Iterable[_Waiting]) -> Operation:
        """The patch of the post. Blind while the counts are numbers that suffice, for then `incr` is right whatever
        else is written; else from the post as it was read, under its etag."""
        differences: Counter[str] = Counter()
        for waiting in pending:
            name, difference = waiting.change.count
            differences[name] += difference
        if self.post is not None:
            patch = [_set(name, max(0, _number(self.post, name) + n)) for name, n in differences.items()]
            patch.append(_set("version", _number(self.post, "version") + 1))
            return ("patch", (self.post_id, patch), {"if_match_etag": self.post["_etag"]})
        patch = [_incr(name, n) for name, n in differences.items()] + [_incr("version", 1)]
        # The predicate takes no parameters; the names and numbers in it are ours.
        suffice = " AND ".join(f"c.{name} >= {max(0, -n):d}" for name, n in differences.items())
        raisable = "(NOT IS_DEFINED(c.version) OR IS_NUMBER(c.version))"
        predicate = f"FROM c WHERE c.type = '{Post.TYPE}' AND {raisable} AND {suffice}"
        return ("patch", (self.post_id, patch), {"filter_predicate": predicate})

    async def _look_at_post(self, reason: Exception) -> None:
        """Raises PostNotFound."""
        if isinstance(reason, ItemMissing):
            raise PostNotFound(self.post_id)
        if not isinstance(reason, ConditionFailed):
            raise reason
        self.post = _of_type_post(await self.posts.read(self.post_id, self.post_id), self.post_id)

    async def _look(self, undecided: Sequence[_Waiting]) -> None:
        """Know what to write, or that nothing is to be written. Raises PostNotFound.

        That nothing is to be written must not be a lagging replica's word: another process may just have written what
        this one does not find. So where no batch has been to the primary yet, one goes there to read the post, and the
        items are looked at again, at least as they were then (shared/sessions.py).
        """
        await self._decide(undecided)
        if not self.found and any(waiting.decided or waiting.note for waiting in undecided):
            await self._read_post()
            await self._decide(undecided)
        for waiting in undecided:
            waiting.settle()

    async def _decide(self, undecided: Sequence[_Waiting]) -> None:
        """One point read, or one query for all."""
        if len(undecided) == 1:
            item_id = undecided[0].change.item_id
            existing = {item_id: await self.posts.read(item_id, self.post_id)}
        else:
            ids = [waiting.change.item_id for waiting in undecided]
            rows = await self.posts.query(_BY_ID, {"ids": ids}, partition_key=self.post_id, page_size=len(ids))
            existing = {row["id"]: row for row in rows}
        for waiting in undecided:
            waiting.decide(existing.get(waiting.change.item_id))

    async def _read_post(self) -> None:
        """One batch, because batches go to the primary as all writes do. Raises PostNotFound."""
        try:
            [post] = await self.posts.batch(self.post_id, [("read", (self.post_id,))])
        except BatchRefused as refused:
            raise PostNotFound(self.post_id) from refused
        _of_type_post(post, self.post_id)
        self.found = True


def _of_type_post(post: Item | None, post_id: str) -> Item:
    if post is None or post.get("type") != Post.TYPE:
        raise PostNotFound(post_id)
    return post


def _number(post: Item, name: str) -> int:
    """0 where a post of the article's V1 has no count."""
    value = post.get(name)
    return value if isinstance(value, int) else 0


def _set(name: str, value: int) -> Item:
    return {"op": "set", "path": f"/{name}", "value": value}


def _incr(name: str, value: int) -> Item:
    return {"op": "incr", "path": f"/{name}", "value": value}
