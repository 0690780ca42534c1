"""The front page: the most recent posts."""

from __future__ import annotations

from functools import partial

import azure.functions as func

from shared.database.client import open_container
from shared.database.containers import FEED
from shared.http.calls import Call
from shared.http.endpoints import QUERY, Endpoint
from shared.http.front_page import front_page_reader
from shared.models.post import Post

bp = func.Blueprint()

# The site uses it, too.
front_page = front_page_reader(partial(open_container, FEED))


@bp.route(route="api/feed", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(returns=Post, listed=True, statuses=(200, 304))
async def get_feed(call: Call[None]) -> func.HttpResponse:
    """List the most recent posts in short form (Q6).

    Newest first. Shows new and changed posts after a short delay. The response is cached for one second.
    """
    return (await front_page()).response(call)
