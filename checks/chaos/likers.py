"""Clients that like and unlike one post concurrently, and pause while its count is checked."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

from checks.chaos.api_client import ApiClient, GaveUp
from checks.chaos.reader import Reader
from checks.chaos.run_record import RunRecord

_COMMANDS = (3, 10)
_REPLICAS_CATCH_UP_S = 5.0


class Likers:
    def __init__(self, post_id: str, api_clients: dict[str, ApiClient], record: RunRecord, reader: Reader) -> None:
        """`api_clients` maps user IDs to clients."""
        self._post_id = post_id
        self._api_clients = api_clients
        self._record = record
        self._reader = reader
        self._still = asyncio.Barrier(len(api_clients) + 1)
        self._has_ended = False
        self.counted = 0
        self.largest = 0

    async def run(self, over: asyncio.Event) -> None:
        """Send rounds of commands until `over` is set; check the count after each."""
        async with asyncio.TaskGroup() as group:
            for user_id, api_client in self._api_clients.items():
                group.create_task(self._like_and_unlike(api_client, user_id, over))
            while not self._has_ended:
                await self._still.wait()
                await self._count()
                self._has_ended = over.is_set()
                await self._still.wait()

    async def _like_and_unlike(self, api_client: ApiClient, user_id: str, over: asyncio.Event) -> None:
        states = self._record.likes[self._post_id, user_id] = {False}
        while not self._has_ended:
            for _ in range(api_client.commands.randint(*_COMMANDS)):
                if not over.is_set() and not self._record.is_busy(user_id):
                    await self._toggle(api_client, user_id, states)
            await self._still.wait()  # all clients pause
            await self._still.wait()  # until the check is done

    async def _toggle(self, api_client: ApiClient, user_id: str, states: set[bool]) -> None:
        try:
            etag = await self._like(api_client, user_id, states)
            if etag is not None and api_client.commands.random() < 0.7:
                await self._unlike(api_client, user_id, etag, states)
        except GaveUp:
            self._record.mark_busy(user_id)  # without a response, the command can run after later ones

    async def _like(self, api_client: ApiClient, user_id: str, states: set[bool]) -> str | None:
        states.add(True)
        answer = await api_client.create(f"/posts/{self._post_id}/likes", {"userId": user_id})
        if answer.status not in (200, 201):
            self._record.diverged(f"like: unexpected status {answer.status}: {answer.body}")
            return None
        states.intersection_update({True})
        if answer.in_flight:
            self._record.mark_busy(user_id)  # a late attempt likes again after an unlike
            return None
        return answer.etag

    async def _unlike(self, api_client: ApiClient, user_id: str, etag: str, states: set[bool]) -> None:
        """Unlike with `If-Match`: a late attempt cannot delete a later like."""
        states.add(False)
        path = f"/posts/{self._post_id}/likes/{user_id}"
        answer = await api_client.send("DELETE", path, headers={"If-Match": etag})
        if answer.status == 412 and user_id not in await self._likers():
            self._record.rejected_although_applied += not answer.uncertain
            states.intersection_update({False})
        elif answer.status == 204:
            states.intersection_update({False})
        else:
            self._record.diverged(f"DELETE {path} with {etag}: unexpected status {answer.status}: {answer.body}")

    async def _count(self) -> None:
        with suppress(GaveUp):
            post, likers = await self._read_both()
            self.counted += 1
            self.largest = max(self.largest, len(likers))
            if post["likeCount"] != len(likers):
                self._record.diverged(f"likeCount is {post['likeCount']}, but there are {len(likers)} likes")
            for user_id in self._api_clients:
                states = self._record.likes[self._post_id, user_id]
                if (user_id in likers) not in states:
                    self._record.diverged(f"like by {user_id}: {user_id in likers}, expected {states}")

    async def _read_both(self) -> tuple[dict[str, Any], set[str]]:
        """Read the post and its likers; again if two lagging replicas can have returned different states."""
        until = time.monotonic() + (_REPLICAS_CATCH_UP_S if self._record.session else 0)
        while True:
            post = await self._reader.get(f"/posts/{self._post_id}")
            likers = await self._likers()
            if post["likeCount"] == len(likers) or time.monotonic() >= until:
                return post, likers

    async def _likers(self) -> set[str]:
        return {like["userId"] for like in await self._reader.pages(f"/posts/{self._post_id}/likes")}
