"""The app's data-plane role, infra/cosmos-role-actions.json, has exactly the data actions that the app performs.

In Azure, the Functions host reads the change feeds and writes the leases with the same identity. Its processor creates,
reads, queries, replaces and deletes leases, as this host does (azure-cosmos-dotnet-v3, ChangeFeedProcessor/
LeaseManagement), and the lease container exists already.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from cosmos_emulator import EmulatorSettings

from shared.database.client import connect
from shared.settings import Account, Settings, Way
from tests.blog import Blog, EmulatorThread
from tests.identity import MANAGEMENT_KEY
from tests.items import a_post, a_user, unique
from tests.polling import eventually
from tests.running_app import REPOSITORY, TRIGGERS, provisioned, running_app

ROLE = frozenset(json.loads((REPOSITORY / "infra" / "cosmos-role-actions.json").read_text(encoding="utf-8")))
COMMENT, LIKE = "/api/posts/{post}/comments", "/api/posts/{post}/likes"
# The HTTP functions in the order of their requests: method, path and body. Braces stand for names and
# for IDs from earlier responses.
REQUESTS: dict[str, tuple[str, str, dict[str, str] | None]] = {
    "create_user": ("POST", "/api/users", {"username": "{former}"}),
    "create_post": ("POST", "/api/posts", {"userId": "{user}", "title": "On engines", "content": "They weave."}),
    "create_comment": ("POST", COMMENT, {"userId": "{user}", "content": "True."}),
    "create_like": ("POST", LIKE, {"userId": "{user}"}),
    "edit_user": ("PUT", "/api/users/{user}", {"username": "{username}"}),
    "edit_post": ("PUT", "/api/posts/{post}", {"title": "On engines", "content": "They calculate."}),
    "get_user": ("GET", "/api/users/{user}", None),
    "get_post": ("GET", "/api/posts/{post}", None),
    "list_user_posts": ("GET", "/api/users/{user}/posts", None),
    "list_comments": ("GET", COMMENT, None),
    "list_likes": ("GET", LIKE, None),
    "get_feed": ("GET", "/api/feed", None),
    "get_health": ("GET", "/api/health", None),
    "get_openapi": ("GET", "/api/openapi.json", None),
    "get_docs": ("GET", "/api/docs", None),
    "get_docs_asset": ("GET", "/api/docs/docs.css", None),
    "get_asset": ("GET", "/assets/x/site.css", None),
    "get_avatar": ("GET", "/avatars/{user}.svg", None),
    "get_favicon": ("GET", "/favicon.ico", None),
    "get_robots": ("GET", "/robots.txt", None),
    "get_sitemap": ("GET", "/sitemap.xml", None),
    "get_atom": ("GET", "/feed.atom", None),
    "get_user_atom": ("GET", "/users/{user}/feed.atom", None),
    "z_page": ("GET", "/", None),
    "page_user": ("GET", "/users/{user}", None),
    "page_post": ("GET", "/posts/{post}", None),
    "page_edit": ("GET", "/posts/{post}/edit", None),
    "page_write": ("GET", "/write", None),
    "preview_markdown": ("POST", "/preview", {"content": "*weave*"}),
    "delete_comment": ("DELETE", COMMENT + "/{comment}", None),
    "delete_like": ("DELETE", LIKE + "/{user}", None),
    "delete_post": ("DELETE", "/api/posts/{post}", None),
}


@pytest.fixture
def account() -> Iterator[EmulatorThread]:
    """An account whose key has only the app's role, like the app's identity in Azure."""
    with EmulatorThread(EmulatorSettings(rbac=True, rbac_actions=ROLE, management_key=MANAGEMENT_KEY)) as running:
        yield running


@pytest.fixture
def manager(account: EmulatorThread) -> Settings:
    """The settings of the deployment, which has created the database."""
    return provisioned(Settings(account=Account(account.endpoint, MANAGEMENT_KEY), database="blog"))


async def test_the_role_has_exactly_the_actions_that_the_app_performs(
    account: EmulatorThread, manager: Settings, tmp_path: Path
) -> None:
    ways: tuple[Way, ...] = ("batch", "procedure")

    async with connect(manager) as client, ClientSession() as session:
        stored = Blog(account, manager, client.get_database_client(manager.database))
        try:
            for way in ways:  # the second run continues at the leases of the first
                settings = manager.model_copy(
                    update={"account": Account(account.endpoint, account.key), "transactions": way}
                )
                with running_app(settings, tmp_path / f"{way}.log") as app:
                    await use_the_app(session, app.url, stored)
        finally:  # a missing action also makes requests fail: name it instead
            performed = await checked_actions(session, account)
            assert sorted(performed - ROLE) == [], "the app performs actions that its role lacks"

    assert sorted(ROLE - performed) == [], "the role has actions that the app does not perform"


async def checked_actions(session: ClientSession, account: EmulatorThread) -> set[str]:
    return set((await get(session, f"{account.endpoint}_emulator/rbac-actions"))["checked"])


async def use_the_app(session: ClientSession, url: str, stored: Blog) -> None:
    """Call all HTTP functions, and let both change-feed functions work, and one fail."""
    names = {function["name"] for function in await get(session, f"{url}/admin/functions")}
    assert names - set(TRIGGERS) == set(REQUESTS), "update REQUESTS"
    await send_all(session, url, stored)
    await fail_on_an_invalid_post(stored)


async def send_all(session: ClientSession, url: str, stored: Blog) -> None:
    ids = {"former": unique("ada"), "username": unique("ada"), "user": "", "post": "", "comment": ""}
    for name, (method, path, body) in REQUESTS.items():
        sent = body and {field: value.format(**ids) for field, value in body.items()}
        async with session.request(method, url + path.format(**ids), json=sent) as response:
            assert response.status < 300, (name, response.status, await response.text())
            created = name.removeprefix("create_")
            if created in ids:
                ids[created] = (await response.json())["id"]
        if name == "edit_user":
            await eventually(lambda: is_renamed(session, url, ids))
    await eventually(lambda: is_empty(stored))


async def is_renamed(session: ClientSession, url: str, ids: dict[str, str]) -> bool:
    """Whether the rename has reached the copy of the post in the feed, through both change-feed functions."""
    feed = await get(session, f"{url}/api/feed")
    return [(post["id"], post["userUsername"]) for post in feed["items"]] == [(ids["post"], ids["username"])]


async def is_empty(stored: Blog) -> bool:
    """Whether the deletion has removed the post from the feed."""
    return [item["type"] for item in await stored.all_items(stored.feed) if item["type"] == "post"] == []


async def fail_on_an_invalid_post(stored: Blog) -> None:
    """Wait until the posts function has stored a change that it cannot handle."""
    invalid: dict[str, Any] = {**a_post(a_user()), "content": 5}
    await stored.posts.upsert(invalid)

    async def is_kept() -> bool:
        return invalid["id"] in [failure["itemId"] for failure in await stored.all_items(stored.failures)]

    await eventually(is_kept)


async def get(session: ClientSession, url: str) -> Any:
    async with session.get(url) as response:
        return await response.json()
