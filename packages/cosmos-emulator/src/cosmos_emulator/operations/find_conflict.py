"""GET and DELETE …/conflicts/{id}: with one write region, there are no conflicts."""

from __future__ import annotations

from typing import NoReturn

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http.messages import NOT_FOUND, Request


async def handle(request: Request) -> NoReturn:
    """Raise 404. The sub-status differs if the container is missing."""
    _ = request.container
    raise CosmosError(404, NOT_FOUND)
