"""Group commit under forced interleavings, on a container that holds each batch until the test releases it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from shared.data.posts import delete_post
from shared.errors import PostNotFound
from shared.models.base import COMMENT_LENGTH, POST_LENGTH
from shared.platform.database.client import connect
from shared.platform.database.container import Container, Operation
from shared.platform.database.refusals import ItemExists
from shared.platform.database.retries import REQUEST_DEADLINE_S
from shared.platform.database.scope import request_scope
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.transactions.batches import add_item
from shared.transactions.group_commit import COMMIT_DEADLINE_S, GroupCommit
from tests.blog import Blog, at
from tests.gateway import Gateway
from tests.interleaved import Interleaved
from tests.items import a_comment, a_like, a_post, a_record, a_user


def test_a_shared_batch_ends_before_the_deadline_of_its_requests() -> None:
    assert COMMIT_DEADLINE_S < REQUEST_DEADLINE_S


class Crowd:
    """Readers who like one post, each in their own task. `sizes` lists each batch's number of operations."""

    def __init__(self, posts: Container, post: Item) -> None:
        self.posts, self.post = Interleaved(posts, "batch", before=self._hold), post
        self.gate = asyncio.Event()
        self.arrivals = asyncio.Semaphore(0)
        self.sizes: list[int] = []
        self.refusals: list[Exception] = []
        self.transactions = GroupCommit()
        self.charges: list[float] = []

    async def _hold(self, _: str, operations: Sequence[Operation]) -> None:
        self.sizes.append(len(operations))
        self.arrivals.release()
        await self.gate.wait()
        if self.refusals:
            raise self.refusals.pop()

    def like(self, reader: Item | None = None) -> asyncio.Task[Item]:
        return asyncio.create_task(self._add(a_like(self.post, reader or a_user())))

    def comment(self, comment: Item) -> asyncio.Task[Item]:
        return asyncio.create_task(self._add(comment, a_record(comment, comment["id"])))

    async def _add(self, item: Item, record: Item | None = None) -> Item:
        with request_scope() as scope:
            try:
                return await self.transactions.add(self.posts, item, record)
            finally:
                self.charges.append(scope.request_units)

    async def first_running(self) -> asyncio.Task[Item]:
        """Start a like and hold its batch."""
        task = self.like()
        await self.arrivals.acquire()
        return task


@pytest.fixture
async def crowd(blog: Blog) -> Crowd:
    post = await blog.posts.create(a_post(a_user()))
    return Crowd(blog.posts, post)


async def test_likes_that_arrive_during_a_batch_share_the_next_batch(blog: Blog, crowd: Crowd) -> None:
    first = await crowd.first_running()
    others = [crowd.like() for _ in range(20)]
    await asyncio.sleep(0)
    crowd.gate.set()

    added = await asyncio.gather(first, *others)

    assert crowd.sizes == [2, 21]
    assert len({one["id"] for one in added}) == 21
    assert await blog.counts(crowd.post) == (0, 21)
    assert (await blog.posts.read(crowd.post["id"], crowd.post["id"]) or {})["version"] == crowd.post["version"] + 2


async def test_the_commands_of_a_group_share_its_charge(crowd: Crowd) -> None:
    first = await crowd.first_running()
    others = [crowd.like() for _ in range(20)]
    await asyncio.sleep(0)
    crowd.gate.set()
    await asyncio.gather(first, *others)

    alone, *shared = crowd.charges

    assert len(set(shared)) == 1
    assert 0 < shared[0] < alone / 2


async def test_the_commands_of_a_group_get_its_session_token(blog: Blog) -> None:
    post = await blog.posts.create(a_post(a_user()))
    grouped = GroupCommit()

    async def like(posts: Container) -> str:
        with request_scope() as scope:
            await grouped.add(posts, a_like(post, a_user()))
        return scope.session.tokens_of((await posts.proxy.read())["_rid"])

    with Gateway(blog.emulator.endpoint) as gateway, gateway.recording() as operations:
        settings = at(blog.settings, gateway.endpoint)
        async with connect(settings) as client:
            posts = Container(client.get_database_client(settings.database).get_container_client("posts"))
            tokens = await asyncio.gather(*(like(posts) for _ in range(10)))

    [answered] = [operation.answered_session for operation in operations if operation.kind == "batch"]
    assert tokens == [answered] * 10


async def test_a_group_has_at_most_thirty_commands(blog: Blog, crowd: Crowd) -> None:
    first = await crowd.first_running()
    others = [crowd.like() for _ in range(70)]
    await asyncio.sleep(0)
    crowd.gate.set()

    await asyncio.gather(first, *others)

    assert crowd.sizes == [2, 31, 31, 11]
    assert await blog.counts(crowd.post) == (0, 71)


# aiohttp warns about bodies over 1 MB.
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_thirty_of_the_longest_comments_with_records_fit_in_one_batch(blog: Blog, crowd: Crowd) -> None:
    """Each comment is 60 KB of the ASCII JSON that the SDK sends. The post is as long as the API allows."""
    longest = {"op": "set", "path": "/content", "value": "🎉" * POST_LENGTH}
    await blog.posts.patch(crowd.post["id"], crowd.post["id"], [longest])
    first = await crowd.first_running()
    comments = [a_comment(crowd.post, a_user(), content="🎉" * COMMENT_LENGTH) for _ in range(30)]
    adding = [
        asyncio.create_task(crowd.transactions.add(crowd.posts, comment, a_record(comment, comment["id"])))
        for comment in comments
    ]
    await asyncio.sleep(0)
    crowd.gate.set()
    await asyncio.gather(first, *adding)

    assert crowd.sizes == [2, 61]
    assert await blog.counts(crowd.post) == (30, 1)


async def test_existing_likes_do_not_fail_new_likes_in_their_group(blog: Blog, crowd: Crowd) -> None:
    fans = [a_user() for _ in range(5)]
    for fan in fans:
        await blog.posts.create(a_like(crowd.post, fan))
    await blog.posts.patch(crowd.post["id"], crowd.post["id"], [{"op": "set", "path": "/likeCount", "value": 5}])
    first = await crowd.first_running()
    others = [crowd.like(fan) for fan in fans] + [crowd.like() for _ in range(5)]
    await asyncio.sleep(0)
    crowd.gate.set()

    added = await asyncio.gather(first, *others, return_exceptions=True)

    assert [type(one) for one in added] == [dict] + [ItemExists] * 5 + [dict] * 5
    # Each refusal takes one command out of the group. It then takes the simple path.
    assert crowd.sizes[:7] == [2, 11, 10, 9, 8, 7, 6]
    assert crowd.sizes[7:] == [2] * 5
    assert await blog.counts(crowd.post) == (0, 11)


async def test_comments_with_records_share_a_group_with_retries_and_likes(blog: Blog, crowd: Crowd) -> None:
    retried, new = a_comment(crowd.post, a_user()), a_comment(crowd.post, a_user())
    await add_item(blog.posts, retried, a_record(retried, retried["id"]))
    first = await crowd.first_running()
    others = [crowd.comment(retried), crowd.comment(new), crowd.like()]
    await asyncio.sleep(0)
    crowd.gate.set()

    added = await asyncio.gather(first, *others, return_exceptions=True)

    assert [type(one) for one in added] == [dict, ItemExists, dict, dict]
    # The retry leaves the group.
    assert crowd.sizes == [2, 6, 4, 3]
    assert await blog.counts(crowd.post) == (2, 2)


async def test_concurrent_likes_of_one_user_create_one_like(blog: Blog, crowd: Crowd) -> None:
    reader = a_user()
    first = await crowd.first_running()
    twice = [crowd.like(reader), crowd.like(reader)]
    await asyncio.sleep(0)
    crowd.gate.set()

    await first
    added = await asyncio.gather(*twice, return_exceptions=True)

    assert [type(one) for one in added] == [dict, ItemExists]
    assert await blog.counts(crowd.post) == (0, 2)


async def test_an_unexpected_error_reruns_each_command_of_the_group(blog: Blog, crowd: Crowd) -> None:
    first = await crowd.first_running()
    others = [crowd.like() for _ in range(3)]
    await asyncio.sleep(0)
    crowd.refusals = [RuntimeError("unexpected"), RuntimeError("unexpected")]
    crowd.gate.set()

    outcomes = await asyncio.gather(first, *others, return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [RuntimeError, dict, dict, dict]
    assert crowd.sizes == [2, 4, 2, 2, 2]
    assert await blog.counts(crowd.post) == (0, 3)


async def test_a_post_deleted_during_a_batch_fails_all_waiting_commands(blog: Blog, crowd: Crowd) -> None:
    first = await crowd.first_running()
    others = [crowd.like() for _ in range(3)]
    await delete_post(blog.posts, crowd.post["id"], by=BackEnd())
    crowd.gate.set()

    outcomes = await asyncio.gather(first, *others, return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [PostNotFound] * 4
    assert [item["type"] for item in await blog.items_of(crowd.post)] == ["tombstone"]


async def test_a_canceled_request_does_not_affect_the_others(blog: Blog, crowd: Crowd) -> None:
    first = await crowd.first_running()
    impatient, patient = crowd.like(), crowd.like()
    await asyncio.sleep(0)
    first.cancel()
    impatient.cancel()
    crowd.gate.set()

    assert (await patient)["id"]
    await asyncio.gather(first, impatient, return_exceptions=True)

    # The first like was alone, so its batch was canceled with it. `impatient` was still waiting.
    assert crowd.sizes == [2, 2]
    assert await blog.counts(crowd.post) == (0, 1)


async def test_a_canceled_request_does_not_stop_its_group(blog: Blog, crowd: Crowd) -> None:
    crowd.gate.set()
    impatient, patient = crowd.like(), crowd.like()
    await crowd.arrivals.acquire()
    impatient.cancel()

    assert (await patient)["id"]
    await asyncio.gather(impatient, return_exceptions=True)

    assert crowd.sizes == [3]
    assert await blog.counts(crowd.post) == (0, 2)


async def test_a_failed_batch_does_not_fail_the_next_one(blog: Blog, crowd: Crowd) -> None:
    crowd.refusals = [DatabaseThrottled(1.0)]
    first = await crowd.first_running()
    other = crowd.like()
    await asyncio.sleep(0)
    crowd.gate.set()

    with pytest.raises(DatabaseThrottled):
        await first
    assert (await other)["id"]
    assert await blog.counts(crowd.post) == (0, 1)


async def test_a_hanging_batch_delays_the_next_batch_for_a_limited_time(blog: Blog, crowd: Crowd) -> None:
    crowd.transactions = GroupCommit(overlap_after_s=0.01)
    first = await crowd.first_running()
    other = crowd.like()
    await crowd.arrivals.acquire()

    crowd.gate.set()

    assert len(await asyncio.gather(first, other)) == 2
    assert await blog.counts(crowd.post) == (0, 2)


async def test_a_hanging_batch_fails_at_its_deadline(crowd: Crowd) -> None:
    crowd.transactions = GroupCommit(deadline_s=0.05)
    first = await crowd.first_running()

    with pytest.raises(DatabaseUnavailable):
        await first


async def test_a_deadline_fails_all_commands_of_the_group_without_a_second_one(crowd: Crowd) -> None:
    crowd.transactions = GroupCommit(deadline_s=0.05)

    outcomes = await asyncio.gather(crowd.like(), crowd.like(), return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [DatabaseUnavailable] * 2
    assert len(crowd.sizes) == 1
