"""Posts: create, edit, delete, retrieve; a user's posts."""

from __future__ import annotations

import azure.functions as func

from functions.routes import ROUTES
from shared.containers import POSTS, USERS
from shared.cosmos import container
from shared.data import posts
from shared.errors import IdempotencyKeyReused, PostNotFound, UserNotFound, VersionMismatch
from shared.http.calls import Call
from shared.http.endpoints import Endpoints
from shared.http.replies import changed, created, found, gone, paged
from shared.models.post import NewPost, Post, PostChanges

endpoints = Endpoints("posts", ROUTES["posts"])


@endpoints.endpoint(
    summary="Create a post (C2)",
    body=NewPost,
    resource=Post,
    answers=(201,),
    refusals=(UserNotFound, PostNotFound, IdempotencyKeyReused),
)
async def create_post(call: Call[NewPost]) -> func.HttpResponse:
    """The post can be read at once; the lists of posts show it a moment later. A repeated command whose post was
    deleted meanwhile finds no post."""
    key = call.idempotency_key
    post = await posts.create_post(await container(USERS), await container(POSTS), call.body, idempotency_key=key)
    return created(Post, post, f"/api/posts/{post['id']}")


@endpoints.endpoint(
    summary="Edit a post (C2)",
    body=PostChanges,
    resource=Post,
    answers=(200,),
    refusals=(PostNotFound, VersionMismatch),
)
async def edit_post(call: Call[PostChanges]) -> func.HttpResponse:
    """Changes title and content alone; comments, likes and renames that come at the same time are kept."""
    owner = call.caller.user
    post = await posts.edit_post(
        await container(POSTS), call.path["postId"], call.body, etag=call.if_match, owner=owner
    )
    return changed(Post, post)


@endpoints.endpoint(
    summary="Delete a post",
    answers=(204,),
    refusals=(PostNotFound, VersionMismatch),
)
async def delete_post(call: Call[None]) -> func.HttpResponse:
    """The post is gone at once, from the lists of posts a moment later, with its comments and likes."""
    owner = call.caller.user
    await posts.delete_post(await container(POSTS), call.path["postId"], etag=call.if_match, owner=owner)
    return gone()


@endpoints.endpoint(
    summary="Retrieve a post (Q2)",
    resource=Post,
    answers=(200, 304),
    refusals=(PostNotFound,),
)
async def get_post(call: Call[None]) -> func.HttpResponse:
    """The full content; the counts are exact."""
    return found(call, Post, await posts.get_post(await container(POSTS), call.path["postId"]))


@endpoints.endpoint(
    summary="List a user's posts in short form (Q3)",
    resource=Post,
    paged=True,
    answers=(200,),
    refusals=(UserNotFound,),
)
async def list_user_posts(call: Call[None]) -> func.HttpResponse:
    """Newest first, the content cut to a summary. Follows new and changed posts with a short delay."""
    user_id = call.path["userId"]
    page = await posts.list_posts_of_user(await container(USERS), user_id, limit=call.limit, cursor=call.cursor)
    return paged(Post, page)
