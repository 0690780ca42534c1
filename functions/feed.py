"""The front page."""

from __future__ import annotations

from functools import cache, partial

import azure.functions as func

from functions.routes import ROUTES
from shared.containers import FEED
from shared.cosmos import container
from shared.data.front_page import FrontPage
from shared.http.calls import Call
from shared.http.endpoints import Endpoints
from shared.http.front_page import FrontPageAnswers
from shared.models.post import Post

endpoints = Endpoints("feed", ROUTES["feed"])


@cache
def _answers() -> FrontPageAnswers:
    return FrontPageAnswers(FrontPage(partial(container, FEED)))


@endpoints.endpoint(
    summary="List the most recent posts in short form (Q6)",
    resource=Post,
    listed=True,
    shared=True,
    answers=(200, 304),
)
async def get_feed(call: Call[None]) -> func.HttpResponse:
    """Newest first, `limit` posts, 100 at the most. Follows new and changed posts with a short delay; one reading of
    the database serves everybody for a second."""
    return await _answers().answer(call)
