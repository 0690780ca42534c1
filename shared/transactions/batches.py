"""Additions and removals by transactional batches: a command is one batch.

The batch patches the post's count and creates a comment or like with its idempotency record, or deletes one. It writes
all of this or nothing. After a refusal, the command reads what exists and decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared.database.container import Container, Operation, patch_of
from shared.database.refusals import BatchRefused, ItemExists, ItemMissing
from shared.database.retries import COMMIT_ROUNDS
from shared.errors import CommentNotFound, DatabaseUnavailable, IdempotencyKeyReused, ItemDamaged, VersionMismatch
from shared.models.base import Item, Resource, integer_of
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import HAS_COUNTABLE_VERSION, Post, existing_post
from shared.models.report import removal_notice
from shared.observability.spans import trace_property

COUNTS: Final = {Comment.TYPE: "commentCount", Like.TYPE: "likeCount"}
_TTL_S: Final = 1
# The index of the patch of the counts in a batch.
COUNTING: Final = 0


@dataclass(frozen=True)
class Added:
    """A comment or like as stored, and whether this command created it."""

    item: Item
    created: bool


async def add_item(posts: Container, item: Item, record: Item | None = None) -> Added:
    """Add a comment or like, its count and its idempotency record.

    One batch. If the item or record exists: a refused batch, and a point read of each.

    An existing item with this id is returned unchanged and counted once. If the record exists, the command is a
    retry: it returns what the first one returned, even if that like was deleted. Raises PostNotFound,
    IdempotencyKeyReused, and CommentNotFound if the comment was deleted. After DatabaseUnavailable, the outcome is
    unknown; any other error means that nothing was written.
    """
    post_id, differences, post = item["postId"], {COUNTS[item["type"]]: 1}, None
    for _ in range(COMMIT_ROUNDS):
        counting = count_patch(post_id, differences, post)
        try:
            _, created, *_ = await posts.batch(post_id, [counting, *creations(item, record)])
        except BatchRefused as refused:
            if refused.index == COUNTING:
                post = await _uncountable_post(posts, post_id, differences, refused)
            elif (found := await _find_added(posts, item, record)) is not None:
                return found
        else:
            return Added(created, created=True)
    raise _refused_too_often()


async def remove_item(
    posts: Container,
    post_id: str,
    item_id: str,
    kind: str,
    *,
    if_match: Collection[str] | None = None,
    audit: Item | None = None,
) -> bool:
    """Remove a comment or like (`kind` is its type) and its count; return whether it existed.

    A point read and a batch. If the item does not exist, another batch and point read confirm it. Raises
    PostNotFound, and VersionMismatch unless `if_match` has the item's last edit (a rename changes nothing). After
    DatabaseUnavailable, the outcome is unknown. `audit` is an item that records the removal.
    """
    differences, post, tried = {COUNTS[kind]: -1}, None, None
    recorded: list[Operation] = [] if audit is None else [("create", (audit,))]
    for attempt in range(COMMIT_ROUNDS):
        existing = await _read(posts, post_id, item_id, kind)
        if tried is not None and (existing is None or existing.get("creationDate") != tried.get("creationDate")):
            # The SDK resent a batch whose response was lost, or another command deleted the item at the same time.
            return True
        if attempt == 0 and not _matches(existing, if_match):
            # The replica can lag. After a read by the primary, the next read is at least as new.
            existing_post(await posts.read_latest(post_id, post_id), post_id)
            existing = await _read(posts, post_id, item_id, kind)
        if existing is None and (not if_match or kind != Like.TYPE):
            return False
        if existing is None or not _matches(existing, if_match):
            raise VersionMismatch  # a like that was made again has the same ID
        tried = existing
        deletion: Operation = ("delete", (item_id,), {"if_match_etag": existing["_etag"]})
        try:
            notice = removal_notices(post_id, [existing])
            await posts.batch(post_id, [count_patch(post_id, differences, post), deletion, *notice, *recorded])
        except BatchRefused as refused:
            if refused.index == COUNTING:
                post = await _uncountable_post(posts, post_id, differences, refused)
        else:
            return True
    raise _refused_too_often()


async def remove_items(posts: Container, post_id: str, items: Sequence[Item]) -> bool:
    """Remove comments and likes of a post and their counts: one batch. Return False if one of them has changed since.

    Of an item, only `id`, `type`, `isReported` and `_etag` are used: a like that was made again has the same ID.
    Raises PostNotFound.
    """
    differences = {name: -number for name, number in Counter(COUNTS[item["type"]] for item in items).items()}
    deletions: list[Operation] = [("delete", (item["id"],), {"if_match_etag": item["_etag"]}) for item in items]
    deletions += removal_notices(post_id, items)
    post = None
    for _ in range(COMMIT_ROUNDS):
        try:
            await posts.batch(post_id, [count_patch(post_id, differences, post), *deletions])
        except BatchRefused as refused:
            if refused.index != COUNTING:
                return False
            post = await _uncountable_post(posts, post_id, differences, refused)
        else:
            return True
    raise _refused_too_often()


def expiries(post_id: str, items: Sequence[Item]) -> list[Operation]:
    """Return the operations that let comments and likes of a deleted post expire, if they have not changed since.

    Of an item, only `id`, `isReported` and `_etag` are used: one that is being marked as reported needs a notice.
    """
    expiry = patch_of({"ttl": _TTL_S, **trace_property()})
    expiring: list[Operation] = [("patch", (item["id"], expiry), {"if_match_etag": item["_etag"]}) for item in items]
    return expiring + removal_notices(post_id, items)


def removal_notices(post_id: str, items: Sequence[Item]) -> list[Operation]:
    """Return the operations that tell the change feed about the deletion of the items that were reported."""
    return [("create", (removal_notice(item, post_id),)) for item in items if "isReported" in item]


def creations(item: Item, record: Item | None) -> list[Operation]:
    """Return the operations that create an item and its record, if it has one."""
    return [("create", (new,)) for new in (item, record) if new is not None]


def count_patch(post_id: str, differences: Mapping[str, int], post: Item | None = None) -> Operation:
    """Return the patch of a post's counts, by their name.

    Without `post`, it increments them if a predicate finds that they are numbers and large enough. With `post`, which
    has just been read, it sets them under the post's etag.
    """
    if post is not None:
        sums = {name: max(0, integer_of(post, name) + n) for name, n in differences.items()}
        patch = patch_of({**sums, "version": integer_of(post, "version") + 1, **trace_property()})
        return ("patch", (post_id, patch), {"if_match_etag": post["_etag"]})
    # A predicate takes no parameters. Nothing in it comes from a client.
    large_enough = " AND ".join(f"c.{name} >= {max(0, -n):d}" for name, n in differences.items())
    predicate = f"FROM c WHERE c.type = '{Post.TYPE}' AND {HAS_COUNTABLE_VERSION} AND {large_enough}"
    return ("patch", (post_id, patch_of(trace_property(), **differences, version=1)), {"filter_predicate": predicate})


async def _uncountable_post(
    posts: Container, post_id: str, differences: Mapping[str, int], refused: BatchRefused
) -> Item | None:
    """Return the post whose counts a batch cannot increment, or None if it can now. Raises PostNotFound."""
    missing = isinstance(refused.reason, ItemMissing)
    post = existing_post(None if missing else await posts.read(post_id, post_id), post_id)
    least = {name: max(0, -n) for name, n in differences.items()} | ({"version": 0} if "version" in post else {})
    countable = all(type(post.get(name)) in (int, float) and post[name] >= n for name, n in least.items())
    return None if countable else post


async def _find_added(posts: Container, item: Item, record: Item | None) -> Added | None:
    """Return the outcome of a command whose item or record exists, or None if another batch can succeed now.

    Raises IdempotencyKeyReused, CommentNotFound.
    """
    post_id, is_comment = item["postId"], item["type"] == Comment.TYPE
    # A record is written with its item. Read in this order, an item that is missing was deleted.
    stored = record and await posts.read(record["id"], post_id)
    existing = await posts.read(item["id"], post_id)
    if record is None:
        return None if existing is None else Added(existing, created=False)
    if is_comment and existing is not None and stored is None:
        # Both can be written between the two reads. A record that is still missing has expired, after 24 hours.
        stored = await posts.read(record["id"], post_id)
        if stored is None:
            raise IdempotencyKeyReused
    if stored is not None:
        return _replay(record, stored, existing, is_comment=is_comment)
    if existing is None:
        return None
    # A retry after an unlike must not like again, so a command that finds a like is recorded, too.
    result = {name: existing[name] for name in record["result"] if name in existing}
    try:
        await posts.create(record | {"result": result})
    except ItemExists:
        return None
    return Added(existing, created=False)


def _replay(record: Item, stored: Item, existing: Item | None, *, is_comment: bool) -> Added:
    """Return what the first command with this key returned. Raises IdempotencyKeyReused, CommentNotFound."""
    if stored.get("fingerprint") != record["fingerprint"]:
        raise IdempotencyKeyReused
    if is_comment and existing is None:
        raise CommentNotFound(record["result"]["id"])
    first = stored.get("result")
    if not isinstance(first, dict):
        raise ItemDamaged(f"record {stored['id']}: result must be an object")
    if not is_comment and (existing is None or existing.get("creationDate") != first.get("creationDate")):
        existing = {**first, "type": Like.TYPE, "postId": record["postId"], "_etag": stored["_etag"]}
    return Added(existing or {}, created=False)


async def _read(posts: Container, post_id: str, item_id: str, kind: str) -> Item | None:
    item = await posts.read(item_id, post_id)
    return item if item is not None and item.get("type") == kind else None


def _matches(existing: Item | None, if_match: Collection[str] | None) -> bool:
    return existing is not None and (if_match is None or Resource.last_edit(existing) in if_match)


def _refused_too_often() -> DatabaseUnavailable:
    return DatabaseUnavailable(f"other writes refused a batch {COMMIT_ROUNDS} times")
