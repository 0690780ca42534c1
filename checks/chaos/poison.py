"""Invalid items, written directly to the database, that must end up in `failures`."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from checks.chaos.retrying import retry_until_available
from checks.chaos.run_record import RunRecord
from management.failures import Outcome, find_failures, replay_failures
from shared.data.blog import Blog
from shared.data.username_reservations import reservation_item
from shared.platform.models import iso_utc

_POLL_S = 0.2
_KEPT_WITHIN_S = 60.0

Item = dict[str, Any]


class Poison:
    """The invalid items and their valid versions."""

    def __init__(self, blog: Blog, record: RunRecord, author_id: str, author: str, generator: random.Random) -> None:
        self._blog = blog
        self._record = record
        self._author = {"userId": author_id, "userUsername": author}
        self._random = generator
        self._users: dict[str, Item] = {}
        self._posts: dict[str, Item] = {}
        # The keys of posts that are not in the partition of their ID.
        self._misplaced: dict[str, Any] = {}

    @property
    def number(self) -> int:
        return len(self._users) + len(self._posts)

    async def strike(self) -> None:
        item_id = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
        if self._random.random() < 0.4:
            sound = self._users[item_id] = self._user(item_id)
            poison = {name: value for name, value in sound.items() if name != "username"}
            poison["formerUsernames"] = ["unmended"]  # other users are no work for the users function
            await retry_until_available(lambda: self._blog.users.proxy.upsert_item(poison))
        else:
            sound = self._posts[item_id] = self._post(item_id)
            wrong: list[Item] = [{"content": 5}, {"version": "one"}, {"creationDate": "yesterday"}]
            wrong += [{"postId": None}, {"postId": 5}, {"postId": True}]
            poison = sound | self._random.choice(wrong)
            if poison["postId"] != item_id:
                self._misplaced[item_id] = poison["postId"]
            await retry_until_available(lambda: self._blog.posts.proxy.upsert_item(poison))

    async def wait_until_failed(self) -> list[str]:
        """Wait for the failures; return IDs still missing at the deadline."""
        deadline = time.monotonic() + _KEPT_WITHIN_S
        while missing := {*self._users, *self._posts} - await self._kept():
            if time.monotonic() > deadline:
                return sorted(missing)
            await asyncio.sleep(_POLL_S)
        return []

    async def repair(self) -> list[str]:
        """Write the valid items and replay all failures. Return unexpected failures and failed replays."""
        for user_id, user in self._users.items():
            await self._blog.users.proxy.upsert_item(user)
            await self._blog.users.proxy.upsert_item(reservation_item(user["username"], user_id, 0))
            self._record.names[user_id] = {user["username"]}
        for post_id, key in self._misplaced.items():
            await self._blog.posts.delete(post_id, key)
        for post_id, post in self._posts.items():
            await self._blog.posts.proxy.upsert_item(post | {"version": 2})
            self._record.post_created(post_id, post["title"], for_all=False)
        failures = await find_failures(self._blog, (), None)
        poisoned = {*self._users, *self._posts}
        faults = [
            f"unexpected failure of {one.item_id}: {one.error}" for one in failures if one.item_id not in poisoned
        ]
        outcomes: list[Outcome] = []
        await replay_failures(self._blog, failures, outcomes.append)
        return faults + [
            f"replay of {outcome.failure.item_id}: {outcome.detail}"
            for outcome in outcomes
            if not outcome.result.is_good
        ]

    async def _kept(self) -> set[str]:
        rows = self._blog.failures.query_across("SELECT VALUE c.itemId FROM c", {}, page_size=100)
        return {row async for row in rows}

    def _user(self, user_id: str) -> Item:
        return {
            "id": user_id,
            "type": "user",
            "userId": user_id,
            "username": f"mended-{len(self._users)}",
            "creationDate": iso_utc(datetime.now(UTC)),
        }

    def _post(self, post_id: str) -> Item:
        return self._author | {
            "id": post_id,
            "type": "post",
            "postId": post_id,
            "title": f"mended {len(self._posts)}",
            "content": f"mended-{len(self._posts)} content",
            "commentCount": 0,
            "likeCount": 0,
            "version": 1,
            "creationDate": iso_utc(datetime.now(UTC)),
        }
