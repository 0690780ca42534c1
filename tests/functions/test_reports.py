"""Reports: one per reader and item, and the list of reported items, most reported first."""

from __future__ import annotations

import asyncio

import pytest

from tests.api import Api, Json
from tests.items import unique
from tests.polling import eventually

REASON = "An advertisement."


async def entry_of(api: Api, item: Json) -> Json | None:
    """The entry of a post or comment in the list of reported items."""
    entries = [entry async for page in api.pages("/api/reports", limit=100) for entry in page]
    return next((entry for entry in entries if entry["itemId"] == item["id"]), None)


async def eventually_counts(api: Api, item: Json, count: int) -> Json:
    """Wait until the list has this number of reports of an item, and return its entry."""

    async def is_counted() -> bool:
        entry = await entry_of(api, item)
        return entry is not None and entry["reportCount"] == count

    await eventually(is_counted)
    return await entry_of(api, item) or {}


@pytest.mark.parametrize("kind", ["post", "comment"])
async def test_a_reader_reports_an_item_once(api: Api, kind: str) -> None:
    reader = await api.new_user("reader")
    post = await api.new_post(await api.new_user())
    item = post if kind == "post" else await api.new_comment(post, reader)
    comment_id = item["id"] if kind == "comment" else None

    first = await api.report(post["id"], reader["id"], REASON, comment_id=comment_id)
    second = await api.report(post["id"], reader["id"], "Another reason.", comment_id=comment_id)

    assert (first.status, second.status) == (201, 200)
    assert first.body == second.body
    assert "location" not in first.headers  # a report has no path
    assert (first.body["itemId"], first.body["postId"], first.body["reason"]) == (item["id"], post["id"], REASON)
    entry = await eventually_counts(api, item, 1)
    assert (entry["postId"], entry["reasons"]) == (post["id"], [REASON])


async def test_the_most_reported_items_come_first(api: Api) -> None:
    readers = [await api.new_user("reader") for _ in range(4)]
    posts = [await api.new_post(readers[0]) for _ in range(3)]
    for post, number in zip(posts, (2, 4, 3), strict=True):
        answers = await asyncio.gather(
            *(api.report(post["id"], reader["id"], f"Reason of {reader['username']}.") for reader in readers[:number])
        )
        assert {answer.status for answer in answers} == {201}
    for post, number in zip(posts, (2, 4, 3), strict=True):
        entry = await eventually_counts(api, post, number)
        assert len(entry["reasons"]) == min(3, number)

    for limit in (1, 100):
        listed = [entry["itemId"] async for page in api.pages("/api/reports", limit=limit) for entry in page]
        places = [listed.index(post["id"]) for post in posts]
        assert places[1] < places[2] < places[0]


@pytest.mark.parametrize("kind", ["post", "comment", "post of the comment"])
async def test_a_deleted_item_leaves_the_list(api: Api, kind: str) -> None:
    reader = await api.new_user("reader")
    post = await api.new_post(reader)
    item = post if kind == "post" else await api.new_comment(post, reader)
    await api.report(post["id"], reader["id"], REASON, comment_id=None if kind == "post" else item["id"])
    await eventually_counts(api, item, 1)

    if kind == "comment":
        await api.delete_comment(post["id"], item["id"])
    else:
        await api.delete_post(post["id"])

    async def is_gone() -> bool:
        return await entry_of(api, item) is None

    await eventually(is_gone)


async def test_what_is_unknown_cannot_be_reported(api: Api) -> None:
    reader = await api.new_user("reader")
    post = await api.new_post(reader)
    deleted = await api.new_post(reader)
    comment = await api.new_comment(deleted, reader)
    await api.delete_post(deleted["id"])

    answers = [
        await api.report("unknown", reader["id"], REASON),
        await api.report(deleted["id"], reader["id"], REASON),
        await api.report(deleted["id"], reader["id"], REASON, comment_id=comment["id"]),
        await api.report(post["id"], reader["id"], REASON, comment_id="unknown"),
        await api.report(post["id"], reader["id"], REASON, comment_id=post["id"]),
        await api.report(post["id"], "unknown", REASON),
    ]

    assert [answer.body["title"] for answer in answers] == [
        "Post not found",
        "Post not found",
        "Post not found",
        "Comment not found",
        "Comment not found",
        "User not found",
    ]


@pytest.mark.parametrize("reason", ["", " ", "x" * 501, "a\0b", None])
async def test_a_reason_is_a_text(api: Api, reason: str) -> None:
    reader = await api.new_user("reader")
    post = await api.new_post(reader)

    answer = await api.report(post["id"], reader["id"], reason)

    assert answer.status == 422
    assert [fault["pointer"] for fault in answer.body["errors"]] == ["/reason"]


async def test_a_retried_report_returns_the_first_one(api: Api) -> None:
    reader = await api.new_user("reader")
    post = await api.new_post(reader)
    key = {"Idempotency-Key": unique("key")}

    first = await api.report(post["id"], reader["id"], REASON, headers=key)
    retried = await api.report(post["id"], reader["id"], REASON, headers=key)
    reused = await api.report(post["id"], reader["id"], "Another reason.", headers=key)

    assert (first.status, retried.status, reused.status) == (201, 200, 422)
    assert first.body == retried.body


async def test_a_key_of_a_report_that_existed_is_recorded(api: Api) -> None:
    reader = await api.new_user("reader")
    post = await api.new_post(reader)
    await api.report(post["id"], reader["id"], REASON)
    key = {"Idempotency-Key": unique("key")}

    found = await api.report(post["id"], reader["id"], "Another reason.", headers=key)
    reused = await api.report(post["id"], reader["id"], "A third reason.", headers=key)

    assert (found.status, found.body["reason"], reused.status) == (200, REASON, 422)


async def test_the_list_is_not_cached(api: Api) -> None:
    answer = await api.list_reports()

    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")


@pytest.mark.parametrize("cursor", ["x", "WyJhIl0", "bm8"])
async def test_a_malformed_cursor_returns_400(api: Api, cursor: str) -> None:
    assert (await api.list_reports(cursor=cursor)).status == 400


async def test_a_dismissed_report_leaves_the_list_until_the_next_one(api: Api) -> None:
    post = await api.new_post(await api.new_user())
    await api.report(post["id"], post["userId"], REASON)
    path = f"/api/reports/{(await eventually_counts(api, post, 1))['id']}"

    first, second = await api.send("DELETE", path), await api.send("DELETE", path)

    assert (first.status, second.status) == (204, 404)
    assert await entry_of(api, post) is None
    await api.report(post["id"], (await api.new_user())["id"], "Another reason.")
    assert (await eventually_counts(api, post, 1))["reasons"] == ["Another reason."]


@pytest.mark.parametrize("condition", [{"If-None-Match": "*"}, {"If-Match": '"an/edit"'}])
async def test_a_report_is_not_dismissed_under_a_condition_that_fails(api: Api, condition: dict[str, str]) -> None:
    post = await api.new_post(await api.new_user())
    await api.report(post["id"], post["userId"], REASON)
    entry = await eventually_counts(api, post, 1)

    answer = await api.send("DELETE", f"/api/reports/{entry['id']}", headers=condition)

    assert (answer.status, await entry_of(api, post)) == (412, entry)


async def test_a_report_since_the_list_was_read_is_not_dismissed_with_the_others(api: Api) -> None:
    """The date of the latest report is what If-Match compares."""
    post = await api.new_post(await api.new_user())
    await api.report(post["id"], post["userId"], REASON)
    entry = await eventually_counts(api, post, 1)
    path, condition = f"/api/reports/{entry['id']}", {"If-Match": f'"{entry["creationDate"]}"'}
    await api.report(post["id"], (await api.new_user())["id"], "It is abusive now.")
    later = await eventually_counts(api, post, 2)

    refused = await api.send("DELETE", path, headers=condition)
    listed = await entry_of(api, post)
    dismissed = await api.send("DELETE", path, headers={"If-Match": f'"{later["creationDate"]}"'})

    assert (refused.status, listed) == (412, later)
    assert (dismissed.status, await entry_of(api, post)) == (204, None)
