"""The HTTP transport of the SDK's client, through which every response passes.

It counts the request charge, records the call as a span, and applies the session of the current API request.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from azure.core.pipeline.transport import AioHttpTransport

from shared.database.calls import database_call
from shared.database.charges import current_charge, record_answer
from shared.database.retries import SESSION_RETRIES, SESSION_WAIT_S
from shared.database.sessions import SESSION_HEADER, Session
from shared.errors import DatabaseUnavailable

# Names the container that the client means. The service refuses the request if another one has its name now.
_RID = "x-ms-cosmos-intended-collection-rid"
_GONE = 410
_ITEMS = re.compile(r"/colls/[^/]+/docs(/|$)")


class SessionNotConfirmed(Exception):
    """No replica has reached the session token from the client, and the primary has not confirmed it."""


class SessionTransport(AioHttpTransport):  # type: ignore[misc]  # untyped
    """Sends the session tokens of the current request or delivery with each of its reads.

    404/1002 means that no replica has reached the token. The read is sent again after a short wait. The SDK never sees
    this response to such a token, because it would forget the tokens of the whole process. After the first wait, the
    caller must confirm a token from a client, because a forged one would hold up the request.
    """

    async def send(self, request: Any, **options: Any) -> Any:
        """Raises SessionNotConfirmed, or DatabaseUnavailable if no replica reaches a token of the request."""
        charge, rid = current_charge.get(), request.headers.get(_RID)
        if charge is None or rid is None:
            return await self._send(request, **options)
        of_process = request.headers.get(SESSION_HEADER)
        for attempt in range(SESSION_RETRIES + 1):
            # Another read of this API request may have found out in between that a token is wrong.
            if known := _is_read(request) and charge.session.tokens_of(rid):
                merged = Session()
                merged.add(rid, ",".join(filter(None, (known, of_process))))
                request.headers[SESSION_HEADER] = merged.tokens_of(rid)
            elif of_process is not None:
                request.headers[SESSION_HEADER] = of_process
            response = await self._send(request, **options)
            charge.session.add(rid, response.headers.get(SESSION_HEADER, ""))
            if (response.status_code, response.headers.get("x-ms-substatus")) != (404, "1002"):
                return response
            if attempt < SESSION_RETRIES:
                if known and attempt and charge.session.is_doubtful(rid):
                    raise SessionNotConfirmed
                await asyncio.sleep(SESSION_WAIT_S * 2**attempt)
        if known:
            raise DatabaseUnavailable("no replica has reached the session token of the request")
        return response

    async def _send(self, request: Any, **options: Any) -> Any:
        """Send once.

        After a 410/1002, azure-cosmos 4.17 reads the partition key ranges under a lock. If that read returns 410/1002,
        too, the SDK waits forever for its own lock. Without the sub-status, the read fails instead.
        """
        charge = current_charge.get()
        with database_call(request, charge.function if charge else "") as call:
            response = await super().send(request, **options)
            call.answered(response)
        record_answer(response)
        if response.status_code == _GONE and request.url.rstrip("/").endswith("/pkranges"):
            response.headers.pop("x-ms-substatus", None)
        return response


def _is_read(request: Any) -> bool:
    is_query = request.headers.get("Content-Type") == "application/query+json"
    return (request.method == "GET" or is_query) and bool(_ITEMS.search(request.url))
