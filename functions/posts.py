"""Posts: create, edit, delete, retrieve, and list by user."""

from __future__ import annotations

import azure.functions as func

from shared.data import posts
from shared.data.blog import open_blog
from shared.errors import IdempotencyKeyReused, PostNotFound, UserNotFound, VersionMismatch
from shared.http.calls import Call
from shared.http.endpoints import QUERY, Endpoint
from shared.http.responses import created, current, no_content, paged
from shared.models.post import NewPost, Post, PostChanges

bp = func.Blueprint()


@bp.route(route="api/posts", methods=["POST"])
@Endpoint(body=NewPost, returns=Post, statuses=(201,), errors=(UserNotFound, PostNotFound, IdempotencyKeyReused))
async def create_post(call: Call[NewPost]) -> func.HttpResponse:
    """Create a post (C2).

    The post can be read immediately; lists of posts show it after a short delay. A retry with the same idempotency
    key returns 404 if the post has been deleted.
    """
    blog = await open_blog()
    post = await posts.create_post(blog, call.body, idempotency_key=call.idempotency_key)
    return created(Post, post, f"/api/posts/{post['id']}")


@bp.route(route="api/posts/{postId}", methods=["PUT"])
@Endpoint(body=PostChanges, returns=Post, statuses=(200,), errors=(PostNotFound, VersionMismatch))
async def edit_post(call: Call[PostChanges]) -> func.HttpResponse:
    """Edit a post (C2).

    Changes only the title and content. Concurrent comments, likes, and renames are kept.
    """
    blog, post_id, owner = await open_blog(), call.path["postId"], call.caller.owner
    return current(Post, await posts.edit_post(blog.posts, post_id, call.body, if_match=call.if_match, owner=owner))


@bp.route(route="api/posts/{postId}", methods=["DELETE"])
@Endpoint(statuses=(204,), errors=(PostNotFound, VersionMismatch))
async def delete_post(call: Call[None]) -> func.HttpResponse:
    """Delete a post.

    Requests for the post return 404 immediately. Lists of posts omit it after a short delay. Its comments and likes
    are deleted with it.
    """
    blog, post_id, owner = await open_blog(), call.path["postId"], call.caller.owner
    await posts.delete_post(blog.posts, post_id, if_match=call.if_match, owner=owner)
    return no_content()


@bp.route(route="api/posts/{postId}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(returns=Post, statuses=(200, 304), errors=(PostNotFound,))
async def get_post(call: Call[None]) -> func.HttpResponse:
    """Retrieve a post (Q2).

    Returns the full content and exact counts of comments and likes.
    """
    blog = await open_blog()
    return current(Post, await posts.get_post(blog.posts, call.path["postId"]))


@bp.route(route="api/users/{userId}/posts", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(returns=Post, paged=True, statuses=(200,), errors=(UserNotFound,))
async def list_user_posts(call: Call[None]) -> func.HttpResponse:
    """List a user's posts in short form (Q3).

    Newest first, with the content cut to a summary. Shows new and changed posts after a short delay.
    """
    blog, user_id = await open_blog(), call.path["userId"]
    return paged(Post, await posts.list_posts_of_user(blog.users, user_id, limit=call.limit, cursor=call.cursor))
