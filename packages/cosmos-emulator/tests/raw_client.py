"""A client without an SDK, for requests that the SDKs never send."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from aiohttp import ClientSession
from azure.cosmos import auth
from cosmos_emulator import CosmosEmulator
from tests.real_account import ACCOUNT
from yarl import URL

CONTAINER = "dbs/db/colls/items"
PARTITION_KEY = {"x-ms-documentdb-partitionkey": '["p"]'}


@dataclass(frozen=True)
class RawResponse:
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class RawClient:
    """Signs each request for the given resource type (`kind`) and link. `headers` override the defaults."""

    def __init__(self, session: ClientSession, emulator: CosmosEmulator) -> None:
        self._session = session
        self._emulator = emulator

    async def send(
        self,
        verb: str,
        path: str,
        *,
        kind: str,
        link: str = "",
        body: Any = None,
        data: bytes | None = None,
        headers: dict[str, str] | None = None,
        by_rid: bool = False,
        key: str | None = None,
    ) -> RawResponse:
        sent = {"x-ms-date": datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT"), **(headers or {})}
        account = SimpleNamespace(master_key=key or self._emulator.key)
        signed = auth._get_authorization_header(account, verb, path, link, not by_rid, kind, sent)
        sent.setdefault("authorization", quote(signed, safe="-_.!~*'()"))
        if ACCOUNT is not None:
            ACCOUNT.refuse_throughput(verb, path, sent)
        content = json.dumps(body).encode() if body is not None else data
        url = URL(self._emulator.endpoint.rstrip("/") + path, encoded=True)
        async with self._session.request(verb, url, data=content, headers=sent) as response:
            found = {name.lower(): value for name, value in response.headers.items()}
            if ACCOUNT is not None:
                ACCOUNT.meter(found)
            return RawResponse(response.status, found, await response.read())

    async def create_item(
        self, body: Any = None, *, data: bytes | None = None, headers: dict[str, str] | None = None
    ) -> RawResponse:
        """Create an item with the partition key `p` in the container `items`."""
        sent = {**PARTITION_KEY, **(headers or {})}
        return await self.send(
            "POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body=body, data=data, headers=sent
        )

    async def read_item(self, item_id: str, headers: dict[str, str] | None = None) -> RawResponse:
        """Read an item with the partition key `p` from the container `items`."""
        link = f"{CONTAINER}/docs/{item_id}"
        return await self.send("GET", f"/{link}", kind="docs", link=link, headers={**PARTITION_KEY, **(headers or {})})
