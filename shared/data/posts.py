"""Posts: create, edit, delete, read; lists of a user's posts, and of a post's comments and likes.

A post shares a logical partition of `posts` with its comments and likes. The posts change feed keeps its copies in
`users` and `feed` (shared/propagation/posts.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from uuid import uuid4

from shared.data.blog import Blog
from shared.data.users import get_user
from shared.errors import PostNotFound, UserNotFound
from shared.models.base import DELETED_TTL_S, DELETED_TYPE, ItemOfPost
from shared.models.post import EMPTIED, HAS_COUNTABLE_VERSION, NewPost, Post, PostChanges, existing_post, post_item
from shared.platform.data.idempotency import create_recorded, idempotency_record, new_id, require_recorded
from shared.platform.data.pages import Cursor, Page, read_page
from shared.platform.database.container import Container, patch_of
from shared.platform.database.refusals import ConditionFailed, ItemExists, ItemMissing
from shared.platform.errors import Forbidden, ItemDamaged, VersionMismatch
from shared.platform.http.callers import Caller, SignedIn
from shared.platform.models import Item, is_whole_number, now
from shared.platform.telemetry import trace_property

_IS_POST = f"FROM c WHERE c.type = '{Post.TYPE}'"
_COUNT_POSTS = f"SELECT VALUE COUNT(1) {_IS_POST}"
_EDIT_ID = re.compile("[0-9a-f]{32}")


async def create_post(blog: Blog, new: NewPost, *, idempotency_key: str | None) -> Item:
    """C2: a point read of the author and one write.

    Raises UserNotFound, PostNotFound for a retry whose post was deleted, and IdempotencyKeyReused, also if the key
    created a post more than 24 hours ago.
    """
    author = await get_user(blog.users, new.user_id)
    post_id = new_id("post", idempotency_key, new.user_id)
    post = post_item(post_id, author, new, now()) | trace_property()
    record = idempotency_record(post_id, new, postId=post_id) if idempotency_key else None
    try:
        return await create_recorded(blog.posts, post, record, post_id)
    except ItemExists:
        await require_recorded(blog.posts, record, post_id)
        return await get_post(blog.posts, post_id)


async def edit_post(
    posts: Container, post_id: str, changes: PostChanges, *, by: Caller, if_match: Collection[str] | None = None
) -> Item:
    """C2: a read by the primary and, for a change, a patch of title and content.

    The patch keeps concurrent changes of counts and names. Raises PostNotFound, VersionMismatch unless `if_match` has
    the last edit, Forbidden if somebody else signs in than the author, and ItemDamaged if it cannot count the version.
    """
    post = _checked(await posts.read_latest(post_id, post_id), post_id, if_match, by)
    if (post["title"], post["content"]) == (changes.title, changes.content):
        return post
    values = {"title": changes.title, "content": changes.content, "editedDate": now(), "editId": uuid4().hex}
    return await _patch(posts, post_id, values, if_match, by)


async def delete_post(posts: Container, post_id: str, *, by: Caller, if_match: Collection[str] | None = None) -> None:
    """Replace a post by a tombstone: one patch. Raises the same errors as `edit_post`.

    Requests no longer find the post. The change feed does not report deletions, but it reports the tombstone, so that
    the copies, comments and likes are deleted.
    """
    tombstone = {"type": DELETED_TYPE, **EMPTIED, "ttl": DELETED_TTL_S, "editId": uuid4().hex}
    await _patch(posts, post_id, tombstone, if_match, by)


async def _patch(
    posts: Container,
    post_id: str,
    values: Mapping[str, object],
    if_match: Collection[str] | None,
    by: Caller,
) -> Item:
    """One patch; if it is refused, a read by the primary shows why. `values` has a new `editId`."""
    # The predicate checks author and edit without a read. It takes no parameters; UUIDs and hex digits are safe.
    predicate = f"{_IS_POST} AND {HAS_COUNTABLE_VERSION}"
    if isinstance(by, SignedIn):
        predicate += f" AND c.userId = '{by.user}'"
    if if_match is not None:
        predicate += f" AND {_is_last_edit(if_match)}"
    try:
        patch = patch_of({**values, **trace_property()}, version=1)
        return await posts.patch(post_id, post_id, patch, predicate=predicate)
    except ItemMissing as error:
        raise PostNotFound(post_id) from error
    except ConditionFailed as error:
        post = await posts.read_latest(post_id, post_id)
        if post is not None and post.get("editId") == values["editId"]:
            return post  # the SDK resent a patch whose response was lost
        post = _checked(post, post_id, if_match, by)
        if not is_whole_number(post.get("version", 0)):
            raise ItemDamaged(f"post {post_id}: version is not a number") from error
        raise VersionMismatch from error


def _checked(post: Item | None, post_id: str, if_match: Collection[str] | None, by: Caller) -> Item:
    """Return a post that the command applies to. Raises PostNotFound, Forbidden, VersionMismatch."""
    post = existing_post(post, post_id)
    if isinstance(by, SignedIn) and not by.is_one_of([post["userId"]]):
        raise Forbidden("Only its author can edit or delete a post.")
    if if_match is not None and Post.last_edit(post) not in if_match:
        raise VersionMismatch
    return post


def _is_last_edit(edits: Collection[str]) -> str:
    """The condition that the last edit of a post, which has none before the first, is one of `edits`."""
    known = [f"c.editId = '{edit}'" for edit in edits if _EDIT_ID.fullmatch(edit)]
    return f"({' OR '.join(['NOT IS_DEFINED(c.editId)'] * ('' in edits) + known) or 'false'})"


async def get_post(posts: Container, post_id: str) -> Item:
    """Q2: one point read. Raises PostNotFound."""
    return existing_post(await posts.read(post_id, post_id), post_id)


async def list_posts_of_user(users: Container, user_id: str, *, limit: int, cursor: Cursor | None) -> Page[Cursor]:
    """Q3: one query in one partition of `users`; if it is empty, a point read of the user. Raises UserNotFound.

    The first page also looks for the user's tombstone, because the copies stay until the change feed deletes them.
    """
    types = (Post.TYPE, DELETED_TYPE) if cursor is None else (Post.TYPE,)
    page = await read_page(users, Post, user_id, *types, limit=limit, cursor=cursor)
    if not page.items:
        await get_user(users, user_id)
    elif page.items[0]["type"] == DELETED_TYPE:
        raise UserNotFound(user_id)
    return page


async def list_responses(
    posts: Container, resource: type[ItemOfPost], post_id: str, *, limit: int, cursor: Cursor | None
) -> Page[Cursor]:
    """Q4, Q5: one query in one partition of `posts`; if it is empty, another one. Raises PostNotFound.

    The comments and likes of a deleted post stay until the change feed deletes them, so the first page looks for a
    tombstone, too. Until then, a cursor still finds the later pages.
    """
    types = (resource.TYPE, DELETED_TYPE) if cursor is None else (resource.TYPE,)
    page = await read_page(posts, resource, post_id, *types, limit=limit, cursor=cursor)
    if not page.items:
        await require_post(posts, post_id)
    elif page.items[0]["type"] == DELETED_TYPE:
        raise PostNotFound(post_id)
    return page


async def require_post(posts: Container, post_id: str) -> None:
    """Raise PostNotFound unless the post exists: one query, at a charge that does not depend on its size.

    The index alone answers it. A point read costs 1 RU for a small post, and 34 RU for the largest one.
    """
    if await posts.query(_COUNT_POSTS, {}, partition_key=post_id, page_size=1) == [0]:
        raise PostNotFound(post_id)
