"""A crowd that likes and unlikes one post all the time, and stands still now and then to be counted."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tests.chaos.reading import Reader
from tests.chaos.record import Record
from tests.chaos.sender import GaveUp, Sender

_COMMANDS = (3, 10)


class Crowd:
    """So many clients, each one user, on one post that is theirs alone."""

    def __init__(self, post_id: str, senders: dict[str, Sender], record: Record, reader: Reader) -> None:
        """`senders` by the ids of their users."""
        self._post_id = post_id
        self._senders = senders
        self._record = record
        self._reader = reader
        self._still = asyncio.Barrier(len(senders) + 1)
        self._has_ended = False
        self.counted = 0
        self.largest = 0

    async def run(self, over: asyncio.Event) -> None:
        """Rounds of commands until it is over; after each, the count must be the number of likes."""
        async with asyncio.TaskGroup() as group:
            for user_id, sender in self._senders.items():
                group.create_task(self._like_and_unlike(sender, user_id, over))
            while not self._has_ended:
                await self._still.wait()
                await self._count()
                self._has_ended = over.is_set()
                await self._still.wait()

    async def _like_and_unlike(self, sender: Sender, user_id: str, over: asyncio.Event) -> None:
        states = self._record.likes[self._post_id, user_id] = {False}
        while not self._has_ended:
            for _ in range(sender.commands.randint(*_COMMANDS)):
                if not over.is_set() and not self._record.is_busy(user_id):
                    await self._toggle(sender, user_id, states)
            await self._still.wait()  # for the count
            await self._still.wait()  # until it is done

    async def _toggle(self, sender: Sender, user_id: str, states: set[bool]) -> None:
        try:
            etag = await self._like(sender, user_id, states)
            if etag is not None and sender.commands.random() < 0.7:
                await self._unlike(sender, user_id, etag, states)
        except GaveUp:
            self._record.leave_alone(user_id)  # no answer, no promise: the command may come after later ones

    async def _like(self, sender: Sender, user_id: str, states: set[bool]) -> str | None:
        states.add(True)
        answer = await sender.create(f"/posts/{self._post_id}/likes", {"userId": user_id})
        if answer.status not in (200, 201):
            self._record.diverged(f"a like of the crowd was answered with {answer.status}: {answer.body}")
            return None
        states.intersection_update({True})
        return answer.etag

    async def _unlike(self, sender: Sender, user_id: str, etag: str, states: set[bool]) -> None:
        """On the condition that it is the like that was answered, so that no attempt can hit a later one."""
        states.add(False)
        path = f"/posts/{self._post_id}/likes/{user_id}"
        answer = await sender.send("DELETE", path, headers={"If-Match": etag})
        if answer.status == 412 and user_id not in await self._likers():
            self._record.refused_though_done += not answer.uncertain
            states.intersection_update({False})
        elif answer.status == 204:
            states.intersection_update({False})
        else:
            self._record.diverged(f"DELETE {path} with {etag} was answered with {answer.status}: {answer.body}")

    async def _count(self) -> None:
        with suppress(GaveUp):
            post = await self._reader.get(f"/posts/{self._post_id}")
            likers = await self._likers()
            self.counted += 1
            self.largest = max(self.largest, len(likers))
            if post["likeCount"] != len(likers):
                self._record.diverged(f"the crowd's post counts {post['likeCount']} likes, there are {len(likers)}")
            for user_id in self._senders:
                states = self._record.likes[self._post_id, user_id]
                if (user_id in likers) not in states:
                    self._record.diverged(f"the crowd's like by {user_id}: {user_id in likers}, expected {states}")

    async def _likers(self) -> set[str]:
        return {like["userId"] for like in await self._reader.pages(f"/posts/{self._post_id}/likes")}
