"""The front page: the most recent posts."""

from __future__ import annotations

from functools import lru_cache

import azure.functions as func

from shared.data.front_page import FrontPage, front_page
from shared.endpoints import Endpoint
from shared.models.post import Post
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import Response, document_response, json_response

bp = func.Blueprint()

# A cached page is at most two seconds old, one here and one downstream. Revalidation can add another.
CACHE_CONTROL = "public, max-age=1, stale-while-revalidate=1"


@bp.route(route="api/feed", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint("Q6", returns=Post, listed=True)
async def get_feed(call: Call[None]) -> Response:
    """List the most recent posts in short form.

    Newest first. Shows new and changed posts after a short delay. The response is cached for one second.
    """
    return front_page_response(await front_page(), call.limit)


@lru_cache(maxsize=8)
def front_page_response(page: FrontPage, limit: int) -> Response:
    """The `limit` most recent posts, which are serialized and compressed once."""
    listed = json_response({"items": page.posts[:limit]})
    return document_response(listed.content, listed.media_type, cache_control=CACHE_CONTROL)
