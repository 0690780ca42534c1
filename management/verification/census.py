"""Stream all of the blog's items and collect suspects.

Keeps a few hundred bytes per user, reservation and post. Reads users first: if an item read later has a different
username, it is either wrong or newer.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from management.item_count import ItemCount
from management.newest import Newest
from management.verification.copies import fingerprint
from management.verification.date_like_texts import Place, find_date_like_texts
from management.verification.findings import EDIT_ITEM, REBUILD, Finding, Kind
from shared.data import idempotency, username_reservations
from shared.data.blog import Blog
from shared.data.posts import FRONT_PAGE_LENGTH
from shared.database.container import Container
from shared.errors import ItemDamaged
from shared.models.base import Item, Resource, integer_of
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import DELETED_TYPE, Post, short_form
from shared.models.user import User

_PAGE_SIZE = 1000

_USERS = "SELECT * FROM c WHERE NOT IS_DEFINED(c.type) OR c.type != 'post'"
_COPIES = "SELECT * FROM c WHERE c.type = 'post'"
_POSTS = "SELECT * FROM c WHERE c.type IN ('post', 'tombstone', 'deletedPost')"
_RESPONSES = "SELECT * FROM c WHERE NOT IS_DEFINED(c.type) OR NOT (c.type IN ('post', 'tombstone', 'deletedPost'))"
_ALL = "SELECT * FROM c"
_FAILURES = "SELECT VALUE c.source FROM c"

_PARTITION_KEYS = {"users": "userId", "posts": "postId", "feed": "type"}

# The type of tombstones until version 0.1.0.
FORMER_DELETED_TYPE = "deletedPost"

# Users of the article's blog lack some; `rebuild` adds them.
USER_FIELDS = ("type", "username", "creationDate")


@dataclass(slots=True)
class _Reservation:
    owner_id: str
    expires: bool


class _State(Enum):
    UNSEEN = auto()
    LIVE = auto()
    DELETED = auto()
    MALFORMED = auto()


@dataclass(slots=True)
class _Post:
    """UNSEEN: only comments or likes of the post have been read."""

    state: _State = _State.UNSEEN
    user_id: str = ""
    fingerprint: bytes = b""
    counts: tuple[Any, Any] = (None, None)
    has_version: bool = False
    comments: int = 0
    likes: int = 0
    has_lasting_responses: bool = False
    has_copy: bool = False

    @property
    def is_counted_wrong(self) -> bool:
        return not self.has_version or self.counts != (self.comments, self.likes)


@dataclass
class Census:
    """Suspects by ID, plus findings that need no examination."""

    findings: list[Finding] = field(default_factory=list)
    date_like: list[Place] = field(default_factory=list)
    incomplete_users: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    reservations: list[str] = field(default_factory=list)
    # (post ID, item ID)
    names: list[tuple[str, str]] = field(default_factory=list)
    counts: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    # without a ttl, or with the former type
    tombstones: list[str] = field(default_factory=list)
    # (user ID, post ID)
    copies: list[tuple[str, str]] = field(default_factory=list)
    feed: list[str] = field(default_factory=list)
    newest: frozenset[str] = frozenset()


async def take_census(blog: Blog, count: ItemCount) -> Census:
    """Read and count every item once. Raises DatabaseThrottled, DatabaseUnavailable."""
    reader = _Reader(blog, count)
    await reader.read_users()
    await reader.read_posts()
    await reader.read_responses()
    await reader.read_copies()
    await reader.read_feed()
    await reader.read_failures()
    reader.census.date_like = await find_date_like_texts(blog)
    reader.conclude()
    return reader.census


@dataclass
class _Reader:
    blog: Blog
    count: ItemCount
    census: Census = field(default_factory=Census)
    users: dict[str, str] = field(default_factory=dict)  # username by user ID
    damaged_users: set[str] = field(default_factory=set)
    reservations: dict[str, _Reservation] = field(default_factory=dict)
    posts: defaultdict[str, _Post] = field(default_factory=lambda: defaultdict(_Post))
    newest: Newest[str] = field(default_factory=lambda: Newest(FRONT_PAGE_LENGTH))

    async def read_users(self) -> None:
        async for item in self._stream(self.blog.users, _USERS):
            match item.get("type", User.TYPE):
                case User.TYPE:
                    self._see_user(item)
                case username_reservations.TYPE:
                    if fault := username_reservations.fault_of(item):
                        self._malformed("users", item, fault)
                    else:
                        self.reservations[item["id"]] = _Reservation(item["ownerId"], "ttl" in item)
                case idempotency.TYPE:
                    self._see_record("users", item)
                case _:
                    self._malformed("users", item, "unknown type")

    def _see_user(self, user: Item) -> None:
        if user["id"] != user.get("userId"):
            self._malformed("users", user, "id differs from userId")
            return
        if missing := [name for name in USER_FIELDS if name not in user]:
            self.census.incomplete_users.append(user["id"])
            repairable = "username" not in missing
            self._malformed("users", user, f"missing {', '.join(missing)}", REBUILD if repairable else EDIT_ITEM)
        elif not self._is_sound("users", user, User):
            self.damaged_users.add(user["id"])
        if isinstance(user.get("username"), str):
            self.users[user["id"]] = user["username"]
            if user.get("formerUsernames"):
                self.census.users.append(user["id"])

    async def read_posts(self) -> None:
        async for item in self._stream(self.blog.posts, _POSTS):
            entry = self.posts[item["id"]]
            entry.user_id = str(item.get("userId"))
            if item["type"] in (DELETED_TYPE, FORMER_DELETED_TYPE):
                entry.state = _State.DELETED
                is_former = item["type"] == FORMER_DELETED_TYPE
                if is_former or "ttl" not in item:
                    detail = "its tombstone has " + ("the type of version 0.1.0" if is_former else "no ttl")
                    self.census.findings.append(Finding(Kind.LEFTOVER, f"post {item['id']}", detail))
                    self.census.tombstones.append(item["id"])
            else:
                self._see_post(item, entry)

    def _see_post(self, post: Item, entry: _Post) -> None:
        entry.state = _State.MALFORMED
        if post["id"] != post.get("postId"):
            self._malformed("posts", post, "id differs from postId")
            return
        if not self._is_sound("posts", post, Post):
            return
        try:
            # `rebuild` counts again, and replaces a version that is not a number.
            numbers = {name: integer_of(post, name) for name in ("commentCount", "likeCount", "version")}
            copy = short_form(post | numbers)
        except (KeyError, TypeError, ValueError) as error:
            self._malformed("posts", post, str(error))
            return
        entry.state = _State.LIVE
        entry.fingerprint = fingerprint(copy)
        entry.counts = (post.get("commentCount"), post.get("likeCount"))
        entry.has_version = integer_of(post, "version") > 0
        self.newest.offer((copy["creationDate"], copy["id"]), copy["id"])
        self._check_name(post)

    async def read_responses(self) -> None:
        async for item in self._stream(self.blog.posts, _RESPONSES):
            if item.get("type") == idempotency.TYPE:
                self._see_record("posts", item)
                continue
            if item.get("type") not in (Comment.TYPE, Like.TYPE):
                self._malformed("posts", item, "unknown type")
                continue
            is_sound = self._is_sound("posts", item, Comment if item["type"] == Comment.TYPE else Like)
            if not isinstance(item.get("postId"), str):
                continue
            entry = self.posts[item["postId"]]
            if item["type"] == Comment.TYPE:
                entry.comments += 1
            else:
                entry.likes += 1
            if "ttl" not in item:
                entry.has_lasting_responses = True
                if is_sound:
                    self._check_name(item)

    def _check_name(self, item: Item) -> None:
        user_id = item["userId"]
        if user_id not in self.damaged_users and self.users.get(user_id) != item.get("userUsername", ""):
            self.census.names.append((item["postId"], item["id"]))

    async def read_copies(self) -> None:
        async for copy in self._stream(self.blog.users, _COPIES):
            if not isinstance(copy.get("userId"), str):
                self._malformed("users", copy, "userId must be a string")
                continue
            post = self.posts.get(copy["id"])
            if post is not None and post.state is _State.MALFORMED:
                continue
            if post is None or post.state is not _State.LIVE or post.user_id != copy["userId"]:
                self.census.copies.append((copy["userId"], copy["id"]))
                continue
            post.has_copy = True
            if post.fingerprint != fingerprint(copy):
                self.census.copies.append((copy["userId"], copy["id"]))

    async def read_feed(self) -> None:
        self.census.newest = frozenset(self.newest.values())
        missing = set(self.census.newest)
        async for copy in self._stream(self.blog.feed, _ALL):
            if copy["type"] != Post.TYPE:
                self._malformed("feed", copy, "unknown type")
                continue
            missing.discard(copy["id"])
            post = self.posts.get(copy["id"])
            if copy["id"] not in self.census.newest or post is None or post.fingerprint != fingerprint(copy):
                self.census.feed.append(copy["id"])
        self.census.feed.extend(missing)

    async def read_failures(self) -> None:
        sources = Counter([str(source) async for source in self._stream(self.blog.failures, _FAILURES)])
        for source, number in sources.items():
            advice = f"List them with `manage.py failures list --source {source}`, repair the items, and replay them."
            self.census.findings.append(Finding(Kind.FAILURE, source, f"{number:,} stored", advice, number))

    def conclude(self) -> None:
        """Run the checks that require all items."""
        census = self.census
        for post_id, post in self.posts.items():
            if post.state is _State.LIVE:
                if post.is_counted_wrong:
                    census.counts.append(post_id)
                if not post.has_copy:
                    census.copies.append((post.user_id, post_id))
            elif post.state is not _State.MALFORMED and post.has_lasting_responses:
                census.leftovers.append(post_id)
        for user_id, username in self.users.items():
            reservation = self.reservations.get(username_reservations.reservation_id(username))
            if reservation is None or reservation.owner_id != user_id or reservation.expires:
                census.users.append(user_id)
        for key, reservation in self.reservations.items():
            if reservation.owner_id in self.damaged_users:
                continue  # the username is unknown
            owner = self.users.get(reservation.owner_id)
            if owner is None or username_reservations.reservation_id(owner) != key:
                census.reservations.append(key)

    def _see_record(self, container: str, record: Item) -> None:
        if not (isinstance(record.get("fingerprint"), str) and isinstance(record.get("result"), dict)):
            self._malformed(container, record, "fingerprint must be a string, and result an object")

    def _is_sound(self, container: str, item: Item, resource: type[Resource]) -> bool:
        """Check the item with the model of the API's response."""
        try:
            resource.checked(item)
        except ItemDamaged as error:
            self._malformed(container, item, error.reason.partition(": ")[2])
            return False
        return True

    def _malformed(self, container: str, item: Item, detail: str, advice: str = EDIT_ITEM) -> None:
        key = item.get(_PARTITION_KEYS[container])
        within = "" if key == item["id"] else f" in partition {key if isinstance(key, str) else json.dumps(key)}"
        self.census.findings.append(Finding(Kind.MALFORMED, f"{container} {item['id']}{within}", detail, advice))

    async def _stream(self, container: Container, text: str) -> AsyncIterator[Any]:
        async for item in container.query_across(text, {}, page_size=_PAGE_SIZE):
            self.count.add(1)
            yield item
