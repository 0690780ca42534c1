"""A client of an emulator that a test starts itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from tests.real_account import ACCOUNT


@asynccontextmanager
async def emulator_client(settings: EmulatorSettings) -> AsyncIterator[CosmosClient]:
    """Start an emulator, and connect a client. Both are closed at the end."""
    async with CosmosEmulator(settings) as emulator, connected(emulator) as client:
        yield client


def connected(emulator: CosmosEmulator) -> CosmosClient:
    """Return a client of an emulator, which the caller opens and closes."""
    # By default, aiohttp looks up proxies before every request, in a thread.
    options: dict[str, Any] = {"transport": AioHttpTransport(use_env_settings=False)}
    if ACCOUNT is not None:
        options |= {"raw_request_hook": _refuse_throughput, "raw_response_hook": _meter}
    return CosmosClient(emulator.endpoint, emulator.key, **options)


def _refuse_throughput(request: PipelineRequest[Any]) -> None:
    sent = request.http_request
    ACCOUNT.refuse_throughput(sent.method, urlsplit(sent.url).path, sent.headers)


def _meter(response: PipelineResponse[Any, Any]) -> None:
    ACCOUNT.meter(response.http_response.headers)
