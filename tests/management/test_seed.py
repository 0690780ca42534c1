"""Seeding is reproducible and leaves the data as the app would."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from management.provision import provision
from management.rebuild import rebuild
from management.seeding.names import Names
from management.seeding.plan import Range, SeedPlan
from management.seeding.sample import Sample, sample_posts
from management.seeding.writing import Plan, is_empty, is_unfinished, seed, with_dates_of_earlier_run
from management.terminal import SeedCount
from management.verify import verify
from shared.data.blog import Blog as ManagedBlog
from shared.data.posts import delete_post
from shared.data.username_reservations import normalized
from shared.data.users import create_user
from shared.models.base import check_username
from shared.models.post import NewPost
from shared.models.user import NewUser
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item, iso_utc, parse_moment
from tests.blog import Blog, new_blog

_PLAN = SeedPlan(users=5)
_PLANS = pytest.mark.parametrize("plan", [SeedPlan(), Sample()], ids=["generated", "sample"])


class _Quoting(SeedPlan):
    """The summary of each post is Markdown, too."""

    def posts(self, index: int, author: Item) -> Iterator[Item]:
        return (post | {"content": "The `__init__` method"} for post in super().posts(index, author))


class _Interrupted(Exception):
    pass


class _InterruptedAfter(SeedCount):
    def __init__(self, writes: int) -> None:
        super().__init__()
        self._left = writes

    def _write(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _Interrupted

    def users_written(self, posts: int) -> None:
        self._write()

    def posts_written(self, responses: int) -> None:
        self._write()


async def _seed(managed: ManagedBlog, plan: Plan = _PLAN, count: SeedCount | None = None) -> SeedCount:
    count = count or SeedCount()
    await seed(managed, plan, count, concurrency=8)
    return count


async def _contents(blog: Blog, *, with_etags: bool = False) -> list[Item]:
    items = [item for container in (blog.users, blog.posts, blog.feed) for item in await blog.all_items(container)]
    kept = ("_etag",) if with_etags else ()
    shown = [{name: item[name] for name in item if name in kept or not name.startswith("_")} for item in items]
    return sorted(shown, key=lambda item: (item["id"], item["type"], len(item), str(item)))


async def test_a_seeded_blog_passes_verification(managed: ManagedBlog) -> None:
    count = await _seed(managed)

    assert await verify(managed) == []
    assert (count.users, count.posts) == (5, count.planned_posts)
    assert count.responses > 0


async def test_the_summaries_of_a_seeded_blog_are_those_of_its_posts(managed: ManagedBlog) -> None:
    await _seed(managed, _Quoting(users=2))

    assert await verify(managed) == []


async def test_equal_seeds_generate_equal_blogs(blog: Blog, managed: ManagedBlog) -> None:
    await _seed(managed)
    async with new_blog(blog.emulator) as other:
        same = ManagedBlog(other.users, other.posts, other.feed, other.failures)
        await _seed(same)
        assert await _contents(other) == await _contents(blog)

    assert SeedPlan(users=5, seed=2).user(0) != _PLAN.user(0)


async def test_the_change_feed_functions_change_nothing_after_a_seed(blog: Blog, managed: ManagedBlog) -> None:
    await _seed(managed)
    before = await _contents(blog, with_etags=True)

    await blog.drain()

    assert await _contents(blog, with_etags=True) == before


async def test_a_seed_is_correct_while_the_change_feed_functions_run(blog: Blog, managed: ManagedBlog) -> None:
    seeding = asyncio.create_task(_seed(managed))
    while not seeding.done():
        await blog.handle_posts(await blog.changes(blog.posts))
        await blog.handle_users(await blog.changes(blog.users))
    await seeding

    assert await verify(managed) == []


@pytest.mark.parametrize("writes", [0, 3, 8])
async def test_repeating_an_interrupted_seed_completes_it(managed: ManagedBlog, writes: int) -> None:
    with pytest.raises(_Interrupted):
        await _seed(managed, count=_InterruptedAfter(writes))

    await _seed(managed)

    assert await verify(managed) == []


async def test_only_an_interrupted_seed_is_unfinished(managed: ManagedBlog) -> None:
    assert not await is_unfinished(managed, _PLAN)

    with pytest.raises(_Interrupted):
        await _seed(managed, count=_InterruptedAfter(0))
    assert await is_unfinished(managed, _PLAN)
    assert not await is_unfinished(managed, replace(_PLAN, seed=2))

    await _seed(managed)
    assert not await is_unfinished(managed, _PLAN)


async def test_repeating_a_finished_seed_changes_nothing(blog: Blog, managed: ManagedBlog) -> None:
    await _seed(managed)
    before = await _contents(blog, with_etags=True)

    await _seed(managed)

    assert await _contents(blog, with_etags=True) == before


@pytest.mark.parametrize("writes", [0, 3, 8, 1000])
async def test_a_seed_that_is_repeated_later_keeps_its_dates(blog: Blog, managed: ManagedBlog, writes: int) -> None:
    with contextlib.suppress(_Interrupted):
        await _seed(managed, count=_InterruptedAfter(writes))
    before = await _contents(blog)
    later = await with_dates_of_earlier_run(managed, replace(_PLAN, now=_PLAN.now + timedelta(hours=5, seconds=1)))

    await _seed(managed, later)

    assert later == _PLAN
    assert await verify(managed) == []
    after = await _contents(blog)
    assert all(item in after for item in before)


async def test_the_first_seed_has_the_dates_of_its_plan(managed: ManagedBlog) -> None:
    assert await with_dates_of_earlier_run(managed, _PLAN) is _PLAN


def test_sample_items_are_recent_and_not_in_the_future() -> None:
    now = datetime(2026, 11, 22, 9, tzinfo=UTC)
    plan = SeedPlan(now=now)
    numbered = [(index, post) for index in range(plan.users) for post in plan.posts(index, plan.user(index))]
    posts = [post for _, post in numbered]
    ages = sorted(now - parse_moment(post["creationDate"]) for post in posts)
    responses = [
        parse_moment(item["creationDate"]) for index, post in numbered for _, item in plan.responses(index, post)
    ]

    assert timedelta(minutes=2) < ages[0] < timedelta(minutes=10)
    assert timedelta(days=1) < ages[19] < timedelta(days=30)
    assert timedelta(days=100) < ages[-1] < timedelta(days=335)
    assert max(responses) <= now
    assert all(parse_moment(plan.user(index)["creationDate"]) < now - ages[-1] for index in range(plan.users))


def test_only_dates_depend_on_when_a_seed_is_generated() -> None:
    later = replace(_PLAN, now=_PLAN.now + timedelta(days=400))

    for post, again in zip(_PLAN.posts(0, _PLAN.user(0)), later.posts(0, later.user(0)), strict=True):
        assert again | {"creationDate": post["creationDate"]} == post
        assert len(list(later.responses(0, again))) == len(list(_PLAN.responses(0, post)))


@pytest.mark.parametrize("writes", [4, 8], ids=["no-posts", "some-posts"])
async def test_an_interrupted_seed_is_completed_after_a_rebuild(blog: Blog, managed: ManagedBlog, writes: int) -> None:
    """`verify` advises `rebuild`, which deletes the copies of the posts that are not written yet."""
    with pytest.raises(_Interrupted):
        await seed(managed, _PLAN, _InterruptedAfter(writes), concurrency=1)
    await rebuild(managed, lambda _: None)
    assert await verify(managed) == []

    later = await with_dates_of_earlier_run(managed, replace(_PLAN, now=_PLAN.now + timedelta(days=1)))
    await _seed(managed, later)

    assert later == _PLAN
    assert await verify(managed) == []
    planned = [post for index in range(_PLAN.users) for post in _PLAN.posts(index, _PLAN.user(index))]
    # Each post's version counts the post, its comments and its likes.
    assert len(await blog.all_items(blog.posts)) == sum(post["version"] for post in planned)


async def test_a_repeated_seed_does_not_restore_the_copy_of_a_deleted_post(blog: Blog, managed: ManagedBlog) -> None:
    await _seed(managed)
    deleted = next(_PLAN.posts(0, _PLAN.user(0)))
    await delete_post(blog.posts, deleted["id"], by=BackEnd())
    await blog.drain()

    await _seed(managed)

    assert await blog.users.read(deleted["id"], deleted["userId"]) is None


async def test_a_seed_writes_more_items_than_fit_in_one_transaction(
    managed: ManagedBlog,
) -> None:
    plan = SeedPlan(users=1, posts_per_user=Range(101, 101), comments_per_post=Range(0, 0), likes_per_post=Range(1, 1))
    crowd = SeedPlan(users=2, posts_per_user=Range(1, 1), comments_per_post=Range(205, 205), likes_per_post=Range(0, 2))

    assert (await _seed(managed, plan)).posts == 101
    assert (await _seed(managed, crowd)).responses >= 2 * 205

    assert await verify(managed) == []


async def test_seeds_of_different_sizes_coexist(managed: ManagedBlog) -> None:
    quiet = {"comments_per_post": Range(0, 0), "likes_per_post": Range(0, 1)}
    await _seed(managed, SeedPlan(users=3, posts_per_user=Range(25, 25), **quiet))
    await _seed(managed, SeedPlan(users=3, posts_per_user=Range(26, 26), **quiet))

    assert await verify(managed) == []


async def test_a_seed_does_not_take_an_existing_username(blog: Blog, managed: ManagedBlog) -> None:
    taken = _PLAN.user(0)["username"]
    await create_user(blog.users, NewUser(username=taken.upper()), idempotency_key=None)

    await _seed(managed)
    await blog.drain()

    assert (await blog.users.read(_PLAN.user(0)["id"], _PLAN.user(0)["id"]) or {})["username"].startswith(f"{taken}-")
    assert await verify(managed) == []


async def test_a_database_is_empty_until_there_is_a_user(blog: Blog, managed: ManagedBlog) -> None:
    assert await is_empty(managed)

    await create_user(blog.users, NewUser(username="ada.lovelace"), idempotency_key=None)

    assert not await is_empty(managed)


async def test_provisioning_a_seeded_database_keeps_its_data(blog: Blog, managed: ManagedBlog) -> None:
    await _seed(managed, replace(_PLAN, users=1))

    await provision(blog.settings)

    assert await verify(managed) == []


@_PLANS
def test_nobody_comments_on_or_likes_their_own_posts(plan: Plan) -> None:
    for index in range(plan.users):
        for post in plan.posts(index, plan.user(index)):
            responders = [response["userId"] for _, response in plan.responses(index, post)]
            assert post["userId"] not in responders
            assert len(responders) == post["commentCount"] + post["likeCount"]


@_PLANS
def test_sample_texts_are_accepted_by_the_api(plan: Plan) -> None:
    for index in range(plan.users):
        user = plan.user(index)
        NewUser(username=user["username"])
        for post in plan.posts(index, user):
            NewPost(user_id=user["id"], title=post["title"], content=post["content"])
            for _, response in plan.responses(index, post):
                assert post["creationDate"] < response["creationDate"] <= iso_utc(plan.now)


def test_the_sample_shows_what_posts_can_contain() -> None:
    texts = [post.content for post in sample_posts()]

    assert len(texts) == 15
    for pattern in (r"^## ", r"^- ", r"^1\. ", r"^```", r"^> ", r"\]\(/tour\)", r"^\|", r"\*\*", r"`[a-z]"):
        assert any(re.search(pattern, text, re.MULTILINE) for text in texts), pattern


async def test_the_sample_can_be_written_again_and_passes_verification(blog: Blog, managed: ManagedBlog) -> None:
    await _seed(managed, Sample())
    before = await _contents(blog, with_etags=True)

    await _seed(managed, await with_dates_of_earlier_run(managed, Sample().dated(_PLAN.now + timedelta(days=3))))
    await blog.drain()

    assert await _contents(blog, with_etags=True) == before
    assert await verify(managed) == []


def test_usernames_are_valid_and_unique() -> None:
    many = Names("any")
    names = [many.name(index) for index in range(20_000)]

    assert len({normalized(name) for name in names}) == len(names)
    assert all(check_username(name) and 3 <= len(name) <= 21 for name in names)


@pytest.mark.parametrize("text", ["", "-", "x", "5-", "5-x", "6-5", "-1", "1-2-3"])
def test_an_invalid_range_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        Range.parse(text)


def test_a_range_is_two_numbers_or_one() -> None:
    assert (Range.parse("5-50"), Range.parse("7")) == (Range(5, 50), Range(7, 7))
