"""Clients' session tokens: `{range}:{version}#{lsn}`, separated by commas.

Source: azure-cosmos _vector_session_token.py and http_constants.py (READ_SESSION_NOTAVAILABLE).
"""

from __future__ import annotations

import re
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.request import Request
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.partition import Partition

SESSION_NOT_AVAILABLE: Final = 1002
_TOKEN: Final = re.compile(r"(?P<range>\d+):(?:-?\d+#)?(?P<lsn>\d{1,18})(?:#\d+=-?\d+)*")


def check_session(request: Request, container: Container) -> None:
    """Raise 404/1002 if the client has seen a later write than a partition has, 400 for a malformed token.

    This happens only after an older copy of the data is restored. If a replica is behind the session, a newer one
    serves the read, because the service's clients try the next replica.
    """
    if not request.headers.get(h.SESSION_TOKEN):
        return
    session = session_lsns(request)
    for partition in container.partitions if session else ():
        lsn = known_lsn(session, partition)
        if lsn and lsn > partition.lsn:
            raise CosmosError(
                404,
                f"The read/write session is not available: partition {partition.id} is at {partition.lsn}, the session "
                f"at {lsn}.",
                sub_status=SESSION_NOT_AVAILABLE,
            )


def known_lsn(session: dict[str, int], partition: Partition) -> int:
    """Return the LSN that the session has seen of a partition, or of one that was split into it."""
    return max(session.get(range_id, 0) for range_id in partition.lineage)


def session_lsns(request: Request) -> dict[str, int]:
    """Return the LSN of the client's session by range id. Raises 400 if malformed."""
    found: dict[str, int] = {}
    text = request.headers.get(h.SESSION_TOKEN)
    for token in text.split(",") if text else ():
        match = _TOKEN.fullmatch(token.strip())
        if match is None:
            raise CosmosError(400, f"The session token {token!r} is invalid.")
        found[match["range"]] = max(int(match["lsn"]), found.get(match["range"], 0))
    return found
