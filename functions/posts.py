"""Posts: create, edit, delete, retrieve, and list by user."""

from __future__ import annotations

import azure.functions as func

from shared.data import posts
from shared.data.blog import open_blog
from shared.endpoints import Endpoint
from shared.errors import PostNotFound, UserNotFound
from shared.models.post import NewPost, Post, PostChanges
from shared.platform.errors import IdempotencyKeyReused, VersionMismatch
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import Response, no_content, page_response, resource_response

bp = func.Blueprint()


@bp.route(route="api/posts", methods=["POST"])
@Endpoint("C2", body=NewPost, returns=Post, errors=(UserNotFound, PostNotFound, IdempotencyKeyReused))
async def create_post(call: Call[NewPost]) -> Response:
    """Create a post.

    The post can be read immediately; lists of posts show it after a short delay. A retry with the same idempotency
    key returns 404 if the post has been deleted.
    """
    blog = await open_blog()
    post = await posts.create_post(blog, call.body, idempotency_key=call.idempotency_key)
    return resource_response(Post, post, location=f"/api/posts/{post['id']}")


@bp.route(route="api/posts/{postId}", methods=["PUT"])
@Endpoint("C2", body=PostChanges, returns=Post, errors=(PostNotFound, VersionMismatch))
async def edit_post(call: Call[PostChanges]) -> Response:
    """Edit a post.

    Changes only the title and content. Concurrent comments, likes, and renames are kept.
    """
    blog, post_id = await open_blog(), call.path["postId"]
    post = await posts.edit_post(blog.posts, post_id, call.body, by=call.caller, if_match=call.if_match)
    return resource_response(Post, post)


@bp.route(route="api/posts/{postId}", methods=["DELETE"])
@Endpoint(errors=(PostNotFound, VersionMismatch))
async def delete_post(call: Call[None]) -> Response:
    """Delete a post.

    Requests for the post return 404 immediately. Lists of posts omit it after a short delay. Its comments and likes
    are deleted with it. If users sign in, only its author can delete it.
    """
    blog, post_id = await open_blog(), call.path["postId"]
    await posts.delete_post(blog.posts, post_id, by=call.caller, if_match=call.if_match)
    return no_content()


@bp.route(route="api/posts/{postId}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint("Q2", returns=Post, errors=(PostNotFound,))
async def get_post(call: Call[None]) -> Response:
    """Retrieve a post.

    Returns the full content and exact counts of comments and likes.
    """
    blog = await open_blog()
    return resource_response(Post, await posts.get_post(blog.posts, call.path["postId"]))


@bp.route(route="api/users/{userId}/posts", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint("Q3", returns=Post, paged=True, errors=(UserNotFound,))
async def list_user_posts(call: Call[None]) -> Response:
    """List a user's posts in short form.

    Newest first, with the content cut to a summary. Shows new and changed posts after a short delay.
    """
    blog, user_id = await open_blog(), call.path["userId"]
    page = await posts.list_posts_of_user(blog.users, user_id, limit=call.limit, cursor=call.cursor)
    return page_response(page, Post)
