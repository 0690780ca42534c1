"""Likes of a post: add, take back, list."""

from __future__ import annotations

import azure.functions as func

from functions.routes import ROUTES
from shared.containers import POSTS, USERS
from shared.cosmos import container
from shared.data import likes
from shared.errors import PostNotFound, UserNotFound, VersionMismatch
from shared.http.calls import Call
from shared.http.endpoints import Endpoints
from shared.http.replies import changed, created, gone, paged
from shared.models.like import Like, NewLike
from shared.settings import settings
from shared.transactions import transactions

endpoints = Endpoints("likes", ROUTES["likes"])


@endpoints.endpoint(
    summary="Like a post (C4)",
    body=NewLike,
    resource=Like,
    answers=(201, 200),
    refusals=(UserNotFound, PostNotFound),
)
async def create_like(call: Call[NewLike]) -> func.HttpResponse:
    """201 with the like; 200 with the same like if the user liked the post already."""
    post_id = call.path["postId"]
    added = await likes.create_like(
        await container(USERS),
        await container(POSTS),
        post_id,
        call.body,
        idempotency_key=call.idempotency_key,
        transactions=transactions(settings()),
    )
    if not added.created:
        return changed(Like, added.item)
    return created(Like, added.item, f"/api/posts/{post_id}/likes/{added.item['userId']}")


@endpoints.endpoint(
    summary="Unlike a post",
    answers=(204,),
    refusals=(UserNotFound, PostNotFound, VersionMismatch),
)
async def delete_like(call: Call[None]) -> func.HttpResponse:
    """204 also when there was no such like."""
    path = call.path
    await likes.delete_like(
        await container(POSTS),
        path["postId"],
        path["userId"],
        etag=call.if_match,
        transactions=transactions(settings()),
    )
    return gone()


@endpoints.endpoint(
    summary="List a post's likes (Q5)",
    resource=Like,
    paged=True,
    answers=(200,),
    refusals=(PostNotFound,),
)
async def list_likes(call: Call[None]) -> func.HttpResponse:
    """Newest first."""
    page = await likes.list_likes(await container(POSTS), call.path["postId"], limit=call.limit, cursor=call.cursor)
    return paged(Like, page)
