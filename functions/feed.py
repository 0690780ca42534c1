"""The front page."""

from __future__ import annotations

import azure.functions as func

from shared.containers import FEED
from shared.cosmos import container
from shared.data.feed import list_recent_posts
from shared.http.calls import Call
from shared.http.endpoints import Endpoints
from shared.http.replies import listed
from shared.models.post import Post

endpoints = Endpoints("feed")


@endpoints.endpoint(
    "GET",
    "feed",
    summary="List the most recent posts in short form (Q6)",
    resource=Post,
    listed=True,
    answers=(200,),
)
async def get_feed(call: Call[None]) -> func.HttpResponse:
    """Newest first, `limit` posts, 100 at the most. Follows new and changed posts with a short delay."""
    return listed(Post, await list_recent_posts(await container(FEED), limit=call.limit))
