"""The reaction to changed posts, comments and likes.

- A post: its short form goes into `users` and, if it is one of the most recent or in the feed already, into `feed`. A
  batch is folded first: a hundred likes of a post are one change of the post.
- A deleted post: its copies go, its comments and likes expire, and the feed is filled up.
- A post, comment or like with an outdated name gets the present one. This closes the race between a rename and a write
  that read the name before it: when the change feed shows the item, the rename has long been written to the user.

What is written to `posts` here comes back as a change once more, then with the right name: there the circle ends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from shared.containers import POSTS
from shared.cosmos import BATCH_LIMIT, BatchRefused, Container
from shared.models.base import Item
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import DELETED_TYPE, Post, short_form, version_of
from shared.propagation.batches import Kept, Reaction, for_each
from shared.propagation.copies import Copies, copy_creations, post_reads
from shared.propagation.feed import FeedState, cut, refill, trim
from shared.propagation.usernames import CurrentUsers, is_outdated
from shared.transactions import BATCHES, Transactions

REACTION = Reaction(source="on_posts_changed", container=POSTS, partition_key="postId")

# Comments and likes of a deleted post: seconds until they expire.
_EXPIRY_S = 1

_CONTRIBUTIONS = (
    "SELECT VALUE c.id FROM c WHERE c.type IN ('comment', 'like') AND NOT IS_DEFINED(c.ttl) OFFSET 0 LIMIT @limit"
)


@dataclass(frozen=True)
class PostsReaction:
    """The reaction and the containers that it reads and writes."""

    users: Container
    posts: Container
    feed: Container
    failures: Container
    transactions: Transactions = BATCHES

    async def on_changed(self, changes: Iterable[Mapping[str, Any]]) -> list[Kept]:
        """React to a batch of the change feed of `posts`; the answer is what was kept as failure. Raises
        DatabaseThrottled, DatabaseUnavailable."""
        folded = list(fold(changes))
        return await _Batch(self, CurrentUsers(self.users)).handle(folded)

    @property
    def user_copies(self) -> Copies:
        return Copies(self.users, self.posts, partition_key="userId")

    @property
    def feed_copies(self) -> Copies:
        trigger = self.transactions.feed_trigger
        return Copies(self.feed, self.posts, partition_key="type", trigger=trigger)


def fold(changes: Iterable[Mapping[str, Any]]) -> Iterable[Item]:
    """The last state of each post of a batch, and of the comments and likes one per post, user and name, the one with
    the oldest number of the name: correcting it corrects the others. Items that expire, and types that are not ours,
    are left out."""
    folded: dict[tuple[str, ...], Item] = {}
    for change in changes:
        item = dict(change)
        kind = item.get("type")
        if kind in (Post.TYPE, DELETED_TYPE):
            key: tuple[str, ...] = ("post", item["id"])
            if key not in folded or _rank(item) >= _rank(folded[key]):
                folded[key] = item
        elif kind in (Comment.TYPE, Like.TYPE) and "ttl" not in item:
            key = ("contribution", *(str(item.get(name)) for name in ("postId", "userId", "userUsername")))
            if key not in folded or _name_version(item) < _name_version(folded[key]):
                folded[key] = item
    return folded.values()


def _rank(post: Item) -> int:
    version = post.get("version", 0)
    return version if isinstance(version, int) else 0


def _name_version(item: Item) -> int:
    version = item.get("nameVersion", -1)
    return version if isinstance(version, int) else -1


@dataclass
class _Batch:
    """One folded batch: the users of its items are read once, the feed is looked at once, and what its posts need at
    the same time is asked for together."""

    reaction: PostsReaction
    current_users: CurrentUsers
    feed_state: FeedState = field(default_factory=lambda: FeedState([]))
    has_filled_feed: bool = False
    user_copies: Copies = field(init=False)
    feed_copies: Copies = field(init=False)

    def __post_init__(self) -> None:
        reaction, looks = self.reaction, post_reads(self.reaction.posts)
        has_trigger = reaction.transactions.feed_trigger is not None  # which runs with a creation of one item
        creations = None if has_trigger else copy_creations(reaction.feed)
        self.user_copies = replace(reaction.user_copies, looks=looks)
        self.feed_copies = replace(reaction.feed_copies, looks=looks, creations=creations)

    async def handle(self, changes: list[Item]) -> list[Kept]:
        failures = self.reaction.failures
        if any(change["type"] == Post.TYPE for change in changes):
            self.feed_state = await FeedState.read(self.reaction.feed)
        await self.current_users.read([change for change in changes if change["type"] != DELETED_TYPE])
        kept = await REACTION.handle_each(failures, changes, self._handle_one)
        deleted = [change for change in changes if change["type"] == DELETED_TYPE]
        # Once for all deletions of the batch, under the name of the last.
        kept += await REACTION.handle_each(failures, deleted[-1:], self._refill)
        await self._keep_length()
        return kept

    async def _keep_length(self) -> None:
        """The trigger has cut the feed with each creation, unless it was too long before."""
        reaction = self.reaction
        if reaction.transactions.feed_trigger is None:
            if self.has_filled_feed and not self.feed_state.surplus:
                # There was room, but others may have taken it at the same time: whoever looks last sees them all.
                self.feed_state = await FeedState.read(reaction.feed, surplus=BATCH_LIMIT)
            await trim(reaction.feed, reaction.posts, reaction.feed_copies, self.feed_state)
        elif self.feed_state.is_too_long:
            await cut(reaction.feed, reaction.transactions.feed_trigger)

    async def _handle_one(self, change: Item) -> None:
        if change["type"] == DELETED_TYPE:
            await self._take_out(change)
        elif await self._correct_name(change):
            return  # of a post, the correction is a change of its own, which brings the copies
        elif change["type"] == Post.TYPE:
            await self._copy(change)

    async def _correct_name(self, item: Item) -> bool:
        user = self.current_users.of(item)
        if user is None or not is_outdated(item, user):
            return False
        await self.reaction.transactions.rename_in_post(self.reaction.posts, item["postId"], user)
        return True

    async def _copy(self, post: Item) -> None:
        copy = short_form(post)
        puts = [partial(self.user_copies.put, post, present=version_of(post) > 1)]
        if self.feed_state.admits(copy):
            puts.append(partial(self._put_in_feed, post, copy))
        await for_each(puts, _await)

    async def _put_in_feed(self, post: Item, copy: Item) -> None:
        present = self.feed_state.has(copy)
        self.has_filled_feed = self.has_filled_feed or not present
        # Known of before it is there, so that the batch's other posts are admitted to what is left of the feed.
        self.feed_state.add(copy)
        try:
            await self.feed_copies.put(post, present=present)
        except BaseException:
            if not present:
                self.feed_state.discard(copy)
            raise

    async def _take_out(self, post: Item) -> None:
        await self.user_copies.remove(post)
        await self.feed_copies.remove(post)
        self.feed_state.discard(post)
        await expire_contributions(self.reaction.posts, post["postId"])

    async def _refill(self, _: Item) -> None:
        if await refill(self.reaction.feed, self.reaction.posts, self.reaction.feed_copies):
            self.has_filled_feed = True


async def _await(put: Callable[[], Awaitable[None]]) -> None:
    await put()


async def expire_contributions(posts: Container, post_id: str) -> None:
    """Let the comments and likes of a deleted post expire: a query and a transaction for each hundred of them."""
    while ids := await posts.query(
        _CONTRIBUTIONS, {"limit": BATCH_LIMIT}, partition_key=post_id, page_size=BATCH_LIMIT
    ):
        expire = [{"op": "set", "path": "/ttl", "value": _EXPIRY_S}]
        with suppress(BatchRefused):  # one of them expired since the query
            await posts.batch(post_id, [("patch", (item_id, expire)) for item_id in ids])
