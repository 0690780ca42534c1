"""Deletions by moderators, and the audit item of each.

The audit item is written before the deletion that it tells of, so no deletion is without one. If the deletion fails, or
somebody else deletes the same item at that moment, an audit item can tell of a deletion that it did not cause. It has
no content of what is deleted, and expires after a year.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from contextlib import suppress
from typing import Final

from addons.moderation.models import ReportedItem, entry_id
from shared.data.blog import Blog
from shared.data.comments import delete_comment, get_comment
from shared.data.posts import delete_post, get_post
from shared.data.users import delete_user
from shared.errors import UserNotFound
from shared.models.base import DELETED_TYPE
from shared.models.comment import Comment
from shared.models.post import Post
from shared.models.user import User, is_deleted
from shared.platform.database.container import Container, patch_of
from shared.platform.database.refusals import ConditionFailed, ItemExists, ItemMissing
from shared.platform.errors import VersionMismatch
from shared.platform.http.callers import BackEnd, Caller
from shared.platform.models import Item, Resource, is_item_id, now

AUDIT_TYPE: Final = "audit"
AUDIT_TTL_S: Final = 366 * 24 * 3600
# Of one author, newest first.
MOST_SHOWN: Final = 100

_OF_AUTHOR: Final = (
    "SELECT * FROM c WHERE c.type = @type AND c.authorId = @authorId ORDER BY c.creationDate DESC OFFSET 0 LIMIT @limit"
)


async def moderate_post(
    blog: Blog, moderation: Container, post_id: str, *, by: Caller, reason: str, if_match: Collection[str] | None
) -> None:
    """A point read, an audit item, a deletion of the post and of its entry. Raises PostNotFound, VersionMismatch."""
    post = await get_post(blog.posts, post_id)
    await _record(moderation, Post, post, by, reason, if_match)
    await delete_post(blog.posts, post_id, by=BackEnd(), if_match=if_match)
    await _forget(moderation, post_id, post_id)


async def moderate_comment(
    blog: Blog,
    moderation: Container,
    post_id: str,
    comment_id: str,
    *,
    by: Caller,
    reason: str,
    if_match: Collection[str] | None,
) -> None:
    """As `moderate_post`, for a comment. Raises PostNotFound, CommentNotFound, VersionMismatch."""
    comment = await get_comment(blog.posts, post_id, comment_id)
    await _record(moderation, Comment, comment, by, reason, if_match)
    await delete_comment(blog, post_id, comment_id, by=BackEnd(), if_match=if_match)
    await _forget(moderation, post_id, comment_id)


async def moderate_user(
    blog: Blog,
    moderation: Container,
    user_id: str,
    *,
    by: Caller,
    reason: str,
    bans: bool,
    if_match: Collection[str] | None,
) -> None:
    """Delete a user. If it `bans`, their tombstone never expires, so that they cannot register again.

    A read by the primary, an audit item, a deletion and, for a ban, a patch. After a crash between the last two, repeat
    it: an account that is deleted already can be banned, too, unless `if_match` names a version of it. Raises
    UserNotFound, VersionMismatch.
    """
    user = await blog.users.read_latest(user_id, user_id) if is_item_id(user_id) else None
    if user is None or not (user.get("type", User.TYPE) == User.TYPE or (bans and is_deleted(user))):
        raise UserNotFound(user_id)
    User.checked(user | {"type": User.TYPE})  # a tombstone has the same properties
    if is_deleted(user):
        if if_match is not None:
            raise VersionMismatch
        await _record(moderation, User, user, by, reason, None, bans=True)
    else:
        await _record(moderation, User, user, by, reason, if_match, bans=bans)
        with suppress(UserNotFound):  # deleted at the same time
            await delete_user(blog.users, user_id, if_match=if_match)
    if bans:
        await ban(blog.users, user_id)


async def ban(users: Container, user_id: str) -> bool:
    """Let the tombstone of a deleted user never expire: one write. Return whether there was one."""
    with suppress(ItemMissing, ConditionFailed):
        await users.patch(user_id, user_id, patch_of({"ttl": -1}), predicate=f"FROM c WHERE c.type = '{DELETED_TYPE}'")
        return True
    return False


async def list_deletions(moderation: Container, author_id: str) -> list[Item]:
    """Return the audit items about one author, newest first: one query in one partition."""
    parameters = {"type": AUDIT_TYPE, "authorId": author_id, "limit": MOST_SHOWN}
    return await moderation.query(_OF_AUTHOR, parameters, partition_key=AUDIT_TYPE, page_size=MOST_SHOWN)


async def _record(
    moderation: Container,
    kind: type[Resource],
    item: Item,
    by: Caller,
    reason: str,
    if_match: Collection[str] | None,
    *,
    bans: bool = False,
) -> None:
    """Create the audit item, unless the deletion would be refused. Raises VersionMismatch."""
    if if_match is not None and kind.last_edit(item) not in if_match:
        raise VersionMismatch
    audit = {
        "id": str(uuid.uuid4()),
        "type": AUDIT_TYPE,
        "itemId": item["id"],
        "itemType": kind.TYPE,
        "itemDate": item["creationDate"],
        "authorId": item["userId"],
        "moderatorId": "" if isinstance(by, BackEnd) else str(by.user),
        "reason": reason,
        "isBan": bans,
        "creationDate": now(),
        "ttl": AUDIT_TTL_S,
    }
    with suppress(ItemExists):  # the SDK resent a creation whose response was lost
        await moderation.create(audit)


async def _forget(moderation: Container, post_id: str, item_id: str) -> None:
    """Delete the entry of a deleted item, with all its reports: one write."""
    with suppress(ItemMissing):
        await moderation.delete(entry_id(post_id, item_id), ReportedItem.TYPE)
