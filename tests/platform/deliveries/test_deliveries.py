"""Deliveries of any app: what the log has of each, and what is kept of a change that fails."""

from __future__ import annotations

import re
import time

import pytest

from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.deliveries.delivery import handle_each, run_delivery
from shared.platform.errors import ItemDamaged
from shared.platform.models import Item
from shared.propagation.change_feeds import USERS_CHANGE_FEED
from tests.blog import Blog

FEED = ChangeFeed("on_events_changed", "events", partition_key="id")


async def test_the_log_has_the_duration_and_the_age_of_the_oldest_change(caplog: pytest.LogCaptureFixture) -> None:
    async def handle(_: object) -> None: ...

    written, started = int(time.time()), time.perf_counter()
    with caplog.at_level("INFO"):
        await run_delivery(FEED, [{"_ts": written - 10}, {"_ts": written - 100}, {}], handle, deadline_s=60)

    elapsed_s = time.perf_counter() - started
    [(changes, lag_s, duration_ms)] = re.findall(r"changes=(\d+) .* lag_s=(\S+) duration_ms=(\S+)", caplog.text)
    assert int(changes) == 3
    assert 100 <= float(lag_s) <= 101 + elapsed_s + 0.1
    assert 0 <= float(duration_ms) <= elapsed_s * 1000 + 0.1


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
