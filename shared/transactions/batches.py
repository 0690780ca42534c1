"""Additions and removals by transactional batches: a command is one batch.

The batch patches the post's count and creates a comment or like with its idempotency record, or deletes one. It writes
all of this or nothing. If the item exists already, shared/data/ decides whether the command is a retry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NoReturn

from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import HAS_COUNTABLE_VERSION, Post, existing_post
from shared.platform.database.container import Container, Operation, patch_of
from shared.platform.database.refusals import BatchRefused, ItemMissing
from shared.platform.errors import DatabaseUnavailable, ItemDamaged, VersionMismatch
from shared.platform.models import Item, Resource
from shared.platform.telemetry import trace_property

COUNTS: Final = {Comment.TYPE: "commentCount", Like.TYPE: "likeCount"}
# Batches of one command that other writes refuse.
COMMIT_ROUNDS: Final = 8
# The index of the patch of the counts in a batch that adds items.
COUNTING: Final = 0


async def add_item(posts: Container, item: Item, record: Item | None = None) -> Item:
    """Create a comment or like, its idempotency record if it has one, and count it: one batch.

    Raises PostNotFound, ItemDamaged, and ItemExists if the item or the record exists. After DatabaseUnavailable, the
    outcome is unknown; any other error means that nothing was written.
    """
    post_id, creations = item["postId"], [("create", (new,)) for new in (item, record) if new is not None]
    try:
        _, created, *_ = await posts.batch(post_id, [count_patch(post_id, {COUNTS[item["type"]]: 1}), *creations])
    except BatchRefused as refused:
        if refused.index == COUNTING:
            await _raise_uncountable(posts, post_id, refused)
        raise refused.reason from refused  # ItemExists
    return created


async def remove_item(
    posts: Container, post_id: str, item_id: str, kind: str, *, if_match: Collection[str] | None = None
) -> bool:
    """Remove a comment or like (`kind` is its type) and its count; return whether it existed.

    A point read and a batch. If the item does not exist, another batch and point read confirm it. Raises
    PostNotFound, ItemDamaged, and VersionMismatch unless `if_match` has the item's last edit (a rename changes
    nothing). After DatabaseUnavailable, the outcome is unknown.
    """
    tried = None
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
            raise VersionMismatch  # a like with this ID can be a new one
        tried = existing
        if await remove_items(posts, post_id, [existing]):
            return True
    raise DatabaseUnavailable(f"other writes refused a batch {COMMIT_ROUNDS} times")


async def remove_items(posts: Container, post_id: str, items: Sequence[Item]) -> bool:
    """Remove comments and likes of a post and their counts: one batch. Return False if one of them has changed since.

    Of an item, only `id`, `type` and `_etag` are used. A like that was removed and made again has another etag.
    Raises PostNotFound, ItemDamaged.
    """
    differences = {name: -number for name, number in Counter(COUNTS[item["type"]] for item in items).items()}
    deletions: list[Operation] = [("delete", (item["id"],), {"if_match_etag": item["_etag"]}) for item in items]
    try:
        # The deletions come first: if another command has deleted the item, its count can be too small, too.
        await posts.batch(post_id, [*deletions, count_patch(post_id, differences)])
    except BatchRefused as refused:
        if refused.index == len(deletions):
            await _raise_uncountable(posts, post_id, refused)
        return False
    return True


def expiries(items: Sequence[Item]) -> list[Operation]:
    """Return the operations that let comments and likes of a deleted post expire, if they have not changed since.

    Of an item, only `id` and `_etag` are used.
    """
    expiry = patch_of({"ttl": 1, **trace_property()})
    return [("patch", (item["id"], expiry), {"if_match_etag": item["_etag"]}) for item in items]


def count_patch(post_id: str, differences: Mapping[str, int]) -> Operation:
    """Return the patch that changes a post's counts, by their name, if they are numbers and large enough.

    A V1 post has no counts, and they start at 0.
    """
    # A predicate takes no parameters. Nothing in it comes from a client.
    countable = " AND ".join(
        f"c.{name} >= {-n:d}" if n < 0 else f"(NOT IS_DEFINED(c.{name}) OR c.{name} >= 0)"
        for name, n in differences.items()
    )
    predicate = f"FROM c WHERE c.type = '{Post.TYPE}' AND {HAS_COUNTABLE_VERSION} AND {countable}"
    return ("patch", (post_id, patch_of(trace_property(), **differences, version=1)), {"filter_predicate": predicate})


async def _raise_uncountable(posts: Container, post_id: str, refused: BatchRefused) -> NoReturn:
    """Raise the reason why a batch could not patch the post's counts: PostNotFound, ItemDamaged."""
    missing = isinstance(refused.reason, ItemMissing)
    existing_post(None if missing else await posts.read(post_id, post_id), post_id)
    raise ItemDamaged(f"post {post_id}: a count or version is not a number, or too small") from refused


async def _read(posts: Container, post_id: str, item_id: str, kind: str) -> Item | None:
    item = await posts.read(item_id, post_id)
    return item if item is not None and item.get("type") == kind else None


def _matches(existing: Item | None, if_match: Collection[str] | None) -> bool:
    return existing is not None and (if_match is None or Resource.last_edit(existing) in if_match)
