"""Group commit, with the interleavings forced: a container whose batches wait until the test lets them go."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from shared.charges import metered
from shared.cosmos import BatchRefused, ConditionFailed, Container, ItemMissing, Operation
from shared.data.contributions import Added
from shared.data.posts import delete_post
from shared.errors import DatabaseThrottled, DatabaseUnavailable, PostNotFound
from shared.models.base import Item
from shared.models.fields import COMMENT_LENGTH, POST_LENGTH
from shared.transactions import post_commits
from shared.transactions.contribution_batches import ContributionBatches
from tests.blog import Blog
from tests.items import a_comment, a_like, a_post, a_user


class HeldContainer(Container):
    """Its batches wait for the gate; `sizes` are their numbers of operations."""

    def __init__(self, container: Container) -> None:
        super().__init__(container.proxy)
        self.gate = asyncio.Event()
        self.arrivals = asyncio.Semaphore(0)
        self.sizes: list[int] = []
        self.refusals: list[Exception] = []

    async def batch(self, partition_key: str, operations: Sequence[Operation]) -> list[Item]:
        self.sizes.append(len(operations))
        self.arrivals.release()
        await self.gate.wait()
        if self.refusals:
            raise self.refusals.pop()
        return await super().batch(partition_key, operations)


class Crowd:
    """Readers who like one post, each in a task of its own."""

    def __init__(self, posts: HeldContainer, post: Item) -> None:
        self.posts, self.post = posts, post
        self.batches = ContributionBatches()
        self.charges: list[float] = []

    def like(self, reader: Item | None = None) -> asyncio.Task[Added]:
        return asyncio.create_task(self._like(reader or a_user()))

    async def _like(self, reader: Item) -> Added:
        with metered() as charge:
            try:
                return await self.batches.add(self.posts, a_like(self.post, reader))
            finally:
                self.charges.append(charge.request_units)

    async def first_under_way(self) -> asyncio.Task[Added]:
        """A like whose batch is held."""
        task = self.like()
        await self.posts.arrivals.acquire()
        return task


@pytest.fixture
async def crowd(blog: Blog) -> Crowd:
    post = await blog.posts.create(a_post(a_user()))
    return Crowd(HeldContainer(blog.posts), post)


async def test_what_comes_meanwhile_goes_together(blog: Blog, crowd: Crowd) -> None:
    first = await crowd.first_under_way()
    others = [crowd.like() for _ in range(20)]
    await asyncio.sleep(0)
    crowd.posts.gate.set()

    added = await asyncio.gather(first, *others)

    assert crowd.posts.sizes == [2, 21]
    assert all(one.created for one in added)
    assert await blog.counts(crowd.post) == (0, 21)
    assert (await blog.posts.read(crowd.post["id"], crowd.post["id"]) or {})["version"] == crowd.post["version"] + 2


async def test_a_batch_is_charged_to_all_that_are_in_it(crowd: Crowd) -> None:
    first = await crowd.first_under_way()
    others = [crowd.like() for _ in range(20)]
    await asyncio.sleep(0)
    crowd.posts.gate.set()
    await asyncio.gather(first, *others)

    alone, *shared = crowd.charges

    assert len(set(shared)) == 1
    assert 0 < shared[0] < alone / 2


async def test_no_batch_takes_more_than_thirty(blog: Blog, crowd: Crowd) -> None:
    first = await crowd.first_under_way()
    others = [crowd.like() for _ in range(70)]
    await asyncio.sleep(0)
    crowd.posts.gate.set()

    await asyncio.gather(first, *others)

    assert crowd.posts.sizes == [2, 31, 31, 11]
    assert await blog.counts(crowd.post) == (0, 71)


# aiohttp's word on a body of more than 1 MB, which this is.
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_thirty_of_the_longest_comments_fit_in_one_batch(blog: Blog, crowd: Crowd) -> None:
    """60 KB each as JSON of ASCII alone, which is how the SDK sends them; on the longest post that the API takes."""
    longest = {"op": "set", "path": "/content", "value": "🎉" * POST_LENGTH}
    await blog.posts.patch(crowd.post["id"], crowd.post["id"], [longest])
    first = await crowd.first_under_way()
    comments = [a_comment(crowd.post, a_user(), content="🎉" * COMMENT_LENGTH) for _ in range(30)]
    adding = [asyncio.create_task(crowd.batches.add(crowd.posts, comment)) for comment in comments]
    await asyncio.sleep(0)
    crowd.posts.gate.set()
    await asyncio.gather(first, *adding)

    assert crowd.posts.sizes == [2, 31]
    assert await blog.counts(crowd.post) == (30, 1)


async def test_those_who_like_it_already_hold_up_nobody(blog: Blog, crowd: Crowd) -> None:
    fans = [a_user() for _ in range(5)]
    for fan in fans:
        await blog.posts.create(a_like(crowd.post, fan))
    await blog.posts.patch(crowd.post["id"], crowd.post["id"], [{"op": "set", "path": "/likeCount", "value": 5}])
    first = await crowd.first_under_way()
    others = [crowd.like(fan) for fan in fans] + [crowd.like() for _ in range(5)]
    await asyncio.sleep(0)
    crowd.posts.gate.set()

    added = await asyncio.gather(first, *others)

    assert [one.created for one in added] == [True] + [False] * 5 + [True] * 5
    assert crowd.posts.sizes == [2, 11, 6]
    assert await blog.counts(crowd.post) == (0, 11)


async def test_a_double_click_is_one_like(blog: Blog, crowd: Crowd) -> None:
    reader = a_user()
    first = await crowd.first_under_way()
    twice = [crowd.like(reader), crowd.like(reader)]
    await asyncio.sleep(0)
    crowd.posts.gate.set()

    await first
    added = await asyncio.gather(*twice)

    assert [one.created for one in added] == [True, False]
    assert added[0].item == added[1].item
    assert await blog.counts(crowd.post) == (0, 2)


async def test_a_post_deleted_meanwhile_is_not_found_by_any(blog: Blog, crowd: Crowd) -> None:
    first = await crowd.first_under_way()
    others = [crowd.like() for _ in range(3)]
    await delete_post(blog.posts, crowd.post["id"], etag=None)
    crowd.posts.gate.set()

    outcomes = await asyncio.gather(first, *others, return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [PostNotFound] * 4
    assert [item["type"] for item in await blog.items_of(crowd.post)] == ["deletedPost"]


async def test_a_request_that_gives_up_leaves_the_others_alone(blog: Blog, crowd: Crowd) -> None:
    first = await crowd.first_under_way()
    impatient, patient = crowd.like(), crowd.like()
    await asyncio.sleep(0)
    first.cancel()
    impatient.cancel()
    crowd.posts.gate.set()

    assert (await patient).created
    await asyncio.gather(first, impatient, return_exceptions=True)

    # The first was on its way, the impatient one was not yet.
    assert crowd.posts.sizes == [2, 2]
    assert await blog.counts(crowd.post) == (0, 2)


async def test_a_failure_is_told_to_all_in_the_batch_and_to_nobody_else(blog: Blog, crowd: Crowd) -> None:
    crowd.posts.refusals = [DatabaseThrottled(1.0)]
    first = await crowd.first_under_way()
    other = crowd.like()
    await asyncio.sleep(0)
    crowd.posts.gate.set()

    with pytest.raises(DatabaseThrottled):
        await first
    assert (await other).created
    assert await blog.counts(crowd.post) == (0, 1)


async def test_a_batch_that_hangs_holds_up_the_next_only_so_long(
    blog: Blog, crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post_commits, "_HELD_UP_S", 0.01)
    first = await crowd.first_under_way()
    other = crowd.like()
    await crowd.posts.arrivals.acquire()

    crowd.posts.gate.set()

    assert [one.created for one in await asyncio.gather(first, other)] == [True, True]
    assert await blog.counts(crowd.post) == (0, 2)


async def test_a_batch_that_hangs_is_given_up_at_its_deadline(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post_commits, "COMMIT_DEADLINE_S", 0.05)
    first = await crowd.first_under_way()

    with pytest.raises(DatabaseUnavailable):
        await first


@pytest.mark.parametrize("index", [0, 1])
async def test_a_batch_refused_again_and_again_ends(crowd: Crowd, index: int) -> None:
    crowd.posts.refusals = [BatchRefused(index, ConditionFailed()) for _ in range(20)]
    first = await crowd.first_under_way()
    crowd.posts.gate.set()

    with pytest.raises(DatabaseUnavailable):
        await first


async def test_a_comment_deleted_by_somebody_else_meanwhile_is_not_uncounted_twice(blog: Blog, crowd: Crowd) -> None:
    comment = (await crowd.batches.add(blog.posts, a_comment(crowd.post, a_user()))).item
    removal = asyncio.create_task(
        crowd.batches.remove(crowd.posts, crowd.post["id"], comment["id"], "comment", etag=None)
    )
    await crowd.posts.arrivals.acquire()
    assert await ContributionBatches().remove(blog.posts, crowd.post["id"], comment["id"], "comment", etag=None)
    crowd.posts.gate.set()

    assert await removal is False
    assert await blog.counts(crowd.post) == (0, 0)


async def test_a_post_missing_from_the_start_is_not_found(blog: Blog) -> None:
    post: dict[str, Any] = a_post(a_user())

    with pytest.raises(PostNotFound) as missing:
        await ContributionBatches().add(blog.posts, a_like(post, a_user()))

    assert not isinstance(missing.value.__cause__, ItemMissing)


class LaggingContainer(Container):
    """Its reads come from a replica that has not heard of comments and likes yet, until a batch of this process has
    been to the primary: from then on the session token asks for what that has."""

    def __init__(self, container: Container) -> None:
        super().__init__(container.proxy)
        self.lags = True

    async def batch(self, partition_key: str, operations: Sequence[Operation]) -> list[Item]:
        try:
            return await super().batch(partition_key, operations)
        finally:
            self.lags = False

    async def read(self, item_id: str, partition_key: str) -> Item | None:
        return None if self.lags and item_id != partition_key else await super().read(item_id, partition_key)

    async def query(self, *arguments: Any, **options: Any) -> list[Any]:
        return [] if self.lags else await super().query(*arguments, **options)


@pytest.mark.parametrize("number", [1, 3])
async def test_what_another_process_has_just_added_is_removed_although_a_replica_does_not_know_it(
    blog: Blog, crowd: Crowd, number: int
) -> None:
    here, there = LaggingContainer(blog.posts), ContributionBatches()
    likes = [(await there.add(blog.posts, a_like(crowd.post, a_user()))).item for _ in range(number)]

    removed = await asyncio.gather(
        *(crowd.batches.remove(here, crowd.post["id"], like["id"], "like", etag=like["_etag"]) for like in likes)
    )

    assert removed == [True] * number
    assert await blog.counts(crowd.post) == (0, 0)
