"""`GET /_emulator/health`."""

from __future__ import annotations

import time

import pytest
from aiohttp import ClientSession
from cosmos_emulator import CosmosEmulator, EmulatorSettings, __version__
from cosmos_emulator.faults import Faults
from cosmos_emulator.latency import Latency


@pytest.mark.parametrize(
    "path", ["_emulator/health", "_emulator/health/", "_emulator/health?probe=1", "ready", "alive"]
)
async def test_health_needs_no_signature_and_has_no_charge(emulator: CosmosEmulator, path: str) -> None:
    async with ClientSession() as session, session.get(emulator.endpoint + path) as response:
        assert response.status == 200
        assert await response.json() == {"status": "ready", "version": __version__}
        assert "x-ms-request-charge" not in response.headers


async def test_health_ignores_faults_latency_throttling_and_rbac() -> None:
    settings = EmulatorSettings(faults=Faults("503", "hang"), latency=Latency(30.0), throttle=True, rbac=True)
    async with CosmosEmulator(settings) as emulator, ClientSession() as session:
        started = time.monotonic()
        async with session.get(f"{emulator.endpoint}_emulator/health") as response:
            assert response.status == 200
        assert time.monotonic() - started < 20
        assert [(fault.matched, fault.struck) for fault in emulator.faults] == [(0, 0), (0, 0)]


async def test_health_accepts_only_get_and_head(emulator: CosmosEmulator) -> None:
    async with ClientSession() as session:
        async with session.head(f"{emulator.endpoint}_emulator/health") as response:
            assert response.status == 200
        async with session.post(f"{emulator.endpoint}_emulator/health") as response:
            assert (response.status, response.headers["Allow"]) == (405, "GET, HEAD")
