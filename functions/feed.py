"""The front page."""

from __future__ import annotations

from functools import partial

import azure.functions as func

from functions.routes import ROUTES
from shared.containers import FEED
from shared.cosmos import container
from shared.http.calls import Call
from shared.http.endpoints import Endpoints
from shared.http.front_page import front_page_reader
from shared.models.post import Post

endpoints = Endpoints("feed", ROUTES["feed"])

_front_page = front_page_reader(partial(container, FEED))


@endpoints.endpoint(
    summary="List the most recent posts in short form (Q6)",
    resource=Post,
    listed=True,
    shared=True,
    answers=(200, 304),
)
async def get_feed(call: Call[None]) -> func.HttpResponse:
    """Newest first, at most `limit` posts. New and changed posts appear after a short delay: the list is cached for a
    second."""
    return (await _front_page()).response(call)
