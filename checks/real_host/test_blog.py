"""The blog on Microsoft's host: the README's walk through the API, both change-feed functions, and texts like dates."""

from __future__ import annotations

import re

import pytest

from checks.pages import not_shown
from checks.real_host.conftest import RealApp
from management.account import open_client, open_containers
from management.verify import any_broken, verify_within
from tests.api import Api, Json
from tests.items import unique
from tests.polling import eventually

_SECONDS = 60

# If the host parsed dates, those that do not exist would stop it, and it would rewrite the others.
TEXTS = [
    "/Date(99999999999999999)/",
    "/Date(253402300800000)/",
    "/Date(-62135596800001)/",
    "/Date(922337203685477)/",
    *(f"9999-12-31T24:00:00{rest}" for rest in ("", "Z", ".0000000", "+00:00", "-14:00", "+14:00")),
    "2026-01-01T00:00:00+02:00",
    "2026-01-01T00:00:00.1200000Z",
    "2026-01-01T24:00:00",
    "2026-01-01T00:00:00+99:99",
    "2026-01-01T00:00:00z",
    "/Date(0)/",
]


async def test_the_walk_through_the_api_in_the_readme(real_api: Api) -> None:
    user = (await real_api.create_user(unique("ada"))).body
    post = (await real_api.create_post(user["id"], "Hello", "First post")).body
    await real_api.new_comment(post, user, "Welcome")
    answer = await real_api.get_post(post["id"])

    assert (answer.status, answer.charge_ru, answer.body["commentCount"]) == (200, 1.0, 1)
    await eventually(lambda: _in_feed(real_api, post), _SECONDS)
    assert (await real_api.get_health()).status == 200


async def test_a_page_of_every_kind_is_shown(real_api: Api) -> None:
    user = await real_api.new_user()
    post = await real_api.new_post(user)

    assert await not_shown(real_api.session, real_api.url, post["id"], user["id"]) == {}


async def test_commands_need_a_function_key(real_app: RealApp, real_api: Api) -> None:
    if real_app.host.status_of("/admin/host/status") == 200:
        pytest.skip("func of Core Tools checks no keys")
    without_key = Api(real_api.session, real_app.host.url, {})

    body = {"username": unique("ada")}
    assert (await _status(without_key, "POST", "/api/users", body)) == 401
    assert (await _status(without_key, "GET", "/api/feed", None)) == 200
    assert (await _status(real_api, "POST", "/api/users", body)) == 201


async def test_a_rename_reaches_posts_comments_and_copies(real_api: Api) -> None:
    author, reader = await real_api.new_user("ada"), await real_api.new_user("reader")
    post = await real_api.new_post(author)
    comment = await real_api.new_comment(post, reader)
    await eventually(lambda: _in_feed(real_api, post), _SECONDS)
    names = {author["id"]: unique("countess"), reader["id"]: unique("listener")}
    for user_id, name in names.items():
        assert (await real_api.edit_user(user_id, name)).status == 200

    async def is_renamed() -> bool:
        entry = await _in_feed(real_api, post)
        shown = (await real_api.list_comments(post["id"])).body["items"][0]
        assert shown["id"] == comment["id"]
        return [each["userUsername"] for each in (entry or {}, shown)] == [names[author["id"]], names[reader["id"]]]

    await eventually(is_renamed, _SECONDS)


async def test_texts_that_look_like_dates_stop_nothing_and_reach_the_copies_as_sent(
    real_app: RealApp, real_api: Api
) -> None:
    author = await real_api.new_user()
    posts = [await real_api.new_post(author, title=text, content=text) for text in TEXTS]
    for post in posts:
        await real_api.new_comment(post, author, content=post["title"])
    later = await real_api.new_post(author)
    name = unique("countess")
    assert (await real_api.edit_user(author["id"], name)).status == 200

    await eventually(lambda: _in_feed(real_api, later), _SECONDS)

    async def are_all_renamed() -> bool:
        items = (await real_api.list_user_posts(author["id"], limit=100)).body["items"]
        return len(items) == len(posts) + 1 and all(item["userUsername"] == name for item in items)

    await eventually(are_all_renamed, _SECONDS)
    copies = (await real_api.list_user_posts(author["id"], limit=100)).body["items"]
    assert {item["title"]: item["content"] for item in copies if item["id"] != later["id"]} == {
        text: text for text in TEXTS
    }
    comments = [(await real_api.list_comments(post["id"])).body["items"][0]["content"] for post in posts]
    assert comments == TEXTS
    assert not real_app.host.log_lines(containing="Ticks must be between")
    async with open_client(real_app.settings) as client:
        findings = await verify_within(await open_containers(client, real_app.settings.database), _SECONDS)
    assert not any_broken(findings), findings


async def test_the_host_goes_on_with_the_leases_that_functions_host_wrote(real_app: RealApp, real_api: Api) -> None:
    """The repository's host created them. With a second set, each change would be handled twice."""
    post = await real_api.new_post(await real_api.new_user())
    await eventually(lambda: _in_feed(real_api, post), _SECONDS)
    async with open_client(real_app.settings) as client:
        leases = client.get_database_client(real_app.settings.database).get_container_client("leases")
        ids = [item["id"] async for item in leases.read_all_items() if "LeaseToken" in item]
    accounts = {re.sub(r"_.*", "", lease_id) for lease_id in ids}

    assert len(ids) == 4  # two physical partitions of `users`, and two of `posts`
    assert len(accounts) == 2


async def _in_feed(api: Api, post: Json) -> Json | None:
    items = (await api.get_feed(limit=100)).body["items"]
    return next((dict(item) for item in items if item["id"] == post["id"]), None)


async def _status(api: Api, method: str, path: str, body: Json | None) -> int:
    async with api.session.request(method, api.url + path, json=body, headers=api.headers) as answer:
        return answer.status
