"""The front page's answers: what is shown belongs to the page that was read."""

from __future__ import annotations

import azure.functions as func
import pytest
from pydantic import ValidationError

from shared.auth.callers import ANONYMOUS
from shared.cosmos import Container
from shared.data.front_page import FrontPage
from shared.http.calls import Call, parse_call
from shared.http.front_page import FrontPageAnswers
from shared.models.post import short_form
from tests.blog import Blog
from tests.items import a_post, a_user


def _call() -> Call[None]:
    return parse_call(func.HttpRequest("GET", "/api/feed", body=b""), None, ANONYMOUS)


async def test_an_invalid_page_is_not_replaced_by_a_cached_one(blog: Blog) -> None:
    """Not even to the second who asks for it."""
    broken = short_form(a_post(a_user())) | {"title": None}
    await blog.feed.create(broken)

    async def opened() -> Container:
        return blog.feed

    answers = FrontPageAnswers(FrontPage(opened))

    for _ in range(2):
        with pytest.raises(ValidationError):
            await answers.answer(_call())
