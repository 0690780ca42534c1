"""Comments on a post: create, delete, list."""

from __future__ import annotations

import azure.functions as func

from shared.auth.callers import Caller
from shared.data import comments
from shared.data.posts import get_post
from shared.database.client import container
from shared.database.container import Container
from shared.database.containers import POSTS, USERS
from shared.errors import CommentNotFound, Forbidden, IdempotencyKeyReused, PostNotFound, UserNotFound, VersionMismatch
from shared.http.calls import Call
from shared.http.endpoints import QUERY, Endpoint
from shared.http.replies import created, no_content, paged
from shared.models.comment import Comment, NewComment
from shared.settings import settings
from shared.transactions import transactions

bp = func.Blueprint()

_CREATE_ERRORS = (UserNotFound, PostNotFound, CommentNotFound, IdempotencyKeyReused)


@bp.route(route="api/posts/{postId}/comments", methods=["POST"])
@Endpoint(body=NewComment, returns=Comment, statuses=(201,), errors=_CREATE_ERRORS)
async def create_comment(call: Call[NewComment]) -> func.HttpResponse:
    """Create a comment (C3).

    Adds the comment and increments the post's comment count in one transaction. A retry with the same idempotency
    key returns 404 if the comment has been deleted.
    """
    users, posts, post_id = await container(USERS), await container(POSTS), call.path["postId"]
    comment = await comments.create_comment(
        users, posts, post_id, call.body, idempotency_key=call.idempotency_key, transactions=transactions(settings())
    )
    return created(Comment, comment, f"/api/posts/{post_id}/comments/{comment['id']}")


@bp.route(route="api/posts/{postId}/comments/{commentId}", methods=["DELETE"])
@Endpoint(statuses=(204,), errors=(PostNotFound, CommentNotFound, VersionMismatch))
async def delete_comment(call: Call[None]) -> func.HttpResponse:
    """Delete a comment.

    Removes the comment and decrements the post's comment count in one transaction. If users sign in, the author of
    the comment and the author of the post can delete it.
    """
    posts, post_id, comment_id = await container(POSTS), call.path["postId"], call.path["commentId"]
    await _require_may_delete(posts, post_id, comment_id, call.caller)
    await comments.delete_comment(posts, post_id, comment_id, etag=call.if_match, transactions=transactions(settings()))
    return no_content()


@bp.route(route="api/posts/{postId}/comments", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(returns=Comment, paged=True, statuses=(200,), errors=(PostNotFound,))
async def list_comments(call: Call[None]) -> func.HttpResponse:
    """List a post's comments (Q4).

    Newest first.
    """
    posts = await container(POSTS)
    return paged(
        Comment, await comments.list_comments(posts, call.path["postId"], limit=call.limit, cursor=call.cursor)
    )


async def _require_may_delete(posts: Container, post_id: str, comment_id: str, caller: Caller) -> None:
    """Raise Forbidden unless the caller wrote the comment or its post; PostNotFound, CommentNotFound.

    Costs nothing for a back end, one point read for the comment's author, and two for other callers. Authors never
    change and IDs are never reused, so this check need not share a transaction with the deletion.
    """
    if caller.user is None:
        return
    comment = await comments.get_comment(posts, post_id, comment_id)
    if not caller.is_user(comment["userId"]) and not caller.is_user((await get_post(posts, post_id))["userId"]):
        raise Forbidden("Only the author of the comment or of its post can delete it.")
