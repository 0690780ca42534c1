"""Session tokens that clients send: `{range}:{version}#{lsn}`, several with commas between them.

Source: azure-cosmos _vector_session_token.py; 404/1002 as in its http_constants.py, READ_SESSION_NOTAVAILABLE.
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
    """404/1002 when the client has seen a later write than a partition has; 400 for a token of another form.

    There is one replica, so this takes a client that saw data which are no longer there, such as those of a
    directory that was put back to an earlier copy. Ranges that the container does not have are passed over.
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
