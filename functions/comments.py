"""Comments on a post: create, delete, list."""

from __future__ import annotations

import azure.functions as func

from shared.auth.callers import Caller
from shared.containers import POSTS, USERS
from shared.cosmos import Container, container
from shared.data import comments
from shared.data.posts import get_post
from shared.errors import CommentNotFound, Forbidden, IdempotencyKeyReused, PostNotFound, UserNotFound, VersionMismatch
from shared.http.calls import Call
from shared.http.endpoints import Endpoint
from shared.http.replies import created, no_content, paged
from shared.models.comment import Comment, NewComment
from shared.settings import settings
from shared.transactions import transactions

bp = func.Blueprint()


@bp.route(route="posts/{postId}/comments", methods=["POST"])
@Endpoint(
    body=NewComment,
    returns=Comment,
    statuses=(201,),
    errors=(UserNotFound, PostNotFound, CommentNotFound, IdempotencyKeyReused),
)
async def create_comment(call: Call[NewComment]) -> func.HttpResponse:
    """Create a comment (C3).

    Adds the comment and increments the post's comment count in one transaction. A retry with the same idempotency
    key returns 404 if the comment has been deleted.
    """
    post_id, key = call.path["postId"], call.idempotency_key
    comment = await comments.create_comment(
        await container(USERS),
        await container(POSTS),
        post_id,
        call.body,
        idempotency_key=key,
        transactions=transactions(settings()),
    )
    return created(Comment, comment, f"/api/posts/{post_id}/comments/{comment['id']}")


@bp.route(route="posts/{postId}/comments/{commentId}", methods=["DELETE"])
@Endpoint(statuses=(204,), errors=(PostNotFound, CommentNotFound, VersionMismatch))
async def delete_comment(call: Call[None]) -> func.HttpResponse:
    """Delete a comment.

    Removes the comment and decrements the post's comment count in one transaction. If users sign in, the author of
    the comment and the author of the post can delete it.
    """
    path = call.path
    await _require_may_delete(await container(POSTS), path["postId"], path["commentId"], call.caller)
    await comments.delete_comment(
        await container(POSTS),
        path["postId"],
        path["commentId"],
        etag=call.if_match,
        transactions=transactions(settings()),
    )
    return no_content()


@bp.route(route="posts/{postId}/comments", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(returns=Comment, paged=True, statuses=(200,), errors=(PostNotFound,))
async def list_comments(call: Call[None]) -> func.HttpResponse:
    """List a post's comments (Q4).

    Newest first.
    """
    page = await comments.list_comments(
        await container(POSTS), call.path["postId"], limit=call.limit, cursor=call.cursor
    )
    return paged(Comment, page)


async def _require_may_delete(posts: Container, post_id: str, comment_id: str, caller: Caller) -> None:
    """Raise Forbidden unless the caller wrote the comment or its post; PostNotFound, CommentNotFound.

    Costs nothing for a back end, one point read for the comment's author, and two for other callers. Authors never
    change and IDs are never reused, so this check need not share a transaction with the deletion.
    """
    if caller.user is None:
        return
    comment = await posts.read(comment_id, post_id)
    if comment is not None and comment["type"] == Comment.TYPE and caller.is_user(comment["userId"]):
        return
    post = await get_post(posts, post_id)
    if comment is None or comment["type"] != Comment.TYPE:
        raise CommentNotFound(comment_id)
    if not caller.is_user(post["userId"]):
        raise Forbidden("Only the author of the comment or of its post can delete it.")
