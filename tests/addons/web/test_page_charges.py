"""Pages cost the same database operations and request units as their queries."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Awaitable, Callable, Sequence

import pytest

from shared.models.post import short_form
from tests.addons.web.pages import Shown, Site
from tests.api import Api, ApiResponse, Json
from tests.blog import Blog
from tests.gateway import Gateway, Operation
from tests.polling import eventually

Queries = Callable[[Api, Json], list[Awaitable[ApiResponse]]]

# The queries that each page runs, in terms of the API.
PAGES: dict[str, tuple[str, Queries]] = {
    "post": (
        "/posts/{id}",
        lambda api, post: [
            api.get_post(post["id"]),
            api.list_comments(post["id"]),
            api.list_likes(post["id"]),
        ],
    ),
    "older comments": (
        "/posts/{id}?limit=1",
        lambda api, post: [
            api.get_post(post["id"]),
            api.list_comments(post["id"], limit=1),
            api.list_likes(post["id"]),
        ],
    ),
    "user": ("/users/{userId}", lambda api, post: [api.get_user(post["userId"]), api.list_user_posts(post["userId"])]),
    "edit": ("/posts/{id}/edit", lambda api, post: [api.get_post(post["id"])]),
    "user's Atom feed": (
        "/users/{userId}/feed.atom",
        lambda api, post: [api.get_user(post["userId"]), api.list_user_posts(post["userId"])],
    ),
}


def apart_from_the_feed(operations: Sequence[Operation]) -> tuple[list[Operation], float]:
    """The operations that a page runs each time, and the charge of the front page, which is cached for a second."""
    each_time = [operation for operation in operations if "feed" not in operation.name]
    return each_time, sum(operation.charge_ru for operation in operations) - sum(each.charge_ru for each in each_time)


@pytest.mark.parametrize("page", PAGES)
async def test_a_page_costs_the_same_as_its_queries(
    quiet_api: Api, quiet_site: Site, api: Api, stored: Blog, gateway: Gateway, page: str
) -> None:
    post = await api.new_post(await api.new_user())
    for _ in range(2):
        await api.new_comment(post, await api.new_user())
        await api.new_like(post, await api.new_user())
    await stored.users.proxy.upsert_item(short_form(post))
    path, queries = PAGES[page]

    with gateway.recording() as by_queries:
        answers = [await query for query in queries(quiet_api, post)]
    with gateway.recording() as recorded:
        shown = await quiet_site.get(path.format_map(post))

    by_page, feed_ru = apart_from_the_feed(recorded)
    assert shown.status == 200
    assert sorted(operation.name for operation in by_page) == sorted(operation.name for operation in by_queries)
    assert all(operation.partition_key for operation in by_page)
    assert shown.charge_ru == pytest.approx(sum(answer.charge_ru for answer in answers) + feed_ru, abs=0.02)


async def test_the_page_of_a_post_without_comments_and_likes_reads_the_post_once(
    quiet_site: Site, api: Api, gateway: Gateway
) -> None:
    post = await api.new_post(await api.new_user())
    await quiet_site.get(f"/posts/{post['id']}")

    with gateway.recording() as recorded:
        shown = await quiet_site.get(f"/posts/{post['id']}")

    operations, feed_ru = apart_from_the_feed(recorded)
    assert sorted(operation.name for operation in operations) == ["query posts"] * 2 + ["read posts"]
    assert shown.charge_ru - feed_ru < 7


async def test_a_page_with_a_forged_session_token_costs_a_few_request_units_more(
    quiet_api: Api, quiet_site: Site, gateway: Gateway
) -> None:
    created = await quiet_api.create_post((await quiet_api.new_user())["id"], "A title", "Some content.")
    path, token = f"/posts/{created.body['id']}", created.headers["x-ms-session-token"].removeprefix("1.")
    known = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    forged = base64.urlsafe_b64encode(re.sub(r"#\d+", "#999999999999999999", known).encode()).decode().rstrip("=")
    with gateway.recording() as of_honest:
        honest = await quiet_site.get(path)

    with gateway.recording() as operations:
        shown = await quiet_site.get(path, {"Cookie": f"blog-session=1.{forged}"})

    assert shown.status == 200
    # Three refused reads, the primary's answer, and the three reads.
    assert [operation.name for operation in operations].count("read latest posts") == 1
    costs = [page.charge_ru - apart_from_the_feed(of)[1] for page, of in ((honest, of_honest), (shown, operations))]
    assert costs[1] == pytest.approx(costs[0] + 4, abs=0.02)


async def test_the_page_of_a_comment_costs_one_point_read_more(
    quiet_api: Api, quiet_site: Site, api: Api, stored: Blog, gateway: Gateway
) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    comment, newer = await api.new_comment(post, author), await api.new_comment(post, author)
    await api.new_like(post, author)
    path = f"/posts/{post['id']}"
    await quiet_site.get(path)

    with gateway.recording() as recorded:
        shown = await quiet_site.get(f"{path}?comment={comment['id']}")

    operations, _ = apart_from_the_feed(recorded)
    assert f"comment-{newer['id']}" in shown.text
    assert sorted(operation.name for operation in operations) == ["query posts"] * 2 + ["read posts"] * 2
    assert {operation.partition_key for operation in operations} == {json.dumps([post["id"]])}
    assert shown.charge_ru == pytest.approx(sum(operation.charge_ru for operation in recorded), abs=0.01)


async def test_the_front_page_costs_one_query_which_it_shares_with_the_api(
    quiet_api: Api, quiet_site: Site, gateway: Gateway
) -> None:
    async def read_anew() -> tuple[Shown, float] | None:
        with gateway.recording() as operations:
            shown = await quiet_site.get("/")
            await quiet_api.get_feed()
            await quiet_site.get("/feed.atom")
            await quiet_site.get("/sitemap.xml")
        if [operation.name for operation in operations] != ["query feed"]:
            return None  # the cached page expired in between, or the query's first run also read the feed ranges
        return (shown, operations[0].charge_ru) if "x-ms-request-charge" in shown.headers else None

    shown, charge_ru = await eventually(read_anew)

    assert shown.charge_ru == pytest.approx(charge_ru, abs=0.01)


@pytest.mark.parametrize("path", ["/write", "/robots.txt", "/nope", "/assets/x/site.css", "/favicon.ico"])
async def test_pages_without_data_cost_nothing(quiet_site: Site, gateway: Gateway, path: str) -> None:
    with gateway.recording() as operations:
        shown = await quiet_site.get(path)

    assert operations == []
    assert "x-ms-request-charge" not in shown.headers


async def test_the_charge_of_an_error_page_is_complete(quiet_site: Site, gateway: Gateway) -> None:
    with gateway.recording() as operations:
        shown = await quiet_site.get("/posts/unknown")

    assert shown.status == 404
    assert shown.charge_ru == pytest.approx(sum(operation.charge_ru for operation in operations), abs=0.01)
