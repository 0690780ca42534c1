"""The list of reported items follows reports, deletions and erasures, whatever runs at the same time."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from management.verify import verify
from shared.data import users as users_module
from shared.data.comments import delete_comment
from shared.data.permissions import BY_BACK_END
from shared.data.posts import delete_post
from shared.data.reports import create_report, dismiss, list_reported
from shared.data.users import create_user, delete_user, register_user
from shared.database.container import Container
from shared.database.refusals import ConditionFailed, ItemExists
from shared.errors import DatabaseUnavailable, IdempotencyKeyReused, NoProgress
from shared.models.base import Item, iso_utc
from shared.models.report import COUNTED_S, MOST_COUNTED, REPORT_TTL_S, NewReport, Report, report_item
from shared.models.user import NewUser
from shared.propagation.posts import handle_changed_posts
from shared.propagation.reports import update_reported_item
from tests.blog import Blog
from tests.items import a_comment, a_post, a_user, moment, unique
from tests.polling import eventually


async def a_reader(blog: Blog) -> Item:
    return await create_user(blog.users, NewUser(username=unique("reader")), idempotency_key=None)


async def report(blog: Blog, item: Item, reader: Item, reason: str = "An advertisement.") -> Item:
    comment_id = item["id"] if item["type"] == "comment" else None
    new = NewReport(user_id=reader["id"], reason=reason)
    return (await create_report(blog.stored, item["postId"], comment_id, new, idempotency_key=None)).item


async def listed(blog: Blog) -> list[Item]:
    return (await list_reported(blog.feed, limit=100, cursor=None)).items


async def handle_since(blog: Blog, known: set[str]) -> None:
    """Handle the changes of `posts` as the change feed would: only what has changed since."""
    await blog.handle_posts([change for change in await blog.changes(blog.posts) if change["_etag"] not in known])


def recently(second: float) -> str:
    """Return the date `second` seconds after an hour ago."""
    return iso_utc(datetime.now(UTC) - timedelta(hours=1) + timedelta(seconds=second))


async def known_changes(blog: Blog) -> set[str]:
    return {change["_etag"] for change in await blog.changes(blog.posts)}


@pytest.fixture
async def post(blog: Blog) -> Item:
    return await blog.posts.create(a_post(await a_reader(blog)))


@pytest.fixture
async def comment(blog: Blog, post: Item) -> Item:
    await blog.posts.patch(post["id"], post["id"], [{"op": "set", "path": "/commentCount", "value": 1}])
    return await blog.posts.create(a_comment(post, await a_reader(blog)))


async def test_a_delivery_that_is_repeated_or_late_changes_nothing(blog: Blog, post: Item) -> None:
    await report(blog, post, await a_reader(blog))
    early = await blog.changes(blog.posts)
    await report(blog, post, await a_reader(blog))
    await blog.drain()
    [entry] = await listed(blog)

    await blog.handle_posts(early)

    assert entry["reportCount"] == 2
    assert await listed(blog) == [entry]
    assert await verify(blog.stored) == []


async def test_an_item_deleted_before_its_report_is_handled_is_not_listed(
    blog: Blog, post: Item, comment: Item
) -> None:
    reader = await a_reader(blog)
    await report(blog, comment, reader)
    await delete_comment(blog.stored, post["id"], comment["id"], deletion=BY_BACK_END)
    await blog.drain()

    assert await listed(blog) == []


class _Deleting(Container):
    """Posts in which a comment is deleted between the read that finds it and the mark that it is reported."""

    comment_id = ""
    blog: Any = None

    async def patch(self, item_id: str, *arguments: Any, **options: Any) -> Item:
        if item_id == self.comment_id:
            await delete_comment(self.blog, arguments[0], item_id, deletion=BY_BACK_END)
        return await super().patch(item_id, *arguments, **options)


async def test_a_comment_deleted_while_it_is_marked_is_not_listed(blog: Blog, post: Item, comment: Item) -> None:
    await report(blog, comment, await a_reader(blog))
    deleting = _Deleting(blog.posts.proxy)
    deleting.comment_id, deleting.blog = comment["id"], blog.stored

    await update_reported_item(dataclasses.replace(blog.stored, posts=deleting), post["id"], comment["id"])

    assert await listed(blog) == []


class _Expiring(Container):
    """Posts in which a post is deleted, and its comments expire, before a comment is marked as reported."""

    blog: Any = None

    async def patch(self, item_id: str, partition_key: str, *arguments: Any, **options: Any) -> Item:
        await delete_post(self.blog.posts, partition_key, deletion=BY_BACK_END)
        deleted = [change for change in await self.blog.changes(self.blog.posts) if change["type"] == "tombstone"]
        await self.blog.handle_posts(deleted)
        return await super().patch(item_id, partition_key, *arguments, **options)


async def test_a_comment_that_expires_while_it_is_marked_is_not_listed(blog: Blog, post: Item, comment: Item) -> None:
    await report(blog, comment, await a_reader(blog))
    expiring = _Expiring(blog.posts.proxy)
    expiring.blog = blog

    await update_reported_item(dataclasses.replace(blog.stored, posts=expiring), post["id"], comment["id"])

    assert await listed(blog) == []


async def test_a_comment_of_a_deleted_user_leaves_the_list(blog: Blog, post: Item, comment: Item) -> None:
    await report(blog, comment, await a_reader(blog))
    await blog.drain()
    assert len(await listed(blog)) == 1
    known = {change["_etag"] for change in await blog.changes(blog.posts)}

    await delete_user(blog.users, comment["userId"], deletion=BY_BACK_END)
    await blog.handle_users(await blog.changes(blog.users))
    await blog.handle_posts([change for change in await blog.changes(blog.posts) if change["_etag"] not in known])

    assert await listed(blog) == []


class _LatePosts(Container):
    """Posts in which another delivery handles another report after the first query."""

    blog: Any = None
    races = 1

    async def query(self, *arguments: Any, **options: Any) -> list[Any]:
        rows = await super().query(*arguments, **options)
        if self.races:
            self.races -= 1
            post = await self.blog.posts.read(options["partition_key"], options["partition_key"])
            await report(self.blog, post, await a_reader(self.blog))
            await update_reported_item(self.blog.stored, post["id"], post["id"])
        return rows


@pytest.mark.parametrize("exists", [False, True], ids=["new", "known"])
async def test_the_delivery_that_read_fewer_reports_does_not_win(blog: Blog, post: Item, exists: bool) -> None:
    await report(blog, post, await a_reader(blog))
    if exists:
        await blog.drain()
        await report(blog, post, await a_reader(blog))
    late = _LatePosts(blog.posts.proxy)
    late.blog = blog

    await update_reported_item(dataclasses.replace(blog.stored, posts=late), post["id"], post["id"])

    [entry] = await listed(blog)
    assert entry["reportCount"] == (3 if exists else 2)


class _Racing(Container):
    """A `feed` in which another delivery writes the entry of an item between the read and each write."""

    blog: Any = None
    races = 1

    async def _race(self, entry: Item) -> None:
        if self.races:
            self.races -= 1
            await report(self.blog, await self._post(entry), await a_reader(self.blog))
            await update_reported_item(self.blog.stored, entry["postId"], entry["itemId"])

    async def _post(self, entry: Item) -> Item:
        return await self.blog.posts.read(entry["postId"], entry["postId"])

    async def create(self, item: Item, **options: Any) -> Item:
        await self._race(item)
        return await super().create(item, **options)

    async def replace(self, item: Item, *, etag: str) -> Item:
        await self._race(item)
        return await super().replace(item, etag=etag)


@pytest.mark.parametrize("exists", [False, True], ids=["new", "known"])
async def test_the_delivery_that_knows_fewer_reports_does_not_win(blog: Blog, post: Item, exists: bool) -> None:
    await report(blog, post, await a_reader(blog))
    if exists:
        await blog.drain()
        await report(blog, post, await a_reader(blog))
    racing = _Racing(blog.feed.proxy)
    racing.blog = blog

    await update_reported_item(dataclasses.replace(blog.stored, feed=racing), post["id"], post["id"])

    [entry] = await listed(blog)
    assert entry["reportCount"] == (3 if exists else 2)


class _Refusing(Container):
    async def create(self, item: Item, **options: Any) -> Item:
        raise ItemExists


async def test_races_without_end_fail_the_change(blog: Blog, post: Item) -> None:
    await report(blog, post, await a_reader(blog))
    racing = _Refusing(blog.feed.proxy)

    with pytest.raises(NoProgress):
        await update_reported_item(dataclasses.replace(blog.stored, feed=racing), post["id"], post["id"])


async def test_a_hundred_reports_of_one_delivery_cost_one_update(blog: Blog, post: Item) -> None:
    """If everybody reports one post, only the reports themselves grow with their number."""
    readers = [a_user("reader") for _ in range(MOST_COUNTED + 20)]
    for number, reader in enumerate(readers):
        new = NewReport(user_id=reader["id"], reason=f"Reason {number}.")
        await blog.posts.create(report_item(post["id"], post["id"], reader, new, recently(number)))
    reports = [change for change in await blog.changes(blog.posts) if change["type"] == "report"]
    written = 0

    class Counting(Container):
        async def create(self, item: Item, **options: Any) -> Item:
            nonlocal written
            written += 1
            return await super().create(item, **options)

    counting = dataclasses.replace(blog.stored, feed=Counting(blog.feed.proxy))
    await handle_changed_posts(counting, reports)

    [entry] = await listed(blog)
    assert written == 1
    assert (entry["reportCount"], entry["reasons"]) == (MOST_COUNTED, ["Reason 119.", "Reason 118.", "Reason 117."])


async def test_a_reason_leaves_the_list_although_the_number_of_counted_reports_stays(blog: Blog, post: Item) -> None:
    reader = await a_reader(blog)
    readers = [a_user("reader") for _ in range(MOST_COUNTED + 1)]
    for number, author in enumerate([*readers, reader, a_user("last")]):
        new = NewReport(user_id=author["id"], reason="A text of the reader." if author is reader else "Another.")
        await blog.posts.create(report_item(post["id"], post["id"], author, new, recently(number)))
    await update_reported_item(blog.stored, post["id"], post["id"])
    assert "A text of the reader." in (await listed(blog))[0]["reasons"]

    await delete_user(blog.users, reader["id"], deletion=BY_BACK_END)
    await blog.drain()

    [entry] = await listed(blog)
    assert (entry["reportCount"], entry["reasons"]) == (MOST_COUNTED, ["Another."] * 3)


async def test_the_reports_of_a_later_account_stay(blog: Blog, post: Item) -> None:
    """A late item of the deleted account is erased, and the change feed then looks for others."""
    user = a_user("reader") | {"nameVersion": 3, "sinceVersion": 3}
    await blog.users.create(user)
    await report(blog, post, user)
    late = {name: value for name, value in a_comment(post, user).items() if name != "nameVersion"}
    await blog.posts.create(late)

    await blog.handle_posts(await blog.changes(blog.posts))

    [entry] = await listed(blog)
    assert entry["reportCount"] == 1
    assert late["id"] not in [item["id"] for item in await blog.items_of(post)]


async def test_reports_of_a_deleted_user_disappear_with_their_texts(blog: Blog, post: Item, comment: Item) -> None:
    reader, other = await a_reader(blog), await a_reader(blog)
    for item in (post, comment):
        await report(blog, item, reader, "A text of the reader.")
        await report(blog, item, other)
    await blog.drain()
    assert [entry["reportCount"] for entry in await listed(blog)] == [2, 2]

    await delete_user(blog.users, reader["id"], deletion=BY_BACK_END)
    await blog.drain()

    async def is_erased() -> bool:
        items = [item for container in (blog.users, blog.posts, blog.feed) for item in await blog.all_items(container)]
        return "A text of the reader." not in str(items)

    await eventually(is_erased)
    assert [(entry["reportCount"], len(entry["reasons"])) for entry in await listed(blog)] == [(1, 1), (1, 1)]
    assert await verify(blog.stored) == []


async def test_an_item_of_a_deleted_user_leaves_the_list(blog: Blog, post: Item, comment: Item) -> None:
    await report(blog, comment, await a_reader(blog))
    await report(blog, post, await a_reader(blog))
    await blog.drain()
    assert len(await listed(blog)) == 2

    await delete_user(blog.users, comment["userId"], deletion=BY_BACK_END)
    await delete_user(blog.users, post["userId"], deletion=BY_BACK_END)
    await blog.drain()

    assert await listed(blog) == []


async def test_reports_do_not_change_the_post_for_readers(blog: Blog, post: Item) -> None:
    await blog.drain()
    before = await blog.posts.read(post["id"], post["id"])
    copies = await blog.all_items(blog.users)

    await report(blog, post, await a_reader(blog))
    await blog.drain()

    after = await blog.posts.read(post["id"], post["id"])
    assert before is not None
    assert after is not None
    assert {name: after[name] for name in before if not name.startswith("_")} == {
        name: before[name] for name in before if not name.startswith("_")
    }
    shown = [copy for copy in copies if copy["type"] == "post"]
    assert [copy for copy in await blog.all_items(blog.users) if copy["type"] == "post"] == shown


async def test_a_deleted_post_with_reported_comments_leaves_nothing(blog: Blog, post: Item, comment: Item) -> None:
    await report(blog, comment, await a_reader(blog))
    await blog.drain()

    await delete_post(blog.posts, post["id"], deletion=BY_BACK_END)
    await blog.drain()

    assert await listed(blog) == []


SECRET = "A text of the reader."


class _Stalled(Container):
    """A container in which something else happens before the first write of each kind."""

    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def _wait(self) -> None:
        if (meanwhile := self.meanwhile) is not None:
            self.meanwhile = None
            await meanwhile()

    async def create(self, item: Item, **options: Any) -> Item:
        await self._wait()
        return await super().create(item, **options)

    async def replace(self, item: Item, *, etag: str) -> Item:
        await self._wait()
        return await super().replace(item, etag=etag)

    async def batch(self, partition_key: str, operations: Any) -> list[Item]:
        await self._wait()
        return await super().batch(partition_key, operations)


@pytest.mark.parametrize("exists", [False, True], ids=["creation", "replacement"])
async def test_a_late_write_does_not_bring_back_the_reason_of_a_deleted_reader(
    blog: Blog, post: Item, exists: bool
) -> None:
    if exists:
        await report(blog, post, await a_reader(blog))
        await blog.drain()
    reader, early = await a_reader(blog), await known_changes(blog)
    await report(blog, post, reader, SECRET)
    late = [change for change in await blog.changes(blog.posts) if change["_etag"] not in early]
    stalled = _Stalled(blog.feed.proxy)

    async def erase() -> None:  # by another host, to which the lease has moved
        await delete_user(blog.users, reader["id"], deletion=BY_BACK_END)
        await blog.drain()

    stalled.meanwhile = erase
    await handle_changed_posts(dataclasses.replace(blog.stored, feed=stalled), late)

    assert SECRET not in str(await blog.all_items(blog.feed))


async def test_a_late_write_does_not_bring_back_a_deleted_comment(blog: Blog, post: Item, comment: Item) -> None:
    await report(blog, comment, await a_reader(blog))
    reports = [change for change in await blog.changes(blog.posts) if change["type"] == "report"]
    stalled = _Stalled(blog.feed.proxy)

    async def delete() -> None:
        await delete_comment(blog.stored, post["id"], comment["id"], deletion=BY_BACK_END)
        await blog.drain()

    stalled.meanwhile = delete
    await handle_changed_posts(dataclasses.replace(blog.stored, feed=stalled), reports)

    assert await listed(blog) == []


async def test_a_comment_marked_while_it_expires_is_not_listed(blog: Blog, post: Item, comment: Item) -> None:
    await report(blog, comment, await a_reader(blog))
    await delete_post(blog.posts, post["id"], deletion=BY_BACK_END)
    changes = await blog.changes(blog.posts)
    reports = [change for change in changes if change["type"] == "report"]
    stalled = _Stalled(blog.posts.proxy)
    known = {change["_etag"] for change in changes}

    async def mark() -> None:
        await blog.handle_posts(reports)

    stalled.meanwhile = mark
    deletions = [change for change in changes if change["type"] == "tombstone"]
    await handle_changed_posts(dataclasses.replace(blog.stored, posts=stalled), deletions)
    await handle_since(blog, known)

    assert await listed(blog) == []


async def test_the_reason_of_a_deleted_reader_does_not_survive_in_a_later_entry(blog: Blog, post: Item) -> None:
    """An entry lives as long as a report counts, from its last change on. Reports live until the entries have ended."""
    assert REPORT_TTL_S > 2 * COUNTED_S
    reader, other = await a_reader(blog), await a_reader(blog)
    old = moment(0)  # in the past
    await blog.posts.create(
        report_item(post["id"], post["id"], reader, NewReport(user_id=reader["id"], reason=SECRET), old)
    )

    await report(blog, post, other)
    await blog.drain()

    [entry] = await listed(blog)
    assert (entry["reportCount"], entry["reasons"]) == (1, ["An advertisement."])


@pytest.mark.parametrize("has_expired", [False, True], ids=["with tombstone", "without"])
async def test_a_later_account_can_report_what_the_deleted_one_has_reported(
    blog: Blog, post: Item, monkeypatch: pytest.MonkeyPatch, has_expired: bool
) -> None:
    monkeypatch.setattr(users_module, "RECREATE_AFTER_S", -100)
    user_id = str(uuid4())
    first = await register_user(blog.users, NewUser(username=unique("ada")), user_id=user_id, idempotency_key=None)
    await report(blog, post, first)
    await blog.drain()
    await delete_user(blog.users, user_id, deletion=BY_BACK_END)
    await blog.drain()
    if has_expired:
        await blog.users.delete(user_id, user_id)
    again = await register_user(blog.users, NewUser(username=unique("ada")), user_id=user_id, idempotency_key=None)
    await blog.drain()

    reported = await report(blog, post, again, "Another reason.")
    await blog.drain()

    assert Report.serialize(reported)["reason"] == "Another reason."
    assert [entry["reasons"] for entry in await listed(blog)] == [["Another reason."]]


async def test_a_dismissed_item_comes_back_only_with_another_report(blog: Blog, post: Item) -> None:
    first, second = await a_reader(blog), await a_reader(blog)
    await report(blog, post, first)
    await report(blog, post, second)
    await blog.drain()
    early = await blog.changes(blog.posts)
    known = {change["_etag"] for change in early}
    [entry] = await listed(blog)
    await dismiss(blog.feed, entry["id"], if_match=None)
    assert await listed(blog) == []

    await blog.handle_posts(early)  # delivered again
    assert await listed(blog) == []
    await delete_user(blog.users, first["id"], deletion=BY_BACK_END)
    await blog.handle_users(await blog.changes(blog.users))
    await handle_since(blog, known)
    assert await listed(blog) == []
    third = await a_reader(blog)
    await report(blog, post, third, "Another reason.")
    await blog.drain()
    assert [(entry["reportCount"], entry["reasons"]) for entry in await listed(blog)] == [(1, ["Another reason."])]
    await delete_user(blog.users, third["id"], deletion=BY_BACK_END)
    await blog.drain()
    assert await listed(blog) == []
    assert await verify(blog.stored) == []


async def test_an_item_that_never_expires_is_listed(blog: Blog) -> None:
    post = await blog.posts.create(a_post(await a_reader(blog)) | {"ttl": -1})
    await report(blog, post, await a_reader(blog))
    await blog.drain()

    assert [entry["itemId"] for entry in await listed(blog)] == [post["id"]]


class _KeyUsed(Container):
    """Posts in which another command uses the same idempotency key before the record of this one is written."""

    async def create(self, item: Item, **options: Any) -> Item:
        if item["type"] == "idempotency":
            await super().create(item | {"fingerprint": "of another body"}, **options)
        return await super().create(item, **options)


async def test_one_of_two_concurrent_reports_with_one_key_is_refused(blog: Blog, post: Item) -> None:
    reader = await a_reader(blog)
    await report(blog, post, reader)
    racing = dataclasses.replace(blog.stored, posts=_KeyUsed(blog.posts.proxy))
    new = NewReport(user_id=reader["id"], reason="Another reason.")

    with pytest.raises(IdempotencyKeyReused):
        await create_report(racing, post["id"], None, new, idempotency_key="a key")


async def test_an_entry_that_changes_all_the_time_is_not_dismissed(blog: Blog, post: Item) -> None:
    await report(blog, post, await a_reader(blog))
    await blog.drain()
    [entry] = await listed(blog)

    class Changing(Container):
        async def replace(self, item: Item, *, etag: str) -> Item:
            raise ConditionFailed

    with pytest.raises(DatabaseUnavailable):
        await dismiss(Changing(blog.feed.proxy), entry["id"], if_match=None)


async def test_a_report_during_a_dismissal_is_dismissed_with_the_others(blog: Blog, post: Item) -> None:
    await report(blog, post, await a_reader(blog))
    await blog.drain()
    [entry] = await listed(blog)
    stalled = _Stalled(blog.feed.proxy)

    async def another() -> None:
        await report(blog, post, await a_reader(blog))
        await blog.drain()

    stalled.meanwhile = another
    await dismiss(stalled, entry["id"], if_match=None)
    await blog.drain()

    assert await listed(blog) == []
