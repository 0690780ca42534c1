"""Repair single items. Each write is conditional on the state read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from management.verification.census import FORMER_DELETED_TYPE, USER_FIELDS
from management.verification.copies import differences, wanted_copy
from management.verification.counts import recount
from management.verification.invariants import is_user, is_version
from management.verification.places import Place, container_of
from management.verification.prefixed_texts import restored_texts
from shared.containers import USERS
from shared.data import username_reservations
from shared.data.blog import Blog
from shared.errors import UsernameTaken
from shared.models.base import DELETED_TTL_S, DELETED_TYPE
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import EMPTIED, Post
from shared.models.user import User, is_deleted, name_version
from shared.platform.database.container import Container, patch_of
from shared.platform.database.refusals import ConditionFailed, ItemMissing
from shared.platform.errors import DatabaseUnavailable, ItemDamaged
from shared.platform.models import Item, integer_of, is_item_id, iso_utc
from shared.propagation.copies import Copies
from shared.propagation.posts import handle_changed_posts
from shared.propagation.rename import is_outdated

_ATTEMPTS = 20


@dataclass
class Repairs:
    blog: Blog

    async def restore_texts(self, place: Place) -> None:
        """Write a post's or comment's texts as they were sent. Costs a point read and a write."""
        item = await self.blog.posts.read(place.item_id, place.partition_key)
        if item is None or not (texts := restored_texts(item)):
            return
        # Copies are replaced only by a later version of their post.
        version = {"version": integer_of(item, "version") + 1} if item.get("type") == Post.TYPE else {}
        with suppress(ConditionFailed, ItemMissing):  # changed since
            operations = patch_of({**texts, **version})
            await self.blog.posts.patch(place.item_id, place.partition_key, operations, etag=item["_etag"])

    async def complete_user(self, user_id: str) -> None:
        """Add missing fields. Costs a point read and at most a write."""
        user = await self.blog.users.read(user_id, user_id)
        if user is None:
            return
        added: dict[str, Any] = {
            "type": User.TYPE,
            "creationDate": iso_utc(datetime.fromtimestamp(user["_ts"], UTC)),
        }
        operations = [
            {"op": "set", "path": f"/{name}", "value": added[name]}
            for name in USER_FIELDS
            if name in added and name not in user
        ]
        if operations:
            with suppress(ConditionFailed, ItemMissing):  # changed since
                await self.blog.users.patch(user_id, user_id, operations, etag=user["_etag"])

    async def remove_ttl(self, place: Place) -> None:
        """Let a live item stay. Costs a point read and a write, and for a comment or like a point read of its post."""
        container = container_of(self.blog, place.container)
        item = await container.read(place.item_id, place.partition_key)
        if item is None or "ttl" not in item or item.get("type") == DELETED_TYPE:
            return
        if item.get("type") in (Comment.TYPE, Like.TYPE) and await wanted_copy(self.blog.posts, item["postId"]) is None:
            return  # the post has been deleted since
        with suppress(ConditionFailed, ItemMissing):  # changed since
            removal = [{"op": "remove", "path": "/ttl"}]
            await container.patch(place.item_id, place.partition_key, removal, etag=item["_etag"])

    async def repair_tombstone(self, place: Place) -> None:
        """Set the type and the ttl of a deleted user or post, and remove its texts. Costs a point read and a write.

        A deletion that is not finished sets the ttl of a user when it ends. A banned user keeps the ttl -1.
        """
        container = container_of(self.blog, place.container)
        item = await container.read(place.item_id, place.partition_key)
        if item is None or item.get("type") not in (DELETED_TYPE, FORMER_DELETED_TYPE):
            return
        texts = {"username": ""} if place.container == USERS else EMPTIED
        keeps_ttl = place.container == USERS and ("formerUsernames" in item or item.get("ttl") == -1)
        operations = patch_of({"type": DELETED_TYPE, **texts} | ({} if keeps_ttl else {"ttl": DELETED_TTL_S}))
        with suppress(ItemMissing, ConditionFailed):  # changed since
            await container.patch(place.item_id, place.partition_key, operations, etag=item["_etag"])

    async def recount_post(self, post_id: str) -> None:
        """Correct a post's counts and increment its version. Raises DatabaseUnavailable."""
        for _ in range(_ATTEMPTS):
            counted = await recount(self.blog.posts, post_id)
            if counted is None or not counted.faults():
                return
            version = integer_of(counted.post, "version") + 1 if is_version(counted.post) else 1
            counts = {"commentCount": counted.comments, "likeCount": counted.likes}
            operations = patch_of({**counts, "version": version})
            with suppress(ConditionFailed, ItemMissing):
                await self.blog.posts.patch(post_id, post_id, operations, etag=counted.post["_etag"])
                return
        raise DatabaseUnavailable(f"post {post_id} changes too often to be counted")

    async def update_usernames(self, place: tuple[str, list[str]]) -> None:
        """Correct the usernames of a post's items, and erase items of deleted users, as the change-feed function does.

        Costs two point reads per item, and a rename or an erasure per stale user.

        A delivery checks one item per user, so it misses items without a name version.
        """
        post_id, item_ids = place
        for item_id in item_ids:
            item = await self.blog.posts.read(item_id, post_id)
            user_id = str(item.get("userId")) if item else ""
            user = await self.blog.users.read(user_id, user_id) if is_item_id(user_id) else None
            if item is None or user is None:
                continue
            if is_deleted(user) or (is_user(user) and is_outdated(item, user)):
                await handle_changed_posts(self.blog, [item])
            elif is_user(user) and _is_ahead(item, user):
                await self._undo_rename(item, post_id, user_id)

    async def _undo_rename(self, item: Item, post_id: str, user_id: str) -> None:
        """Replace a username whose `nameVersion` is above the user's. Costs a point read and a write."""
        user = await self.blog.users.read_latest(user_id, user_id)
        if user is None or name_version(user) >= integer_of(item, "nameVersion"):
            return
        name = {"userUsername": user["username"], "nameVersion": name_version(user)}
        increments = {"version": 1} if item.get("type") == Post.TYPE else {}
        with suppress(ConditionFailed, ItemMissing):  # changed since
            await self.blog.posts.patch(item["id"], post_id, patch_of(name, **increments), etag=item["_etag"])

    async def repair_user_copy(self, place: tuple[str, str]) -> None:
        user_id, post_id = place
        await self._repair_copy(Copies(self.blog.users, self.blog.posts, partition_key="userId"), user_id, post_id)

    async def repair_feed_copy(self, post_id: str) -> None:
        copies = Copies(self.blog.feed, self.blog.posts, partition_key="type")
        await self._repair_copy(copies, Post.TYPE, post_id)

    async def _repair_copy(self, copies: Copies, key: str, post_id: str) -> None:
        """Delete an orphaned copy; overwrite a stale one of any version. Replay adds missing copies."""
        wanted, copy = await wanted_copy(self.blog.posts, post_id), await copies.container.read(post_id, key)
        if copy is None:
            return
        if wanted is None or wanted[copies.partition_key] != key:
            await self._delete(copies.container, copy, key)
        elif differences(copy, wanted):
            await copies.put(wanted)
            copy = await copies.container.read(post_id, key)
            if copy is not None and differences(copy, wanted):
                with suppress(ConditionFailed, ItemMissing):  # changed since
                    await copies.container.delete(post_id, key, etag=copy["_etag"])
                    await copies.put(wanted, exists=False)

    async def release_reservation(self, key: str) -> None:
        """Delete an abandoned reservation."""
        held = await self.blog.users.read_latest(key, key)
        if held is None:
            return
        owner = await self.blog.users.read_latest(held["ownerId"], held["ownerId"])
        if owner is not None and not is_deleted(owner) and not is_user(owner):
            return
        with suppress(ConditionFailed, ItemMissing, ItemDamaged):  # changed since, or of a damaged tombstone
            if abandoned := await username_reservations.claim_abandoned(self.blog.users, held, owner):
                await self._delete(self.blog.users, abandoned, key)

    async def reserve_username(self, user_id: str) -> None:
        """Reserve a user's username, unless another user has it. Replaces a reservation that expires or is damaged."""
        users = self.blog.users
        user = await users.read_latest(user_id, user_id)
        if user is None or not is_user(user):
            return
        # `verify` reports a username that is taken. Another write of the reservation comes from the user or a release.
        with suppress(UsernameTaken, ConditionFailed, ItemMissing):
            key = username_reservations.reservation_id(user["username"])
            try:
                await username_reservations.reserve(users, user["username"], user_id, name_version(user))
            except ItemDamaged:
                held = await users.read_latest(key, key)
                if held is None or not username_reservations.fault_of(held):
                    return  # its owner is damaged, or it has changed since
                await users.delete(key, key, etag=held["_etag"])
                await username_reservations.reserve(users, user["username"], user_id, name_version(user))
            held = await users.read_latest(key, key)
            if held is not None and held.pop("ttl", None) is not None:
                await users.replace(held, etag=held["_etag"])

    async def _delete(self, container: Container, item: Item, key: str) -> None:
        with suppress(ConditionFailed, ItemMissing):
            await container.delete(item["id"], key, etag=item["_etag"])


def _is_ahead(item: Item, user: Item) -> bool:
    return item.get("userUsername") != user["username"] or integer_of(item, "nameVersion") > name_version(user)
