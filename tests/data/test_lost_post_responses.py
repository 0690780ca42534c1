"""Edits and deletions of posts whose first response is lost, while replicas lag behind the primary."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from cosmos_emulator import EmulatorSettings
from cosmos_emulator.latency import Latency

from shared.data.posts import delete_post, edit_post
from shared.errors import PostNotFound
from shared.models.post import PostChanges
from shared.platform.database.client import connect
from shared.platform.http.callers import BackEnd
from tests.blog import Blog, EmulatorThread, at
from tests.gateway import Gateway, Operation
from tests.items import a_post, a_user


@pytest.fixture(scope="module")
def emulator() -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings()) as running:
        yield running


@pytest.fixture
def gateway(emulator: EmulatorThread) -> Iterator[Gateway]:
    with Gateway(emulator.endpoint) as listening:
        yield listening


@pytest.fixture
async def elsewhere(blog: Blog, gateway: Gateway) -> AsyncIterator[Blog]:
    """The blog in another process, behind `gateway`."""
    settings = at(blog.settings, gateway.endpoint)
    async with connect(settings) as client:
        yield Blog(blog.emulator, settings, client.get_database_client(settings.database))
    blog.emulator.settings.replica_lag = None


def _stop_replicas(blog: Blog) -> None:
    blog.emulator.settings.replica_lag = Latency(3600)


def _first_patch() -> Callable[[Operation], bool]:
    seen: list[Operation] = []

    def matches(operation: Operation) -> bool:
        seen.extend([operation] if operation.kind == "patch" else [])
        return seen == [operation]

    return matches


async def test_an_edit_with_a_lost_response_succeeds_although_replicas_lack_it(
    blog: Blog, elsewhere: Blog, gateway: Gateway
) -> None:
    _stop_replicas(blog)
    post = await blog.posts.create(a_post(a_user()))

    with gateway.losing(_first_patch(), applied=True):
        edited = await edit_post(
            elsewhere.posts, post["id"], PostChanges(title="New", content="New"), if_match={""}, by=BackEnd()
        )

    assert edited["title"] == "New"


async def test_a_deletion_with_a_lost_response_recognizes_its_tombstone_although_replicas_have_the_post(
    blog: Blog, elsewhere: Blog, gateway: Gateway
) -> None:
    post = await blog.posts.create(a_post(a_user()))
    _stop_replicas(blog)

    with gateway.losing(_first_patch(), applied=True):
        await delete_post(elsewhere.posts, post["id"], by=BackEnd())

    with pytest.raises(PostNotFound):
        await delete_post(elsewhere.posts, post["id"], by=BackEnd())
