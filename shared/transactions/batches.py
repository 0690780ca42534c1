"""Transactions by transactional batches, without scripts in the database.

A comment or like, its idempotency record and the post's count are one batch. Concurrent commands on one post share a
batch (shared/batcher.py): fifty likes rewrite the post a few times instead of fifty, and never conflict. A refused
batch writes nothing. Its items are then read: commands with nothing left to write get their outcome, and the others go
into another batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

from shared.batcher import Batcher
from shared.charges import Charge, add_share, metered
from shared.cosmos import BY_ID, BatchRefused, Container, ItemMissing, Operation, patch_of
from shared.deadline import deadline
from shared.errors import (
    BlogError,
    CommentNotFound,
    DatabaseUnavailable,
    IdempotencyKeyReused,
    NoProgress,
    PostNotFound,
    VersionMismatch,
)
from shared.models.base import Item, Resource, edit_of
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post
from shared.models.user import name_version
from shared.observability.spans import current_traceparent, span, stamp
from shared.pace import ITEMS_PER_TRANSACTION, Pace
from shared.retries import COMMIT_DEADLINE_S, COMMIT_ROUNDS, RENAMING_REFUSALS

# A batch is limited to 100 operations and 2 MB; a comment can have 60 KB as JSON.
GROUP_LIMIT = 30
_MAX_RENAME_BATCHES = 10_000

_COUNTS = {Comment.TYPE: "commentCount", Like.TYPE: "likeCount"}

# The items that do not have the user's current username yet.
OUTDATED = (
    "c.userId = @userId AND c.type IN ('post', 'comment', 'like')"
    " AND (NOT IS_DEFINED(c.userUsername) OR c.userUsername != @username)"
    " AND (NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= @nameVersion)"
)
_OUTDATED_IN_POST = f"SELECT c.id, c.type FROM c WHERE {OUTDATED} OFFSET 0 LIMIT @limit"  # noqa: S608 - no values


@dataclass(frozen=True)
class Added:
    """A comment or like as stored, and whether this command created it."""

    item: Item
    created: bool


class Batches:
    """Writes to `posts` that change several items of one logical partition.

    An error means that nothing was written, except DatabaseUnavailable: then the outcome is unknown.
    """

    # The trigger that keeps the feed's length; without one, the change-feed function deletes the surplus.
    feed_trigger: str | None = None

    def __init__(self, *, deadline_s: float = COMMIT_DEADLINE_S, overlap_after_s: float = 1.0) -> None:
        commit, item_id = partial(_commit, deadline_s), attrgetter("item_id")
        self._batcher = Batcher(commit, limit=GROUP_LIMIT, identity=item_id, overlap_after_s=overlap_after_s)

    async def add(self, posts: Container, item: Item, record: Item | None = None) -> Added:
        """Add a comment or like, its count and its idempotency record.

        One batch. If the item or record exists: a refused batch and a point read for each of the two.

        An existing item with this id is returned unchanged and counted once. If the record exists, the command is a
        retry: it returns what the first one returned, even if that like was deleted. Raises PostNotFound,
        IdempotencyKeyReused, and CommentNotFound if the comment was deleted.
        """
        added: Added = await self._submit(posts, item["postId"], _Addition(item, record))
        return added

    async def remove(self, posts: Container, post_id: str, item_id: str, kind: str, *, etag: str | None) -> bool:
        """Remove a comment or like (`kind` is its type) and its count; return whether it existed during this command.

        A point read and a batch. If there is no such item, another batch and point read confirm it. Raises
        PostNotFound, and VersionMismatch if `etag` is not of this item (a rename changes nothing).
        """
        removed: bool = await self._submit(posts, post_id, _Removal(item_id, kind, etag))
        return removed

    async def _submit(self, posts: Container, post_id: str, change: _Change) -> Any:
        try:
            return await self._batcher.submit((posts, post_id), change)
        finally:
            add_share(*change.bill)

    async def rename_in_post(self, posts: Container, post_id: str, user: Item, pace: Pace | None = None) -> None:
        """Write the user's current name to all their items of one post; safe to repeat.

        A query in one partition and a batch for each 25 items, until the query finds none. It sees every item from
        before this call. Items that a later rename wrote stay unchanged. Raises NoProgress.
        """
        pace = pace or Pace()
        parameters = outdated_parameters(user) | {"limit": ITEMS_PER_TRANSACTION}
        refusals = 0
        await posts.catch_up(post_id)
        for _ in range(_MAX_RENAME_BATCHES):
            items = await posts.query(
                _OUTDATED_IN_POST, parameters, partition_key=post_id, page_size=ITEMS_PER_TRANSACTION
            )
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
        raise DatabaseUnavailable(f"renaming in post {post_id} did not finish in {_MAX_RENAME_BATCHES} batches")

    async def rename_items(self, posts: Container, post_id: str, items: Sequence[Item], user: Item, pace: Pace) -> None:
        """Like `rename_in_post`, for known items of one post, of which only `id` and `type` are read.

        A batch for each 25 items; if one is refused, `rename_in_post`.
        """
        try:
            for start in range(0, len(items), ITEMS_PER_TRANSACTION):
                some = items[start : start + ITEMS_PER_TRANSACTION]
                async with pace.transaction(len(some)):
                    await posts.batch(post_id, [_rename(item, user) for item in some])
        except BatchRefused:
            await self.rename_in_post(posts, post_id, user, pace)


def outdated_parameters(user: Item) -> dict[str, Any]:
    """Return the parameters of `OUTDATED`."""
    return {"userId": user["id"], "username": user["username"], "nameVersion": name_version(user)}


def _rename(item: Item, user: Item) -> Operation:
    version = name_version(user)
    increments = {"version": 1} if item["type"] == Post.TYPE else {}
    patch = patch_of({"userUsername": user["username"], "nameVersion": version, **stamp()}, **increments)
    # A predicate takes no parameters. Nothing in it comes from a client: a known type and an integer.
    older = f"(NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= {version:d})"
    return ("patch", (item["id"], patch), {"filter_predicate": f"FROM c WHERE c.type = '{item['type']}' AND {older}"})


@dataclass(frozen=True)
class _Write:
    """The operations of one command, its change of the count, and its outcome (None: the first item, as created)."""

    operations: list[Operation]
    difference: int = 0
    outcome: Added | bool | None = None


_Decision = _Write | Added | bool | BlogError


@dataclass
class _Change:
    """One command. `decision` is what it writes, its outcome, or None until its item is read."""

    item_id: str
    kind: str
    record: Item | None = None
    decision: _Decision | None = None
    # The charge of the batch, and the number of commands that share it.
    bill: tuple[Charge, int] = field(default_factory=lambda: (Charge(), 1))
    caller: str = field(default_factory=current_traceparent)

    def decide(self, existing: Item | None, stored: Item | None) -> _Decision:
        """Return the decision that follows from the item and the record in the database."""
        raise NotImplementedError


class _Addition(_Change):
    def __init__(self, item: Item, record: Item | None) -> None:
        super().__init__(item["id"], item["type"], record)
        self._creation = _Write([("create", (new,)) for new in (item, record) if new is not None], difference=1)
        self.decision = self._creation

    def decide(self, existing: Item | None, stored: Item | None) -> _Decision:
        if self.record is not None and stored is not None:
            return _replay(self.record, stored, existing, self.kind)
        if existing is None:
            return self._creation
        outcome = Added(existing, created=False)
        if self.record is None:
            return outcome
        if self.kind == Comment.TYPE:
            return IdempotencyKeyReused()  # more than 24 hours ago
        # A retry after an unlike must not like again, so a command that finds a like is recorded, too.
        result = {name: existing[name] for name in self.record["result"] if name in existing}
        return _Write([("create", (self.record | {"result": result},))], outcome=outcome)


def _replay(record: Item, stored: Item, existing: Item | None, kind: str) -> Added | BlogError:
    """Return what the first command with this key returned."""
    first = stored["result"]
    if stored["fingerprint"] != record["fingerprint"]:
        return IdempotencyKeyReused()
    if kind == Comment.TYPE:
        return CommentNotFound(first["id"]) if existing is None else Added(existing, created=False)
    if existing is None or existing["creationDate"] != first["creationDate"]:
        existing = {**first, "type": Like.TYPE, "postId": stored["postId"], "_etag": stored["_etag"]}
    return Added(existing, created=False)


class _Removal(_Change):
    def __init__(self, item_id: str, kind: str, etag: str | None) -> None:
        super().__init__(item_id, kind)
        self._edit = None if etag is None else edit_of(etag)
        # The item that this command has tried to delete.
        self._tried: Item | None = None

    def decide(self, existing: Item | None, stored: Item | None) -> _Decision:
        del stored
        if self._tried is not None and (
            existing is None or existing.get("creationDate") != self._tried.get("creationDate")
        ):
            # The SDK resent a batch whose response was lost, or another command deleted the item at the same time.
            return True
        if existing is None or existing.get("type") != self.kind:
            return VersionMismatch() if self._edit is not None and self.kind == Like.TYPE else False
        if self._edit is not None and self._edit != Resource.last_edit(existing):
            return VersionMismatch()
        self._tried = existing
        deletion: Operation = ("delete", (self.item_id,), {"if_match_etag": existing["_etag"]})
        return _Write([deletion], difference=-1, outcome=True)


async def _commit(deadline_s: float, key: tuple[Container, str], changes: Sequence[_Change]) -> list[Any]:
    """Write changes to one post; return their outcomes. The charge is shared evenly."""
    # A batch for several commands belongs to all of them; a batch for one, to its own span.
    shared = span("group commit", links=[change.caller for change in changes]) if len(changes) > 1 else nullcontext()
    with shared, metered() as charge:
        for change in changes:
            change.bill = (charge, len(changes))
        try:
            async with deadline(deadline_s):
                await _Commit(*key, changes).run()
        except BlogError as error:
            for change in changes:
                if change.decision is None or isinstance(change.decision, _Write):
                    change.decision = error
    return [change.decision for change in changes]


@dataclass
class _Commit:
    posts: Container
    post_id: str
    changes: Sequence[_Change]
    # Whether a batch has found the post. Batches go to the primary, and later reads are at least as fresh.
    post_found: bool = False
    # The post, if its counts cannot be incremented without reading it.
    post: Item | None = None

    async def run(self) -> None:
        """Bring each change to its outcome. Raises PostNotFound, DatabaseThrottled, DatabaseUnavailable."""
        for _ in range(COMMIT_ROUNDS):
            while undecided := [change for change in self.changes if change.decision is None]:
                await self._decide(undecided)
            if await self._write():
                return
        raise DatabaseUnavailable(f"other writes refused a batch {COMMIT_ROUNDS} times")

    async def _write(self) -> bool:
        """Write one batch; return False if it was refused."""
        writes = [(change, change.decision) for change in self.changes if isinstance(change.decision, _Write)]
        differences: Counter[str] = Counter()
        for change, write in writes:
            if write.difference:
                differences[_COUNTS[change.kind]] += write.difference
        counting = [self._counting(differences)] if differences else []
        operations = [operation for _, write in writes for operation in write.operations]
        try:
            written = await self.posts.batch(self.post_id, [*counting, *operations]) if operations else []
        except BatchRefused as refused:
            if counting and refused.index == 0:
                if isinstance(refused.reason, ItemMissing):
                    raise PostNotFound(self.post_id) from refused
                self.post = self._checked(await self.posts.read(self.post_id, self.post_id))
                return False
            self.post_found = self.post_found or bool(counting)
            for change, _ in writes:
                change.decision = None
            return False
        results = iter(written[len(counting) :])
        for change, write in writes:
            first, *_ = [next(results) for _ in write.operations]
            change.decision = Added(first, created=True) if write.outcome is None else write.outcome
        return True

    def _counting(self, differences: Mapping[str, int]) -> Operation:
        """Return the patch of the post's counts.

        It increments them unread if a predicate finds numbers that are large enough. Otherwise it sets them from the
        post as read, under its etag.
        """
        if self.post is not None:
            sums = {name: max(0, _integer(self.post, name) + n) for name, n in differences.items()}
            patch = patch_of({**sums, "version": _integer(self.post, "version") + 1, **stamp()})
            return ("patch", (self.post_id, patch), {"if_match_etag": self.post["_etag"]})
        # A predicate takes no parameters. Nothing in it comes from a client.
        large_enough = " AND ".join(f"c.{name} >= {max(0, -n):d}" for name, n in differences.items())
        countable = f"(NOT IS_DEFINED(c.version) OR IS_NUMBER(c.version)) AND {large_enough}"
        predicate = f"FROM c WHERE c.type = '{Post.TYPE}' AND {countable}"
        return ("patch", (self.post_id, patch_of(stamp(), **differences, version=1)), {"filter_predicate": predicate})

    async def _decide(self, undecided: Sequence[_Change]) -> None:
        """Read the items and records of these changes and decide. Raises PostNotFound.

        A removal starts here, and its item may be missing only on a lagging replica. So the first time that there is
        nothing to write, the post is read on the primary, and a second call decides.
        """
        # A record is written with its item. Read in this order, an item that is missing was deleted.
        records = await self._find([change.record["id"] for change in undecided if change.record is not None])
        items = await self._find([change.item_id for change in undecided])
        # Both can be written between the two reads. The record of a comment that is still missing has expired.
        comments = {one.item_id for one in undecided if one.kind == Comment.TYPE} & items.keys()
        of_comments = [one.record["id"] for one in undecided if one.record is not None and one.item_id in comments]
        records |= await self._find([record_id for record_id in of_comments if record_id not in records])
        decisions = [
            change.decide(items.get(change.item_id), change.record and records.get(change.record["id"]))
            for change in undecided
        ]
        if self.post_found or all(isinstance(decision, _Write) for decision in decisions):
            for change, decision in zip(undecided, decisions, strict=True):
                change.decision = decision
            return
        self._checked(await self.posts.read_latest(self.post_id, self.post_id))
        self.post_found = True

    async def _find(self, ids: Sequence[str]) -> dict[str, Item]:
        """One point read or one query: return the existing items by id."""
        if len(ids) > 1:
            rows = await self.posts.query(BY_ID, {"ids": ids}, partition_key=self.post_id, page_size=len(ids))
        else:
            rows = [item for item_id in ids if (item := await self.posts.read(item_id, self.post_id)) is not None]
        return {row["id"]: row for row in rows}

    def _checked(self, post: Item | None) -> Item:
        if post is None or post.get("type") != Post.TYPE:
            raise PostNotFound(self.post_id)
        return post


def _integer(post: Item, name: str) -> int:
    """Return a number of the post, or 0, because a V1 post has no counts."""
    value = post.get(name)
    return value if isinstance(value, int) else 0
