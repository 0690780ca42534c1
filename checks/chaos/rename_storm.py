"""Rename one user repeatedly while many clients write as that user."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from checks.chaos.api_client import ApiClient, GaveUp
from checks.chaos.run_record import CommentState, RunRecord

_PAUSE_S = 0.05


class RenameStorm:
    """A user, the client that renames them, and the clients that write."""

    def __init__(self, user_id: str, renamer: ApiClient, writers: list[ApiClient], record: RunRecord) -> None:
        self._user_id = user_id
        self._renamer = renamer
        self._writers = writers
        self._record = record
        self._posts: list[str] = []
        self.renames = 0

    async def run(self, number: int, seconds: float) -> None:
        """Rename `number` times over at least `seconds`, while the others write."""
        done = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for writer in self._writers:
                group.create_task(self._write(writer, done))
            try:
                for count in range(number):
                    await self._rename(f"storm-{count}")
                    await asyncio.sleep(self._renamer.way.uniform(0, seconds / number))
            finally:
                done.set()

    async def _rename(self, name: str) -> None:
        """Rename with `If-Match`: late attempts have no effect."""
        path = f"/users/{self._user_id}"
        self._record.names[self._user_id].add(name)
        while True:
            seen = await self._renamer.send("GET", path)
            if seen.status == 200 and seen.body["username"] == name:
                break
            answer = await self._renamer.send("PUT", path, {"username": name}, {"If-Match": seen.etag or ""})
            if answer.status == 200:
                break
            if answer.status != 412:
                self._record.diverged(f"rename to {name}: unexpected status {answer.status}: {answer.body}")
                return
        self._record.names[self._user_id] = {name}
        self.renames += 1

    async def _write(self, writer: ApiClient, done: asyncio.Event) -> None:
        liked: set[str] = set()
        number = 0
        while not done.is_set():
            number += 1
            with suppress(GaveUp):
                await self._write_one(writer, f"{writer.name}-{number}", liked)
            await asyncio.sleep(writer.way.uniform(0, _PAUSE_S))

    async def _write_one(self, writer: ApiClient, mark: str, liked: set[str]) -> None:
        kind = writer.commands.choices(["post", "comment", "like"], [1, 6, 3])[0]
        if kind == "post" or not self._posts:
            await self._post(writer, mark)
        elif kind == "comment":
            await self._comment(writer, mark)
        else:
            await self._like(writer, liked)

    async def _post(self, writer: ApiClient, mark: str) -> None:
        self._record.created[mark] = set()
        answer = await writer.create("/posts", {"userId": self._user_id, "title": mark, "content": f"{mark} storm"})
        if answer.status != 201:
            self._record.diverged(f"post in the storm: unexpected status {answer.status}: {answer.body}")
            return
        self._record.created[mark].add(answer.body["id"])
        self._record.post_created(answer.body["id"], mark, for_all=False)
        self._posts.append(answer.body["id"])

    async def _comment(self, writer: ApiClient, mark: str) -> None:
        post_id = writer.commands.choice(self._posts)
        self._record.created[mark] = set()
        answer = await writer.create(f"/posts/{post_id}/comments", {"userId": self._user_id, "content": mark})
        if answer.status != 201:
            self._record.diverged(f"comment in the storm: unexpected status {answer.status}: {answer.body}")
            return
        self._record.created[mark].add(answer.body["id"])
        self._record.comments[answer.body["id"]] = CommentState(post_id, {True})

    async def _like(self, writer: ApiClient, liked: set[str]) -> None:
        """Like as the user. Nobody unlikes, so the like exists after the first response."""
        post_id = writer.commands.choice(self._posts)
        if post_id in liked:
            return
        states = self._record.likes.setdefault((post_id, self._user_id), {False})
        states.add(True)
        answer = await writer.create(f"/posts/{post_id}/likes", {"userId": self._user_id})
        if answer.status not in (200, 201):
            self._record.diverged(f"like in the storm: unexpected status {answer.status}: {answer.body}")
            return
        states.intersection_update({True})
        liked.add(post_id)
