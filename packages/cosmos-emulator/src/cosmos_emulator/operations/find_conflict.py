"""GET and DELETE …/conflicts/{id}: none is ever found, since there is one write region."""

from __future__ import annotations

from typing import NoReturn

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http.messages import NOT_FOUND, Request


async def handle(request: Request) -> NoReturn:
    """404, with the sub-status for a missing owner where there is no such container."""
    _ = request.container
    raise CosmosError(404, NOT_FOUND)
