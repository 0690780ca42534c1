"""Runs every test with batches, and at night also with the article's stored procedures."""

from __future__ import annotations

import pytest

from management.definitions import script_text
from shared.data.front_page import FRONT_PAGE_LENGTH
from shared.propagation import copies
from shared.settings import TransactionMode
from tests.blog import Blog


@pytest.fixture(params=["batch", pytest.param("procedure", marks=pytest.mark.nightly)])
def transaction_mode(request: pytest.FixtureRequest) -> TransactionMode:
    return request.param


@pytest.fixture
async def short_front_page(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the trigger and the change handler keep only this many posts, so that a test fills the front page fast."""
    length = 10
    monkeypatch.setattr(copies, "FRONT_PAGE_LENGTH", length)
    script = script_text("truncateFeed").replace(f"FEED_LENGTH = {FRONT_PAGE_LENGTH};", f"FEED_LENGTH = {length};")
    trigger = {"id": "truncateFeed", "body": script, "triggerType": "Post", "triggerOperation": "All"}
    await blog.feed.proxy.scripts.replace_trigger("truncateFeed", trigger)
    return length
