"""Queries that are sent until they are answered."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from tests.chaos.sender import Sender


class Reader:
    """A patient reader of the blog."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    async def get(self, path: str) -> dict[str, Any]:
        """The resource, or nothing where there is none."""
        answer = await self._sender.send("GET", path)
        return dict(answer.body) if answer.status == 200 else {}

    async def pages(self, path: str) -> list[dict[str, Any]]:
        """All items of a list, none where there is no such list."""
        items: list[dict[str, Any]] = []
        page = await self.get(f"{path}?limit=100")
        items += page.get("items", [])
        while "nextCursor" in page:
            page = await self.get(f"{path}?limit=100&cursor={quote(page['nextCursor'], safe='')}")
            items += page["items"]
        return items
