"""An HTTP client that retries each command with the same idempotency key until it gets a response."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
import uuid
from dataclasses import dataclass
from typing import Any, TextIO

from aiohttp import ClientConnectorError, ClientError, ClientSession, ClientTimeout

from checks.chaos.hosts import Hosts
from checks.chaos.run_record import RunRecord
from shared.platform.database.sessions import SESSION_HEADER, Session

# Timeouts per attempt; a hasty client's first timeout grows by half with each attempt.
_PATIENT_S, _HASTY_S = 15.0, (0.2, 1.5)
_TIMEOUT_FACTOR = 1.5
# Back-off: the first pause, doubled for each attempt, with jitter.
_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 2.0
_GIVES_UP = 0.02
_RETRIED = {429, 503}


@dataclass(frozen=True)
class FinalResponse:
    """The final response.

    `in_flight`: an earlier attempt got no response and can still run. `uncertain`: it can have taken effect.
    """

    status: int
    body: Any
    etag: str | None
    uncertain: bool
    in_flight: bool


class GaveUp(Exception):
    """The client stopped retrying; the command has run, can still run, or neither."""


@dataclass
class ApiClient:
    """One client. `hasty` clients use short timeouts, and some give up.

    `commands` decides what is sent; `way` decides the host, the timeout and the retries. So faults do not change later
    commands.
    """

    session: ClientSession
    hosts: Hosts
    record: RunRecord
    commands: random.Random
    way: random.Random
    log: TextIO
    name: str
    hasty: bool = False

    def new_key(self) -> str:
        """Return an idempotency key determined by the seed."""
        return str(uuid.UUID(int=self.commands.getrandbits(128), version=4))

    async def create(self, path: str, body: dict[str, Any]) -> FinalResponse:
        """POST with a new idempotency key. Raises GaveUp."""
        return await self.send("POST", path, body, {"Idempotency-Key": self.new_key()})

    async def send(
        self, method: str, path: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> FinalResponse:
        """Return the first response other than 429 and 503. Raises GaveUp, also after the deadline."""
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
                    self.record.diverged(f"{method} {path} was not answered in the calm phase: {statuses}")
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
    ) -> FinalResponse | None:
        timeout = ClientTimeout(total=self._timeout_s(len(statuses)))
        url = self.hosts.api(self.way) + path
        started = time.monotonic()
        if self.record.session is not None:
            headers = headers | {SESSION_HEADER: str(self.record.session)}
        try:
            async with self.session.request(method, url, json=body, headers=headers, timeout=timeout) as response:
                text = await response.text()
        except ClientConnectorError:
            statuses.append("refused")
            return None
        except TimeoutError:
            statuses.append("late")
            if not self.hasty:
                self.record.diverged(f"{method} {path} was not answered within {_PATIENT_S:.0f} s by {url}")
            return None
        except (ClientError, OSError):
            statuses.append("lost")
            return None
        self.record.slowest_s = max(self.record.slowest_s, time.monotonic() - started)
        if self.record.session is not None:
            self.record.session.update(Session.parse(response.headers.get(SESSION_HEADER, "")))
        before = set(statuses)
        statuses.append(response.status)
        if response.status in _RETRIED:
            return None
        if response.status >= 500:
            self.record.diverged(f"{method} {path}: unexpected status {response.status}: {text[:200]}")
            return None
        return FinalResponse(
            status=response.status,
            body=json.loads(text) if text else None,
            etag=response.headers.get("ETag"),
            uncertain=bool(before - {"refused"}),
            in_flight=bool(before & {"lost", "late"}),
        )

    def _timeout_s(self, attempts: int) -> float:
        if not self.hasty:
            return _PATIENT_S
        return min(self.way.uniform(*_HASTY_S) * _TIMEOUT_FACTOR**attempts, _PATIENT_S)

    def _acknowledged(self, method: str, path: str, answer: FinalResponse) -> FinalResponse:
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
        line = {"at": round(time.time(), 3), "took": round(seconds, 3), "client": self.name, "method": method}
        json.dump(line | {"path": path, "body": body, "headers": headers, "statuses": statuses}, self.log)
        self.log.write("\n")


def _pattern(path: str) -> str:
    """Replace IDs, as in `posts/*/likes`."""
    ids = re.compile(r"(?<=posts/|users/)[^/?]+|(?<=comments/)[^/?]+|(?<=likes/)[^/?]+")
    return ids.sub("*", path.strip("/")).partition("?")[0]
