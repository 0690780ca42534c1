"""Likes of a post: add, remove, list."""

from __future__ import annotations

import azure.functions as func

from shared.data import likes
from shared.data.blog import open_blog
from shared.endpoints import Endpoint
from shared.errors import PostNotFound, UserNotFound
from shared.models.like import Like, NewLike
from shared.platform.errors import VersionMismatch
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import Response, no_content, page_response, resource_response

bp = func.Blueprint()


@bp.route(route="api/posts/{postId}/likes", methods=["POST"])
@Endpoint("C4", body=NewLike, returns=Like, statuses=(201, 200), errors=(UserNotFound, PostNotFound))
async def create_like(call: Call[NewLike]) -> Response:
    """Like a post.

    Returns 201 with the like, or 200 with the existing like if the user already likes the post. A retry therefore needs
    no idempotency key. A retry that arrives after an unlike likes the post again.
    """
    blog, post_id = await open_blog(), call.path["postId"]
    like, is_new = await likes.create_like(blog, post_id, call.body)
    if not is_new:
        return resource_response(Like, like)
    return resource_response(Like, like, location=f"/api/posts/{post_id}/likes/{like['userId']}")


@bp.route(route="api/posts/{postId}/likes/{userId}", methods=["DELETE"])
@Endpoint(errors=(UserNotFound, PostNotFound, VersionMismatch))
async def delete_like(call: Call[None]) -> Response:
    """Unlike a post.

    Returns 204 even if the user does not like the post.
    """
    blog, post_id, user_id = await open_blog(), call.path["postId"], call.path["userId"]
    await likes.delete_like(blog, post_id, user_id, if_match=call.if_match)
    return no_content()


@bp.route(route="api/posts/{postId}/likes", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint("Q5", returns=Like, paged=True, errors=(PostNotFound,))
async def list_likes(call: Call[None]) -> Response:
    """List a post's likes.

    Newest first.
    """
    blog, post_id = await open_blog(), call.path["postId"]
    page = await likes.list_likes(blog.posts, post_id, limit=call.limit, cursor=call.cursor)
    return page_response(page, Like)
