"""Read each suspect of a census again and report what is wrong."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from management.verification.census import FORMER_DELETED_TYPE, Census
from management.verification.copies import differences, wanted_copy
from management.verification.counts import recount
from management.verification.findings import REBUILD, Finding, Kind
from management.verification.invariants import is_user, is_username
from management.verification.places import Place, container_of
from management.verification.prefixed_texts import restored_texts
from shared.data import username_reservations
from shared.data.blog import Blog
from shared.models.base import DELETED_TTL_S, DELETED_TYPE
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post
from shared.models.user import User, is_deleted, name_version
from shared.platform.deliveries.concurrency import for_each
from shared.platform.models import Item, integer_of, is_item_id
from shared.propagation.copies import FrontPageIndex

_LASTING = (
    f"SELECT VALUE c.id FROM c WHERE c.type IN ('{Comment.TYPE}', '{Like.TYPE}')"  # noqa: S608 - constants
    " AND (NOT IS_DEFINED(c.ttl) OR c.ttl <= 0 OR c.ttl > @longest)"
)
_NAMED_IDS = 5
_RENAME = (
    'Rename this user, who does not own the name: send PUT /api/users/{userId} with {"username": NAME}. If they had'
    " another name, their items or a reservation show it. Then run `manage.py rebuild`."
)
_WAIT = "Run `manage.py rebuild` in a minute, when the reservation is old enough to count as abandoned."
_RESTORE_USER = (
    "Restore the user from a backup, or create it again (docs/reliability.md), and run `manage.py rebuild`. Or delete"
    " these items in the account's Data Explorer."
)
_RESTORE_POST = (
    "Restore the post from a backup and run `manage.py rebuild`, or delete these items in the account's Data Explorer."
)


async def examine(blog: Blog, census: Census) -> list[Finding]:
    """Return all findings. Raises DatabaseUnavailable."""
    examination = _Examination(blog, list(census.findings))
    await for_each(census.prefixed, examination.prefixed)
    await for_each(census.expiring, examination.expiring)
    await for_each(dict.fromkeys(census.users), examination.user)
    await for_each(census.deletions, examination.deletion)
    await for_each(census.reservations, examination.reservation)
    await for_each(census.names, examination.name)
    await for_each(census.counts, examination.count)
    await for_each(census.leftovers, examination.leftover)
    await for_each(census.copies, examination.copy)
    await for_each(census.feed, examination.feed_copy)
    return examination.findings


@dataclass
class _Examination:
    blog: Blog
    findings: list[Finding] = field(default_factory=list)

    def _found(self, kind: Kind, subject: str, detail: str, advice: str = REBUILD) -> None:
        self.findings.append(Finding(kind, subject, detail, advice))

    async def prefixed(self, place: Place) -> None:
        item = await self.blog.posts.read(place.item_id, place.partition_key)
        if item is not None and (texts := restored_texts(item)):
            detail = f"starts with `text:` or is not in NFC: {', '.join(texts)}"
            self._found(Kind.PREFIXED, f"{place.item_type} {place.item_id}", detail)

    async def expiring(self, place: Place) -> None:
        item = await container_of(self.blog, place.container).read(place.item_id, place.partition_key)
        if item is None or "ttl" not in item or item.get("type") == DELETED_TYPE:
            return
        if item.get("type") in (Comment.TYPE, Like.TYPE) and await wanted_copy(self.blog.posts, item["postId"]) is None:
            return  # the post has been deleted since
        self._found(
            Kind.EXPIRING, f"{place.item_type} {place.item_id} in {place.container}", f"its ttl is {item['ttl']}"
        )

    async def user(self, user_id: str) -> None:
        user = await self._user(user_id)
        if user is None or not is_username(user.get("username")):
            return
        subject = f"user {user_id} {user['username']!r}"
        former = user.get("formerUsernames")
        if former and isinstance(former, list):
            self._found(Kind.RENAME, subject, f"former usernames are still pending: {', '.join(map(repr, former))}")
        key = username_reservations.reservation_id(user["username"])
        reservation = await self.blog.users.read(key, key)
        if reservation is None:
            self._found(Kind.RESERVATION, subject, "the username is not reserved")
        elif username_reservations.fault_of(reservation):
            return  # its own finding
        elif reservation["ownerId"] != user_id:
            owner = await self._user(str(reservation["ownerId"]))
            name = owner.get("username") if owner is not None else None
            shared = isinstance(name, str) and username_reservations.reservation_id(name) == key
            held = f"the username is reserved for user {reservation['ownerId']}" + (
                ", who has it, too" if shared else ""
            )
            self._found(Kind.RESERVATION, subject, held, _RENAME if shared else _WAIT)
        elif "ttl" in reservation:  # written before reservations were permanent
            self._found(Kind.RESERVATION, subject, "the reservation expires")

    async def deletion(self, user_id: str) -> None:
        user = await self.blog.users.read(user_id, user_id)
        if user is not None and is_deleted(user) and user.get("formerUsernames"):
            self._found(Kind.DELETION, f"user {user_id}", "items or usernames of the deleted user can be left")

    async def reservation(self, key: str) -> None:
        reservation = await self.blog.users.read(key, key)
        if reservation is None:
            return
        owner_id = str(reservation.get("ownerId"))
        owner = await self.blog.users.read(owner_id, owner_id) if is_item_id(owner_id) else None
        is_gone = owner is None or is_deleted(owner)
        if not is_gone and not is_user(owner or {}):
            return  # its own finding
        if not username_reservations.is_abandoned(reservation, owner, now_s=time.time()):
            return
        if is_gone:  # nothing of a deleted person stays
            held = f"held for user {owner_id}, who " + ("does not exist" if owner is None else "is deleted")
            self._found(Kind.RESERVATION, f"reservation {key}", held)
        else:
            self._found(Kind.ABANDONED, f"reservation {key}", f"held for user {owner_id}, who has another username", "")

    async def name(self, place: tuple[str, str]) -> None:
        post_id, item_id = place
        item = await self.blog.posts.read(item_id, post_id)
        if item is None or item["type"] == DELETED_TYPE or (item["type"] != Post.TYPE and "ttl" in item):
            return
        subject = f"{item['type']} {item_id}" + ("" if item_id == post_id else f" on post {post_id}")
        user = await self._user(str(item.get("userId")))
        if user is not None and not is_user(user):
            return  # its own finding
        if user is None:
            user_id = str(item.get("userId"))
            stored = await self.blog.users.read(user_id, user_id) if is_item_id(user_id) else None
            if stored is not None and is_deleted(stored):
                self._found(Kind.DELETION, subject, f"user {user_id} is deleted")
            else:
                self._found(Kind.NAME, subject, f"user {user_id} does not exist", _RESTORE_USER)
        elif item.get("userUsername") != user["username"]:
            stated = repr(item["userUsername"]) if "userUsername" in item else "absent"
            self._found(Kind.NAME, subject, f"the username is {stated}, but user {user['id']} is {user['username']!r}")
        elif (version := integer_of(item, "nameVersion")) > name_version(user):
            latest = await self.blog.users.read_latest(user["id"], user["id"])  # a replica can lag behind a rename
            if latest is not None and version > name_version(latest):
                detail = f"nameVersion is {version}, but user {user['id']} has {name_version(latest)}"
                self._found(Kind.NAME, subject, detail)

    async def count(self, post_id: str) -> None:
        counted = await recount(self.blog.posts, post_id)
        if counted is not None and (faults := counted.faults()):
            self._found(Kind.COUNT, f"post {post_id}", "; ".join(faults))

    async def leftover(self, post_id: str) -> None:
        post = await self.blog.posts.read(post_id, post_id)
        if post is not None and post.get("type") == Post.TYPE:
            return
        ids = await self.blog.posts.query(_LASTING, {"longest": DELETED_TTL_S}, partition_key=post_id, page_size=1000)
        if ids:
            more = f" and {len(ids) - _NAMED_IDS} more" if len(ids) > _NAMED_IDS else ""
            is_deleted = post is not None and post.get("type") in (DELETED_TYPE, FORMER_DELETED_TYPE)
            advice = REBUILD if is_deleted else _RESTORE_POST
            shown = f"items never expire: {', '.join(ids[:_NAMED_IDS])}{more}"
            self._found(Kind.LEFTOVER, f"post {post_id}", shown, advice)

    async def copy(self, place: tuple[str, str]) -> None:
        user_id, post_id = place
        subject = f"post {post_id} of user {user_id}"
        wanted = await wanted_copy(self.blog.posts, post_id)
        copy = await self.blog.users.read(post_id, user_id)
        if wanted is None or wanted["userId"] != user_id:
            if copy is not None:
                self._found(Kind.COPY_ORPHANED, subject, "a copy exists, but the post does not")
        elif copy is None:
            self._found(Kind.COPY_MISSING, subject, "the copy is missing")
        elif faults := differences(copy, wanted):
            self._found(Kind.COPY_STALE, subject, "; ".join(faults))

    async def feed_copy(self, post_id: str) -> None:
        """Compare the post with the front page as it is now: since the census, other posts can have changed it.

        Costs two point reads and, unless the post is missing, a query of the front page.
        """
        subject = f"post {post_id}"
        wanted = await wanted_copy(self.blog.posts, post_id)
        copy = await self.blog.feed.read(post_id, Post.TYPE)
        if wanted is None:
            if copy is not None:
                self._found(Kind.FEED_SURPLUS, subject, "a copy exists, but the post does not")
            return
        front_page = await FrontPageIndex.read(self.blog.feed, surplus=0)
        if copy is None:
            if front_page.admits(wanted) and not front_page.has(wanted):
                self._found(Kind.FEED_MISSING, subject, "one of the newest posts, but not in the feed")
        elif not front_page.admits(wanted):
            self._found(Kind.FEED_SURPLUS, subject, "in the feed, but not one of the newest posts")
        elif faults := differences(copy, wanted):
            self._found(Kind.FEED_STALE, subject, "; ".join(faults))

    async def _user(self, user_id: str) -> Item | None:
        user = await self.blog.users.read(user_id, user_id) if is_item_id(user_id) else None
        return user if user is not None and user.get("type", User.TYPE) == User.TYPE else None
