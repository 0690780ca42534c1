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
from management.verification.findings import EDIT_ITEM, NEW_ID, REBUILD, Finding, Kind
from management.verification.invariants import Repair, expires, is_username, is_version, violated
from management.verification.places import Place
from management.verification.prefixed_texts import restored_texts
from shared.data import username_reservations
from shared.data.blog import Blog
from shared.data.front_page import FRONT_PAGE_LENGTH
from shared.models.base import DELETED_TYPE
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post, short_form, version_of
from shared.models.user import User
from shared.platform.data import idempotency
from shared.platform.database.container import Container
from shared.platform.errors import ItemDamaged
from shared.platform.models import Item, Resource, integer_of, is_item_id

# A page costs little, so that readers do not wait for it.
_PAGE_SIZE = 100

# The type of tombstones until version 0.1.0.
FORMER_DELETED_TYPE = "deletedPost"
# Documentation does not say what `!=` and `IN` return for a null or a number. These queries read every item once.
_OF_POSTS = f"c.type IN ('{Post.TYPE}', '{DELETED_TYPE}', '{FORMER_DELETED_TYPE}')"
_USERS = f"SELECT * FROM c WHERE NOT IS_STRING(c.type) OR c.type != '{Post.TYPE}'"  # noqa: S608 - constants
_COPIES = f"SELECT * FROM c WHERE c.type = '{Post.TYPE}'"  # noqa: S608 - constants
_POSTS = f"SELECT * FROM c WHERE {_OF_POSTS}"  # noqa: S608 - constants
_RESPONSES = f"SELECT * FROM c WHERE NOT IS_STRING(c.type) OR NOT ({_OF_POSTS})"  # noqa: S608 - constants
_ALL = "SELECT * FROM c"
_FAILURES = "SELECT c.id, c.source, c.container, c.itemId, c.failureDate, c.error FROM c"

_PARTITION_KEYS = {"users": "userId", "posts": "postId", "feed": "type", "failures": "source"}

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
    counts: tuple[int, ...] = ()
    has_version: bool = False
    comments: int = 0
    likes: int = 0
    has_lasting_responses: bool = False
    # (item ID, type)
    expiring_responses: list[tuple[str, str]] = field(default_factory=list)
    has_copy: bool = False

    @property
    def is_counted_wrong(self) -> bool:
        return not self.has_version or self.counts != (self.comments, self.likes)


@dataclass
class Census:
    """Suspects by ID, plus findings that need no examination."""

    findings: list[Finding] = field(default_factory=list)
    # posts and comments whose texts have the prefix of earlier versions
    prefixed: list[Place] = field(default_factory=list)
    incomplete_users: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    reservations: list[str] = field(default_factory=list)
    # tombstones of users whose items or usernames may be left
    deletions: list[str] = field(default_factory=list)
    # live items that have a ttl
    expiring: list[Place] = field(default_factory=list)
    # (post ID, item ID)
    names: list[tuple[str, str]] = field(default_factory=list)
    counts: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    # of users and posts, with a text, a name, the former type, or a wrong ttl
    tombstones: list[Place] = field(default_factory=list)
    # (user ID, post ID)
    copies: list[tuple[str, str]] = field(default_factory=list)
    feed: list[str] = field(default_factory=list)


async def take_census(blog: Blog, count: ItemCount) -> Census:
    """Read and count every item once. Raises DatabaseThrottled, DatabaseUnavailable."""
    reader = _Reader(blog, count)
    await reader.read_users()
    await reader.read_posts()
    await reader.read_responses()
    await reader.read_copies()
    await reader.read_feed()
    await reader.read_failures()
    reader.conclude()
    return reader.census


@dataclass
class _Reader:
    blog: Blog
    count: ItemCount
    census: Census = field(default_factory=Census)
    users: dict[str, str] = field(default_factory=dict)  # username by user ID
    name_versions: dict[str, int] = field(default_factory=dict)  # of the users who were renamed
    damaged_users: set[str] = field(default_factory=set)
    reservations: dict[str, _Reservation] = field(default_factory=dict)
    posts: defaultdict[str, _Post] = field(default_factory=lambda: defaultdict(_Post))
    newest: Newest[str] = field(default_factory=lambda: Newest(FRONT_PAGE_LENGTH))

    async def read_users(self) -> None:
        async for item in self._stream(self.blog.users, _USERS):
            match item.get("type", User.TYPE):
                case User.TYPE:
                    self._see_user(item)
                case tombstone if tombstone == DELETED_TYPE:
                    self._see_tombstone("users", "deleted user", item)
                    if item.get("formerUsernames"):
                        self.census.deletions.append(item["id"])
                case username_reservations.TYPE:
                    if self._obeys("users", "reservation", item):
                        self.reservations[item["id"]] = _Reservation(item["ownerId"], "ttl" in item)
                case idempotency.TYPE:
                    self._see_record("users", item)
                case "exports":  # of an add-on: addons/export/
                    self._obeys("users", "number of exports", item)
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
        if is_username(user.get("username")):
            self.users[user["id"]] = user["username"]
            if version := integer_of(user, "nameVersion"):
                self.name_versions[user["id"]] = version
            if user.get("formerUsernames"):
                self.census.users.append(user["id"])

    async def read_posts(self) -> None:
        async for item in self._stream(self.blog.posts, _POSTS):
            if item["id"] != item.get("postId"):  # another post can have this ID
                self._malformed("posts", item, "id differs from postId")
                continue
            entry = self.posts[item["id"]]
            entry.user_id = str(item.get("userId"))
            if item["type"] == Post.TYPE:
                self._see_post(item, entry)
            else:
                entry.state = _State.DELETED
                self._see_tombstone("posts", "tombstone", item)

    def _see_tombstone(self, container: str, kind: str, tombstone: Item) -> None:
        is_former = tombstone["type"] == FORMER_DELETED_TYPE
        faults = ["has the type of version 0.1.0"] if is_former else []
        if self._obeys(container, kind, tombstone):
            repairable = [each for each in violated(kind, tombstone) if each.repair is Repair.REBUILD]
            faults += [f"{each.property} must be {each.rule}" for each in repairable]
        if faults:
            found = Kind.DELETION if container == "users" else Kind.LEFTOVER
            subject, detail = f"{container} {tombstone['id']}", f"its tombstone: {'; '.join(faults)}"
            self.census.findings.append(Finding(found, subject, detail))
            self.census.tombstones.append(Place(container, tombstone["id"], tombstone["id"], kind))

    def _see_post(self, post: Item, entry: _Post) -> None:
        entry.state = _State.MALFORMED
        is_sound = self._is_sound("posts", post, Post)
        self._see_texts(post)
        try:
            # `rebuild` counts again, and replaces a version that is not a number.
            numbers = {name: integer_of(post, name) for name in ("commentCount", "likeCount")}
            numbers["version"] = version_of(post) if is_version(post) else 0
            copy = short_form(post | numbers)
        except (KeyError, TypeError, ValueError) as error:
            if is_sound:
                self._malformed("posts", post, str(error))
            return
        if isinstance(copy["userId"], str) and is_item_id(copy["id"]):  # or else the change feed refuses it
            self.newest.offer((copy["creationDate"], copy["id"]), copy["id"])
        if not is_sound:
            return
        entry.state = _State.LIVE
        entry.fingerprint = fingerprint(copy)
        entry.counts = tuple(integer_of(post, name, -1) for name in ("commentCount", "likeCount"))
        entry.has_version = is_version(post)
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
            if not isinstance(item.get("postId"), str) or not is_item_id(item["postId"]):
                continue
            entry = self.posts[item["postId"]]
            self._see_texts(item)
            if item["type"] == Comment.TYPE:
                entry.comments += 1
            else:
                entry.likes += 1
            entry.has_lasting_responses = entry.has_lasting_responses or not expires(item)
            if "ttl" in item:
                entry.expiring_responses.append((item["id"], item["type"]))
            elif is_sound:
                self._check_name(item)

    def _see_texts(self, item: Item) -> None:
        if restored_texts(item):
            self.census.prefixed.append(Place("posts", item["postId"], item["id"], item["type"]))

    def _check_name(self, item: Item) -> None:
        user_id = item["userId"]
        if user_id in self.damaged_users:
            return
        is_current = self.users.get(user_id) == item.get("userUsername", "")
        if not is_current or integer_of(item, "nameVersion") > self.name_versions.get(user_id, 0):
            self.census.names.append((item["postId"], item["id"]))

    async def read_copies(self) -> None:
        async for copy in self._stream(self.blog.users, _COPIES):
            if not self._obeys("users", "copy", copy):
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
        newest = set(self.newest.values())
        missing = set(newest)
        async for copy in self._stream(self.blog.feed, _ALL):
            if copy.get("type") != Post.TYPE:
                self._malformed("feed", copy, "unknown type")
                continue
            if not self._obeys("feed", "copy in `feed`", copy):
                continue
            missing.discard(copy["id"])
            post = self.posts.get(copy["id"])
            if post is not None and post.state is _State.MALFORMED:
                continue
            if copy["id"] not in newest or post is None or post.fingerprint != fingerprint(copy):
                self.census.feed.append(copy["id"])
        self.census.feed.extend(post_id for post_id in missing if self.posts[post_id].state is _State.LIVE)

    async def read_failures(self) -> None:
        sources = Counter(
            [
                failure["source"]
                async for failure in self._stream(self.blog.failures, _FAILURES)
                if self._obeys("failures", "failure", failure)
            ]
        )
        for source, number in sources.items():
            advice = f"List them with `manage.py failures list --source {source}`, repair the items, and replay them."
            self.census.findings.append(Finding(Kind.FAILURE, source, f"{number:,} stored", advice, number))

    def conclude(self) -> None:
        """Run the checks that require all items."""
        census = self.census
        for post_id, post in self.posts.items():
            if post.state is _State.LIVE:
                for item_id, type_ in post.expiring_responses:
                    self._expires("posts", type_, post_id, item_id)
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
        self._obeys(container, "record", record)

    def _obeys(self, container: str, kind: str, item: Item) -> bool:
        """Check the item's invariants. A ttl alone is reported, but the item is used."""
        violations = violated(kind, item)
        faults = [f"{each.property} must be {each.rule}" for each in violations if each.kind is Kind.MALFORMED]
        if faults:
            self._malformed(container, item, "; ".join(faults))
        elif any(each.kind is Kind.EXPIRING for each in violations):
            self._expires(container, kind, item[_PARTITION_KEYS[container]], item["id"])
        return not faults

    def _expires(self, container: str, kind: str, partition_key: str, item_id: str) -> None:
        self.census.expiring.append(Place(container, partition_key, item_id, kind))

    def _is_sound(self, container: str, item: Item, resource: type[Resource]) -> bool:
        """Check the item with the model of the API's response, and its invariants."""
        try:
            resource.checked(item)
        except ItemDamaged as error:
            self._malformed(container, item, error.reason.partition(": ")[2])
            return False
        return self._obeys(container, resource.TYPE, item)

    def _malformed(self, container: str, item: Item, detail: str, advice: str = EDIT_ITEM) -> None:
        key = item.get(_PARTITION_KEYS[container])
        within = (
            ""
            if key == item["id"] or container == "failures"
            else f" in partition {key if isinstance(key, str) else json.dumps(key)}"
        )
        advice = advice if is_item_id(item["id"]) else NEW_ID
        self.census.findings.append(Finding(Kind.MALFORMED, f"{container} {item['id']}{within}", detail, advice))

    async def _stream(self, container: Container, text: str) -> AsyncIterator[Any]:
        async for item in container.query_across(text, {}, page_size=_PAGE_SIZE):
            self.count.add(1)
            yield item
