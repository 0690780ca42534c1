"""Verify: a sound blog is clean; every kind of broken promise, made by hand, is found, and no other."""

from __future__ import annotations

import time
from typing import Any

import pytest

from management.account import Blog as ManagedBlog
from management.seeding.plan import SeedPlan, Span
from management.seeding.writing import seed
from management.terminal import SeedCount
from management.verification.copies import FIELDS
from management.verification.findings import Finding, Kind
from management.verify import is_broken, verify, verify_within
from shared.cosmos import Container
from shared.data.failures import keep_failure
from shared.data.posts import delete_post
from shared.data.username_reservations import reservation_item
from shared.models.base import Item
from shared.models.post import short_form
from tests.blog import Blog
from tests.management.breakages import (
    AUTHOR,
    BREAKAGES,
    PLAN,
    POST,
    Breakage,
    a_copy_that_is_missing,
    set_on_post,
    set_operations,
    two_minutes_ago,
)


@pytest.fixture
async def seeded(blog: Blog, managed: ManagedBlog) -> ManagedBlog:
    await seed(managed, PLAN, SeedCount(), concurrency=8)
    return managed


def _text(findings: list[Finding]) -> str:
    return "\n".join(map(str, findings))


@pytest.mark.parametrize(("break_", "kinds"), BREAKAGES, ids=[break_.__name__ for break_, _ in BREAKAGES])
async def test_a_broken_promise_is_found(blog: Blog, seeded: ManagedBlog, break_: Breakage, kinds: set[Kind]) -> None:
    broken_id = await break_(blog)

    findings = await verify(seeded)

    assert {finding.kind for finding in findings} == kinds
    assert is_broken(findings)
    assert broken_id in _text(findings)


async def test_a_stale_copy_is_told_field_by_field(blog: Blog, seeded: ManagedBlog) -> None:
    await blog.users.patch(POST["id"], AUTHOR["id"], set_operations(title="Old title", likeCount=77))

    (finding,) = await verify(seeded)

    assert finding.detail.count(";") == 1
    assert 'title is "Old title", the post says "' in finding.detail
    assert f"likeCount is 77, the post says {POST['likeCount']}" in finding.detail


async def test_the_feed_must_be_the_hundred_most_recent(blog: Blog, managed: ManagedBlog) -> None:
    plan = SeedPlan(users=2, posts_per_user=Span(51, 51), comments_per_post=Span(0, 0), likes_per_post=Span(0, 0))
    await seed(managed, plan, SeedCount(), concurrency=8)
    posts = [post for index in range(2) for post in plan.posts(index, plan.user(index))]
    oldest, *_, newest = sorted(posts, key=lambda post: (post["creationDate"], post["id"]))
    await blog.feed.delete(newest["id"], "post")
    await blog.feed.create(short_form(oldest))

    findings = await verify(managed)

    assert [(finding.kind, finding.subject) for finding in findings] == [
        (Kind.FEED_MISSING, f"post {newest['id']}"),
        (Kind.FEED_SURPLUS, f"post {oldest['id']}"),
    ]


async def test_deleted_posts_leave_no_finding_once_the_functions_have_seen_them(
    blog: Blog, seeded: ManagedBlog
) -> None:
    await delete_post(blog.posts, POST["id"], etag=None)

    await blog.drain()

    assert await verify(seeded) == []


async def test_kept_failures_are_counted_for_information(blog: Blog, seeded: ManagedBlog) -> None:
    for number in range(2):
        change = {"id": f"bad-{number}"}
        await keep_failure(
            blog.failures, source="on_x", container="posts", partition_key="p", change=change, error=ValueError("bad")
        )

    findings = await verify(seeded)

    assert findings == [Finding(Kind.FAILURE, "on_x", "2 kept for replay")]
    assert not is_broken(findings)


async def test_an_unconfirmed_reservation_is_information_and_only_once_it_is_old(
    blog: Blog, seeded: ManagedBlog
) -> None:
    await blog.users.create(reservation_item("young", "nobody", 1, confirmed=False))
    with two_minutes_ago(blog):
        old = await blog.users.create(reservation_item("old", "nobody", 1, confirmed=False))

    (finding,) = await verify(seeded)

    assert (finding.kind, finding.subject) == (Kind.UNCONFIRMED, f"reservation {old['id']}")
    assert not is_broken([finding])


async def test_waiting_ends_as_soon_as_nothing_is_broken(blog: Blog, seeded: ManagedBlog) -> None:
    """The copy comes back when the first look has reported it missing."""

    class ReportingUsers(Container):
        async def read(self, item_id: str, partition_key: str) -> Item | None:
            item = await super().read(item_id, partition_key)
            if item is None:
                await blog.users.create(short_form(POST))
            return item

    await a_copy_that_is_missing(blog)
    watched = ManagedBlog(ReportingUsers(blog.users.proxy), blog.posts, blog.feed, blog.failures)
    started = time.monotonic()

    assert await verify_within(watched, seconds=60) == []

    assert time.monotonic() - started < 30


async def test_waiting_ends_with_the_findings_when_the_time_is_up(blog: Blog, seeded: ManagedBlog) -> None:
    await a_copy_that_is_missing(blog)

    assert is_broken(await verify_within(seeded, seconds=0.1))


async def test_what_changes_between_two_pages_of_the_census_is_not_reported(blog: Blog, seeded: ManagedBlog) -> None:
    """The census reads posts before copies: here the post and its copies change in between."""

    class ChangingUsers(Container):
        changed = False

        def query_across(self, text: str, parameters: Any, *, page_size: int) -> Any:
            rows = super().query_across(text, parameters, page_size=page_size)
            return self._after_an_edit(rows) if "c.type = 'post'" in text else rows

        async def _after_an_edit(self, rows: Any) -> Any:
            await set_on_post(blog, title="Edited", version=POST["version"] + 1)
            await blog.drain()
            async for row in rows:
                yield row

    changing = ManagedBlog(ChangingUsers(blog.users.proxy), blog.posts, blog.feed, blog.failures)

    assert await verify(changing) == []


def test_the_fields_that_are_compared_are_those_of_a_short_form() -> None:
    assert set(FIELDS) == set(short_form(POST))
