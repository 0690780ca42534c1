"""The list of reported items follows reports, deletions and erasures, whatever runs at the same time."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from management.verify import verify
from shared.data.comments import delete_comment
from shared.data.posts import delete_post
from shared.data.reports import create_report, list_reported
from shared.data.users import create_user, delete_user
from shared.database.container import Container
from shared.database.refusals import ItemExists
from shared.errors import NoProgress
from shared.models.base import Item
from shared.models.report import MOST_COUNTED, NewReport, report_item
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
    await delete_comment(blog.stored, post["id"], comment["id"])
    await blog.drain()

    assert await listed(blog) == []


class _Deleting(Container):
    """Posts in which a comment is deleted between the read that finds it and the mark that it is reported."""

    comment_id = ""
    blog: Any = None

    async def patch(self, item_id: str, *arguments: Any, **options: Any) -> Item:
        if item_id == self.comment_id:
            await delete_comment(self.blog, arguments[0], item_id)
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
        await delete_post(self.blog.posts, partition_key)
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

    await delete_user(blog.users, comment["userId"])
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
        await blog.posts.create(report_item(post["id"], post["id"], reader, new, moment(number)))
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
        await blog.posts.create(report_item(post["id"], post["id"], author, new, moment(number)))
    await update_reported_item(blog.stored, post["id"], post["id"])
    assert "A text of the reader." in (await listed(blog))[0]["reasons"]

    await delete_user(blog.users, reader["id"])
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

    await delete_user(blog.users, reader["id"])
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

    await delete_user(blog.users, comment["userId"])
    await delete_user(blog.users, post["userId"])
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

    await delete_post(blog.posts, post["id"])
    await blog.drain()

    assert await listed(blog) == []
