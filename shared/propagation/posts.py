"""Handles changed posts, comments and likes.

- Post: its copy in `users` is updated and, if it is or belongs on the front page, its copy in `feed`.
- Deleted post (tombstone): its copies are deleted, its comments and likes expire, and the front page is refilled.
- Post, comment or like with a stale username: the current name is written. This closes the race between a rename and a
  write that read the name before it, because the rename is stored by the time the change feed delivers the item, and
  the user is read after that (docs/reliability.md).
- Post, comment or like of a deleted user: it is deleted. This closes the same race.

Each write to `posts` comes back as a change, which already has the current name, so the loop terminates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from shared.data.blog import Blog
from shared.models.base import DELETED_TYPE
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post, short_form, version_of
from shared.models.user import is_deleted
from shared.platform.database.container import BATCH_LIMIT, Container, patch_of
from shared.platform.database.refusals import ItemMissing
from shared.platform.deliveries.delivery import DATABASE_ERRORS, handle_each
from shared.platform.deliveries.pacing import Pace, TurnOver
from shared.platform.models import Item, integer_of, is_item_id, string_of
from shared.platform.telemetry import current_traceparent, span, writer_of
from shared.propagation.change_feeds import POSTS_CHANGE_FEED
from shared.propagation.copies import Copies, FrontPageIndex, refill, trim
from shared.propagation.erasure import erasure_of
from shared.propagation.fan_out import FanOut, write_batch
from shared.propagation.rename import is_outdated, rename_items
from shared.transactions.batches import expiries

_CONTRIBUTIONS = f"c.type IN ('{Comment.TYPE}', '{Like.TYPE}') AND (NOT IS_DEFINED(c.ttl) OR c.ttl = -1)"


async def handle_changed_posts(
    blog: Blog, changes: Iterable[Mapping[str, Any]], pace: Pace | None = None
) -> list[Exception]:
    """Handle a delivery; return the errors stored in `failures`. Raises DatabaseThrottled, DatabaseUnavailable."""
    return await _Delivery(blog, pace or Pace()).handle(list(latest_changes(changes)))


def latest_changes(changes: Iterable[Mapping[str, Any]]) -> Iterable[Item]:
    """Reduce a delivery to the last state of each post, and one comment or like per post, user and name.

    A hundred likes of a post then cost one update of its copies. Correcting the contribution with the lowest
    `nameVersion` corrects the others.
    """
    latest: dict[tuple[str, ...], Item] = {}
    for change in changes:
        item = dict(change)
        kind = item.get("type")
        if kind in (Post.TYPE, DELETED_TYPE):
            key: tuple[str, ...] = ("post", item["id"], str(item.get("postId")))
            if key not in latest or integer_of(item, "version") >= integer_of(latest[key], "version"):
                latest[key] = item
        elif kind in (Comment.TYPE, Like.TYPE) and "ttl" not in item:
            key = ("contribution", *(str(item.get(name)) for name in ("postId", "userId", "userUsername")))
            if key not in latest or integer_of(item, "nameVersion", -1) < integer_of(latest[key], "nameVersion", -1):
                latest[key] = item
    return latest.values()


class _Delivery:
    """A delivery, in phases: write the copies, then check them all.

    The last phase lets the comments and likes of deleted posts expire. If it does not finish them in its turn, it
    writes the tombstone, which comes back as a later change. The other phases have then been finished.
    """

    def __init__(self, blog: Blog, pace: Pace) -> None:
        self.blog = blog
        self.pace = pace
        # A correction has no change of its own that could come back, so it has no turn.
        self.corrections = Pace()
        self.authors: dict[str, Item] = {}
        self.front_page = FrontPageIndex({})
        self.has_filled_front_page = False
        # The short form of each post that is copied, by its ID.
        self.short_forms: dict[str, Item] = {}
        self.unchecked: list[tuple[Copies, Item]] = []
        self.removed: set[str] = set()
        self.user_copies = Copies(blog.users, blog.posts, "userId")
        self.front_page_copies = Copies(blog.feed, blog.posts, "type", trigger=blog.transactions.front_page_trigger)

    async def handle(self, changes: list[Item]) -> list[Exception]:
        await self._read(changes)
        errors, unavailable = list[Exception](), None
        try:
            errors += await handle_each(POSTS_CHANGE_FEED, self.blog.failures, changes, self._handle_one)
        except DATABASE_ERRORS as error:
            unavailable = error  # the host delivers all changes again, but the others need not wait for that
        errors += await self._check_copies()
        if unavailable:
            raise unavailable
        return errors + await self._finish_deletions(changes)

    async def _read(self, changes: list[Item]) -> None:
        """Read the front page and the authors, as they are now."""
        if any(change["type"] == Post.TYPE for change in changes):
            # Otherwise a post that has just entered the front page would not be updated there.
            await self.blog.feed.catch_up(Post.TYPE)
            self.front_page = await FrontPageIndex.read(self.blog.feed)
        found = (change.get("userId") for change in changes if change["type"] != DELETED_TYPE)
        ids = {user_id for user_id in found if isinstance(user_id, str) and is_item_id(user_id)}
        users = await self.blog.users.read_many(sorted(ids))
        self.authors = {user["id"]: user for user in users if user.get("userId") == user["id"]}

    async def _handle_one(self, change: Item) -> None:
        post_id, user_id = string_of(change, "postId"), string_of(change, "userId")
        author = self.authors.get(user_id)
        if change["type"] in (Post.TYPE, DELETED_TYPE) and change["id"] != post_id:
            # Its copies would have the IDs of another post's copies.
            raise ValueError("id differs from postId")
        if change["type"] == DELETED_TYPE:
            if "turns" not in change:
                await self._remove(change)
        elif author is not None and is_deleted(author):
            with span("late erasure", caller=writer_of(author), links=[current_traceparent()]):
                await erasure_of(self.blog.posts, user_id, self.corrections).in_post(post_id)
        elif author is not None and is_outdated(change, author):
            # The correction of a post is another change, which updates the copies. It is the rename's work.
            procedure = self.blog.transactions.rename_procedure
            with span("rename correction", caller=writer_of(author), links=[current_traceparent()]):
                await rename_items(self.blog.posts, author, procedure, self.corrections).in_post(post_id)
        elif change["type"] == Post.TYPE:
            await self._copy(change)
        # A current comment or like needs nothing: its post, whose counts it changed, is another change.

    async def _copy(self, post: Item) -> None:
        copy = self.short_forms[post["id"]] = short_form(post)
        await self._write(self.user_copies, post, exists=version_of(post) > 1)
        if self.front_page.has(copy):
            await self._write(self.front_page_copies, post, exists=True)
        elif self.front_page.admits(copy):
            # Added before the write, so that the delivery's other posts compete for the remaining places.
            self.front_page.dates[copy["id"]] = copy["creationDate"]
            self.has_filled_front_page = True
            try:
                await self._write(self.front_page_copies, post, exists=False)
            except Exception:
                del self.front_page.dates[copy["id"]]  # otherwise it would displace another post
                raise

    async def _write(self, copies: Copies, post: Item, *, exists: bool) -> None:
        if await copies.write(self.short_forms[post["id"]], exists=exists):
            self.unchecked.append((copies, post))

    async def _check_copies(self) -> list[Exception]:
        """Compare the copies with their posts, which the primary reads after them."""
        copies_of: dict[str, list[Copies]] = {}
        for copies, post in self.unchecked:
            copies_of.setdefault(post["id"], []).append(copies)
        read = await self.blog.posts.read_many(sorted(copies_of))
        latest = {post["id"]: post for post in read if post.get("postId") == post["id"]}

        async def check(post: Item) -> None:
            for copies in copies_of[post["id"]]:
                await copies.check(self.short_forms[post["id"]], latest.get(post["id"]))

        written = {post["id"]: post for _, post in self.unchecked}
        return await handle_each(POSTS_CHANGE_FEED, self.blog.failures, written.values(), check)

    async def _remove(self, post: Item) -> None:
        await self.user_copies.remove(post)
        await self.front_page_copies.remove(post)
        self.front_page.dates.pop(post["id"], None)
        self.removed.add(post["id"])

    async def _finish_deletions(self, changes: list[Item]) -> list[Exception]:
        """Refill the front page once for all deletions; then let the comments and likes of deleted posts expire."""
        tombstones = [change for change in changes if change["type"] == DELETED_TYPE and is_item_id(change["id"])]
        new = [tombstone for tombstone in tombstones if "turns" not in tombstone]
        # The newest one decides whether the front page lacks posts. An error is stored under it.
        newest = sorted(new, key=lambda tombstone: str(tombstone.get("creationDate")))[-1:]
        refill_errors = await handle_each(POSTS_CHANGE_FEED, self.blog.failures, newest, self._refill_front_page)
        await self._trim_front_page()
        # A replay of a failure repeats all phases, so a tombstone must not say that it has passed them.
        to_expire = [tombstone for tombstone in new if tombstone["id"] in self.removed and not refill_errors]
        to_expire += [tombstone for tombstone in tombstones if "turns" in tombstone]
        return refill_errors + await handle_each(POSTS_CHANGE_FEED, self.blog.failures, to_expire, self._expire)

    async def _expire(self, tombstone: Item) -> None:
        post_id = tombstone["postId"]
        try:
            await expire_contributions(self.blog.posts, post_id, self.pace)
        except TurnOver:
            with suppress(ItemMissing):
                await self.blog.posts.patch(post_id, post_id, patch_of({}, turns=1))

    async def _refill_front_page(self, removed: Item) -> None:
        self.has_filled_front_page = await refill(self.front_page_copies, removed) or self.has_filled_front_page

    async def _trim_front_page(self) -> None:
        if self.has_filled_front_page and (self.front_page_copies.trigger or not self.front_page.surplus):
            # The index is stale: the trigger has deleted the surplus, or concurrent deliveries have filled the same
            # places, and the last one to read `feed` sees all copies. With a surplus to delete, `trim` reads `feed`.
            self.front_page = await FrontPageIndex.read(self.blog.feed, surplus=BATCH_LIMIT)
        await trim(self.front_page_copies, self.front_page)


async def expire_contributions(posts: Container, post_id: str, pace: Pace) -> None:
    """Set a TTL on the comments and likes of a deleted post. Raises TurnOver, NoProgress."""

    async def expire(_: str, items: Sequence[Item]) -> int:
        return await write_batch(posts, post_id, expiries(items))

    await FanOut(posts, _CONTRIBUTIONS, {}, expire, pace, fields=("id", "_etag")).in_post(post_id)
