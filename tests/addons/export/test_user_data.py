"""A user's data: everything they have written, page by page, and nothing else."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Iterator

import pytest
from cosmos_emulator import EmulatorSettings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from addons.export.user_data import ExportPosition, read_user_data
from shared.errors import UserNotFound
from shared.platform.errors import MalformedRequest
from shared.platform.models import Item
from tests.api import Api, Json
from tests.blog import Blog, EmulatorThread, new_blog
from tests.instances import Instances, rewritten
from tests.items import a_comment, a_like, a_post, a_user, unique


async def data_of(api: Api, user: Json, limit: int = 100) -> list[Json]:
    return [item async for page in api.pages(f"/api/users/{user['id']}/data", limit) for item in page]


@pytest.mark.parametrize("limit", [1, 2, 100])
async def test_the_data_has_all_that_the_user_has_written(api: Api, limit: int) -> None:
    user, other = await api.new_user(), await api.new_user()
    own, foreign = await api.new_post(user, content="x" * 5_000), await api.new_post(other)
    expected = [user, own]
    for post in (own, foreign):
        for author in (user, other):
            written = [await api.new_comment(post, author), await api.new_like(post, author)]
            expected += written if author is user else []

    data = await data_of(api, user, limit)

    assert data[0] == user
    assert sorted(item["id"] + item.get("postId", "") for item in data) == sorted(
        item["id"] + item.get("postId", "") for item in expected
    )
    post = next(item for item in data if item["id"] == own["id"])
    assert (post["content"], post["commentCount"], post["likeCount"]) == ("x" * 5_000, 2, 2)


async def test_the_data_is_private(api: Api) -> None:
    user = await api.new_user()

    answer = await api.send("GET", f"/api/users/{user['id']}/data")

    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
    assert "etag" not in answer.headers
    assert answer.charge_ru == pytest.approx(6.64, abs=0.1)  # a point read, and a query in each of two partitions


async def test_unknown_and_deleted_users_have_no_data(api: Api) -> None:
    user = await api.new_user()
    await api.delete_user(user["id"])

    for user_id in (user["id"], "unknown"):
        assert (await api.send("GET", f"/api/users/{user_id}/data")).body["title"] == "User not found"


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


STRUCTURED = base64.b64encode(
    json.dumps({"v": 1, "cr": "x", "qh": "x", "frh": "x", "c": [{"min": "", "max": "FF", "bc": None}]}).encode()
).decode()
FORGED = [
    "x",
    encoded(["2026-01-01", "id"]),
    encoded(["", "FF"]),
    encoded(["FF", "", None]),
    encoded(["", "G", None]),
    encoded(["", "FF", 1]),
    encoded(["", "FF", "forged"]),
    encoded(["", "FF", "a\r\nb: c"]),
    encoded(["", "FF", "é" * 10]),
    encoded(["", "FF", "\u4e2d"]),
    encoded(["", "FF", STRUCTURED]),
    encoded(["", "FF", base64.b64encode(b'{"v":2}').decode()]),
    encoded(["zz", "zzz", None]),
    encoded(["0", "1", None]),
    encoded([[[]]]),
]


@pytest.mark.parametrize("cursor", FORGED)
async def test_a_forged_cursor_reads_nothing_of_others(api: Api, cursor: str) -> None:
    user, other = await api.new_user(), await api.new_user()
    await api.new_comment(await api.new_post(other), other)

    answer = await api.send("GET", f"/api/users/{user['id']}/data?cursor={cursor}")

    assert answer.status in (200, 400)
    assert answer.status == 400 or answer.body["items"] == []


async def test_a_forged_token_cannot_fail_the_export(instances: Instances) -> None:
    author = await instances.writer.new_user()
    posted = await instances.writer.create_post(author["id"], "A title", "Some content.")
    instances.let_replicas_catch_up()
    forged = rewritten(posted, r"#\d+", "#999999999999999999")

    answer = await instances.reader.send("GET", f"/api/users/{author['id']}/data", headers=forged)

    assert [item["id"] for item in answer.body["items"]] == [author["id"], posted.body["id"]]


@pytest.fixture(scope="module")
def partitioned() -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings(partitions=5)) as running:
        yield running


@pytest.fixture
async def large(partitioned: EmulatorThread) -> AsyncIterator[Blog]:
    async with new_blog(partitioned) as blog:
        yield blog


async def everything(blog: Blog, user: Item, limit: int) -> list[list[Item]]:
    pages, cursor = [], None
    while True:
        page = await read_user_data(blog.stored, user["id"], limit=limit, cursor=cursor, is_counted=False)
        pages.append(page.items)
        if page.next_cursor is None:
            return pages
        cursor = ExportPosition.parse(str(page.next_cursor))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(numbers=st.lists(st.integers(0, 4), max_size=8), limit=st.integers(1, 9))
async def test_each_item_comes_once_from_all_partitions(large: Blog, numbers: list[int], limit: int) -> None:
    user, other = a_user(), a_user()
    written = [await large.users.create(user)]
    for number in numbers:
        post = await large.posts.create(a_post(other))
        written += [await large.posts.create(a_comment(post, user)) for _ in range(number)]

    pages = await everything(large, user, limit)

    assert sorted(item["id"] for page in pages for item in page) == sorted(item["id"] for item in written)
    assert max(len(page) for page in pages) <= limit


async def test_damaged_items_are_left_out(large: Blog) -> None:
    user = a_user()
    await large.users.create(user)
    post = await large.posts.create(a_post(user))
    kept = await large.posts.create(a_comment(post, user))
    await large.posts.create(a_comment(post, user) | {"content": 1})
    await large.posts.create(a_like(post, user) | {"ttl": 30})

    found = [item for page in await everything(large, user, 2) for item in page]

    assert {item["id"] for item in found} == {user["id"], post["id"], kept["id"]}


async def test_the_charge_grows_with_the_partitions_and_not_with_the_container(large: Blog) -> None:
    user = await large.users.create(a_user())
    for _ in range(30):
        await large.posts.create(a_post(a_user()))

    pages = await everything(large, user, 100)

    assert [len(page) for page in pages] == [1]


async def test_a_cursor_of_one_user_is_not_one_of_another(large: Blog) -> None:
    user, other = [await large.users.create(a_user(unique("ada"))) for _ in range(2)]
    for author in (user, other):
        post = await large.posts.create(a_post(author))
        for _ in range(6):
            await large.posts.create(a_comment(post, author))
    page = await read_user_data(large.stored, user["id"], limit=2, cursor=None, is_counted=False)
    page = await read_user_data(large.stored, user["id"], limit=2, cursor=page.next_cursor, is_counted=False)

    try:
        found = await read_user_data(large.stored, other["id"], limit=2, cursor=page.next_cursor, is_counted=False)
    except MalformedRequest:
        return
    assert {item["userId"] for item in found.items} <= {other["id"]}


async def test_nobody_has_the_data_of_nobody(large: Blog) -> None:
    with pytest.raises(UserNotFound):
        await read_user_data(large.stored, "", limit=1, cursor=None, is_counted=False)


async def test_an_export_ends_although_the_rest_was_deleted_meanwhile(large: Blog) -> None:
    blog = large
    user, post = await blog.users.create(a_user()), await blog.posts.create(a_post(a_user()))
    comments = [await blog.posts.create(a_comment(post, user)) for _ in range(4)]
    other = await blog.posts.create(a_comment(await blog.posts.create(a_post(a_user())), user))
    seen: list[Item] = []
    cursor: ExportPosition | None = None
    while cursor is None or cursor.continuation is None:
        page = await read_user_data(blog.stored, user["id"], limit=2, cursor=cursor, is_counted=False)
        seen, cursor = seen + page.items, page.next_cursor
    for comment in comments:
        if comment["id"] not in [item["id"] for item in seen]:
            await blog.posts.delete(comment["id"], post["id"])

    pages = 0
    while cursor is not None and pages < 10:
        page = await read_user_data(blog.stored, user["id"], limit=2, cursor=cursor, is_counted=False)
        seen, cursor, pages = seen + page.items, page.next_cursor, pages + 1

    assert cursor is None
    assert other["id"] in [item["id"] for item in seen]
