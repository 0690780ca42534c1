"""Readers report posts and comments, and moderators see them, whatever is edited or deleted meanwhile."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from addons.moderation import reports
from addons.moderation.container import NAME
from addons.moderation.deletions import moderate_comment, moderate_post, moderate_user
from addons.moderation.models import COUNTED_S, MOST_COUNTED, entry_id, entry_of, expiry_of
from addons.moderation.reports import ReportNotFound, dismiss, erase_reports, list_reported
from shared.data.posts import delete_post, edit_post
from shared.data.username_reservations import reservation_id
from shared.data.users import delete_user, register_user
from shared.errors import CommentNotFound, PostNotFound, UserNotFound
from shared.models.post import PostChanges
from shared.models.user import NewUser, User
from shared.platform.database.client import connect
from shared.platform.database.container import Container
from shared.platform.errors import ItemDamaged, VersionMismatch
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item, iso_utc, now
from shared.propagation import users as propagation
from tests.addons.moderation.reporting import REASON, a_commented_post, a_reader, listed, report
from tests.blog import Blog, lagging
from tests.interleaved import Interleaved
from tests.items import a_comment, a_post, a_user, unique

pytestmark = pytest.mark.usefixtures("with_moderation")
OLD = iso_utc(datetime.now(UTC) - timedelta(seconds=COUNTED_S + 60))


async def edit(blog: Blog, post: Item) -> None:
    changes = PostChanges(title="Edited", content="Edited into an advertisement.")
    await edit_post(blog.posts, post["id"], changes, by=BackEnd())


async def test_the_most_reported_item_comes_first_with_its_latest_reasons(blog: Blog, moderation: Container) -> None:
    post, comment = await a_commented_post(blog)
    for number in range(4):
        await report(blog, moderation, comment, await a_reader(blog), f"Reason {number}.")
    await report(blog, moderation, post, await a_reader(blog), "Another.")

    assert await listed(blog, moderation) == [
        (comment["id"], 4, ["Reason 3.", "Reason 2.", "Reason 1."]),
        (post["id"], 1, ["Another."]),
    ]


async def test_the_list_names_the_title_the_author_and_a_later_edit(blog: Blog, moderation: Container) -> None:
    post, comment = await a_commented_post(blog)
    for item in (post, comment):
        await report(blog, moderation, item, await a_reader(blog))
    await edit(blog, post)

    page = await list_reported(blog.stored, moderation, limit=100, cursor=None)

    shown = {entry["itemId"]: (entry["title"], entry["userId"], entry["isEdited"]) for entry in page.items}
    assert shown == {
        post["id"]: ("Edited", post["userId"], True),
        comment["id"]: ("Edited", comment["userId"], False),
    }
    assert {entry["userUsername"] for entry in page.items} == {post["userUsername"]}


async def test_the_list_has_pages(blog: Blog, moderation: Container) -> None:
    reported = []
    for number in range(5):
        post, _ = await a_commented_post(blog)
        for _ in range(number % 3 + 1):
            await report(blog, moderation, post, await a_reader(blog))
        reported.append((number % 3 + 1, post["id"]))

    found, cursor = [], None
    while True:
        page = await list_reported(blog.stored, moderation, limit=2, cursor=cursor)
        found += [(entry["reportCount"], entry["itemId"]) for entry in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert sorted(found) == sorted(reported)
    assert [count for count, _ in found] == [3, 2, 2, 1, 1]


async def test_a_second_report_of_the_same_version_changes_nothing(blog: Blog, moderation: Container) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)

    (first, is_new), (second, is_new_too) = [
        await report(blog, moderation, post, reader, reason) for reason in ("One.", "Two.")
    ]

    assert (is_new, is_new_too) == (True, False)
    assert second == first
    assert await listed(blog, moderation) == [(post["id"], 1, ["One."])]


async def test_a_report_of_an_edited_post_replaces_the_earlier_one(blog: Blog, moderation: Container) -> None:
    (post, comment), reader, other = await a_commented_post(blog), await a_reader(blog), await a_reader(blog)
    for by in (other, reader):
        await report(blog, moderation, post, by, "Before.")
    await report(blog, moderation, comment, reader, "Before.")
    await edit(blog, post)

    assert (await report(blog, moderation, post, reader, "After."))[1]
    assert not (await report(blog, moderation, comment, reader, "After."))[1]

    assert await listed(blog, moderation) == [(post["id"], 2, ["After.", "Before."]), (comment["id"], 1, ["Before."])]


async def test_a_dismissed_item_can_be_reported_again_by_the_same_reader(blog: Blog, moderation: Container) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    first, _ = await report(blog, moderation, post, reader)
    with pytest.raises(VersionMismatch):
        await dismiss(moderation, first["id"], if_match={'"2020-01-01T00:00:00.000Z"'})
    await dismiss(moderation, first["id"], if_match={f'"{first["creationDate"]}"'})
    assert await listed(blog, moderation) == []
    with pytest.raises(ReportNotFound):
        await dismiss(moderation, first["id"], if_match=None)

    assert (await report(blog, moderation, post, reader, "Again."))[1]

    assert await listed(blog, moderation) == [(post["id"], 1, ["Again."])]


async def test_a_report_counts_for_thirty_days(blog: Blog, moderation: Container) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    old = [{"userId": by, "reason": "Old.", "creationDate": OLD} for by in (reader["id"], "another")]
    await moderation.create(entry_of(post["id"], post["id"], old))

    assert (await report(blog, moderation, post, reader, "New."))[1]

    assert await listed(blog, moderation) == [(post["id"], 1, ["New."])]


async def test_the_list_leaves_out_reports_older_than_thirty_days(blog: Blog, moderation: Container) -> None:
    post, comment = await a_commented_post(blog)
    old = {"userId": "reader", "reason": "Old.", "creationDate": OLD}
    recent = {"userId": "another", "reason": "Recent.", "creationDate": now()}
    await moderation.create(entry_of(post["id"], post["id"], [old, recent]))
    await moderation.create(entry_of(post["id"], comment["id"], [old]))

    assert await listed(blog, moderation) == [(post["id"], 1, ["Recent."])]


def test_an_entry_does_not_last_longer_if_the_clock_of_the_host_is_slow() -> None:
    entry = {"ttl": COUNTED_S, "_ts": int(time.time()) + 3}

    assert expiry_of(entry) == {"ttl": COUNTED_S}


@pytest.mark.parametrize("ttl", [COUNTED_S, -1])
async def test_an_erasure_does_not_make_an_entry_last_longer(blog: Blog, moderation: Container, ttl: int) -> None:
    (post, _), reader, other = await a_commented_post(blog), await a_reader(blog), await a_reader(blog)
    for by in (reader, other):
        await report(blog, moderation, post, by)
    entry = await moderation.read(entry_id(post["id"], post["id"]), "reported") or {}
    await moderation.patch(entry["id"], "reported", [{"op": "set", "path": "/ttl", "value": ttl}])

    async def aged(*arguments: Any, **options: Any) -> list[Any]:
        """The items as if they were written a thousand seconds ago."""
        return [item | {"_ts": item["_ts"] - 1000} for item in await moderation.query(*arguments, **options)]

    await erase_reports(Interleaved(moderation, "query", instead=aged), reader["id"])

    stored = await moderation.read(entry["id"], "reported") or {}
    assert stored["ttl"] == (pytest.approx(COUNTED_S - 1000, abs=60) if ttl > 0 else -1)


async def test_an_entry_keeps_the_latest_hundred_reports(blog: Blog, moderation: Container) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    reported = [
        {"userId": f"reader-{number}", "reason": REASON, "creationDate": iso_utc(datetime.now(UTC))}
        for number in range(MOST_COUNTED)
    ]
    await moderation.create(entry_of(post["id"], post["id"], reported))

    await report(blog, moderation, post, reader, "The latest.")

    [(_, count, reasons)] = await listed(blog, moderation)
    assert (count, reasons[0]) == (MOST_COUNTED, "The latest.")
    stored = await moderation.read(entry_id(post["id"], post["id"]), "reported") or {}
    assert "reader-0" not in {each["userId"] for each in stored["reports"]}


async def test_concurrent_reports_are_all_counted(blog: Blog, moderation: Container) -> None:
    (post, _), readers = await a_commented_post(blog), [await a_reader(blog) for _ in range(8)]

    await asyncio.gather(*(report(blog, moderation, post, reader) for reader in readers))

    assert [count for _, count, _ in await listed(blog, moderation)] == [8]


async def test_only_what_exists_can_be_reported(blog: Blog, moderation: Container) -> None:
    (post, comment), reader = await a_commented_post(blog), await a_reader(blog)

    for item, by, error in (
        (post, a_user(), UserNotFound),
        (a_post(reader), reader, PostNotFound),
        (a_comment(post, reader), reader, CommentNotFound),
    ):
        with pytest.raises(error):
            await report(blog, moderation, item, by)
    assert await listed(blog, moderation) == []
    assert (await report(blog, moderation, comment, reader))[1]


async def test_the_entries_of_deleted_items_leave_the_list(blog: Blog, moderation: Container) -> None:
    post, comment = await a_commented_post(blog)
    for item in (post, comment):
        await report(blog, moderation, item, await a_reader(blog))
    await delete_post(blog.posts, post["id"], by=BackEnd())

    assert await listed(blog, moderation) == []
    assert await blog.all_items(moderation) == []


async def test_a_lagging_replica_deletes_no_entry(blog: Blog, moderation: Container) -> None:
    author, reader = await a_reader(blog), await a_reader(blog)
    async with connect(blog.settings) as client:
        other = Blog(blog.emulator, blog.settings, client.get_database_client(blog.settings.database))
        with lagging(blog):
            post = await blog.posts.create(a_post(author))
            await report(blog, moderation, post, reader)
            await other.container(NAME).catch_up("reported")  # it has handled another report
            await listed(other, other.container(NAME))

    assert await listed(blog, moderation) == [(post["id"], 1, [REASON])]


async def test_a_damaged_entry_hides_no_other_one(blog: Blog, moderation: Container) -> None:
    post, comment = await a_commented_post(blog)
    for item in (post, comment):
        await report(blog, moderation, item, await a_reader(blog))
    damaged = entry_id(post["id"], post["id"])
    await moderation.patch(damaged, "reported", [{"op": "set", "path": "/reports", "value": None}])

    assert [item_id for item_id, _, _ in await listed(blog, moderation)] == [comment["id"]]


async def test_the_reports_of_a_deleted_user_count_without_their_reasons(
    blog: Blog, moderation: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    (post, comment), reader, other = await a_commented_post(blog), await a_reader(blog), await a_reader(blog)
    for item in (post, comment):
        await report(blog, moderation, item, reader, "A text of the reader.")
    await report(blog, moderation, post, other)

    async def erase(user_id: str) -> None:
        await erase_reports(moderation, user_id)

    monkeypatch.setattr(propagation, "erasure_hooks", [erase])
    await delete_user(blog.users, reader["id"])
    await blog.drain()

    assert await listed(blog, moderation) == [(post["id"], 2, [REASON]), (comment["id"], 1, [])]
    stored = str(await blog.all_items(moderation))
    assert reader["id"] not in stored
    assert "A text of the reader." not in stored


async def test_a_damaged_report_keeps_no_reasons_of_deleted_users(blog: Blog, moderation: Container) -> None:
    (post, _), reader, other = await a_commented_post(blog), await a_reader(blog), await a_reader(blog)
    damaged = {"userId": reader["id"], "reason": "A text of the reader."}  # it has no date
    await report(blog, moderation, post, other, "A text of the other.")
    entry = entry_id(post["id"], post["id"])
    for value in (damaged, {"reason": "Nobody's."}, None):
        await moderation.patch(entry, "reported", [{"op": "add", "path": "/reports/0", "value": value}])

    for user in (reader, other):
        await erase_reports(moderation, user["id"])

    assert "A text of" not in str(await blog.all_items(moderation))


def deleting(reader: Item, blog: Blog, moderation: Container) -> Container:
    """A container in which the reader's account is deleted and erased before the first report is written."""

    async def delete_reader(*_: object) -> None:
        await delete_user(blog.users, reader["id"])
        await erase_reports(blog.container(NAME), reader["id"])

    return Interleaved(moderation, "read_latest", before=delete_reader, times=1)


@pytest.mark.parametrize("is_reported", [False, True])
async def test_a_report_that_is_written_after_the_erasure_of_its_reader_is_withdrawn(
    blog: Blog, moderation: Container, is_reported: bool
) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    if is_reported:
        await report(blog, moderation, post, await a_reader(blog))

    with pytest.raises(UserNotFound):
        await report(blog, deleting(reader, blog, moderation), post, reader, "A text of the reader.")

    assert await listed(blog, moderation) == ([(post["id"], 1, [REASON])] if is_reported else [])
    assert reader["id"] not in str(await blog.all_items(moderation))


@pytest.mark.parametrize("is_repeated", [False, True])
async def test_a_ban_lasts_also_if_it_is_repeated_after_a_crash(
    blog: Blog, moderation: Container, is_repeated: bool
) -> None:
    user = await a_reader(blog)
    if is_repeated:  # the first attempt ended after the deletion
        await delete_user(blog.users, user["id"])
        await blog.drain()
    ban = {"by": BackEnd(), "reason": "Insults.", "if_match": None}
    await moderate_user(blog.stored, moderation, user["id"], bans=True, **ban)
    await blog.drain()

    tombstone = await blog.users.read(user["id"], user["id"]) or {}
    assert (tombstone["type"], tombstone["ttl"], "formerUsernames" in tombstone) == ("tombstone", -1, False)
    with pytest.raises(UserNotFound):
        await moderate_user(blog.stored, moderation, user["id"], bans=False, **ban)


async def test_only_accounts_can_be_deleted_and_banned(blog: Blog, moderation: Container) -> None:
    user = await register_user(blog.users, NewUser(username=unique("ada")), user_id=unique("ada"), idempotency_key=None)
    damaged = [await blog.users.create({**a_user(), "type": kind, "creationDate": 1}) for kind in ("user", "tombstone")]
    given = {"by": BackEnd(), "reason": "Insults.", "if_match": None}

    for user_id, error in (
        (reservation_id(user["username"]), UserNotFound),
        *((each["id"], ItemDamaged) for each in damaged),
    ):
        with pytest.raises(error):
            await moderate_user(blog.stored, moderation, user_id, bans=True, **given)
    assert await blog.all_items(moderation) == []


async def test_a_ban_of_a_deleted_account_heeds_if_match(blog: Blog, moderation: Container) -> None:
    user = await a_reader(blog)
    await delete_user(blog.users, user["id"])

    with pytest.raises(VersionMismatch):
        await moderate_user(
            blog.stored,
            moderation,
            user["id"],
            by=BackEnd(),
            reason="Insults.",
            bans=True,
            if_match={User.last_edit(user)},
        )
    assert await blog.all_items(moderation) == []


async def test_no_deletion_is_without_its_audit_item(blog: Blog, moderation: Container) -> None:
    post, comment = await a_commented_post(blog)
    refusing = Interleaved(moderation, "create", refuse=RuntimeError)
    given: dict[str, Any] = {"by": BackEnd(), "reason": "Insults.", "if_match": None}
    for deletion in (
        moderate_comment(blog.stored, refusing, post["id"], comment["id"], **given),
        moderate_post(blog.stored, refusing, post["id"], **given),
        moderate_user(blog.stored, refusing, post["userId"], bans=False, **given),
    ):
        with pytest.raises(RuntimeError):
            await deletion

    assert await blog.counts(post) == (1, 0)
    assert (await blog.users.read(post["userId"], post["userId"]) or {})["type"] == "user"


def resending(container: Container) -> Container:
    """A container whose writes are sent twice, as the SDK does if the response is lost."""
    for write in ("create", "replace", "delete"):
        container = Interleaved(container, write, before=getattr(container, write))
    return container


async def test_writes_whose_responses_are_lost_are_done_once(blog: Blog, moderation: Container) -> None:
    (post, comment), reader, other = await a_commented_post(blog), await a_reader(blog), await a_reader(blog)
    twice = resending(moderation)
    assert [(await report(blog, twice, post, by))[1] for by in (reader, other)] == [True, True]
    assert await listed(blog, moderation) == [(post["id"], 2, [REASON, REASON])]
    await erase_reports(twice, reader["id"])
    assert await listed(blog, moderation) == [(post["id"], 2, [REASON])]

    await dismiss(twice, entry_id(post["id"], post["id"]), if_match=None)
    given = {"by": BackEnd(), "reason": "Insults.", "if_match": None}
    await moderate_comment(blog.stored, twice, post["id"], comment["id"], **given)
    await moderate_post(blog.stored, twice, post["id"], **given)
    await moderate_user(blog.stored, twice, post["userId"], bans=True, **given)

    assert [item["itemType"] for item in await blog.all_items(moderation)] == ["comment", "post", "user"]


@pytest.mark.parametrize("is_reported", [False, True])
async def test_a_report_that_is_sent_twice_is_withdrawn_with_its_reader(
    blog: Blog, moderation: Container, is_reported: bool
) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    if is_reported:
        await report(blog, moderation, post, await a_reader(blog))

    with pytest.raises(UserNotFound):
        await report(blog, deleting(reader, blog, resending(moderation)), post, reader, "A text of the reader.")

    assert reader["id"] not in str(await blog.all_items(moderation))


async def write_again(container: Container, item_id: str, partition_key: str) -> None:
    await container.patch(item_id, partition_key, [{"op": "set", "path": "/traceparent", "value": ""}])


async def test_a_report_waits_for_many_others(
    blog: Blog, moderation: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "_WAIT_S", 0)
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    await report(blog, moderation, post, await a_reader(blog))

    busy = Interleaved(
        moderation, "replace", before=lambda entry, **_: write_again(moderation, entry["id"], "reported"), times=15
    )
    assert (await report(blog, busy, post, reader))[1]


async def test_writes_at_the_same_time_end_the_attempts(
    blog: Blog, moderation: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "_WAIT_S", 0)
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    first, _ = await report(blog, moderation, post, reader)

    changing = Interleaved(moderation, "delete", before=lambda *key, **_: write_again(moderation, *key))
    with pytest.raises(reports.DatabaseUnavailable):
        await dismiss(changing, first["id"], if_match=None)
    assert await listed(blog, moderation) == [(post["id"], 1, [REASON])]
