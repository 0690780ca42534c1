"""A replay of a change feed continues after failures of the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from management import replay as replay_module
from management.item_count import ItemCount
from management.replay import replay
from shared.data.blog import Blog as ManagedBlog
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from tests.items import a_user


@pytest.mark.parametrize("error", [DatabaseThrottled(0.01), DatabaseUnavailable("no answer")])
async def test_a_page_of_changes_is_handled_again_after_a_database_error(
    managed: ManagedBlog, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(replay_module, "_RETRY_WAITS_S", (0, 0))
    user = await managed.users.create(a_user("ada"))
    handled: list[str] = []
    errors = [error]

    async def handle(changes: Iterable[Mapping[str, Any]]) -> None:
        if errors:
            raise errors.pop()
        handled.extend(change["id"] for change in changes)

    assert await replay(managed.users, handle, ItemCount()) == 1
    assert handled == [user["id"]]
