"""Transactions by transactional batches, without scripts in the database.

A comment or like, its idempotency record and the post's count are one batch. Concurrent commands on one post share a
batch (shared/batcher.py): fifty likes then rewrite the post a few times instead of fifty, and never conflict.

A refused batch writes nothing. Its items are then read; commands that have nothing left to write get their result, and
the others go into another batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shared.batcher import Batcher
from shared.charges import Charge, add_share, metered
from shared.cosmos import BATCH_LIMIT, BatchRefused, ConditionFailed, Container, ItemMissing, Operation
from shared.data.idempotency import check_same_request
from shared.errors import BlogError, CommentNotFound, DatabaseUnavailable, PostNotFound, VersionMismatch
from shared.models.base import Item
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post
from shared.models.user import name_version
from shared.patience import end_of_patience, patience_until
from shared.retries import COMMIT_DEADLINE_S, COMMIT_ROUNDS, RENAMING_REFUSALS
from shared.transactions.protocol import Added

# A batch is limited to 100 operations and 2 MB; a comment can have 60 KB as JSON.
GROUP_LIMIT = 30
_OVERLAP_AFTER_S = 1.0
_MAX_RENAME_BATCHES = 10_000

_COUNTS = {Comment.TYPE: "commentCount", Like.TYPE: "likeCount"}
_BY_ID = "SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)"

# The items that do not have the user's current name yet.
OUTDATED = (
    "c.userId = @userId AND c.type IN ('post', 'comment', 'like')"
    " AND (NOT IS_DEFINED(c.userUsername) OR c.userUsername != @username)"
    " AND (NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= @nameVersion)"
)
_OUTDATED_IN_POST = f"SELECT c.id, c.type FROM c WHERE {OUTDATED} OFFSET 0 LIMIT @limit"  # noqa: S608 - no values


class Batches:
    """See `shared.transactions.protocol.Transactions`."""

    feed_trigger = None

    def __init__(self, *, deadline_s: float = COMMIT_DEADLINE_S, overlap_after_s: float = _OVERLAP_AFTER_S) -> None:
        self._batcher = Batcher(
            _commit,
            limit=GROUP_LIMIT,
            identity=lambda change: change.item_id,
            deadline_s=deadline_s,
            overlap_after_s=overlap_after_s,
        )

    async def add(self, posts: Container, item: Item, record: Item | None = None) -> Added:
        """One batch. If the item or record exists: a refused batch and a point read for each of the two."""
        added: Added = await self._submit(posts, item["postId"], _Addition(item, record))
        return added

    async def remove(self, posts: Container, post_id: str, item_id: str, kind: str, *, etag: str | None) -> bool:
        """A point read and a batch. If there is no such item, another batch and point read confirm it."""
        removed: bool = await self._submit(posts, post_id, _Removal(item_id, kind, etag))
        return removed

    async def _submit(self, posts: Container, post_id: str, change: _Change) -> Any:
        try:
            return await self._batcher.submit((posts, post_id), change)
        except TimeoutError as error:
            raise DatabaseUnavailable("a batch reached its deadline") from error
        finally:
            add_share(change.charge, change.sharers)

    async def rename_in_post(self, posts: Container, post_id: str, user: Item) -> None:
        """A query in one partition and a batch for each hundred items, until the query finds none."""
        parameters = outdated_parameters(user) | {"limit": BATCH_LIMIT}
        refusals = 0
        for _ in range(_MAX_RENAME_BATCHES):
            items = await posts.query(_OUTDATED_IN_POST, parameters, partition_key=post_id, page_size=BATCH_LIMIT)
            if not items:
                return
            try:
                await posts.batch(post_id, [_rename(item, user) for item in items])
            except BatchRefused as refused:  # an item was written or deleted after the query
                refusals += 1
                if refusals == RENAMING_REFUSALS:
                    raise DatabaseUnavailable(f"renames in post {post_id} kept meeting other writes") from refused
        raise DatabaseUnavailable(f"renaming in post {post_id} did not finish in {_MAX_RENAME_BATCHES} batches")

    async def rename_items(self, posts: Container, post_id: str, items: Sequence[Item], user: Item) -> None:
        """A batch for each hundred items; if one is refused, `rename_in_post`."""
        try:
            for start in range(0, len(items), BATCH_LIMIT):
                await posts.batch(post_id, [_rename(item, user) for item in items[start : start + BATCH_LIMIT]])
        except BatchRefused:
            await self.rename_in_post(posts, post_id, user)


def outdated_parameters(user: Item) -> dict[str, Any]:
    """Return the parameters of `OUTDATED`."""
    return {"userId": user["id"], "username": user["username"], "nameVersion": name_version(user)}


def _rename(item: Item, user: Item) -> Operation:
    version = name_version(user)
    patch = [_set("userUsername", user["username"]), _set("nameVersion", version)]
    if item["type"] == Post.TYPE:
        patch.append(_incr("version", 1))
    # A predicate takes no parameters. Nothing in it comes from a client: a known type and an integer.
    older = (
        f"FROM c WHERE c.type = '{item['type']}' AND (NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= {version:d})"
    )
    return ("patch", (item["id"], patch), {"filter_predicate": older})


# Comments and likes. A `_Change` is one command, `_commit` writes those of one post that share a batch.


@dataclass(frozen=True)
class _Write:
    """What a change writes; `result` None stands for the item that the first operation creates."""

    operations: list[Operation]
    difference: int = 0
    result: Added | bool | None = None


@dataclass(kw_only=True)
class _Change:
    """One command. It has a `write` or an `outcome`, or neither until its item is read."""

    write: _Write | None = None
    outcome: Added | bool | BlogError | None = None
    patient_until: float | None = field(default_factory=end_of_patience)
    charge: Charge = field(default_factory=Charge)
    sharers: int = 1

    item_id: str
    kind: str
    record_id: str | None = None

    def decide(self, found: Mapping[str, Item]) -> None:
        """Set `write` or `outcome`, from the items as stored."""
        self.write = self.outcome = None
        try:
            decision = self._decision(found)
        except BlogError as error:
            self.outcome = error
            return
        if isinstance(decision, _Write):
            self.write = decision
        else:
            self.outcome = decision

    def _decision(self, found: Mapping[str, Item]) -> _Write | Added | bool:
        raise NotImplementedError


class _Addition(_Change):
    def __init__(self, item: Item, record: Item | None) -> None:
        super().__init__(item_id=item["id"], kind=item["type"], record_id=None if record is None else record["id"])
        self.item, self.record = item, record
        creations: list[Operation] = [("create", (new,)) for new in (item, record) if new is not None]
        self.write = self.creation = _Write(creations, difference=1)

    def _decision(self, found: Mapping[str, Item]) -> _Write | Added:
        existing = found.get(self.item_id)
        if self.record is not None and (stored := found.get(self.record["id"])) is not None:
            check_same_request(stored, self.record)
            return Added(self._replayed(stored, existing), created=False)
        if existing is None:
            return self.creation
        answer = Added(existing, created=False)
        if self.record is None or self.kind == Comment.TYPE:
            return answer
        # A retry after an unlike must not like again, so a like that finds one is recorded, too.
        result = {name: existing.get(name) for name in self.record["result"]}
        return _Write([("create", (self.record | {"result": result},))], result=answer)

    def _replayed(self, stored: Item, existing: Item | None) -> Item:
        if self.kind == Comment.TYPE:
            if existing is None:
                raise CommentNotFound(self.item_id)
            return existing
        first = stored["result"]
        if existing is not None and existing["creationDate"] == first["creationDate"]:
            return existing
        return {**first, "type": Like.TYPE, "postId": stored["postId"], "_etag": stored["_etag"]}


class _Removal(_Change):
    def __init__(self, item_id: str, kind: str, etag: str | None) -> None:
        super().__init__(item_id=item_id, kind=kind)
        self.etag = etag

    def _decision(self, found: Mapping[str, Item]) -> _Write | bool:
        existing = found.get(self.item_id)
        if existing is None or existing.get("type") != self.kind:
            if self.etag is not None and self.kind == Like.TYPE:
                raise VersionMismatch
            return False
        if self.etag is not None and existing["_etag"] != self.etag:
            raise VersionMismatch
        deletion: Operation = ("delete", (self.item_id,), {"if_match_etag": existing["_etag"]})
        return _Write([deletion], difference=-1, result=True)


async def _commit(key: tuple[Container, str], changes: Sequence[_Change]) -> list[Any]:
    """Write changes to one post; return their results or errors. The charge is shared evenly."""
    waits = [change.patient_until for change in changes if change.patient_until is not None]
    with metered() as charge, patience_until(max(waits, default=None)):
        for change in changes:
            change.charge, change.sharers = charge, len(changes)
        try:
            await _Commit(*key, changes).run()
        except BlogError as error:
            return [error if change.outcome is None else change.outcome for change in changes]
    return [change.outcome for change in changes]


@dataclass
class _Commit:
    posts: Container
    post_id: str
    changes: Sequence[_Change]
    # Whether a batch, which goes to the primary, has found the post. Reads are at least as fresh from then on.
    post_found: bool = False
    # The post, if its counts cannot be incremented without reading it.
    post: Item | None = None

    async def run(self) -> None:
        """Set the outcome of each change. Raises PostNotFound, DatabaseThrottled, DatabaseUnavailable."""
        for _ in range(COMMIT_ROUNDS):
            if undecided := [change for change in self._pending() if change.write is None]:
                await self._look(undecided)
            pending = [(change, change.write) for change in self._pending() if change.write is not None]
            if not pending or await self._write(pending):
                return
        raise DatabaseUnavailable(f"other writes refused a batch {COMMIT_ROUNDS} times")

    def _pending(self) -> Iterator[_Change]:
        return (change for change in self.changes if change.outcome is None)

    async def _write(self, pending: Sequence[tuple[_Change, _Write]]) -> bool:
        """Write one batch; return False if it was refused."""
        differences: Counter[str] = Counter()
        for change, write in pending:
            if write.difference:
                differences[_COUNTS[change.kind]] += write.difference
        counting = [self._counting(differences)] if differences else []
        operations = [operation for _, write in pending for operation in write.operations]
        try:
            written = await self.posts.batch(self.post_id, [*counting, *operations])
        except BatchRefused as refused:
            if counting and refused.index == 0:
                await self._read_post(refused.reason)
            else:
                self.post_found = self.post_found or bool(counting)
                for change, _ in pending:
                    change.write = None
            return False
        results = iter(written[len(counting) :])
        for change, write in pending:
            first, *_ = [next(results) for _ in write.operations]
            change.outcome = Added(first, created=True) if write.result is None else write.result
        return True

    def _counting(self, differences: Mapping[str, int]) -> Operation:
        """Return the patch of the post.

        It increments blindly if the predicate says that the counts are numbers and large enough. Otherwise it sets
        them from the post as read, under its etag.
        """
        if self.post is not None:
            patch = [_set(name, max(0, _integer(self.post, name) + n)) for name, n in differences.items()]
            patch.append(_set("version", _integer(self.post, "version") + 1))
            return ("patch", (self.post_id, patch), {"if_match_etag": self.post["_etag"]})
        patch = [_incr(name, n) for name, n in differences.items()] + [_incr("version", 1)]
        # A predicate takes no parameters. Nothing in it comes from a client.
        large_enough = " AND ".join(f"c.{name} >= {max(0, -n):d}" for name, n in differences.items())
        countable = f"(NOT IS_DEFINED(c.version) OR IS_NUMBER(c.version)) AND {large_enough}"
        return (
            "patch",
            (self.post_id, patch),
            {"filter_predicate": f"FROM c WHERE c.type = '{Post.TYPE}' AND {countable}"},
        )

    async def _read_post(self, refusal: Exception) -> None:
        """Read the post that refused its patch. Raises PostNotFound."""
        if isinstance(refusal, ItemMissing):
            raise PostNotFound(self.post_id)
        if not isinstance(refusal, ConditionFailed):
            raise refusal
        self.post = self._checked(await self.posts.read(self.post_id, self.post_id))

    async def _look(self, undecided: Sequence[_Change]) -> None:
        """Read the items of these changes and decide what to write. Raises PostNotFound.

        A removal starts here, and its item may be missing only on a lagging replica. So before it reports that,
        a batch reads the post on the primary, and the item is read again (shared/sessions.py).
        """
        await self._decide(undecided)
        if not self.post_found and any(change.write is None for change in undecided):
            for change in undecided:
                change.outcome = None
            try:
                [post] = await self.posts.batch(self.post_id, [("read", (self.post_id,))])
            except BatchRefused as refused:
                raise PostNotFound(self.post_id) from refused
            self._checked(post)
            self.post_found = True
            await self._decide(undecided)

    async def _decide(self, undecided: Sequence[_Change]) -> None:
        # A record is written together with its item. Read in this order, an item that is missing was deleted.
        records = await self._find([change.record_id for change in undecided if change.record_id is not None])
        found = records | await self._find([change.item_id for change in undecided])
        for change in undecided:
            change.decide(found)

    async def _find(self, ids: Sequence[str]) -> dict[str, Item]:
        """One point read or one query; return the items that exist by id."""
        if len(ids) <= 1:
            rows = [item for item_id in ids if (item := await self.posts.read(item_id, self.post_id)) is not None]
        else:
            rows = await self.posts.query(_BY_ID, {"ids": ids}, partition_key=self.post_id, page_size=len(ids))
        return {row["id"]: row for row in rows}

    def _checked(self, post: Item | None) -> Item:
        if post is None or post.get("type") != Post.TYPE:
            raise PostNotFound(self.post_id)
        return post


def _integer(post: Item, name: str) -> int:
    """Return a number of the post, or 0: a V1 post has no counts."""
    value = post.get(name)
    return value if isinstance(value, int) else 0


def _set(name: str, value: object) -> dict[str, Any]:
    return {"op": "set", "path": f"/{name}", "value": value}


def _incr(name: str, value: int) -> dict[str, Any]:
    return {"op": "incr", "path": f"/{name}", "value": value}
