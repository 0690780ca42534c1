"""Count what failures of the database lose: `python -m bench.losses > docs/benchmarks/losses.json`.

An author of 900 comments on ten posts is renamed, then fifty people like a post, while the emulator fails writes and
drops responses as in step 7 of the tour. Clients repeat a command until it succeeds. This project's functions have a
retry policy. The article's have none, so the trigger goes on after a failed delivery
(https://learn.microsoft.com/azure/azure-functions/functions-bindings-error-pages).
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from aiohttp import ClientSession
from azure.core.exceptions import AzureError

from addons.inspector.emulator_switches import FAILURES
from bench.models.change_feeds import ChangeFeedFollower
from bench.models.interface import Model
from bench.models.loading import emulated
from bench.models.project_model import ProjectModel
from bench.models.v3 import V3
from shared.platform.errors import AppError
from shared.platform.models import Item

_POSTS: Final = 10
# With 100 or more, the article's script renames only the first page of a post's items, also without failures.
_COMMENTS: Final = 90
_LIKES: Final = 50


class _NotRetried(V3):
    """The changes of users are lost if their function fails. Changes of posts do not matter here."""

    async def on_users_changed(self, changes: list[Item]) -> None:
        with suppress(AzureError):
            await super().on_users_changed(changes)


async def _losses(model: Model) -> dict[str, int]:
    author = await model.create_user("author")
    people = [await model.create_user(f"reader-{number}") for number in range(_LIKES)]
    posts = [(await model.create_post(author, f"Post {number}", "Content.")).id for number in range(_POSTS)]
    for post_id, _ in itertools.product(posts, range(_COMMENTS)):
        await model.create_comment(post_id, author, "A comment.")
    feeds = await ChangeFeedFollower.start(model)
    await feeds.settle()
    async with ClientSession(model.database.client_connection.url_connection, raise_for_status=True) as emulator:
        await emulator.put("/_emulator/faults", json=FAILURES)
        await _insist(model.rename_user, author, "renamed")
        await _insist(feeds.settle)
        await asyncio.gather(*(_insist(model.like, posts[0], person) for person in people))
        await _insist(feeds.settle)
        await emulator.delete("/_emulator/faults")
    comments = [comment for post_id in posts for comment in await model.list_comments(post_id)]
    names = sum(comment.username != "renamed" for comment in comments)
    liked = await model.get_post(posts[0])
    return {"comments": len(comments), "oldNames": names, "likers": _LIKES, "likes": liked.like_count}


async def _insist(action: Callable[..., Awaitable[object]], *arguments: object) -> None:
    while True:
        with suppress(AzureError, AppError):
            await action(*arguments)
            return


async def _main() -> None:
    found: dict[str, Any] = {"measured": f"{datetime.now(UTC):%Y-%m-%d}"}
    for kind in (_NotRetried, ProjectModel):
        async with emulated([kind], None) as (model,):
            found[kind.NAME] = await _losses(model)
    sys.stdout.write(f"{json.dumps(found, indent=1)}\n")


if __name__ == "__main__":
    asyncio.run(_main())
