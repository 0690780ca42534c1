"""GET and DELETE …/conflicts/{id}: one write region has no conflicts."""

from __future__ import annotations

from typing import NoReturn

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages.request import NOT_FOUND, Request


async def handle(request: Request) -> NoReturn:
    """Raise 404, with another sub-status if the container is missing."""
    _ = request.container
    raise CosmosError(404, NOT_FOUND)
