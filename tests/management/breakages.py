"""Ways to break the blog's data and the kinds of findings that `verify` must report."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bench.generated.plan import Range, SeedPlan
from management.verification.findings import Kind
from shared.data.posts import delete_post
from shared.data.username_reservations import reservation_id, reservation_item
from shared.models.post import Post, short_form
from shared.platform.http.callers import BackEnd
from tests.blog import Blog
from tests.items import a_comment, a_like, a_post, a_user

PLAN = SeedPlan(users=2, posts_per_user=Range(1, 1), comments_per_post=Range(1, 2), likes_per_post=Range(1, 2))
AUTHOR = PLAN.user(0)
OTHER = PLAN.user(1)
POST = next(PLAN.posts(0, AUTHOR))
COMMENT = next(response for _, response in PLAN.responses(0, POST) if response["type"] == "comment")
# Breaks the data and returns the ID that the finding must name.
# Breaks something, and gives the id that the finding must name.
Breakage = Callable[[Blog], Awaitable[str]]


def set_operations(**values: Any) -> list[dict[str, Any]]:
    return [{"op": "set", "path": f"/{name}", "value": value} for name, value in values.items()]


async def set_on_post(blog: Blog, **values: Any) -> str:
    await blog.posts.patch(POST["id"], POST["id"], set_operations(**values))
    return str(POST["id"])


async def a_wrong_count(blog: Blog) -> str:
    return await set_on_post(blog, commentCount=99)


async def a_missing_count(blog: Blog) -> str:
    await blog.posts.patch(POST["id"], POST["id"], [{"op": "remove", "path": "/likeCount"}])
    return str(POST["id"])


async def a_missing_version(blog: Blog) -> str:
    await blog.posts.patch(POST["id"], POST["id"], [{"op": "remove", "path": "/version"}])
    return str(POST["id"])


async def an_uncounted_comment(blog: Blog) -> str:
    await blog.posts.create(a_comment(POST, OTHER))
    return str(POST["id"])


async def an_old_username_on_a_post(blog: Blog) -> str:
    return await set_on_post(blog, userUsername="old.name")


async def an_old_username_on_a_comment(blog: Blog) -> str:
    await blog.posts.patch(COMMENT["id"], POST["id"], set_operations(userUsername="old.name"))
    return str(COMMENT["id"])


async def a_username_from_a_rename_that_never_happened(blog: Blog) -> str:
    await blog.posts.patch(COMMENT["id"], POST["id"], set_operations(userUsername="new.name", nameVersion=7))
    return str(COMMENT["id"])


async def a_comment_without_a_username(blog: Blog) -> str:
    await blog.posts.patch(COMMENT["id"], POST["id"], [{"op": "remove", "path": "/userUsername"}])
    return str(COMMENT["id"])


async def a_like_by_a_missing_user(blog: Blog) -> str:
    like = await blog.posts.create(a_like(POST, a_user()))
    await set_on_post(blog, likeCount=POST["likeCount"] + 1)
    return str(like["id"])


async def a_missing_copy(blog: Blog) -> str:
    await blog.users.delete(POST["id"], AUTHOR["id"])
    return str(POST["id"])


async def a_copy_with_an_old_title(blog: Blog) -> str:
    await blog.users.patch(POST["id"], AUTHOR["id"], set_operations(title="Old title"))
    return str(POST["id"])


async def a_copy_without_the_date_of_an_edit(blog: Blog) -> str:
    await set_on_post(blog, editedDate="2026-11-22T00:00:00.000Z")
    await blog.feed.patch(POST["id"], Post.TYPE, set_operations(editedDate="2026-11-22T00:00:00.000Z"))
    return str(POST["id"])


async def a_copy_without_a_post(blog: Blog) -> str:
    return str((await blog.users.create(short_form(a_post(AUTHOR))))["id"])


async def a_copy_in_the_partition_of_another_user(blog: Blog) -> str:
    await blog.users.create(short_form(POST | {"userId": OTHER["id"]}))
    return f"{POST['id']} of user {OTHER['id']}"


async def a_post_missing_from_the_feed(blog: Blog) -> str:
    await blog.feed.delete(POST["id"], "post")
    return str(POST["id"])


async def a_feed_copy_with_an_old_title(blog: Blog) -> str:
    await blog.feed.patch(POST["id"], "post", set_operations(title="Old title"))
    return str(POST["id"])


async def a_feed_copy_without_a_post(blog: Blog) -> str:
    return str((await blog.feed.create(short_form(a_post(AUTHOR))))["id"])


async def an_unreserved_username(blog: Blog) -> str:
    key = reservation_id(AUTHOR["username"])
    await blog.users.delete(key, key)
    return str(AUTHOR["id"])


async def a_username_reserved_for_another_user(blog: Blog) -> str:
    key = reservation_id(AUTHOR["username"])
    await blog.users.patch(key, key, set_operations(ownerId=OTHER["id"]))
    return str(AUTHOR["id"])


async def a_reservation_that_expires(blog: Blog) -> str:
    key = reservation_id(AUTHOR["username"])
    await blog.users.patch(key, key, set_operations(ttl=3600))
    return str(AUTHOR["id"])


async def a_reservation_of_a_former_username(blog: Blog) -> str:
    await blog.users.patch(AUTHOR["id"], AUTHOR["id"], set_operations(nameVersion=1))
    return str((await blog.users.create(reservation_item("former", AUTHOR["id"], 0)))["id"])


async def an_old_reservation_of_a_missing_user(blog: Blog) -> str:
    with two_minutes_ago(blog):
        return str((await blog.users.create(reservation_item("nobody", "no-such-user", 1)))["id"])


async def an_unfinished_rename(blog: Blog) -> str:
    await blog.users.patch(AUTHOR["id"], AUTHOR["id"], set_operations(formerUsernames=["former"]))
    return str(AUTHOR["id"])


async def a_comment_without_a_post(blog: Blog) -> str:
    return str((await blog.posts.create(a_comment(a_post(AUTHOR), OTHER)))["id"])


async def an_unpropagated_deletion(blog: Blog) -> str:
    await delete_post(blog.posts, POST["id"], by=BackEnd())
    return str(POST["id"])


async def a_tombstone_without_a_ttl(blog: Blog) -> str:
    await blog.posts.create({"id": "gone", "postId": "gone", "userId": AUTHOR["id"], "type": "tombstone"})
    return "gone"


async def a_post_without_a_title(blog: Blog) -> str:
    post = a_post(AUTHOR)
    del post["title"]
    return str((await blog.posts.create(post))["id"])


async def a_post_in_the_partition_of_another(blog: Blog) -> str:
    return str((await blog.posts.create(a_post(AUTHOR) | {"postId": POST["id"]}))["id"])


async def a_user_without_a_creation_date(blog: Blog) -> str:
    await blog.users.patch(AUTHOR["id"], AUTHOR["id"], [{"op": "remove", "path": "/creationDate"}])
    return str(AUTHOR["id"])


async def an_item_of_an_unknown_type(blog: Blog) -> str:
    return str((await blog.posts.create({"id": "what", "postId": "what", "type": "advertisement"}))["id"])


_COUNT_AND_COPIES = {Kind.COUNT, Kind.COPY_STALE, Kind.FEED_STALE}

BREAKAGES: list[tuple[Breakage, set[Kind]]] = [
    (a_wrong_count, _COUNT_AND_COPIES),
    (a_missing_count, _COUNT_AND_COPIES),
    (a_missing_version, _COUNT_AND_COPIES),
    (an_uncounted_comment, {Kind.COUNT}),
    (an_old_username_on_a_post, {Kind.NAME, Kind.COPY_STALE, Kind.FEED_STALE}),
    (an_old_username_on_a_comment, {Kind.NAME}),
    (a_username_from_a_rename_that_never_happened, {Kind.NAME}),
    (a_comment_without_a_username, {Kind.NAME}),
    (a_like_by_a_missing_user, {Kind.NAME, Kind.COPY_STALE, Kind.FEED_STALE}),
    (a_missing_copy, {Kind.COPY_MISSING}),
    (a_copy_with_an_old_title, {Kind.COPY_STALE}),
    (a_copy_without_the_date_of_an_edit, {Kind.COPY_STALE}),
    (a_copy_without_a_post, {Kind.COPY_ORPHANED}),
    (a_copy_in_the_partition_of_another_user, {Kind.COPY_ORPHANED}),
    (a_post_missing_from_the_feed, {Kind.FEED_MISSING}),
    (a_feed_copy_with_an_old_title, {Kind.FEED_STALE}),
    (a_feed_copy_without_a_post, {Kind.FEED_SURPLUS}),
    (an_unreserved_username, {Kind.RESERVATION}),
    (a_username_reserved_for_another_user, {Kind.RESERVATION}),
    (a_reservation_that_expires, {Kind.RESERVATION}),
    (an_unfinished_rename, {Kind.RENAME}),
    (a_comment_without_a_post, {Kind.LEFTOVER}),
    (an_unpropagated_deletion, {Kind.COPY_ORPHANED, Kind.FEED_SURPLUS, Kind.LEFTOVER}),
    (a_tombstone_without_a_ttl, {Kind.LEFTOVER}),
    (a_post_without_a_title, {Kind.MALFORMED}),
    (a_post_in_the_partition_of_another, {Kind.MALFORMED}),
    (a_user_without_a_creation_date, {Kind.MALFORMED}),
    (an_item_of_an_unknown_type, {Kind.MALFORMED}),
]


ABANDONED_RESERVATIONS: list[Breakage] = [a_reservation_of_a_former_username, an_old_reservation_of_a_missing_user]


@contextmanager
def two_minutes_ago(blog: Blog) -> Iterator[None]:
    before = blog.emulator.settings.clock
    blog.emulator.settings.clock = lambda: time.time() - 120
    yield
    blog.emulator.settings.clock = before
