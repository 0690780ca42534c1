"""Verify accepts a consistent blog and finds every kind of violation."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from bench.generated.plan import Range, SeedPlan
from management.rebuild import rebuild
from management.seeding import seed
from management.verification import census
from management.verification.copies import FIELDS
from management.verification.findings import Finding, Kind
from management.verify import any_broken, verify, verify_within
from shared.data.blog import Blog as ManagedBlog
from shared.data.posts import delete_post
from shared.data.username_reservations import reservation_item
from shared.models.post import short_form
from shared.platform.deliveries.delivery import keep_failure
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.propagation import copies
from shared.propagation.change_feeds import POSTS_CHANGE_FEED
from tests.blog import Blog
from tests.interleaved import Interleaved
from tests.items import a_comment, a_post, a_user
from tests.management.breakages import (
    ABANDONED_RESERVATIONS,
    AUTHOR,
    BREAKAGES,
    PLAN,
    POST,
    Breakage,
    a_missing_copy,
    an_old_reservation_of_a_missing_user,
    set_on_post,
    set_operations,
)
from tests.management.command_line import manage_blog


@pytest.fixture
async def seeded(blog: Blog, managed: ManagedBlog) -> ManagedBlog:
    await seed(managed, PLAN)
    return managed


def _text(findings: list[Finding]) -> str:
    return "\n".join(map(str, findings))


@pytest.mark.parametrize(("break_", "kinds"), BREAKAGES, ids=[break_.__name__ for break_, _ in BREAKAGES])
async def test_verify_finds_a_violation_and_says_what_to_do(
    blog: Blog, seeded: ManagedBlog, break_: Breakage, kinds: set[Kind]
) -> None:
    broken_id = await break_(blog)

    findings = await verify(seeded)

    assert {finding.kind for finding in findings} == kinds
    assert any_broken(findings)
    assert broken_id in _text(findings)
    assert all(finding.advice for finding in findings)


async def test_verify_prints_json(blog: Blog, seeded: ManagedBlog) -> None:
    await set_on_post(blog, commentCount=99)

    result = await manage_blog(blog, "verify", "--json")

    findings = [json.loads(line) for line in result.stdout.splitlines()]
    assert {finding["kind"] for finding in findings} == {"count", "copy_stale", "feed_stale"}
    assert " items read. 3 violations found." in result.stderr
    assert all(finding["isBroken"] for finding in findings)
    assert result.exit_code == 1


async def test_the_summary_counts_items_and_violations(blog: Blog, managed: ManagedBlog) -> None:
    await blog.users.create(a_user("ada"))

    result = await manage_blog(blog, "verify")

    assert "1 item read. 1 violation found." in result.output
    assert "To do: Run `manage.py rebuild`." in result.output


async def test_verify_lists_the_stale_fields_of_a_copy(blog: Blog, seeded: ManagedBlog) -> None:
    await blog.users.patch(POST["id"], AUTHOR["id"], set_operations(title="Old title", likeCount=77))

    (finding,) = await verify(seeded)

    assert finding.detail.count(";") == 1
    assert 'title is "Old title", but the post has "' in finding.detail
    assert f"likeCount is 77, but the post has {POST['likeCount']}" in finding.detail


async def test_verify_compares_the_feed_with_the_100_newest_posts(blog: Blog, managed: ManagedBlog) -> None:
    plan = SeedPlan(users=2, posts_per_user=Range(51, 51), comments_per_post=Range(0, 0), likes_per_post=Range(0, 0))
    await seed(managed, plan)
    posts = [post for index in range(2) for post in plan.posts(index, plan.user(index))]
    oldest, older, *_, newest = sorted(posts, key=lambda post: (post["creationDate"], post["id"]))
    await blog.feed.delete(newest["id"], "post")
    for post in (oldest, older):  # `older` is one of the 100 until `newest` is in the feed
        await blog.feed.create(short_form(post))

    findings = await verify(managed)

    assert [(finding.kind, finding.subject) for finding in findings] == [
        (Kind.FEED_MISSING, f"post {newest['id']}"),
        (Kind.FEED_SURPLUS, f"post {oldest['id']}"),
    ]


async def test_rebuild_replaces_an_old_post_in_the_feed_by_a_missing_one(blog: Blog, managed: ManagedBlog) -> None:
    """Until the missing one is back, the old one is among the 100 newest in the feed, so it is no finding."""
    plan = SeedPlan(users=2, posts_per_user=Range(51, 51), comments_per_post=Range(0, 0), likes_per_post=Range(0, 0))
    await seed(managed, plan)
    posts = [post for index in range(2) for post in plan.posts(index, plan.user(index))]
    _, older, *_, newest = sorted(posts, key=lambda post: (post["creationDate"], post["id"]))
    await blog.feed.delete(newest["id"], "post")
    await blog.feed.create(short_form(older))

    findings = await verify(managed)
    await rebuild(managed, lambda _: None)

    assert [(finding.kind, finding.subject) for finding in findings] == [(Kind.FEED_MISSING, f"post {newest['id']}")]
    assert await blog.feed.read(older["id"], "post") is None
    assert await verify(managed) == []


async def test_a_propagated_deletion_leaves_no_finding(blog: Blog, seeded: ManagedBlog) -> None:
    await delete_post(blog.posts, POST["id"], by=BackEnd())

    await blog.drain()

    assert await verify(seeded) == []


async def test_failures_are_informational_findings(blog: Blog, seeded: ManagedBlog) -> None:
    for number in range(2):
        change = {"id": f"bad-{number}", "postId": "p"}
        await keep_failure(blog.failures, POSTS_CHANGE_FEED, change, ValueError("bad"))

    findings = await verify(seeded)

    [finding] = findings
    assert (finding.kind, finding.detail, finding.number) == (Kind.FAILURE, "2 stored", 2)
    assert finding.subject == POSTS_CHANGE_FEED.function


@pytest.mark.parametrize("break_", ABANDONED_RESERVATIONS, ids=[break_.__name__ for break_ in ABANDONED_RESERVATIONS])
async def test_an_abandoned_reservation_is_broken_without_a_living_owner(
    blog: Blog, seeded: ManagedBlog, break_: Breakage
) -> None:
    await blog.users.create(reservation_item("young", "nobody", 1))
    abandoned = await break_(blog)

    (finding,) = await verify(seeded)

    assert finding.subject == f"reservation {abandoned}"
    is_missing = break_ is an_old_reservation_of_a_missing_user
    assert (finding.kind, any_broken([finding])) == (Kind.RESERVATION if is_missing else Kind.ABANDONED, is_missing)


async def test_waiting_ends_when_nothing_is_broken(blog: Blog, seeded: ManagedBlog) -> None:
    """The copy is restored after the first pass found it missing."""

    async def restore(item: Item | None, *_: object) -> None:
        if item is None:
            await blog.users.create(short_form(POST))

    await a_missing_copy(blog)
    watched = replace(seeded, users=Interleaved(blog.users, "read", after=restore))

    assert await asyncio.wait_for(verify_within(watched, seconds=600), 60) == []


async def test_waiting_returns_the_findings_at_the_deadline(blog: Blog, seeded: ManagedBlog) -> None:
    await a_missing_copy(blog)

    assert any_broken(await verify_within(seeded, seconds=0.1))


async def test_changes_during_the_census_are_not_reported(blog: Blog, seeded: ManagedBlog) -> None:
    """The post and its copies change between the two reads of the census."""

    async def edit(*_: object, **__: object) -> None:
        await set_on_post(blog, title="Edited", version=POST["version"] + 1)
        await blog.drain()

    users = Interleaved(blog.users, "query_across", before=edit, when=lambda text, *_, **__: "c.type = 'post'" in text)

    assert await verify(replace(seeded, users=users)) == []


@pytest.mark.parametrize("command", ["create", "delete"])
async def test_posts_created_or_deleted_before_the_feed_is_read_are_not_reported(
    blog: Blog, seeded: ManagedBlog, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A post leaves a front page of two posts, or returns to it, after the census has read `posts`."""
    monkeypatch.setattr(census, "FRONT_PAGE_LENGTH", 2)
    monkeypatch.setattr(copies, "FRONT_PAGE_LENGTH", 2)
    newest = a_post(AUTHOR)
    if command == "delete":
        await blog.posts.create(newest)
        await blog.drain()

    async def run_command(*_: object, **__: object) -> None:
        if command == "create":
            await blog.posts.create(newest)
        else:
            await delete_post(blog.posts, newest["id"], by=BackEnd())
        await blog.drain()

    feed = Interleaved(
        blog.feed, "query_across", before=run_command, when=lambda text, *_, **__: text == "SELECT * FROM c"
    )

    assert await verify(replace(seeded, feed=feed)) == []
    assert await verify(seeded) == []


def test_compared_fields_are_those_of_the_short_form() -> None:
    assert set(FIELDS) == set(short_form(POST | {"editedDate": POST["creationDate"]}))


async def test_comments_and_copies_of_a_post_without_a_type_are_reported(blog: Blog) -> None:
    author = a_user()
    post = a_post(author)
    comment = a_comment(post, author)
    untyped = {name: value for name, value in post.items() if name != "type"}
    for container, item in (
        (blog.users, author),
        (blog.users, short_form(post)),
        (blog.posts, untyped),
        (blog.posts, comment),
    ):
        await container.create(item)

    findings = await verify(blog.stored)

    assert {
        (Kind.LEFTOVER, f"post {post['id']}"),
        (Kind.COPY_ORPHANED, f"post {post['id']} of user {author['id']}"),
    } <= {(finding.kind, finding.subject) for finding in findings}
