"""Seeding is reproducible and leaves the data as the app would."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from bench.generated.plan import Range, SeedPlan
from management.provision import provision
from management.seeding import Plan, has_others, seed
from management.seeding.sample import Sample, sample_posts
from management.verify import verify
from shared.data.blog import Blog as ManagedBlog
from shared.data.posts import delete_post
from shared.data.users import create_user
from shared.models.like import Like
from shared.models.post import NewPost
from shared.models.user import NewUser
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item, iso_utc
from tests.blog import Blog, new_blog

_PLAN = SeedPlan(users=5)
_PLANS = pytest.mark.parametrize("plan", [SeedPlan(), Sample()], ids=["generated", "sample"])


class _Quoting(SeedPlan):
    """The summary of each post is Markdown, too."""

    def posts(self, index: int, author: Item) -> Iterator[Item]:
        return (post | {"content": "The `__init__` method"} for post in super().posts(index, author))


class _Interrupted(Exception):
    pass


@dataclass(frozen=True)
class _InterruptedPlan(SeedPlan):
    """The run ends before the post with this number."""

    left: int = 0

    def responses(self, author: int, post: Item) -> Iterator[tuple[int, Item]]:
        if post["id"] not in list(self.post_ids())[: self.left]:
            raise _Interrupted
        return super().responses(author, post)

    def post_ids(self) -> Iterator[str]:
        for index in range(self.users):
            yield from (post["id"] for post in self.posts(index, self.user(index)))


async def _interrupt(managed: ManagedBlog, posts: int) -> None:
    with pytest.raises(_Interrupted):
        await seed(managed, _InterruptedPlan(users=5, left=posts))


async def _contents(blog: Blog, *, with_etags: bool = False) -> list[Item]:
    items = [item for container in (blog.users, blog.posts, blog.feed) for item in await blog.all_items(container)]
    kept = ("_etag",) if with_etags else ()
    shown = [{name: item[name] for name in item if name in kept or not name.startswith("_")} for item in items]
    return sorted(shown, key=lambda item: (item["id"], item["type"], len(item), str(item)))


async def test_a_seeded_blog_passes_verification(managed: ManagedBlog) -> None:
    seeded = await seed(managed, _PLAN)

    assert await verify(managed) == []
    posts = [post for index in range(5) for post in _PLAN.posts(index, _PLAN.user(index))]
    responses = sum(post["commentCount"] + post["likeCount"] for post in posts)
    assert (seeded.users, seeded.posts, seeded.responses) == (5, len(posts), responses)


async def test_the_summaries_of_a_seeded_blog_are_those_of_its_posts(managed: ManagedBlog) -> None:
    await seed(managed, _Quoting(users=2))

    assert await verify(managed) == []


async def test_equal_seeds_generate_equal_blogs(blog: Blog, managed: ManagedBlog) -> None:
    await seed(managed, _PLAN)
    async with new_blog(blog.emulator) as other:
        same = ManagedBlog(other.users, other.posts, other.feed, other.failures)
        await seed(same, _PLAN)
        assert await _contents(other) == await _contents(blog)

    assert SeedPlan(users=5, seed=2).user(0) != _PLAN.user(0)


async def test_the_change_feed_functions_change_nothing_after_a_seed(blog: Blog, managed: ManagedBlog) -> None:
    await seed(managed, _PLAN)
    before = await _contents(blog, with_etags=True)

    await blog.drain()

    assert await _contents(blog, with_etags=True) == before


async def test_a_seed_is_correct_while_the_change_feed_functions_run(blog: Blog, managed: ManagedBlog) -> None:
    seeding = asyncio.create_task(seed(managed, _PLAN))
    while not seeding.done():
        await blog.handle_posts(await blog.changes(blog.posts))
        await blog.handle_users(await blog.changes(blog.users))
    await seeding

    assert await verify(managed) == []


@pytest.mark.parametrize("posts", [0, 3])
async def test_repeating_an_interrupted_seed_completes_it(blog: Blog, managed: ManagedBlog, posts: int) -> None:
    await _interrupt(managed, posts)

    await seed(managed, replace(_PLAN, now=_PLAN.now + timedelta(days=1)))

    assert await verify(managed) == []
    planned = [post for index in range(_PLAN.users) for post in _PLAN.posts(index, _PLAN.user(index))]
    # Each post's version counts the post, its comments and its likes.
    assert len(await blog.all_items(blog.posts)) == sum(post["version"] for post in planned)


async def test_repeating_a_finished_seed_changes_nothing(blog: Blog, managed: ManagedBlog) -> None:
    await seed(managed, _PLAN)
    before = await _contents(blog, with_etags=True)

    await seed(managed, _PLAN)

    assert await _contents(blog, with_etags=True) == before


async def test_a_repeated_seed_does_not_restore_the_copy_of_a_deleted_post(blog: Blog, managed: ManagedBlog) -> None:
    await seed(managed, _PLAN)
    deleted = next(_PLAN.posts(0, _PLAN.user(0)))
    await delete_post(blog.posts, deleted["id"], by=BackEnd())
    await blog.drain()

    await seed(managed, _PLAN)

    assert await blog.users.read(deleted["id"], deleted["userId"]) is None


async def test_a_seed_writes_more_items_than_fit_in_one_transaction(
    managed: ManagedBlog,
) -> None:
    crowd = SeedPlan(users=2, posts_per_user=Range(1, 1), comments_per_post=Range(205, 205), likes_per_post=Range(0, 2))

    assert (await seed(managed, crowd)).responses >= 2 * 205
    assert (await seed(managed, crowd)).responses >= 2 * 205

    assert await verify(managed) == []


@pytest.mark.nightly
async def test_seeds_of_different_sizes_coexist(managed: ManagedBlog) -> None:
    quiet = {"comments_per_post": Range(0, 0), "likes_per_post": Range(0, 1)}
    await seed(managed, SeedPlan(users=3, posts_per_user=Range(25, 25), **quiet))
    await seed(managed, SeedPlan(users=3, posts_per_user=Range(26, 26), **quiet))

    assert await verify(managed) == []


async def test_a_seed_does_not_take_an_existing_username(blog: Blog, managed: ManagedBlog) -> None:
    taken = _PLAN.user(0)["username"]
    await create_user(blog.users, NewUser(username=taken.upper()), idempotency_key=None)

    await seed(managed, _PLAN)
    await blog.drain()

    assert (await blog.users.read(_PLAN.user(0)["id"], _PLAN.user(0)["id"]) or {})["username"].startswith(f"{taken}-")
    assert await verify(managed) == []


async def test_a_database_has_others_once_the_sample_is_complete_or_somebody_signs_up(managed: ManagedBlog) -> None:
    assert not await has_others(managed)

    await managed.users.create(Sample().user(0))
    assert not await has_others(managed)  # an interrupted run

    await seed(managed, Sample())
    assert await has_others(managed)


async def test_a_database_with_a_user_has_others(managed: ManagedBlog) -> None:
    await create_user(managed.users, NewUser(username="ada.lovelace"), idempotency_key=None)

    assert await has_others(managed)


async def test_provisioning_a_seeded_database_keeps_its_data(blog: Blog, managed: ManagedBlog) -> None:
    await seed(managed, replace(_PLAN, users=1))

    await provision(blog.settings)

    assert await verify(managed) == []


@_PLANS
def test_nobody_likes_their_own_posts(plan: Plan) -> None:
    for index in range(plan.users):
        for post in plan.posts(index, plan.user(index)):
            responses = [response for _, response in plan.responses(index, post)]
            assert post["userId"] not in [one["userId"] for one in responses if one["type"] == Like.TYPE]
            assert len(responses) == post["commentCount"] + post["likeCount"]


@_PLANS
def test_sample_texts_are_accepted_by_the_api(plan: Plan) -> None:
    for index in range(plan.users):
        user = plan.user(index)
        NewUser(username=user["username"])
        for post in plan.posts(index, user):
            NewPost(user_id=user["id"], title=post["title"], content=post["content"])
            for _, response in plan.responses(index, post):
                assert post["creationDate"] < response["creationDate"] <= iso_utc(plan.now)


def test_the_sample_has_posts_of_all_kinds() -> None:
    texts = [post.content for post in sample_posts()]

    assert 15 <= len(texts) <= 20
    assert min(map(len, texts)) < 100
    assert max(map(len, texts)) > 6_000
    assert max(len(post.comments) for post in sample_posts()) >= 12
    assert any(re.search(r"[а-я]", text) for text in texts)
    for pattern in (r"^## ", r"^- ", r"^1\. ", r"^```", r"^> ", r"\]\(/tour\)", r"^\|", r"\*\*", r"`[a-z]"):
        assert any(re.search(pattern, text, re.MULTILINE) for text in texts), pattern


def test_the_texts_of_the_sample_fit_every_date() -> None:
    """Dates are relative to the first run, which can be on any day of the year."""
    texts = [
        text for post in sample_posts() for text in (post.title, post.content, *(one["text"] for one in post.comments))
    ]
    dated = re.compile(
        r"(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|\bMarch|April|\bMay\b|June|July|August|September|October"
        r"|November|December|in (the )?spring|summer|autumn|winter|Christmas|Easter"
    )

    assert [found[0] for text in texts if (found := dated.search(text))] == []


async def test_the_sample_can_be_written_again_and_passes_verification(blog: Blog, managed: ManagedBlog) -> None:
    await seed(managed, Sample())
    before = await _contents(blog, with_etags=True)

    await seed(managed, Sample(_PLAN.now + timedelta(days=3)))
    await blog.drain()

    assert await _contents(blog, with_etags=True) == before
    assert await verify(managed) == []
