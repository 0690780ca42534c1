"""Deliveries of any app: what is kept of a change that fails."""

from __future__ import annotations

import pytest

from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.deliveries.delivery import handle_each
from shared.platform.errors import ItemDamaged
from shared.platform.models import Item
from shared.propagation.change_feeds import USERS_CHANGE_FEED
from tests.blog import Blog

FEED = ChangeFeed("on_events_changed", "events", partition_key="id")


async def test_a_failure_and_the_log_name_what_is_damaged(blog: Blog, caplog: pytest.LogCaptureFixture) -> None:
    async def handle(_: Item) -> None:
        raise ItemDamaged("event 1: title: Field required")

    with caplog.at_level("INFO"):
        await handle_each(FEED, blog.failures, [{"id": "1"}], handle)

    [failure] = await blog.all_items(blog.failures)
    assert failure["error"]["message"] == "event 1: title: Field required"
    assert 'reason="event 1: title: Field required"' in caplog.text


def test_only_the_deletion_of_a_user_is_private() -> None:
    deletion = {"type": "".join(["tomb", "stone"]), "formerUsernames": ["ada"]}

    assert USERS_CHANGE_FEED.private(deletion) == "deletion of a user"
    assert USERS_CHANGE_FEED.private(deletion | {"type": "user"}) == ""
    assert USERS_CHANGE_FEED.private({"type": "tombstone"}) == ""
