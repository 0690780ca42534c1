"""Session tokens that clients send: `{range}:{version}#{lsn}`, separated by commas.

Source: azure-cosmos _vector_session_token.py, and READ_SESSION_NOTAVAILABLE in its http_constants.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http import headers as h
from cosmos_emulator.http.messages import Request

SESSION_NOT_AVAILABLE: Final = 1002
_TOKEN: Final = re.compile(r"(?P<range>\d+):(?:-?\d+#)?(?P<lsn>\d{1,18})(?:#\d+=-?\d+)*")


def check_session(request: Request) -> None:
    """Raise 404/1002 if the client has seen a later write than a partition has, 400 for a malformed token.

    With one replica, this happens only after the data directory is restored from an older copy.
    """
    text = request.headers.get(h.SESSION_TOKEN)
    if not text:
        return
    container = request.container
    for range_id, lsn in _parsed(text):
        partition = container.partition_by_id(range_id)
        if partition is not None and lsn > partition.lsn:
            raise CosmosError(
                404,
                f"The read session is not available: partition {range_id} is at {partition.lsn}, the session at {lsn}.",
                sub_status=SESSION_NOT_AVAILABLE,
            )


def _parsed(text: str) -> Iterator[tuple[str, int]]:
    for token in text.split(","):
        match = _TOKEN.fullmatch(token.strip())
        if match is None:
            raise CosmosError(400, f"The session token {token!r} is invalid.")
        yield match["range"], int(match["lsn"])
