"""Handles changed posts, comments and likes.

- Post: its copy in `users` is updated and, if it belongs in `feed` or is there, its copy in `feed`.
- Deleted post (tombstone): its copies are deleted, its comments and likes expire, and the feed is refilled.
- Post, comment or like with a stale username: the current name is written. This closes the race between a rename and a
  write that read the name before it, because the rename is stored by the time the change feed delivers the item, and
  the user is read after that (docs/reliability.md lists all reads).

Writes to `posts` come back as changes, then with the current name, so the loop terminates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from shared.data.blog import Blog
from shared.database.container import BATCH_LIMIT, Container, patch_of
from shared.database.refusals import BatchRefused
from shared.database.retries import EXPIRY_REFUSALS
from shared.errors import NoProgress
from shared.models.base import Item, integer_of
from shared.models.comment import Comment
from shared.models.fields import is_item_id
from shared.models.like import Like
from shared.models.post import DELETED_TYPE, Post, short_form, version_of
from shared.observability.spans import current_traceparent, span, stamp, writer_of
from shared.propagation.change_feed import POSTS_FEED, for_each, text_of
from shared.propagation.copies import Copies, copy_creations, post_reads
from shared.propagation.feed import FeedState, refill, trim, trim_by_trigger
from shared.propagation.pace import Pace
from shared.propagation.rename_fanout import is_outdated, rename_in_post

# Comments and likes of a deleted post.
_TTL_S = 1

_CONTRIBUTIONS = (
    "SELECT VALUE c.id FROM c WHERE c.type IN ('comment', 'like') AND NOT IS_DEFINED(c.ttl) OFFSET 0 LIMIT @limit"
)


@dataclass(frozen=True)
class PostChangeHandler:
    """Handles deliveries of the change feed of `posts`."""

    blog: Blog

    async def on_changed(self, changes: Iterable[Mapping[str, Any]]) -> list[Exception]:
        """Handle a delivery; return the errors stored in `failures`. Raises DatabaseThrottled, DatabaseUnavailable."""
        delivery = _PostDelivery(self)
        try:
            return await delivery.handle(list(fold(changes)))
        finally:
            # After a deadline, a throttled creation could otherwise be applied during the next one.
            if delivery.feed_copies.creations is not None:
                delivery.feed_copies.creations.cancel()

    @property
    def feed_copies(self) -> Copies:
        return Copies(
            self.blog.feed, self.blog.posts, partition_key="type", trigger=self.blog.transactions.front_page_trigger
        )


def fold(changes: Iterable[Mapping[str, Any]]) -> Iterable[Item]:
    """Reduce a delivery to the last state of each post, and one comment or like per post, user and name.

    A hundred likes of a post then cost one update of its copies. Correcting the contribution with the lowest
    `nameVersion` corrects the others.
    """
    folded: dict[tuple[str, ...], Item] = {}
    for change in changes:
        item = dict(change)
        kind = item.get("type")
        if kind in (Post.TYPE, DELETED_TYPE):
            key: tuple[str, ...] = ("post", item["id"], str(item.get("postId")))
            if key not in folded or integer_of(item, "version") >= integer_of(folded[key], "version"):
                folded[key] = item
        elif kind in (Comment.TYPE, Like.TYPE) and "ttl" not in item:
            key = ("contribution", *(str(item.get(name)) for name in ("postId", "userId", "userUsername")))
            if key not in folded or integer_of(item, "nameVersion", -1) < integer_of(folded[key], "nameVersion", -1):
                folded[key] = item
    return folded.values()


class _PostDelivery:
    """One folded delivery: it reads users and feed once, and combines the reads and creations of its copies."""

    def __init__(self, handler: PostChangeHandler) -> None:
        self.handler = handler
        self.authors: dict[str, Item] = {}
        self.feed_state = FeedState([])
        self.has_filled_feed = False
        self.pace = Pace()
        looks = post_reads(handler.blog.posts)
        has_trigger = handler.blog.transactions.front_page_trigger is not None  # a trigger does not run for a batch
        creations = None if has_trigger else copy_creations(handler.blog.feed)
        self.user_copies = Copies(handler.blog.users, handler.blog.posts, partition_key="userId", looks=looks)
        self.feed_copies = replace(handler.feed_copies, looks=looks, creations=creations)

    async def handle(self, changes: list[Item]) -> list[Exception]:
        failures = self.handler.blog.failures
        if any(change["type"] == Post.TYPE for change in changes):
            # Otherwise a post that has just entered the feed would not be updated in it.
            await self.handler.blog.feed.catch_up(Post.TYPE)
            self.feed_state = await FeedState.read(self.handler.blog.feed)
        deleted = [change for change in changes if change["type"] == DELETED_TYPE]
        found = (change.get("userId") for change in changes if change["type"] != DELETED_TYPE)
        ids = {user_id for user_id in found if isinstance(user_id, str) and is_item_id(user_id)}
        self.authors = {user["id"]: user for user in await self.handler.blog.users.read_many(sorted(ids))}
        errors = await POSTS_FEED.handle_each(failures, changes, self._handle_one)
        # One refill for all deletions; an error is stored under the last one.
        errors += await POSTS_FEED.handle_each(failures, deleted[-1:], self._refill)
        await self._trim_feed()
        return errors

    async def _handle_one(self, change: Item) -> None:
        post_id, user_id = text_of(change, "postId"), text_of(change, "userId")
        if change["type"] == DELETED_TYPE:
            await self._remove(change)
            return
        author = self.authors.get(user_id)
        if author is not None and is_outdated(change, author):
            # The correction of a post is another change, which updates the copies. It is the rename's work.
            with span("rename correction", caller=writer_of(author), links=[current_traceparent()]):
                await rename_in_post(
                    self.handler.blog.posts,
                    post_id,
                    author,
                    procedure=self.handler.blog.transactions.rename_procedure,
                    pace=self.pace,
                )
        elif change["type"] == Post.TYPE:
            await self._copy(change)

    async def _copy(self, post: Item) -> None:
        copy = short_form(post)
        puts = [partial(self.user_copies.put, post, present=version_of(post) > 1)]
        if self.feed_state.admits(copy):
            puts.append(partial(self._put_in_feed, post, copy))
        await for_each(puts, lambda put: put())

    async def _put_in_feed(self, post: Item, copy: Item) -> None:
        present = self.feed_state.has(copy)
        self.has_filled_feed = self.has_filled_feed or not present
        # Added before the write, so that the delivery's other posts compete for the remaining places.
        self.feed_state.add(copy)
        try:
            await self.feed_copies.put(post, present=present)
        except BaseException:
            if not present:
                self.feed_state.discard(copy)
            raise

    async def _remove(self, post: Item) -> None:
        await self.user_copies.remove(post)
        await self.feed_copies.remove(post)
        self.feed_state.discard(post)
        await expire_contributions(self.handler.blog.posts, post["postId"])

    async def _refill(self, _: Item) -> None:
        self.has_filled_feed = await refill(self.handler.feed_copies) or self.has_filled_feed

    async def _trim_feed(self) -> None:
        handler, trigger = self.handler, self.handler.blog.transactions.front_page_trigger
        if trigger is None:
            if self.has_filled_feed and not self.feed_state.surplus:
                # Concurrent deliveries may have filled the same places; the last one to read the feed sees them all.
                self.feed_state = await FeedState.read(handler.blog.feed, surplus=BATCH_LIMIT)
            await trim(handler.feed_copies, self.feed_state)
        elif self.feed_state.surplus:  # it was too long before; each creation has run the trigger
            await trim_by_trigger(handler.blog.feed, trigger)


async def expire_contributions(posts: Container, post_id: str) -> None:
    """Set a TTL on the comments and likes of a deleted post: a query and a batch for each hundred of them.

    The queries must be at least as new as the deletion. No comments and likes are added after it. Raises NoProgress.
    """
    refusals = 0
    await posts.catch_up(post_id)
    while ids := await posts.query(
        _CONTRIBUTIONS, {"limit": BATCH_LIMIT}, partition_key=post_id, page_size=BATCH_LIMIT
    ):
        try:
            await posts.batch(post_id, [("patch", (item_id, patch_of({"ttl": _TTL_S, **stamp()}))) for item_id in ids])
            refusals = 0
        except BatchRefused as refused:  # one of them has expired since the query
            refusals += 1
            if refusals == EXPIRY_REFUSALS:
                raise NoProgress(f"the expiry of the items of post {post_id} was refused {refusals} times") from refused
