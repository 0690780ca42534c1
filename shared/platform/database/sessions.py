"""Sessions of clients: any instance then returns data at least as new as the data that the client has seen.

A session token lists Cosmos DB's own session tokens, each with the `_rid` of its container: tokens of a deleted
container mean nothing to its successor. A token is only sent to the database for the request that brought it, and never
enters the session that the SDK keeps for the process.

404/1002 means that no replica has reached a token:

1. `Session.send` sends the read again after a short wait. The SDK never sees this response to a client's token, because
   it would forget the tokens of the whole process.
2. A token from a client can be forged or from a restored database, and would hold up the request. `Session.confirm`
   therefore asks the primary first, which has every acknowledged write, and replaces a token that is ahead of it.
3. If no replica reaches the token in time, the read raises DatabaseUnavailable.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable
from typing import Any

from shared.platform.database.retries import SESSION_RETRIES, SESSION_WAIT_S
from shared.platform.errors import DatabaseUnavailable, MalformedRequest

SESSION_HEADER = "x-ms-session-token"
# Characters that a request can bring: several tokens, each about 800 characters at most.
SESSION_HEADER_LENGTH = 4_000
_ISSUED_LENGTH = 600

_VERSION = "1."
# `{range}:{version}#{lsn}` and regions `#{region}={lsn}` (azure-cosmos 4.17, _vector_session_token.py).
_RANGE_TOKEN = re.compile(r"(\d{1,9}):(-?\d{1,9}#\d{1,18}(?:#\d{1,9}=-?\d{1,18}){0,9})")
_ENTRY = re.compile(r"(?P<rid>[\w+=-]{1,24})/(?P<token>.+)")


class SessionNotConfirmed(Exception):
    """A replica has not reached the session token from the client, and the primary has not confirmed it."""

    def __init__(self, session: Session, rid: str) -> None:
        super().__init__(rid)
        self.session = session
        self.rid = rid


class Session:
    """The latest known progress of each partition key range of each container, least recently changed first."""

    def __init__(self) -> None:
        self._progress: dict[tuple[str, str], str] = {}
        # Whether the client has sent a token that is not ahead of the primary.
        self.has_valid_token = False
        # The containers whose tokens come from the client, and the primary has not confirmed any.
        self._doubtful: set[str] = set()
        self._confirming = asyncio.Lock()

    @classmethod
    def parse(cls, header: str) -> Session:
        """Parse the header of a request: tokens joined by commas, or nothing. Raises MalformedRequest."""
        session = cls()
        try:
            if len(header) > SESSION_HEADER_LENGTH:
                raise ValueError(len(header))
            for token in filter(None, map(str.strip, header.split(","))):
                for entry in _decode(token).split(","):
                    if not (match := _ENTRY.fullmatch(entry)) or not session.add(match["rid"], match["token"]):
                        raise ValueError(entry)
        except ValueError as error:
            raise MalformedRequest(f"{SESSION_HEADER} is invalid; send the last one unchanged, or none.") from error
        session._doubtful = {rid for rid, _ in session._progress}
        session.has_valid_token = bool(session._progress)
        return session

    def __str__(self) -> str:
        """Return the token: empty if nothing is known; without the least recent ranges if it would be too long."""
        entries: list[str] = []
        for (rid, range_id), progress in reversed(self._progress.items()):
            entries.insert(0, f"{rid}/{range_id}:{progress}")
            if sum(map(len, entries)) + len(entries) > _ISSUED_LENGTH:
                del entries[0]
                break
        return _VERSION + base64.urlsafe_b64encode(",".join(entries).encode()).decode().rstrip("=") if entries else ""

    def add(self, rid: str, tokens: str) -> bool:
        """Add a session token of the database, or several joined by commas; return False if one is malformed."""
        matches = [_RANGE_TOKEN.fullmatch(token) for token in tokens.split(",")]
        for match in matches:
            if match:
                key, progress = (rid, match[1]), match[2]
                self._progress[key] = max(progress, self._progress.pop(key, progress), key=_order)
        return all(matches)

    def update(self, other: Session) -> None:
        for (rid, range_id), progress in other._progress.items():
            self.add(rid, f"{range_id}:{progress}")

    def tokens_of(self, rid: str) -> str:
        """Return the session tokens of a container in the database's format."""
        return ",".join(f"{range_id}:{known}" for (of, range_id), known in self._progress.items() if of == rid)

    async def send(self, request: Any, rid: str, send: Callable[[], Awaitable[Any]], *, is_read: bool) -> Any:
        """Send a request to the container `rid`. A read gets the tokens of this session, merged with the process's.

        Raises SessionNotConfirmed, or DatabaseUnavailable if no replica reaches a token of this session.
        """
        of_process = request.headers.get(SESSION_HEADER)
        for attempt in range(SESSION_RETRIES + 1):
            # Meanwhile, another read of this API request may have found that a token is wrong.
            if known := is_read and self.tokens_of(rid):
                merged = Session()
                merged.add(rid, ",".join(filter(None, (known, of_process))))
                request.headers[SESSION_HEADER] = merged.tokens_of(rid)
            elif of_process is not None:
                request.headers[SESSION_HEADER] = of_process
            response = await send()
            self.add(rid, response.headers.get(SESSION_HEADER, ""))
            if (response.status_code, response.headers.get("x-ms-substatus")) != (404, "1002"):
                return response
            if known and rid in self._doubtful:
                raise SessionNotConfirmed(self, rid)
            if attempt < SESSION_RETRIES:
                await asyncio.sleep(SESSION_WAIT_S * 2**attempt)
        if known:
            raise DatabaseUnavailable("no replica has reached the session token of the request")
        return response

    async def confirm(self, rid: str, ask_primary: Callable[[], Awaitable[Session]]) -> None:
        """Replace the progress of the ranges that the primary reports: one read, which concurrent reads share."""
        async with self._confirming:
            if rid in self._doubtful:
                for key, progress in (await ask_primary())._progress.items():
                    if _order(self._progress.get(key, progress)) > _order(progress):
                        self.has_valid_token = False
                    self._progress[key] = progress
                    self._doubtful.discard(key[0])


def _decode(token: str) -> str:
    """Raises ValueError."""
    if not token.startswith(_VERSION):
        raise ValueError(token)
    text = token.removeprefix(_VERSION)
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("ascii")


def _order(progress: str) -> tuple[int, int, str]:
    """Order the progress of one range. With a single write region, the LSN after the version decides."""
    version, lsn, *_ = progress.split("#")
    return int(version), int(lsn), progress
