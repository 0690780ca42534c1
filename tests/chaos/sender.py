"""A client that is patient or hasty, and sends its command again, with the same key, until it has an answer."""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from dataclasses import dataclass
from typing import Any, TextIO

from aiohttp import ClientConnectorError, ClientError, ClientSession, ClientTimeout

from tests.chaos.hosts import Hosts
from tests.chaos.record import Record

# The longest time for an answer; a hasty client begins with less, and waits half as long again from one attempt to the
# next.
_PATIENT_S, _HASTY_S = 15.0, (0.2, 1.5)
_MORE_PATIENT = 1.5
# The first pause before a command is sent again, which doubles from one attempt to the next, jittered.
_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 2.0
_GIVES_UP = 0.02
_AGAIN = {429, 503}


@dataclass(frozen=True)
class Answer:
    """`in_flight`: an earlier attempt got no answer at all, and may be carried out even later than this one;
    `uncertain`: an earlier attempt may have been carried out already."""

    status: int
    body: Any
    etag: str | None
    uncertain: bool
    in_flight: bool


class GaveUp(Exception):
    """The client has gone for good: the command may have been carried out, or be yet."""


@dataclass
class Sender:
    """One client's way to the app. `hasty` clients wait less than a second for an answer, and some give up.

    `commands` decides what is sent, `way` where to, how long an answer is waited for, and when it is sent again: so
    what happens on the way does not change what comes next.
    """

    session: ClientSession
    hosts: Hosts
    record: Record
    commands: random.Random
    way: random.Random
    log: TextIO
    name: str
    hasty: bool = False

    def new_key(self) -> str:
        """An idempotency key that follows from the seed."""
        return str(uuid.UUID(int=self.commands.getrandbits(128), version=4))

    async def create(self, path: str, body: dict[str, Any]) -> Answer:
        """POST under a key of its own. Raises GaveUp."""
        return await self.send("POST", path, body, {"Idempotency-Key": self.new_key()})

    async def send(
        self, method: str, path: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """The first answer that is neither 429 nor 503. Raises GaveUp, also for an answer that must not be."""
        started = time.monotonic()
        statuses: list[int | str] = []
        may_give_up = self.hasty and method != "GET" and self.way.random() < _GIVES_UP
        try:
            while True:
                answer = await self._attempt(method, path, body, headers or {}, statuses)
                if answer is not None:
                    return self._acknowledged(method, path, answer)
                if may_give_up and statuses[-1] != "refused":
                    self.record.given_up += 1
                    raise GaveUp
                if self.record.is_overdue(started):
                    self.record.diverged(f"{method} {path} had no answer in the calm: {statuses}")
                    raise GaveUp
                longest = min(_PAUSE_S * 2 ** len(statuses), _LONGEST_PAUSE_S)
                await asyncio.sleep(self.way.uniform(longest / 4, longest))
        finally:
            self.record.repeated += max(0, len(statuses) - 1)
            self._note(method, path, body, headers, statuses, time.monotonic() - started)

    async def _attempt(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        headers: dict[str, str],
        statuses: list[int | str],
    ) -> Answer | None:
        timeout = ClientTimeout(total=self._timeout_s(len(statuses)))
        url = self.hosts.api(self.way) + path
        started = time.monotonic()
        try:
            async with self.session.request(method, url, json=body, headers=headers, timeout=timeout) as response:
                text = await response.text()
        except ClientConnectorError:
            statuses.append("refused")
            return None
        except TimeoutError:
            statuses.append("late")
            if not self.hasty:
                self.record.diverged(f"{method} {path} was not answered in {_PATIENT_S:.0f} s by {url}")
            return None
        except (ClientError, OSError):
            statuses.append("lost")
            return None
        self.record.slowest_s = max(self.record.slowest_s, time.monotonic() - started)
        before = set(statuses)
        statuses.append(response.status)
        if response.status in _AGAIN:
            return None
        if response.status >= 500:
            self.record.diverged(f"{method} {path} was answered with {response.status}: {text[:200]}")
            return None
        return Answer(
            status=response.status,
            body=json.loads(text) if text else None,
            etag=response.headers.get("ETag"),
            uncertain=bool(before - {"refused"}),
            in_flight=bool(before & {"lost", "late"}),
        )

    def _timeout_s(self, attempts: int) -> float:
        if not self.hasty:
            return _PATIENT_S
        return min(self.way.uniform(*_HASTY_S) * _MORE_PATIENT**attempts, _PATIENT_S)

    def _acknowledged(self, method: str, path: str, answer: Answer) -> Answer:
        if method != "GET":
            self.record.acknowledged[f"{method} /{_pattern(path)}"] += 1
        return answer

    def _note(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        headers: dict[str, str] | None,
        statuses: list[int | str],
        seconds: float,
    ) -> None:
        """A line for whoever has to find out how something came about."""
        line = {"at": round(time.time(), 3), "took": round(seconds, 3), "client": self.name, "method": method}
        json.dump(line | {"path": path, "body": body, "headers": headers, "statuses": statuses}, self.log)
        self.log.write("\n")


def _pattern(path: str) -> str:
    """`posts/*/likes` for `/posts/1/likes`."""
    parts = path.strip("/").split("/")
    return "/".join(part if number % 2 == 0 else "*" for number, part in enumerate(parts))
