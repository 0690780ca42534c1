"""Change-feed functions run in processes without the writer's session, and draw no conclusion from a lagging replica.

In `lagging`, replicas stand still. Only a read by the primary or with a newer session token sees later writes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from cosmos_emulator import EmulatorSettings

from shared.data import username_reservations
from shared.data.posts import delete_post
from shared.data.users import create_user, edit_user
from shared.errors import UsernameTaken
from shared.models.post import short_form
from shared.models.user import NewUser, UserChanges
from shared.platform.database.client import connect
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from tests.blog import Blog, EmulatorThread, lagging
from tests.items import a_comment, a_post, a_user, unique


@pytest.fixture(scope="module")
def emulator() -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings(partitions=4)) as running:
        yield running


@pytest.fixture
async def worker(blog: Blog) -> AsyncIterator[Blog]:
    """The blog in another process."""
    async with connect(blog.settings) as client:
        yield Blog(blog.emulator, blog.settings, client.get_database_client(blog.settings.database))


async def _register(blog: Blog, stem: str = "ada") -> Item:
    return await create_user(blog.users, NewUser(username=unique(stem)), idempotency_key=None)


async def _rename(blog: Blog, user: Item) -> Item:
    return await edit_user(blog.users, user["id"], UserChanges(username=unique("countess")))


async def _delete(blog: Blog, post: Item) -> Item:
    """Delete a post, and return its tombstone."""
    await delete_post(blog.posts, post["id"], by=BackEnd())
    tombstone = await blog.posts.read(post["id"], post["id"])
    assert tombstone is not None
    return tombstone


async def _write_posts(blog: Blog, author: Item, number: int) -> list[Item]:
    """Return the posts, newest first."""
    posts = [await blog.posts.create(a_post(author, second=number - n)) for n in range(number)]
    for start in range(0, number, 100):
        await blog.handle_posts(posts[start : start + 100])
    return posts


async def _elsewhere(blog: Blog, post: Item, others: list[Item]) -> Item:
    """Return one of the others that is not in the post's physical partition."""
    proxy = blog.posts.proxy
    own = await proxy.feed_range_from_partition_key(post["id"])
    for other in others:
        hashed = await proxy.feed_range_from_partition_key(other["id"])
        for feed_range in await blog.posts.feed_ranges():
            inside = [await proxy.is_feed_range_subset(feed_range, one) for one in (own, hashed)]
            if inside == [False, True]:
                return other
    raise AssertionError("all posts are in one physical partition")


async def _in_feed(blog: Blog) -> set[str]:
    return {copy["id"] for copy in await blog.all_items(blog.feed)}


async def _names(blog: Blog, post: Item) -> list[str]:
    return [item["userUsername"] for item in await blog.items_of(post)]


@pytest.mark.parametrize("others", [0, 40], ids=["point-reads", "query"])
async def test_a_stale_user_does_not_make_a_former_username_current(blog: Blog, worker: Blog, others: int) -> None:
    user, author = await _register(blog), await _register(blog, "grace")
    post = await blog.posts.create(a_post(author))
    changes = [await blog.posts.create(a_comment(post, await _register(blog, "other"))) for _ in range(others)]

    with lagging(blog):
        renamed = await _rename(blog, user)
        comment = await blog.posts.create(a_comment(post, user))  # its author was read before the rename
        await worker.handle_posts([*changes, comment])

    stored = await blog.posts.read(comment["id"], post["id"])
    assert stored is not None
    assert stored["userUsername"] == renamed["username"]


async def test_a_rename_reaches_items_that_replicas_lack(blog: Blog, worker: Blog) -> None:
    user, author = await _register(blog), await _register(blog, "grace")

    with lagging(blog):
        posts = [await blog.posts.create(a_post(author)) for _ in range(10)]  # in all physical partitions
        for post in posts:
            await blog.posts.create(a_comment(post, user))
        renamed = await _rename(blog, user)
        await worker.handle_users([renamed])

    for post in posts:
        assert sorted(await _names(blog, post)) == sorted([author["username"], renamed["username"]])


async def test_a_rename_releases_a_reservation_that_replicas_lack(blog: Blog, worker: Blog) -> None:
    with lagging(blog):
        user = await _register(blog)
        renamed = await _rename(blog, user)
        await worker.handle_users([renamed])

    key = username_reservations.reservation_id(user["username"])
    assert await blog.users.read(key, key) is None


async def test_a_username_is_not_taken_from_an_owner_whom_replicas_lack(
    blog: Blog, worker: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = a_user()
    await username_reservations.reserve(blog.users, user["username"], user["id"], 0)
    monkeypatch.setattr(username_reservations, "ABANDONED_AFTER_S", 0)

    with lagging(blog):
        await blog.users.create(user)
        with pytest.raises(UsernameTaken):
            await create_user(worker.users, NewUser(username=user["username"]), idempotency_key=None)


async def test_a_new_post_that_replicas_lack_is_listed(blog: Blog, worker: Blog) -> None:
    author = await _register(blog)

    with lagging(blog):
        post = await blog.posts.create(a_post(author))
        await worker.handle_posts([post])

    assert await blog.users.read(post["id"], author["id"]) is not None
    assert await _in_feed(blog) == {post["id"]}


@pytest.mark.parametrize("others", [0, 40], ids=["point-reads", "query"])
async def test_a_late_delivery_does_not_list_a_post_that_replicas_still_have(
    blog: Blog, worker: Blog, others: int
) -> None:
    author = await _register(blog)
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(1 + others)]

    with lagging(blog):
        tombstone = await _delete(blog, posts[0])
        await blog.handle_posts([tombstone])
        await worker.handle_posts(posts)

    assert await blog.users.read(posts[0]["id"], author["id"]) is None
    assert await _in_feed(blog) == {post["id"] for post in posts[1:]}


async def test_the_feed_is_refilled_although_replicas_show_it_full(
    blog: Blog, worker: Blog, short_front_page: int
) -> None:
    posts = await _write_posts(blog, await _register(blog), short_front_page + 1)

    with lagging(blog):
        tombstone = await _delete(blog, posts[0])
        await blog.feed.delete(posts[0]["id"], "post")  # by a function that crashed before it refilled the feed
        await worker.handle_posts([tombstone])

    assert await _in_feed(blog) == {post["id"] for post in posts[1:]}


async def test_the_feed_is_refilled_with_posts_that_replicas_lack(
    blog: Blog, worker: Blog, short_front_page: int
) -> None:
    author = await _register(blog)
    posts = await _write_posts(blog, author, short_front_page)
    older = a_post(author, second=-1)
    deleted = await _elsewhere(blog, older, posts)

    with lagging(blog):
        await blog.posts.create(older)
        await worker.handle_posts([await _delete(blog, deleted)])

    assert await _in_feed(blog) == {post["id"] for post in [*posts, older] if post != deleted}


async def test_a_deleted_post_that_replicas_still_have_does_not_fill_the_feed(
    blog: Blog, worker: Blog, short_front_page: int
) -> None:
    posts = await _write_posts(blog, await _register(blog), short_front_page + 2)
    candidate = posts[short_front_page]
    deleted = await _elsewhere(blog, candidate, posts[:short_front_page])

    with lagging(blog):
        await blog.handle_posts([await _delete(blog, candidate)])
        await worker.handle_posts([await _delete(blog, deleted)])

    assert await _in_feed(blog) == {post["id"] for post in posts if post not in (candidate, deleted)}


async def test_a_post_that_has_just_entered_the_feed_is_updated_in_it(
    blog: Blog, worker: Blog, short_front_page: int
) -> None:
    *listed, old = await _write_posts(blog, await _register(blog), short_front_page + 1)

    with lagging(blog):
        await blog.feed.delete(listed[0]["id"], "post")  # its post was deleted, and the feed was refilled
        await blog.feed.create(short_form(old))
        liked = await blog.posts.patch(
            old["id"],
            old["id"],
            [{"op": "incr", "path": "/likeCount", "value": 1}, {"op": "incr", "path": "/version", "value": 1}],
        )
        await worker.handle_posts([liked])

    copy = await blog.feed.read(old["id"], "post")
    assert copy is not None
    assert copy["likeCount"] == 1


async def test_comments_that_replicas_lack_expire_with_their_post(blog: Blog, worker: Blog) -> None:
    author = await _register(blog)
    post = await blog.posts.create(a_post(author))

    with lagging(blog):
        comment = await blog.posts.create(a_comment(post, author))
        tombstone = await _delete(blog, post)
        await worker.handle_posts([tombstone])

    stored = await blog.posts.read(comment["id"], post["id"])
    assert stored is None or "ttl" in stored


async def test_concurrent_processes_leave_the_feed_at_its_length(
    blog: Blog, worker: Blog, short_front_page: int
) -> None:
    author = await _register(blog)
    posts = await _write_posts(blog, author, short_front_page)

    with lagging(blog):
        new = [await blog.posts.create(a_post(author, second=short_front_page + 1 + second)) for second in range(4)]
        for number, post in enumerate(new):
            await (worker if number % 2 else blog).handle_posts([post])

    assert await _in_feed(blog) == {post["id"] for post in [*new, *posts[:-4]]}
