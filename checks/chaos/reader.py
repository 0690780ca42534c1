"""Read the blog over HTTP, with retries."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from checks.chaos.api_client import ApiClient


class Reader:
    """Reads resources and whole lists."""

    def __init__(self, api_client: ApiClient) -> None:
        self._api_client = api_client

    async def get(self, path: str) -> dict[str, Any]:
        """Return the resource; empty if it does not exist."""
        answer = await self._api_client.send("GET", path)
        return dict(answer.body) if answer.status == 200 else {}

    async def pages(self, path: str) -> list[dict[str, Any]]:
        """Return a whole list; empty if it does not exist."""
        items: list[dict[str, Any]] = []
        page = await self.get(f"{path}?limit=100")
        items += page.get("items", [])
        while "nextCursor" in page:
            page = await self.get(f"{path}?limit=100&cursor={quote(page['nextCursor'], safe='')}")
            items += page["items"]
        return items
