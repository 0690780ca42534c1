"""Comments on a post: create, delete, list."""

from __future__ import annotations

import azure.functions as func

from functions.routes import ROUTES
from shared.auth.ownership import may_delete_comment
from shared.containers import POSTS, USERS
from shared.cosmos import container
from shared.data import comments
from shared.errors import CommentNotFound, IdempotencyKeyReused, PostNotFound, UserNotFound, VersionMismatch
from shared.http.calls import Call
from shared.http.endpoints import Endpoints
from shared.http.replies import created, gone, paged
from shared.models.comment import Comment, NewComment
from shared.settings import settings
from shared.transactions import transactions

endpoints = Endpoints("comments", ROUTES["comments"])


@endpoints.endpoint(
    summary="Create a comment (C3)",
    body=NewComment,
    resource=Comment,
    answers=(201,),
    refusals=(UserNotFound, PostNotFound, CommentNotFound, IdempotencyKeyReused),
)
async def create_comment(call: Call[NewComment]) -> func.HttpResponse:
    """The comment and the post's count of comments change together."""
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


@endpoints.endpoint(
    summary="Delete a comment",
    answers=(204,),
    refusals=(PostNotFound, CommentNotFound, VersionMismatch),
)
async def delete_comment(call: Call[None]) -> func.HttpResponse:
    """The comment and the post's count of comments change together. Where users sign in, the author of the post may
    delete it, too."""
    path = call.path
    await may_delete_comment(await container(POSTS), path["postId"], path["commentId"], call.caller)
    await comments.delete_comment(
        await container(POSTS),
        path["postId"],
        path["commentId"],
        etag=call.if_match,
        transactions=transactions(settings()),
    )
    return gone()


@endpoints.endpoint(
    summary="List a post's comments (Q4)",
    resource=Comment,
    paged=True,
    answers=(200,),
    refusals=(PostNotFound,),
)
async def list_comments(call: Call[None]) -> func.HttpResponse:
    """Newest first."""
    page = await comments.list_comments(
        await container(POSTS), call.path["postId"], limit=call.limit, cursor=call.cursor
    )
    return paged(Comment, page)
