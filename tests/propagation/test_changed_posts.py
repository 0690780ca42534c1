"""Changes of posts, comments and likes: delivered once, twice, late, out of order, and interrupted."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from shared.data.front_page import FRONT_PAGE_LENGTH
from shared.data.posts import delete_post, edit_post
from shared.models.post import PostChanges, short_form
from shared.platform.database.container import Container
from shared.platform.errors import DatabaseThrottled, PartitionFull
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.propagation.copies import Copies, FrontPageIndex, trim
from shared.propagation.posts import handle_changed_posts
from tests.blog import Blog
from tests.interleaved import Interleaved
from tests.items import a_comment, a_like, a_post, a_user, moment


async def _user_copy(blog: Blog, post: Item) -> Item | None:
    return await blog.users.read(post["id"], post["userId"])


async def _feed_copy(blog: Blog, post: Item) -> Item | None:
    return await blog.feed.read(post["id"], "post")


def _without_system_properties(item: Item | None) -> Item | None:
    return item and {name: value for name, value in item.items() if not name.startswith("_")}


async def _published(blog: Blog, **attributes: Any) -> tuple[Item, Item]:
    author = await blog.users.create(a_user())
    post = await blog.posts.create(a_post(author, **attributes))
    return author, post


async def test_a_new_post_is_copied_to_users_and_feed_in_short_form(blog: Blog) -> None:
    _, post = await _published(blog, content="word " * 1000)

    await blog.handle_posts([post])

    assert _without_system_properties(await _user_copy(blog, post)) == short_form(post)
    assert _without_system_properties(await _feed_copy(blog, post)) == short_form(post)


async def test_a_repeated_delivery_writes_nothing(blog: Blog) -> None:
    _, post = await _published(blog)
    await blog.handle_posts([post])
    before = await blog.all_items(blog.users), await blog.all_items(blog.feed)

    await blog.handle_posts([post])

    assert (await blog.all_items(blog.users), await blog.all_items(blog.feed)) == before


@pytest.mark.parametrize("order", [[0, 1], [1, 0], [1, 0, 1, 0]])
async def test_an_older_version_never_overwrites_a_newer_one(blog: Blog, order: list[int]) -> None:
    _, first = await _published(blog)
    second = await edit_post(blog.posts, first["id"], PostChanges(title="Second", content="edited"), by=BackEnd())
    states = [first, second]

    for index in order:
        await blog.handle_posts([states[index]])

    for copy in (await _user_copy(blog, first), await _feed_copy(blog, first)):
        assert copy is not None
        assert copy["title"] == "Second"


async def test_a_hundred_likes_in_a_delivery_cost_one_write_per_copy(blog: Blog) -> None:
    _, post = await _published(blog)
    await blog.handle_posts([post])
    likers = [await blog.users.create(a_user("liker")) for _ in range(100)]
    likes = [(await blog.posts.execute("createLike", post["id"], a_like(post, liker))) for liker in likers]
    state = await blog.posts.read(post["id"], post["id"])
    assert state is not None
    before = await _user_copy(blog, post), await _feed_copy(blog, post)

    await blog.handle_posts([*likes, state])

    after = await _user_copy(blog, post), await _feed_copy(blog, post)
    for old, new in zip(before, after, strict=True):
        assert old is not None
        assert new is not None
        assert (old["likeCount"], new["likeCount"]) == (0, 100)
        assert new["version"] - old["version"] == 100


async def test_deleting_a_post_deletes_its_copies_and_expires_its_comments_and_likes(blog: Blog) -> None:
    author, post = await _published(blog)
    await blog.posts.execute("createComment", post["id"], a_comment(post, author))
    await blog.drain()

    await delete_post(blog.posts, post["id"], by=BackEnd())
    await blog.drain()

    assert await _user_copy(blog, post) is None
    assert await _feed_copy(blog, post) is None
    assert all("ttl" in item for item in await blog.items_of(post))


async def test_a_late_delivery_does_not_restore_a_deleted_post(blog: Blog) -> None:
    _, post = await _published(blog)
    await blog.handle_posts([post])
    await delete_post(blog.posts, post["id"], by=BackEnd())
    await blog.handle_posts([await blog.posts.read(post["id"], post["id"]) or {}])

    await blog.handle_posts([post])

    assert await _user_copy(blog, post) is None
    assert await _feed_copy(blog, post) is None


async def test_a_post_deleted_while_it_is_copied_leaves_no_copies(blog: Blog) -> None:
    _, post = await _published(blog)

    users = Interleaved(
        blog.users, "create", after=lambda copy, *_, **__: delete_post(blog.posts, copy["id"], by=BackEnd())
    )
    await handle_changed_posts(replace(blog.stored, users=users), [post])

    assert await _user_copy(blog, post) is None
    assert await _feed_copy(blog, post) is None


async def test_the_feed_holds_the_hundred_newest_posts_in_any_order_of_delivery(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second // 2)) for second in range(FRONT_PAGE_LENGTH + 20)]
    changes = list(posts)
    random.Random(3).shuffle(changes)

    for start in range(0, len(changes), 25):
        await blog.handle_posts(changes[start : start + 25])

    newest_first = sorted(posts, key=lambda post: (post["creationDate"], post["id"]), reverse=True)
    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {
        post["id"] for post in newest_first[:FRONT_PAGE_LENGTH]
    }


async def test_a_feed_with_room_admits_older_posts(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(5)]

    for post in reversed(posts):
        await blog.handle_posts([post])

    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {post["id"] for post in posts}


async def test_editing_an_old_post_does_not_evict_a_newer_one(blog: Blog, short_front_page: int) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(short_front_page + 1)]
    await blog.handle_posts(posts)

    edited = await edit_post(blog.posts, posts[0]["id"], PostChanges(title="Edited", content="late"), by=BackEnd())
    await blog.handle_posts([edited])

    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {post["id"] for post in posts[1:]}
    copy = await _user_copy(blog, posts[0])
    assert copy is not None
    assert copy["title"] == "Edited"


async def test_deletions_refill_the_feed_with_the_next_posts(blog: Blog, short_front_page: int) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second // 3)) for second in range(short_front_page + 10)]
    await blog.handle_posts(posts)
    newest_first = sorted(posts, key=lambda post: (post["creationDate"], post["id"]), reverse=True)

    for post in newest_first[:7]:
        await delete_post(blog.posts, post["id"], by=BackEnd())
    await blog.drain()

    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {
        post["id"] for post in newest_first[7 : 7 + short_front_page]
    }


@pytest.mark.parametrize("deletions", [1, 2])
async def test_an_old_post_that_takes_the_place_of_a_deleted_one_loses_it_to_a_newer_post(
    blog: Blog, short_front_page: int, deletions: int
) -> None:
    """Another delivery handles an edit of the old post between the deletion of the copies and the refill."""
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(short_front_page + 4)]
    await blog.handle_posts(posts)
    oldest, deleted = posts[0], posts[-deletions:]
    for post in deleted:
        await delete_post(blog.posts, post["id"], by=BackEnd())
        await blog.feed.delete(post["id"], "post")
    tombstones = [await blog.posts.read(post["id"], post["id"]) or {} for post in deleted]

    edited = await edit_post(blog.posts, oldest["id"], PostChanges(title="Edited", content="late"), by=BackEnd())
    await blog.handle_posts([edited])
    assert await _feed_copy(blog, oldest) is not None
    await blog.handle_posts(tombstones)

    expected = posts[-deletions - short_front_page : -deletions]
    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {post["id"] for post in expected}


async def test_an_old_post_that_takes_the_place_of_a_trimmed_one_loses_it_again(
    blog: Blog, short_front_page: int
) -> None:
    """While a delivery trims the front page, others delete its newest post and add an old one."""
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(short_front_page + 3)]
    for post in posts[2:]:
        await blog.feed.create(short_form(post))
    before = await FrontPageIndex.read(blog.feed)

    async def change_the_front_page(*_: object, **__: object) -> None:
        await delete_post(blog.posts, posts[-1]["id"], by=BackEnd())
        await blog.feed.delete(posts[-1]["id"], "post")
        await blog.feed.create(short_form(posts[0]))

    trimmed = Interleaved(blog.feed, "batch", after=change_the_front_page, times=1)
    await trim(Copies(trimmed, blog.posts, partition_key="type"), before)

    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {post["id"] for post in posts[2:-1]}


async def test_the_next_delivery_trims_a_feed_that_is_too_long(blog: Blog, short_front_page: int) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(short_front_page + 30)]
    for post in posts:  # without the trigger
        await blog.feed.create(short_form(post))

    await blog.handle_posts(posts[-1:])

    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {post["id"] for post in posts[30:]}


async def test_a_bad_item_goes_to_failures_and_the_others_are_handled(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    before, poison, after = [await blog.posts.create(a_post(author, second=second)) for second in range(3)]
    poison |= {"creationDate": "the day before yesterday"}

    await blog.handle_posts([before, poison, after])

    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {before["id"], after["id"]}
    [failure] = await blog.all_items(blog.failures)
    assert (failure["source"], failure["itemId"]) == ("on_posts_changed", poison["id"])
    assert failure["change"]["creationDate"] == "the day before yesterday"
    assert failure["error"]["type"] == "ValueError"


async def test_a_post_that_cannot_enter_a_full_feed_evicts_no_other(blog: Blog, short_front_page: int) -> None:
    author = await blog.users.create(a_user())
    *posts, refused = [await blog.posts.create(a_post(author, second=second)) for second in range(short_front_page + 1)]
    await blog.handle_posts(posts)

    feed = Interleaved(blog.feed, "create", refuse=lambda: PartitionFull("full"))
    errors = await handle_changed_posts(replace(blog.stored, feed=feed), [refused])

    assert [type(error) for error in errors] == [PartitionFull]
    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {post["id"] for post in posts}


class Meeting:
    """The creations of the copies of these posts, which different deliveries make, wait for each other."""

    def __init__(self, feed: Container, posts: list[Item]) -> None:
        self.awaited = {post["id"] for post in posts}
        self._barrier = asyncio.Barrier(len(posts))
        self.feed = Interleaved(feed, "create", before=self._create)

    async def _create(self, item: Item, **_: object) -> None:
        if item["id"] in self.awaited:
            self.awaited.remove(item["id"])
            async with asyncio.timeout(10):
                await self._barrier.wait()


async def test_concurrent_deliveries_do_not_overfill_a_short_feed(blog: Blog, short_front_page: int) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(short_front_page + 1)]
    await blog.handle_posts(posts[:-2])

    meeting = Meeting(blog.feed, posts[-2:])
    stored = replace(blog.stored, feed=meeting.feed)
    await asyncio.gather(*(handle_changed_posts(stored, [post]) for post in posts[-2:]))

    assert meeting.awaited == set()
    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {post["id"] for post in posts[1:]}


async def test_a_refill_that_races_a_new_post_does_not_overfill_the_feed(blog: Blog, short_front_page: int) -> None:
    author = await blog.users.create(a_user())
    oldest, *posts, deleted, new = [a_post(author, second=second) for second in range(short_front_page + 2)]
    for post in (oldest, *posts, deleted):
        await blog.posts.create(post)
    for post in posts:  # the copy of `deleted` is already deleted
        await blog.feed.create(short_form(post))
    await delete_post(blog.posts, deleted["id"], by=BackEnd())
    tombstone = await blog.posts.read(deleted["id"], deleted["id"]) or {}

    async def publish(copy: Item, **_: object) -> None:
        assert copy["id"] == oldest["id"]  # the refill has read `posts`
        await blog.posts.create(new)
        await blog.handle_posts([new])

    feed = Interleaved(blog.feed, "create", before=publish, times=1)
    await handle_changed_posts(replace(blog.stored, feed=feed), [tombstone])

    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {post["id"] for post in [*posts, new]}


async def test_a_refill_skips_a_post_that_cannot_be_copied(blog: Blog, short_front_page: int) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(short_front_page + 5)]
    await blog.handle_posts(posts)
    poison = await blog.posts.proxy.upsert_item(posts[4] | {"content": 5})  # the next candidate of a refill

    for post in posts[-3:]:
        await delete_post(blog.posts, post["id"], by=BackEnd())
    await blog.drain()

    assert {failure["itemId"] for failure in await blog.all_items(blog.failures)} == {poison["id"]}
    expected = {post["id"] for post in [*posts[1:4], *posts[5:-3]]}
    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == expected


async def test_a_feed_trimmed_too_short_is_refilled(blog: Blog, short_front_page: int) -> None:
    """`before` was read before another process deleted a post."""
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(short_front_page + 3)]
    for post in posts[2:]:
        await blog.feed.create(short_form(post))
    await blog.posts.proxy.upsert_item(posts[2] | {"content": 5})
    before = await FrontPageIndex.read(blog.feed)
    await delete_post(blog.posts, posts[-1]["id"], by=BackEnd())
    await blog.feed.delete(posts[-1]["id"], "post")

    await trim(Copies(blog.feed, blog.posts, partition_key="type"), before)

    expected = {post["id"] for post in [posts[1], *posts[3:-1]]}
    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == expected


async def test_a_database_failure_is_raised_after_all_changes_are_tried(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(3)]
    throttled = Interleaved(
        blog.users,
        "create",
        refuse=lambda: DatabaseThrottled(retry_after_s=1),
        when=lambda copy, **_: copy["id"] == posts[1]["id"],
    )

    with pytest.raises(DatabaseThrottled):
        await handle_changed_posts(replace(blog.stored, users=throttled), posts)
    after_failure = {copy["id"] for copy in await blog.all_items(blog.feed)}
    await blog.handle_posts(posts)  # the host's retry

    assert after_failure == {posts[0]["id"], posts[2]["id"]}
    assert {copy["id"] for copy in await blog.all_items(blog.feed)} == {post["id"] for post in posts}
    assert await blog.all_items(blog.failures) == []


async def test_a_comment_with_a_stale_username_is_corrected(blog: Blog) -> None:
    author, post = await _published(blog)
    old_name = dict(author)
    await blog.users.replace(author | {"username": "renamed", "nameVersion": 2}, etag=author["_etag"])
    comment = await blog.posts.execute("createComment", post["id"], a_comment(post, old_name))

    await blog.handle_posts([comment])

    assert {item["userUsername"] for item in await blog.items_of(post)} == {"renamed"}


async def test_one_like_causes_a_bounded_number_of_deliveries(blog: Blog) -> None:
    author, post = await _published(blog)
    await blog.drain()
    await blog.posts.execute("createLike", post["id"], a_like(post, author))

    deliveries = 0
    before: set[str] = set()
    while True:  # until nothing changes
        posts, users = await blog.changes(blog.posts), await blog.changes(blog.users)
        etags = {change["_etag"] for change in [*posts, *users]}
        if etags == before:
            break
        before = etags
        deliveries += 1
        await blog.handle_posts(posts)
        await blog.handle_users(users)

    assert deliveries <= 2


async def test_a_post_of_100_kb_has_small_copies(blog: Blog) -> None:
    _, post = await _published(blog, content="x" * 100_000)

    await blog.handle_posts([post])

    copy = await _feed_copy(blog, post)
    assert copy is not None
    assert len(copy["content"]) == 200


async def test_copies_have_dates_of_one_width(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    whole = await blog.posts.create(a_post(author) | {"creationDate": "2026-01-01T00:00:00Z"})
    half = await blog.posts.create(a_post(author) | {"creationDate": moment(0.5)})

    await blog.handle_posts([whole, half])

    dates = sorted(copy["creationDate"] for copy in await blog.all_items(blog.feed))
    assert dates == ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.500Z"]
