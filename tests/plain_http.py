"""A client that shows responses as they are: no redirects, and no check against the API's description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import ClientSession
from yarl import URL


@dataclass(frozen=True)
class PlainResponse:
    """A response, with lowercase header names."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    @property
    def charge_ru(self) -> float:
        return float(self.headers["x-ms-request-charge"])


@dataclass(frozen=True)
class PlainClient:
    """A client of one app."""

    session: ClientSession
    url: str

    async def get(self, path: str, headers: Mapping[str, str] | None = None, *, method: str = "GET") -> PlainResponse:
        """Send a request."""
        url = URL(self.url + path, encoded=True)
        async with self.session.request(method, url, headers=headers, allow_redirects=False) as answer:
            lowered = {name.lower(): value for name, value in answer.headers.items()}
            return PlainResponse(answer.status, lowered, await answer.read())
