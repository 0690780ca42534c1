"""Likes of a post: add, remove, list."""

from __future__ import annotations

import azure.functions as func

from shared.data import likes
from shared.database.client import container
from shared.database.containers import POSTS, USERS
from shared.errors import PostNotFound, UserNotFound, VersionMismatch
from shared.http.calls import Call
from shared.http.endpoints import QUERY, Endpoint
from shared.http.replies import created, no_content, paged, updated
from shared.models.like import Like, NewLike
from shared.settings import settings
from shared.transactions import transactions

bp = func.Blueprint()


@bp.route(route="api/posts/{postId}/likes", methods=["POST"])
@Endpoint(body=NewLike, returns=Like, statuses=(201, 200), errors=(UserNotFound, PostNotFound))
async def create_like(call: Call[NewLike]) -> func.HttpResponse:
    """Like a post (C4).

    Returns 201 with the like, or 200 with the existing like if the user already likes the post.
    """
    users, posts, post_id = await container(USERS), await container(POSTS), call.path["postId"]
    added = await likes.create_like(
        users, posts, post_id, call.body, idempotency_key=call.idempotency_key, transactions=transactions(settings())
    )
    if not added.created:
        return updated(Like, added.item)
    return created(Like, added.item, f"/api/posts/{post_id}/likes/{added.item['userId']}")


@bp.route(route="api/posts/{postId}/likes/{userId}", methods=["DELETE"])
@Endpoint(statuses=(204,), errors=(UserNotFound, PostNotFound, VersionMismatch))
async def delete_like(call: Call[None]) -> func.HttpResponse:
    """Unlike a post.

    Returns 204 even if the user does not like the post.
    """
    posts, post_id, user_id = await container(POSTS), call.path["postId"], call.path["userId"]
    await likes.delete_like(posts, post_id, user_id, etag=call.if_match, transactions=transactions(settings()))
    return no_content()


@bp.route(route="api/posts/{postId}/likes", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(returns=Like, paged=True, statuses=(200,), errors=(PostNotFound,))
async def list_likes(call: Call[None]) -> func.HttpResponse:
    """List a post's likes (Q5).

    Newest first.
    """
    posts = await container(POSTS)
    return paged(Like, await likes.list_likes(posts, call.path["postId"], limit=call.limit, cursor=call.cursor))
