"""Pages are as new as the cookie that a navigation brings, and no cookie can break them. Replicas lag (`instances`)."""

from __future__ import annotations

import pytest

from shared.platform.database.retries import SESSION_RETRIES
from tests.addons.web.pages import Site
from tests.api import Api
from tests.blog import EmulatorThread
from tests.instances import TOKEN, Instances, rewritten
from tests.items import unique
from tests.running_app import RunningApp

DELETED = "blog-session=; max-age=0; domain=; path=/; samesite=lax"  # as the host writes it


@pytest.fixture
def reader(instances: Instances, apps: tuple[RunningApp, RunningApp]) -> Site:
    """The site of the instance that wrote nothing."""
    return Site(instances.reader.session, apps[1].url)


def cookie(token: str) -> dict[str, str]:
    return {"Cookie": f"other=1; blog-session={token}; another=2"}


async def test_users_see_their_own_changes_after_a_navigation_to_any_instance(
    instances: Instances, reader: Site
) -> None:
    author = await instances.writer.new_user()
    post = await instances.writer.new_post(author)
    instances.let_replicas_catch_up()
    commented = await instances.writer.create_comment(post["id"], author["id"], "My own comment.")
    path = f"/posts/{post['id']}"

    without = await reader.get(path)
    by_cookie = await reader.get(path, cookie(commented.headers[TOKEN]))
    by_header = await reader.get(path, {TOKEN: commented.headers[TOKEN]})

    assert "My own comment." not in without.text
    assert "My own comment." in by_cookie.text
    assert "My own comment." in by_header.text
    assert "set-cookie" not in by_cookie.headers


@pytest.mark.parametrize("token", ["", "x", "1.A", "1.%2A", '"1.QUFB"', "x" * 5000])
async def test_a_malformed_cookie_is_ignored_and_deleted(instances: Instances, reader: Site, token: str) -> None:
    post = await instances.writer.new_post(await instances.writer.new_user())
    instances.let_replicas_catch_up()

    shown = await reader.get(f"/posts/{post['id']}", cookie(token))

    assert shown.status == 200
    assert shown.headers["set-cookie"] == DELETED


async def test_a_cookie_that_no_replica_can_reach_is_ignored_and_deleted(instances: Instances, reader: Site) -> None:
    created = await instances.writer.create_user(unique("ada"))
    instances.let_replicas_catch_up()
    outdated = rewritten(created, r"#\d+", "#999999999999999999")[TOKEN]

    shown = await reader.get(f"/users/{created.body['id']}", cookie(outdated))

    assert shown.status == 200
    assert shown.headers["set-cookie"] == DELETED


async def test_a_page_is_shown_although_no_replica_reaches_its_cookie_in_time(
    instances: Instances, reader: Site, lagging: EmulatorThread
) -> None:
    post = await instances.writer.create_post((await instances.writer.new_user())["id"], "A title", "Some content.")
    instances.let_replicas_catch_up()

    # The read, and the retries after the primary has confirmed the token.
    refusals = f"404 operation=read container=posts sub-status=1002 times={1 + 1 + SESSION_RETRIES}"
    with lagging.faults.during(refusals) as struck:
        shown = await reader.get(f"/posts/{post.body['id']}", cookie(post.headers[TOKEN]))

    assert (shown.status, shown.headers["set-cookie"], struck.is_spent) == (200, DELETED, True)


@pytest.mark.parametrize("path", ["/", "/feed.atom", "/sitemap.xml", "/write", "/nope"])
async def test_other_pages_do_not_depend_on_the_cookie(reader: Site, path: str) -> None:
    without, malformed = await reader.get(path), await reader.get(path, cookie("x"))

    assert (malformed.status, malformed.content) == (without.status, without.content)


async def test_pages_return_no_token(api: Api, app: RunningApp) -> None:
    path = f"{app.url}/users/{(await api.new_user())['id']}"

    async with api.session.get(path) as page, api.session.head(path) as head:
        assert (page.status, TOKEN in page.headers) == (200, False)
        assert (head.status, TOKEN in head.headers) == (200, False)
