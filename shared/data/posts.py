"""Posts: create, edit, delete, read; the short forms of a user's posts.

A post lives in a logical partition of `posts` of its own, with its comments and likes. Its copies in `users` and `feed`
follow by the posts change feed (shared/propagation/posts.py).
"""

from __future__ import annotations

from uuid import UUID

from shared.cosmos import ConditionFailed, Container, ItemExists, ItemMissing
from shared.data.identity import new_edit_id, new_id, now
from shared.data.pages import Cursor, Page, read_page
from shared.data.users import get_author, get_user
from shared.errors import Forbidden, PostNotFound, VersionMismatch
from shared.models.base import Item
from shared.models.post import DELETED_TYPE, NewPost, Post, PostChanges, post_item

# A deleted post stays, empty, until the change feed has surely seen it, however long the functions were down.
DELETED_TTL_S = 30 * 24 * 3600
# Sorts before every date, so that the one query that lists a post's comments or likes meets the mark first.
DELETED_DATE = "9999-12-31T23:59:59.999Z"

_IS_POST = "FROM c WHERE c.type = 'post'"


async def create_post(users: Container, posts: Container, new: NewPost, *, idempotency_key: str | None) -> Item:
    """C2. One write, and a point read of an author who has not written lately. Raises UserNotFound, and PostNotFound
    for a repeated command whose post was deleted meanwhile."""
    author = await get_author(users, new.user_id)
    post_id = new_id("post", key=idempotency_key, owner=new.user_id)
    try:
        return await posts.create(post_item(post_id, author, new, now()))
    except ItemExists:
        return await get_post(posts, post_id)


async def edit_post(
    posts: Container, post_id: str, changes: PostChanges, *, etag: str | None, owner: UUID | None = None
) -> Item:
    """C2. One write, a patch of title and content alone: a count or a name that changes at the same time stays.
    Where there is an `owner`, the post must be his. Raises PostNotFound, Forbidden, VersionMismatch.

    The SDK sends a write again whose answer was lost, and the second one then meets the version that the first has
    made. The post keeps the id of its last edit: by it an edit finds itself applied. A mismatch costs two point reads.
    """
    edit_id = new_edit_id()
    operations: list[dict[str, object]] = [
        {"op": "set", "path": "/title", "value": changes.title},
        {"op": "set", "path": "/content", "value": changes.content},
        {"op": "set", "path": "/editId", "value": edit_id},
        {"op": "incr", "path": "/version", "value": 1},
    ]
    try:
        return await _patch(posts, post_id, operations, etag, owner)
    except VersionMismatch:
        post = await get_post(posts, post_id)
        if post.get("editId") != edit_id:
            raise
        return post


async def delete_post(posts: Container, post_id: str, *, etag: str | None, owner: UUID | None = None) -> None:
    """One write. Where there is an `owner`, the post must be his. Raises PostNotFound, Forbidden, VersionMismatch.

    The change feed shows no deletions, so the post is emptied and marked, and expires long after. Being marked it is
    gone for every request at once; its copies, comments and likes go with the posts change feed.
    """
    operations: list[dict[str, object]] = [
        {"op": "set", "path": "/type", "value": DELETED_TYPE},
        {"op": "set", "path": "/creationDate", "value": DELETED_DATE},
        {"op": "set", "path": "/title", "value": ""},
        {"op": "set", "path": "/content", "value": ""},
        {"op": "set", "path": "/ttl", "value": DELETED_TTL_S},
        {"op": "incr", "path": "/version", "value": 1},
    ]
    await _patch(posts, post_id, operations, etag, owner)


async def _patch(
    posts: Container, post_id: str, operations: list[dict[str, object]], etag: str | None, owner: UUID | None = None
) -> Item:
    # Whose the post is is part of the write's own condition: no read before it. A UUID's text can be pasted safely.
    predicate = _IS_POST if owner is None else f"{_IS_POST} AND c.userId = '{owner}'"
    try:
        return await posts.patch(post_id, post_id, operations, predicate=predicate, etag=etag)
    except ItemMissing as error:
        raise PostNotFound(post_id) from error
    except ConditionFailed as error:
        post = await get_post(posts, post_id)  # a deleted post fails the predicate: then this raises PostNotFound
        if owner is not None and post["userId"] != str(owner):
            raise Forbidden("Only its author edits or deletes a post.") from error
        raise VersionMismatch from error


async def get_post(posts: Container, post_id: str) -> Item:
    """Q2. One point read. Raises PostNotFound."""
    post = await posts.read(post_id, post_id)
    if post is None or post["type"] != Post.TYPE:
        raise PostNotFound(post_id)
    return post


async def list_posts_of_user(users: Container, user_id: str, *, limit: int, cursor: Cursor | None) -> Page:
    """Q3. One query inside one partition of `users`; where it finds nothing, a point read that tells an unknown user
    from one without posts. Raises UserNotFound."""
    page = await read_page(users, Post, partition_key=user_id, types=(Post.TYPE,), limit=limit, cursor=cursor)
    if not page.items:
        await get_user(users, user_id)
    return page
