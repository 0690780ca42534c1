"""Each change causes a fixed number of operations in the running app, without a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.api import Api
from tests.blog import Blog, EmulatorThread, at
from tests.gateway import Gateway, Operation
from tests.polling import eventually
from tests.running_app import RunningApp, running_app

# Polls of an idle change feed: two for each of the container's four leases.
IDLE_POLLS = 8


@dataclass(frozen=True)
class Observed:
    """An app that sends all its operations through `gateway`."""

    api: Api
    app: RunningApp
    gateway: Gateway

    async def idle(self) -> None:
        """Wait until both change feeds have been polled often enough since the last other operation."""
        with self.gateway.recording() as operations:
            await eventually(lambda: _are_polls_only(operations))


def _are_polls_only(operations: list[Operation]) -> bool:
    since = list(operations)
    last_other = max((at for at, operation in enumerate(since) if _is_work(operation)), default=-1)
    polls = Counter(operation.name for operation in since[last_other + 1 :])
    return polls["changes users"] >= IDLE_POLLS and polls["changes posts"] >= IDLE_POLLS


def _is_work(operation: Operation) -> bool:
    return operation.container in {"users", "posts", "feed", "failures"} and operation.kind not in {"changes"}


@pytest.fixture
def own_gateway(emulator: EmulatorThread) -> Iterator[Gateway]:
    with Gateway(emulator.endpoint) as listening:
        yield listening


@pytest.fixture
async def observed(blog: Blog, own_gateway: Gateway, tmp_path: Path) -> AsyncIterator[Observed]:
    settings = at(blog.settings, own_gateway.endpoint)
    with running_app(settings, tmp_path / "host.log") as app:
        async with ClientSession() as session:
            yield Observed(Api(session, app.url, app.openapi), app, own_gateway)


async def test_a_post_and_a_like_cause_a_fixed_number_of_operations(observed: Observed) -> None:
    author = await observed.api.new_user()
    await observed.idle()

    with observed.gateway.recording() as for_the_post:
        post = await observed.api.new_post(author)
        await observed.idle()
    lines_before = len(observed.app.log_lines(containing="blog delivery"))
    with observed.gateway.recording() as for_the_like:
        await observed.api.new_like(post, author)
        await observed.idle()

    # The command reads the author, and so does the change handler. After creating both copies, the handler
    # reads the post again in case it was deleted. It queries a feed with room again in case the feed is now too long.
    # The read of the feed makes its first query new enough.
    assert _counted(for_the_post) == {
        "read users": 1,
        "read latest users": 1,
        "create posts": 1,
        "read latest feed": 1,
        "query feed": 2,
        "create users": 1,
        "create feed": 1,
        "read latest posts": 1,
    }
    assert _counted(for_the_like) == {
        "read users": 1,
        "read latest users": 1,
        "batch posts": 1,
        "read latest feed": 1,
        "query feed": 1,
        "patch users": 1,
        "patch feed": 1,
    }
    deliveries = observed.app.log_lines(containing="blog delivery")[lines_before:]
    assert 1 <= len(deliveries) <= 3


def _counted(operations: list[Operation]) -> Counter[str]:
    return Counter(operation.name for operation in operations if _is_work(operation))
