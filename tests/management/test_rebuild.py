"""Rebuild leaves a consistent database, whatever its previous state."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from azure.core.pipeline.transport import AioHttpTransport
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from bench.generated.plan import Range, SeedPlan
from management.rebuild import rebuild
from management.seeding import seed
from management.verification import census
from management.verification.findings import REBUILD
from management.verify import verify
from shared.data.blog import Blog as ManagedBlog
from shared.data.comments import create_comment
from shared.data.posts import delete_post, edit_post
from shared.data.username_reservations import reservation_item
from shared.data.users import edit_user
from shared.models.characters import is_blank
from shared.models.comment import NewComment
from shared.models.post import PostChanges, short_form
from shared.models.summary import plain_text
from shared.models.user import UserChanges
from shared.platform.deliveries.pacing import TRANSACTIONS_AT_ONCE
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.propagation import copies
from tests.blog import Blog, EmulatorThread, new_blog
from tests.items import a_comment, a_like, a_post, a_user
from tests.management.breakages import (
    ABANDONED_RESERVATIONS,
    BREAKAGES,
    PLAN,
    Breakage,
    a_comment_without_a_post,
    a_like_by_a_missing_user,
    a_missing_copy,
    a_post_in_the_partition_of_another,
    a_post_without_a_title,
    a_username_reserved_for_another_user,
    a_wrong_count,
    an_item_of_an_unknown_type,
)
from tests.management.command_line import manage_blog


async def _rebuild(managed: ManagedBlog) -> list[str]:
    lines: list[str] = []
    await rebuild(managed, lines.append)
    return lines


async def _etags(blog: Blog) -> list[str]:
    containers = (blog.users, blog.posts, blog.feed, blog.failures)
    return sorted([item["_etag"] for container in containers for item in await blog.all_items(container)])


def _without(item: Item, *names: str) -> Item:
    return {name: value for name, value in item.items() if name not in names}


def _without_system_properties(item: Item | None) -> Item:
    return {name: value for name, value in (item or {}).items() if not name.startswith("_")}


async def _fill_like_the_articles_v1(blog: Blog) -> None:
    """Users without a type, posts without usernames, counts or versions, responses without usernames."""
    users = [a_user(f"user{number}") for number in range(3)]
    for user in users:
        await blog.users.create(_without(user, "type", "creationDate"))
    for number in range(12):
        author = users[number % 3]
        post = a_post(author, second=number)
        await blog.posts.create(_without(post, "userUsername", "commentCount", "likeCount", "version"))
        if number % 4 == 0:
            for item in (a_comment(post, users[0]), a_comment(post, users[1]), a_like(post, users[2])):
                await blog.posts.create(_without(item, "userUsername"))


async def _fill_like_the_articles_v3(blog: Blog) -> None:
    """Users without reservations, counts without versions, and stale copies with full content."""
    user = await blog.users.create(a_user())
    for number in range(5):
        post = _without(a_post(user, second=number, content="word " * 100), "version")
        await blog.posts.create(post | {"likeCount": 1})
        await blog.posts.create(a_like(post, user))
        if number % 2:
            await blog.users.create(post)
            await blog.feed.create(post | {"userUsername": "somebody.else"})


async def test_rebuild_upgrades_a_database_of_the_articles_v1(
    blog: Blog, managed: ManagedBlog, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (census, copies):
        monkeypatch.setattr(module, "FRONT_PAGE_LENGTH", 10)
    await _fill_like_the_articles_v1(blog)
    assert await verify(managed)

    await _rebuild(managed)

    assert await verify(managed) == []
    assert len(await blog.all_items(blog.feed)) == 10


async def test_rebuild_upgrades_a_database_of_the_articles_v3(blog: Blog, managed: ManagedBlog) -> None:
    await _fill_like_the_articles_v3(blog)
    assert await verify(managed)

    await _rebuild(managed)

    assert await verify(managed) == []


async def test_a_second_rebuild_writes_nothing(blog: Blog, managed: ManagedBlog) -> None:
    await _fill_like_the_articles_v3(blog)
    await _rebuild(managed)
    before = await _etags(blog)

    await _rebuild(managed)

    assert await _etags(blog) == before


# `rebuild` cannot decide these; the username may have been reserved a moment ago.
_LEFT_ALONE = [
    a_like_by_a_missing_user,
    a_comment_without_a_post,
    a_username_reserved_for_another_user,
    a_post_in_the_partition_of_another,
    a_post_without_a_title,
    an_item_of_an_unknown_type,
]
_REPAIRED = [break_ for break_, _ in BREAKAGES if break_ not in _LEFT_ALONE] + ABANDONED_RESERVATIONS


@pytest.mark.parametrize("break_", _REPAIRED, ids=[break_.__name__ for break_ in _REPAIRED])
async def test_rebuild_repairs_a_violation(blog: Blog, managed: ManagedBlog, break_: Breakage) -> None:
    await seed(managed, PLAN)
    await break_(blog)

    await _rebuild(managed)

    assert await verify(managed) == []


@pytest.mark.parametrize("break_", _LEFT_ALONE, ids=lambda break_: str(break_.__name__))
async def test_rebuild_says_how_to_repair_the_rest_by_hand(blog: Blog, managed: ManagedBlog, break_: Breakage) -> None:
    await seed(managed, PLAN)
    await break_(blog)
    await _rebuild(managed)

    result = await manage_blog(blog, "verify")

    advice = {line.partition("To do: ")[2] for line in result.output.splitlines() if "To do: " in line}
    assert advice
    assert REBUILD not in advice
    assert result.exit_code == 1


async def test_users_with_one_name_are_named_and_one_must_be_renamed(blog: Blog, managed: ManagedBlog) -> None:
    ada = await blog.users.create(a_user())
    await blog.users.create(reservation_item(ada["username"], ada["id"], 0))
    other = await blog.users.create(a_user() | {"username": ada["username"].upper()})

    await _rebuild(managed)

    [finding] = await verify(managed)
    assert other["id"] in finding.subject
    assert finding.detail == f"the username is reserved for user {ada['id']}, who has it, too"
    assert finding.advice.startswith("Rename this user, who does not own the name")


async def test_the_name_of_a_damaged_user_stays_reserved_for_them(blog: Blog, managed: ManagedBlog) -> None:
    ada = await blog.users.create(a_user() | {"creationDate": 3})
    reservation = await blog.users.create(reservation_item(ada["username"], ada["id"], 0))
    await blog.users.create(a_user() | {"username": ada["username"].upper()})

    await _rebuild(managed)

    assert await blog.users.read(reservation["id"], reservation["id"]) == reservation


async def test_rebuild_says_what_it_repairs(blog: Blog, managed: ManagedBlog) -> None:
    await seed(managed, PLAN)
    await a_wrong_count(blog)
    await a_missing_copy(blog)
    await an_item_of_an_unknown_type(blog)  # must be repaired by hand

    lines = await _rebuild(managed)

    assert [line for line in lines if "Repairing" in line] == [
        "Repairing: Wrong comment or like counts: 1",
        "Repairing: Posts without a copy in users: 1",
        "Repairing: Stale copies in the feed: 1",
    ]


@pytest.mark.parametrize("command", ["verify", pytest.param("rebuild", marks=pytest.mark.nightly)])
async def test_a_command_sends_few_requests_at_once(
    blog: Blog, managed: ManagedBlog, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Otherwise it would leave readers no throughput (pacing.py)."""
    await seed(managed, SeedPlan(users=40, posts_per_user=Range(1, 1)))
    await asyncio.gather(*(blog.users.delete(copy["id"], copy["userId"]) for copy in await _copies(blog)))
    at_once, most, send = 0, 0, AioHttpTransport.send

    async def counted(self: AioHttpTransport, request: Any, **options: Any) -> Any:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        try:
            return await send(self, request, **options)
        finally:
            at_once -= 1

    monkeypatch.setattr(AioHttpTransport, "send", counted)
    await manage_blog(blog, command)

    assert 0 < most <= TRANSACTIONS_AT_ONCE


async def _copies(blog: Blog) -> list[Item]:
    return [item for item in await blog.all_items(blog.users) if item["type"] == "post"]


async def test_rebuild_replaces_a_copy_that_claims_a_later_version(blog: Blog, managed: ManagedBlog) -> None:
    user = await blog.users.create(a_user())
    post = await blog.posts.create(a_post(user))
    wrong = short_form(post) | {"version": 1000, "title": "Never written"}
    await blog.users.create(wrong)
    await blog.feed.create(wrong)

    await _rebuild(managed)

    assert await verify(managed) == []


async def test_rebuild_replaces_summaries_that_were_cut_in_the_markdown(blog: Blog, managed: ManagedBlog) -> None:
    user = await blog.users.create(a_user())
    post = await blog.posts.create(
        a_post(user, content="This is [a link][1].\n\n[1]: https://example.com/" + "a" * 200)
    )
    former = short_form(post) | {"content": post["content"][:20] + "…"}
    await blog.users.create(former)
    await blog.feed.create(former)
    assert await verify(managed) != []

    await _rebuild(managed)

    copy = await blog.users.read(post["id"], user["id"])
    assert copy is not None
    assert copy["content"] == "This is a link."
    assert [one for one in await verify(managed) if post["id"] in one.subject] == []


def _is_shown(text: str) -> bool:
    """Whether readers see anything of a post, without which it is refused: not of `#`."""
    return not is_blank(plain_text(text))


# The summary of each text of the example is Markdown, too.
@settings(max_examples=3, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
@example(["The `__init__` method", "`*args*`", "\\# heading", "&amp;amp;"])
@given(st.lists(st.text("a *_`[]()!#\n>-|&;\\", min_size=1, max_size=60).filter(_is_shown), min_size=20, max_size=20))
async def test_stale_copies_become_the_short_forms_of_their_posts(
    emulator: EmulatorThread, contents: list[str]
) -> None:
    async with new_blog(emulator) as blog:
        user = await blog.users.create(a_user())
        wanted = {}
        for content in contents:
            post = await blog.posts.create(a_post(user, content=content) | {"version": 2})
            wanted[post["id"]] = short_form(post)
            stale = short_form(post) | {"content": "A former text."}
            await blog.users.create(stale | {"version": 1})
            await blog.feed.create(stale)

        await _rebuild(blog.stored)

        for container, key in ((blog.users, user["id"]), (blog.feed, "post")):
            stored = {post_id: await container.read(post_id, key) for post_id in wanted}
            assert {post_id: _without_system_properties(copy) for post_id, copy in stored.items()} == wanted
        assert await verify(blog.stored) == []


async def test_rebuild_finishes_a_rename_and_a_deletion(blog: Blog, managed: ManagedBlog) -> None:
    await seed(managed, SeedPlan(users=3))
    plan = SeedPlan(users=3)
    renamed, deleted = plan.user(0), next(plan.posts(1, plan.user(1)))
    await edit_user(blog.users, renamed["id"], UserChanges(username="someone.new"))
    await delete_post(blog.posts, deleted["id"], by=BackEnd())

    await _rebuild(managed)

    assert await verify(managed) == []
    assert await blog.users.read(deleted["id"], deleted["userId"]) is None


async def test_rebuild_runs_while_the_app_is_in_use(blog: Blog, managed: ManagedBlog) -> None:
    await _fill_like_the_articles_v3(blog)
    posts = [item for item in await blog.all_items(blog.posts) if item["type"] == "post"]

    async def use(post: Item) -> None:
        for number in range(5):
            new = NewComment(user_id=post["userId"], content=f"comment {number}")
            await create_comment(blog.stored, post["id"], new, idempotency_key=None)
            changes = PostChanges(title=f"title {number}", content="edited")
            await edit_post(blog.posts, post["id"], changes, by=BackEnd())

    await asyncio.gather(_rebuild(managed), *map(use, posts))
    await blog.drain()

    assert await verify(managed) == []
    assert {(await blog.posts.read(post["id"], post["id"]) or {})["commentCount"] for post in posts} == {5}
