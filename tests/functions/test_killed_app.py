"""The app is killed while it handles changes, and the next process finishes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from management.verify import verify_within
from shared.data.blog import Blog as StoredBlog
from shared.data.posts import delete_post
from shared.data.users import create_user, edit_user
from shared.models.user import NewUser, UserChanges
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from tests.blog import Blog, EmulatorThread, at
from tests.gateway import Gateway, Held, named
from tests.items import a_comment, a_like, a_post, unique
from tests.polling import eventually
from tests.running_app import running_app

POSTS = 12
# Another host takes over the leases of a killed host after this time.
LEASE_EXPIRATION_S = 15


@pytest.fixture
def crash_gateway(emulator: EmulatorThread) -> Iterator[Gateway]:
    with Gateway(emulator.endpoint) as listening:
        yield listening


@pytest.mark.nightly
async def test_killing_the_app_during_every_kind_of_change_loses_nothing(
    blog: Blog, crash_gateway: Gateway, tmp_path: Path
) -> None:
    """The first process is killed during a rename's fan-out, and after it wrote a copy but before the response.

    A delivery writes to the feed after all copies, so it has not done that yet.
    """
    author = await _a_blog_from_before_the_functions_ran(blog)
    settings = at(blog.settings, crash_gateway.endpoint)

    with _holding_midway(crash_gateway) as held, running_app(settings, tmp_path / "first.log") as first:
        await eventually(lambda: all(operations.operations for operations in held), deadline_s=30)
        first.kill()
    of_author = [item for item in await blog.all_items(blog.posts) if item["userId"] == author["id"]]
    broken_before = await _broken(blog, within_s=0)

    with running_app(settings, tmp_path / "second.log") as second:
        broken_after = await _broken(blog, within_s=LEASE_EXPIRATION_S + 30)
        assert not second.log_lines(containing="change kept as failure")

    assert len({item["userUsername"] for item in of_author}) == 2
    assert broken_before
    assert broken_after == []
    assert await blog.all_items(blog.failures) == []
    assert (await blog.users.read(author["id"], author["id"]) or {}).get("formerUsernames") is None


@contextmanager
def _holding_midway(gateway: Gateway) -> Iterator[list[Held]]:
    with (
        gateway.holding(named("batch posts"), after=POSTS // 2) as renames,
        gateway.holding(named("create users"), after=POSTS // 2, applied=True) as copies,
    ):
        yield [renames, copies]


async def _a_blog_from_before_the_functions_ran(blog: Blog) -> Item:
    """Create users, posts, comments, and likes, rename a user, and delete a post. Handle none of these changes."""
    author = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)
    reader = await create_user(blog.users, NewUser(username=unique("reader")), idempotency_key=None)
    posts = [
        await blog.posts.create(a_post(writer, second=second)) for second in range(POSTS) for writer in (author, reader)
    ]
    for post in posts:
        await blog.posts.execute("createComment", post["id"], a_comment(post, reader))
        await blog.posts.execute("createLike", post["id"], a_like(post, author))
    await edit_user(blog.users, author["id"], UserChanges(username=unique("countess")))
    await delete_post(blog.posts, posts[-1]["id"], by=BackEnd())
    return author


async def _broken(blog: Blog, *, within_s: float) -> list[str]:
    """Return the inconsistencies left after `within_s` seconds. Return early once there are none."""
    findings = await verify_within(StoredBlog(blog.users, blog.posts, blog.feed, blog.failures), within_s)
    return [str(finding) for finding in findings if finding.kind.is_broken]
