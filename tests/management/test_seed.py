"""Seeding: reproducible, exactly what the app would have left, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from management.account import Blog as ManagedBlog
from management.provision import provision
from management.seeding.names import Names
from management.seeding.plan import SeedPlan, Span
from management.seeding.writing import is_empty, is_unfinished, seed
from management.terminal import SeedCount
from management.verify import verify
from shared.data.username_reservations import normalized
from shared.data.users import create_user
from shared.models.base import Item
from shared.models.fields import check_username
from shared.models.user import NewUser
from tests.blog import Blog, new_blog

_PLAN = SeedPlan(users=5)


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


async def _seed(managed: ManagedBlog, plan: SeedPlan = _PLAN, count: SeedCount | None = None) -> SeedCount:
    count = count or SeedCount()
    await seed(managed, plan, count, concurrency=8)
    return count


async def _contents(blog: Blog, *, with_etags: bool = False) -> list[Item]:
    items = [item for container in (blog.users, blog.posts, blog.feed) for item in await blog.all_items(container)]
    kept = ("_etag",) if with_etags else ()
    shown = [{name: item[name] for name in item if name in kept or not name.startswith("_")} for item in items]
    return sorted(shown, key=lambda item: (item["id"], item["type"], len(item), str(item)))


async def test_a_seeded_blog_keeps_every_promise(managed: ManagedBlog) -> None:
    count = await _seed(managed)

    assert await verify(managed) == []
    assert (count.users, count.posts) == (5, count.planned_posts)
    assert count.responses > 0


async def test_the_same_seed_makes_the_same_blog_and_another_seed_another(blog: Blog, managed: ManagedBlog) -> None:
    await _seed(managed)
    async with new_blog(blog.emulator) as other:
        same = ManagedBlog(other.users, other.posts, other.feed, other.failures)
        await _seed(same)
        assert await _contents(other) == await _contents(blog)

    assert SeedPlan(users=5, seed=2).user(0) != _PLAN.user(0)


async def test_the_change_feed_functions_find_nothing_to_do_after_a_seed(blog: Blog, managed: ManagedBlog) -> None:
    await _seed(managed)
    before = await _contents(blog, with_etags=True)

    await blog.drain()

    assert await _contents(blog, with_etags=True) == before


async def test_change_feed_functions_that_run_meanwhile_do_no_harm(blog: Blog, managed: ManagedBlog) -> None:
    seeding = asyncio.create_task(_seed(managed))
    while not seeding.done():
        await blog.posts_reaction.on_changed(await blog.changes(blog.posts))
        await blog.users_reaction.on_changed(await blog.changes(blog.users))
    await seeding

    assert await verify(managed) == []


@pytest.mark.parametrize("writes", [0, 3, 8])
async def test_a_seed_that_was_cut_off_goes_on_when_it_is_repeated(managed: ManagedBlog, writes: int) -> None:
    with pytest.raises(_Interrupted):
        await _seed(managed, count=_InterruptedAfter(writes))

    await _seed(managed)

    assert await verify(managed) == []


async def test_only_a_seed_that_was_cut_off_is_unfinished(managed: ManagedBlog) -> None:
    assert not await is_unfinished(managed, _PLAN)

    with pytest.raises(_Interrupted):
        await _seed(managed, count=_InterruptedAfter(0))
    assert await is_unfinished(managed, _PLAN)
    assert not await is_unfinished(managed, replace(_PLAN, seed=2))

    await _seed(managed)
    assert not await is_unfinished(managed, _PLAN)


async def test_a_repeated_seed_leaves_everything_as_it_is(blog: Blog, managed: ManagedBlog) -> None:
    await _seed(managed)
    before = await _contents(blog, with_etags=True)

    await _seed(managed)

    assert await _contents(blog, with_etags=True) == before


async def test_more_than_a_hundred_posts_of_a_user_and_responses_of_a_post_are_all_written(
    managed: ManagedBlog,
) -> None:
    plan = SeedPlan(users=1, posts_per_user=Span(101, 101), comments_per_post=Span(0, 0), likes_per_post=Span(1, 1))
    crowd = SeedPlan(users=2, posts_per_user=Span(1, 1), comments_per_post=Span(205, 205), likes_per_post=Span(0, 2))

    assert (await _seed(managed, plan)).posts == 101
    assert (await _seed(managed, crowd)).responses >= 2 * 205

    assert await verify(managed) == []


async def test_seeds_of_other_sizes_stand_beside_each_other_and_share_the_feed(managed: ManagedBlog) -> None:
    quiet = {"comments_per_post": Span(0, 0), "likes_per_post": Span(0, 1)}
    await _seed(managed, SeedPlan(users=3, posts_per_user=Span(25, 25), **quiet))
    await _seed(managed, SeedPlan(users=3, posts_per_user=Span(26, 26), **quiet))

    assert await verify(managed) == []


async def test_a_name_that_someone_has_is_not_taken_from_him(blog: Blog, managed: ManagedBlog) -> None:
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


async def test_a_seeded_database_is_provisioned_again_without_loss(blog: Blog, managed: ManagedBlog) -> None:
    await _seed(managed, replace(_PLAN, users=1))

    await provision(blog.settings)

    assert await verify(managed) == []


def test_names_are_valid_and_never_the_same_to_the_blog() -> None:
    many = Names("any")
    names = [many.name(index) for index in range(20_000)]

    assert len({normalized(name) for name in names}) == len(names)
    assert all(check_username(name) and 3 <= len(name) <= 21 for name in names)


@pytest.mark.parametrize("text", ["", "-", "x", "5-", "5-x", "6-5", "-1", "1-2-3"])
def test_what_is_not_a_span_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        Span.parse(text)


def test_a_span_is_two_numbers_or_one() -> None:
    assert (Span.parse("5-50"), Span.parse("7")) == (Span(5, 50), Span(7, 7))
