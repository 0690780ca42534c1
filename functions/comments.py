"""Comments on a post: create, delete, list."""

from __future__ import annotations

import azure.functions as func

from shared.data import comments
from shared.data.blog import open_blog
from shared.endpoints import Endpoint
from shared.errors import CommentNotFound, PostNotFound, UserNotFound
from shared.models.comment import Comment, NewComment
from shared.platform.errors import IdempotencyKeyReused, VersionMismatch
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import Response, no_content, page_response, resource_response

bp = func.Blueprint()

_CREATE_ERRORS = (UserNotFound, PostNotFound, CommentNotFound, IdempotencyKeyReused)


@bp.route(route="api/posts/{postId}/comments", methods=["POST"])
@Endpoint("C3", body=NewComment, returns=Comment, errors=_CREATE_ERRORS)
async def create_comment(call: Call[NewComment]) -> Response:
    """Create a comment.

    Adds the comment and increments the post's comment count in one transaction. A retry with the same idempotency
    key returns 404 if the comment has been deleted.
    """
    blog, post_id, key = await open_blog(), call.path["postId"], call.idempotency_key
    comment = await comments.create_comment(blog, post_id, call.body, idempotency_key=key)
    return resource_response(Comment, comment, location=f"/api/posts/{post_id}/comments/{comment['id']}")


@bp.route(route="api/posts/{postId}/comments/{commentId}", methods=["DELETE"])
@Endpoint(errors=(PostNotFound, CommentNotFound, VersionMismatch))
async def delete_comment(call: Call[None]) -> Response:
    """Delete a comment.

    Removes the comment and decrements the post's comment count in one transaction. If users sign in, the author of
    the comment and the author of the post can delete it.
    """
    blog, post_id, comment_id = await open_blog(), call.path["postId"], call.path["commentId"]
    await comments.delete_comment(blog, post_id, comment_id, by=call.caller, if_match=call.if_match)
    return no_content()


@bp.route(route="api/posts/{postId}/comments", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint("Q4", returns=Comment, paged=True, errors=(PostNotFound,))
async def list_comments(call: Call[None]) -> Response:
    """List a post's comments.

    Newest first.
    """
    blog, post_id = await open_blog(), call.path["postId"]
    page = await comments.list_comments(blog.posts, post_id, limit=call.limit, cursor=call.cursor)
    return page_response(page, Comment)
