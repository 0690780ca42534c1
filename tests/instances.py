"""Two instances on one database whose replicas lag.

The emulator's clock stands still, so replicas catch up only when a test advances it.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
from aiohttp import ClientSession
from cosmos_emulator import EmulatorSettings
from cosmos_emulator.latency import Latency

from shared.platform.settings import Account
from shared.settings import Settings, TransactionMode
from tests.api import Api, ApiResponse
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import TRIGGERS, RunningApp, provisioned, running_app

LAG_S = 0.5
TOKEN = "x-ms-session-token"


@dataclass
class Clock:
    now_s: float

    def __call__(self) -> float:
        return self.now_s


@dataclass(frozen=True)
class Instances:
    """Two instances of the app, through which a client writes to one and reads from the other."""

    writer: Api
    reader: Api
    clock: Clock

    def let_replicas_catch_up(self) -> None:
        self.clock.now_s += LAG_S


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock(time.time())


@pytest.fixture(scope="module")
def lagging(clock: Clock) -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings(replica_lag=Latency(LAG_S), clock=clock)) as running:
        yield running


@pytest.fixture(scope="module", params=["batch", "procedure"])
def apps(
    lagging: EmulatorThread, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[RunningApp, RunningApp]]:
    way: TransactionMode = request.param
    settings = provisioned(
        Settings(account=Account(lagging.endpoint, lagging.key), database=unique("blog"), transactions=way)
    )
    logs = tmp_path_factory.mktemp("instances")
    with (
        running_app(settings, logs / "writer.log", disabled=TRIGGERS) as writer,
        running_app(settings, logs / "reader.log", disabled=TRIGGERS) as reader,
    ):
        yield writer, reader


@pytest.fixture
async def instances(apps: tuple[RunningApp, RunningApp], clock: Clock) -> AsyncIterator[Instances]:
    async with ClientSession() as session:
        writer, reader = (Api(session, app.url, app.openapi) for app in apps)
        found = Instances(writer, reader, clock)
        found.let_replicas_catch_up()
        yield found


def rewritten(answer: ApiResponse, pattern: str, replacement: str) -> dict[str, str]:
    """The answer's token with another content."""
    payload = answer.headers[TOKEN].removeprefix("1.")
    content = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode()
    changed = re.sub(pattern, replacement, content)
    assert changed != content
    return {TOKEN: "1." + base64.urlsafe_b64encode(changed.encode()).decode().rstrip("=")}
