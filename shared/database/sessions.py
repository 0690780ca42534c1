"""Session tokens for clients: any instance then returns data at least as new as the data that the client has seen.

A token lists Cosmos DB's own session tokens, each with the `_rid` of its container: tokens of a deleted container mean
nothing to its successor. A token is only sent to the database for the request that brought it, and never enters the
session that the SDK keeps for the process. If no replica has reached it, the primary decides (container.py): it has
every acknowledged write of a partition. A token ahead of it is forged or from a restored database, and is ignored.
"""

from __future__ import annotations

import asyncio
import base64
import re

from shared.errors import MalformedRequest

SESSION_HEADER = "x-ms-session-token"
# Characters that a request can bring: several tokens, each about 800 characters at most.
SESSION_HEADER_LENGTH = 4_000
_ISSUED_LENGTH = 600

_VERSION = "1."
# `{range}:{version}#{lsn}` and regions `#{region}={lsn}` (azure-cosmos 4.17, _vector_session_token.py).
_RANGE_TOKEN = re.compile(r"(\d{1,9}):(-?\d{1,9}#\d{1,18}(?:#\d{1,9}=-?\d{1,18}){0,9})")
_ENTRY = re.compile(r"(?P<rid>[\w+=-]{1,24})/(?P<token>.+)")


class Session:
    """The latest known progress of each partition key range of each container, least recently changed first."""

    def __init__(self) -> None:
        self._progress: dict[tuple[str, str], str] = {}
        self._from_client = False
        self._confirmed: set[str] = set()
        self.was_refuted = False
        self.confirming = asyncio.Lock()

    @classmethod
    def parse(cls, header: str) -> Session:
        """Parse the header of a request: tokens joined by commas, or nothing. Raises MalformedRequest."""
        session = cls()
        session._from_client = True
        try:
            if len(header) > SESSION_HEADER_LENGTH:
                raise ValueError(len(header))
            for token in filter(None, map(str.strip, header.split(","))):
                for entry in _decoded(token).split(","):
                    if not (match := _ENTRY.fullmatch(entry)) or not session.add(match["rid"], match["token"]):
                        raise ValueError(entry)
        except ValueError as error:
            raise MalformedRequest(f"{SESSION_HEADER} is invalid; send the last one unchanged, or none.") from error
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
                self._add((rid, match[1]), match[2])
        return all(matches)

    def update(self, other: Session) -> None:
        for key, progress in other._progress.items():
            self._add(key, progress)

    def confirm(self, primary: Session) -> None:
        """Replace the progress of the ranges that the primary reported; set `was_refuted` if it was ahead."""
        for key, progress in primary._progress.items():
            self.was_refuted |= _order(self._progress.get(key, progress)) > _order(progress)
            self._progress[key] = progress
            self._confirmed.add(key[0])

    def is_doubtful(self, rid: str) -> bool:
        """Return whether a client sent the tokens of this container, and the primary has not confirmed any."""
        return self._from_client and rid not in self._confirmed

    def tokens_of(self, rid: str) -> str:
        """Return the session tokens of a container in the database's format."""
        return ",".join(f"{range_id}:{known}" for (of, range_id), known in self._progress.items() if of == rid)

    def _add(self, key: tuple[str, str], progress: str) -> None:
        self._progress[key] = max(progress, self._progress.pop(key, progress), key=_order)


def _decoded(token: str) -> str:
    """Raises ValueError."""
    if not token.startswith(_VERSION):
        raise ValueError(token)
    text = token.removeprefix(_VERSION)
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("ascii")


def _order(progress: str) -> tuple[int, int, str]:
    """Order the progress of one range. With a single write region, the LSN after the version decides."""
    version, lsn, *_ = progress.split("#")
    return int(version), int(lsn), progress
