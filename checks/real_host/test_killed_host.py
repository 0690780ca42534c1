"""Microsoft's host is killed with its worker in the middle of a rename, and the repository's host finishes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.real_host.real_host import real_host
from management.verify import any_broken, verify_within
from shared.data.blog import Blog as StoredBlog
from shared.data.users import create_user, edit_user
from shared.models.user import NewUser, UserChanges
from tests.blog import Blog, EmulatorThread, at
from tests.gateway import Gateway, named
from tests.items import a_post, unique
from tests.polling import eventually
from tests.running_app import running_app

POSTS = 12


@pytest.fixture
def crash_gateway(emulator: EmulatorThread) -> Iterator[Gateway]:
    with Gateway(emulator.endpoint) as listening:
        yield listening


async def test_a_rename_is_finished_on_the_leases_of_a_killed_host(
    blog: Blog, crash_gateway: Gateway, tmp_path: Path
) -> None:
    author = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(POSTS)]
    name = unique("countess")
    await edit_user(blog.users, author["id"], UserChanges(username=name))
    settings = at(blog.settings, crash_gateway.endpoint)

    with (
        crash_gateway.holding(named("batch posts"), after=POSTS // 2) as held,
        real_host(settings, tmp_path / "real-host.log") as host,
    ):
        await eventually(lambda: held.operations)
        host.kill()
    names = {(await blog.posts.read(post["id"], post["id"]) or {})["userUsername"] for post in posts}
    leases = [item["id"] for item in await blog.all_items(blog.container("leases"))]
    stored = StoredBlog(blog.users, blog.posts, blog.feed, blog.failures)
    with running_app(settings, tmp_path / "functions-host.log"):
        findings = await verify_within(stored, 60)

    assert names == {author["username"], name}
    assert not any_broken(findings), findings
    assert await blog.all_items(blog.failures) == []
    assert [item["id"] for item in await blog.all_items(blog.container("leases"))] == leases
