"""Deleted users: what they have written, its copies and their usernames disappear, whatever runs at the same time."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from cosmos_emulator import EmulatorSettings

from management.failures import Outcome, Result, find_failures, replay_failures
from management.rebuild import rebuild
from management.verification.findings import Kind
from management.verify import verify
from shared.data import username_reservations
from shared.data.blog import Blog as StoredBlog
from shared.data.comments import create_comment
from shared.data.likes import create_like
from shared.data.posts import create_post, delete_post, list_posts_of_user
from shared.data.users import (
    create_user,
    delete_user,
    edit_user,
    get_user,
    register_user,
)
from shared.errors import AccountDeleted, UserNotFound
from shared.models.base import DELETED_TTL_S
from shared.models.comment import NewComment
from shared.models.like import NewLike
from shared.models.post import NewPost
from shared.models.user import NewUser, User, UserChanges
from shared.platform.database.container import Container, Operation, patch_of
from shared.platform.database.refusals import BatchRefused, ConditionFailed
from shared.platform.errors import DatabaseUnavailable, IdempotencyKeyReused, NoProgress, VersionMismatch
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.propagation import users as propagation_users
from shared.transactions.batches import remove_item
from tests.blog import Blog, EmulatorThread
from tests.interleaved import Interleaved
from tests.items import a_comment, a_post, a_user, unique
from tests.polling import eventually

TEXT = "A text of the user."


@dataclass
class Clock:
    """The clock of the database: `ahead_s` seconds ahead of this host's."""

    ahead_s: float = 0

    def time(self) -> float:
        return time.time() + self.ahead_s

    def let_the_tombstone_expire(self) -> None:
        self.ahead_s += DELETED_TTL_S + 1


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def emulator(clock: Clock) -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings(clock=clock.time)) as running:
        yield running


async def a_registered_user(blog: Blog) -> Item:
    return await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)


async def a_written_post(stored: StoredBlog, user: Item) -> Item:
    new = NewPost(user_id=user["id"], title="A title", content=TEXT)
    return await create_post(stored, new, idempotency_key=None)


async def respond(stored: StoredBlog, post: Item, user: Item, comments: int = 3) -> None:
    """Comment on a post several times, and like it once."""
    for _ in range(comments):
        new = NewComment(user_id=user["id"], content=TEXT)
        await create_comment(stored, post["id"], new, idempotency_key=None)
    await create_like(stored, post["id"], NewLike(user_id=user["id"]))


@dataclass
class World:
    """A user and another one, who both have written on the posts of both."""

    blog: Blog
    user: Item
    other: Item
    posts_of_other: list[Item]

    async def assert_erased(self) -> None:
        """Nothing of the user is left, soon, except their tombstone; what the other user has written is."""
        await eventually(self._is_erased)  # comments and likes of deleted posts expire
        assert await verify(self.blog.stored) == []
        for post in self.posts_of_other:
            assert await self.blog.counts(post) == (3, 1)

    async def written_to_others_by(self, user_id: str) -> list[Item]:
        """Comments and likes of a user on the other user's posts."""
        items = [item for post in self.posts_of_other for item in await self.blog.items_of(post)]
        return [item for item in items if item.get("userId") == user_id and item["type"] in ("comment", "like")]

    async def _is_erased(self) -> bool:
        items = [
            item
            for container in (self.blog.users, self.blog.posts, self.blog.feed, self.blog.failures)
            for item in await self.blog.all_items(container)
        ]
        # Records expire after 24 hours.
        lasting = [item for item in items if not (item.get("type") == "idempotency" and 0 < item["ttl"] <= 24 * 3600)]
        tombstones = [item for item in lasting if item.get("userId") == self.user["id"]]
        return self.user["username"] not in str(lasting) and all(
            (item["type"], item["ttl"]) == ("tombstone", 30 * 24 * 3600) for item in tombstones
        )


@pytest.fixture
async def world(blog: Blog) -> World:
    user, other = await a_registered_user(blog), await a_registered_user(blog)
    posts = [await a_written_post(blog.stored, author) for author in (user, user, other, other)]
    for post in posts:
        for responder in (user, other):
            await respond(blog.stored, post, responder)
    await delete_post(blog.posts, posts[0]["id"], by=BackEnd())
    await blog.drain()
    return World(blog, user, other, posts[2:])


async def test_everything_of_a_deleted_user_disappears(blog: Blog, world: World) -> None:
    await delete_user(blog.users, world.user["id"])

    with pytest.raises(UserNotFound):
        await get_user(blog.users, world.user["id"])
    with pytest.raises(UserNotFound):
        await get_user(blog.users, world.user["id"])
    with pytest.raises(UserNotFound):
        await list_posts_of_user(blog.users, world.user["id"], limit=10, cursor=None)
    assert Kind.DELETION in {finding.kind for finding in await verify(blog.stored)}
    await blog.drain()
    await world.assert_erased()
    tombstone = await blog.users.read(world.user["id"], world.user["id"])
    assert tombstone is not None
    assert "formerUsernames" not in tombstone


async def test_the_users_feed_alone_erases_items(blog: Blog, world: World) -> None:
    """The posts feed erases later items, which would hide that the fan-out misses some."""
    await delete_user(blog.users, world.user["id"])

    await blog.handle_users(await blog.changes(blog.users))

    assert await world.written_to_others_by(world.user["id"]) == []


async def test_the_username_is_free_at_once_and_released_later(blog: Blog, world: World) -> None:
    await delete_user(blog.users, world.user["id"])

    successor = await create_user(blog.users, NewUser(username=world.user["username"]), idempotency_key=None)
    await blog.drain()

    key = username_reservations.reservation_id(world.user["username"])
    held = await blog.users.read(key, key)
    assert held is not None
    assert held["ownerId"] == successor["id"]
    assert await verify(blog.stored) == []


async def test_a_deletion_applies_to_the_last_name_only(blog: Blog) -> None:
    user = await a_registered_user(blog)
    renamed = await edit_user(blog.users, user["id"], UserChanges(username=unique("countess")))

    with pytest.raises(VersionMismatch):
        await delete_user(blog.users, user["id"], if_match={User.last_edit(user)})
    await delete_user(blog.users, user["id"], if_match={User.last_edit(renamed)})
    with pytest.raises(UserNotFound):
        await delete_user(blog.users, user["id"])


async def test_what_another_process_writes_later_is_erased(blog: Blog, world: World) -> None:
    """Its commands have read the author before the deletion."""

    async def known(*_: object) -> Item:
        return world.user

    users = Interleaved(blog.users, "read", instead=known, when=lambda item_id, _: item_id == world.user["id"])
    elsewhere = dataclasses.replace(blog.stored, users=users)
    await delete_user(blog.users, world.user["id"])
    await blog.handle_users(await blog.changes(blog.users))

    late = await a_written_post(elsewhere, world.user)
    for post in (late, *world.posts_of_other):
        await respond(elsewhere, post, world.user)

    await respond(blog.stored, late, world.other)
    await blog.drain()
    await world.assert_erased()


async def test_an_item_that_is_deleted_after_the_query_does_not_keep_the_others(blog: Blog, world: World) -> None:
    await delete_user(blog.users, world.user["id"])
    overtaken = set[str]()

    async def overtake(post_id: str, operations: Sequence[Operation]) -> None:
        """Delete one of the items before the first attempt to delete them."""
        deleted = next((arguments[0] for name, arguments, *_ in operations if name == "delete"), None)
        if deleted is not None and post_id not in overtaken:
            overtaken.add(post_id)
            kind = (await blog.posts.read(deleted, post_id) or {})["type"]
            await remove_item(blog.posts, post_id, deleted, kind)

    stored = dataclasses.replace(blog.stored, posts=Interleaved(blog.posts, "batch", before=overtake))
    await propagation_users.handle_changed_users(stored, await blog.changes(blog.users))

    assert await world.written_to_others_by(world.user["id"]) == []
    await blog.drain()
    await world.assert_erased()


def _deleting(users: Container) -> Container:
    """Users in it are deleted before each replacement of them."""
    return Interleaved(
        users,
        "replace",
        before=lambda user, **_: delete_user(users, user["id"]),
        when=lambda item, **_: item["type"] == "user",
    )


async def test_a_damaged_version_of_a_live_user_erases_nothing(blog: Blog, world: World) -> None:
    post = world.posts_of_other[0]
    await blog.posts.patch(post["id"], post["id"], [{"op": "set", "path": "/nameVersion", "value": -1}])

    await blog.handle_posts(await blog.changes(blog.posts))

    kept = await blog.posts.read(post["id"], post["id"])
    assert kept is not None
    assert kept["type"] == "post"


async def test_damaged_items_of_the_user_keep_neither_the_others_nor_delete_another_post(
    blog: Blog, world: World
) -> None:
    post = world.posts_of_other[0]
    stray = a_post(world.user) | {"postId": post["id"]}
    await blog.posts.create(stray)
    await blog.posts.create({"id": unique("lost"), "type": "comment", "userId": world.user["id"]})

    await delete_user(blog.users, world.user["id"])
    await blog.handle_users(await blog.changes(blog.users))

    kept = await blog.posts.read(post["id"], post["id"])
    assert kept is not None
    assert kept["type"] == "post"
    assert await world.written_to_others_by(world.user["id"]) == []
    tombstone = await blog.users.read(world.user["id"], world.user["id"])
    assert tombstone is not None
    assert "formerUsernames" not in tombstone


async def test_a_deleted_user_can_register_again_only_when_the_tombstone_has_expired(
    blog: Blog, world: World, clock: Clock
) -> None:
    user_id, new = unique("signed-in"), NewUser(username=unique("ada"))
    first = await register_user(blog.users, new, user_id=user_id, idempotency_key=None)
    await respond(blog.stored, world.posts_of_other[0], first)
    await delete_user(blog.users, user_id)
    for drain in (True, False):
        day = datetime.fromtimestamp(clock.time(), UTC) + timedelta(days=31)
        with pytest.raises(AccountDeleted, match=f"again on {day.day} {day:%B %Y}"):
            await register_user(blog.users, new, user_id=user_id, idempotency_key=None)
        if drain:
            await blog.drain()
    clock.let_the_tombstone_expire()

    again = await register_user(blog.users, new, user_id=user_id, idempotency_key=None)
    post = await a_written_post(blog.stored, again)
    await blog.drain()

    assert again["username"] == first["username"]
    assert await world.written_to_others_by(user_id) == []
    assert await blog.posts.read(post["id"], post["id"]) is not None
    assert await verify(blog.stored) == []


async def test_the_etag_of_a_user_is_another_one_after_the_tombstone_has_expired(blog: Blog) -> None:
    user_id, tags = unique("signed-in"), set()
    for _ in range(2):
        user = await register_user(blog.users, NewUser(username=unique("ada")), user_id=user_id, idempotency_key=None)
        tags.add(User.entity_tag(user))
        await blog.users.delete(user_id, user_id)

    assert len(tags) == 2


async def test_a_user_without_a_type_can_be_renamed_and_deleted(blog: Blog) -> None:
    """It has been imported. The change feed recognizes a user by the type."""
    user, name = a_user(), unique("countess")
    untyped = {key: value for key, value in user.items() if key != "type"}
    await blog.users.create(untyped)
    post = await blog.posts.create(a_post(a_user("bob")) | {"commentCount": 1})
    comment = await blog.posts.create(a_comment(post, user))

    await edit_user(blog.users, user["id"], UserChanges(username=name))
    await blog.drain()
    renamed = await blog.posts.read(comment["id"], comment["postId"])
    await delete_user(blog.users, user["id"])
    await blog.drain()

    assert renamed is not None
    assert renamed["userUsername"] == name
    assert await blog.posts.read(comment["id"], comment["postId"]) is None


async def test_the_name_of_a_rename_that_was_running_is_released(blog: Blog) -> None:
    """It goes back to a former name, whose reservation it has renewed before the deletion."""
    user = await a_registered_user(blog)
    await edit_user(blog.users, user["id"], UserChanges(username=unique("countess")))

    with pytest.raises(UserNotFound):
        await edit_user(_deleting(blog.users), user["id"], UserChanges(username=user["username"]))
    await blog.drain()

    key = username_reservations.reservation_id(user["username"])
    assert await blog.users.read(key, key) is None


async def test_the_name_of_a_rename_that_failed_is_released(blog: Blog) -> None:
    user = await a_registered_user(blog)
    name = unique("countess")
    await username_reservations.reserve(blog.users, name, user["id"], 1)  # then the database was unavailable
    await delete_user(blog.users, user["id"])
    await blog.drain()

    key = username_reservations.reservation_id(name)
    assert await blog.users.read(key, key) is None


async def test_a_post_that_cannot_be_written_does_not_stop_the_others(blog: Blog, world: World) -> None:
    refusing, refused = world.posts_of_other
    await delete_user(blog.users, world.user["id"])

    posts = Interleaved(
        blog.posts,
        "batch",
        refuse=lambda: BatchRefused(1, ConditionFailed()),
        when=lambda post_id, operations: post_id == refusing["id"] and any(name == "delete" for name, *_ in operations),
    )
    errors = await propagation_users.handle_changed_users(
        dataclasses.replace(blog.stored, posts=posts), await blog.changes(blog.users)
    )

    assert [type(error) for error in errors] == [NoProgress]
    assert {item["postId"] for item in await world.written_to_others_by(world.user["id"])} == {refusing["id"]}
    assert await blog.counts(refused) == (3, 1)


async def test_items_of_posts_that_cannot_be_counted_are_erased(blog: Blog, world: World) -> None:
    for post, damage in zip(world.posts_of_other, ({"commentCount": None}, {"version": "7"}), strict=True):
        await blog.posts.patch(post["id"], post["id"], patch_of(damage))

    async def are_erased() -> bool:
        return not await world.written_to_others_by(world.user["id"])

    await delete_user(blog.users, world.user["id"])
    await blog.handle_users(await blog.changes(blog.users))
    await eventually(are_erased)
    await rebuild(blog.stored, lambda _: None)
    await blog.drain()

    await world.assert_erased()


async def test_a_rename_that_loses_against_a_deletion_gives_its_name_back(blog: Blog) -> None:
    user, name = await a_registered_user(blog), unique("countess")

    with pytest.raises(UserNotFound):
        await edit_user(_deleting(blog.users), user["id"], UserChanges(username=name))

    key = username_reservations.reservation_id(name)
    assert await blog.users.read(key, key) is None


@pytest.mark.parametrize("signs_in", [False, True])
async def test_a_retried_registration_of_a_deleted_user_creates_nothing(blog: Blog, signs_in: bool) -> None:
    new, key = NewUser(username=unique("ada")), unique("key")
    create = partial(register_user, user_id=unique("signed-in")) if signs_in else create_user
    user = await create(blog.users, new, idempotency_key=key)
    await delete_user(blog.users, user["id"])

    for _ in range(2):
        with pytest.raises(AccountDeleted, match="again on"):
            await create(blog.users, new, idempotency_key=key)
        with pytest.raises(IdempotencyKeyReused):
            await create(blog.users, NewUser(username=unique("grace")), idempotency_key=key)
        await blog.drain()

    assert await verify(blog.stored) == []


async def test_a_damaged_reservation_keeps_no_name_in_the_failures(blog: Blog, world: World) -> None:
    key = username_reservations.reservation_id(world.user["username"])
    await blog.users.patch(key, key, [{"op": "set", "path": "/nameVersion", "value": "one"}])

    await delete_user(blog.users, world.user["id"])
    await blog.drain()

    [failure] = await blog.all_items(blog.failures)
    assert failure["error"] == {"type": "ItemDamaged", "message": "deletion of a user: see the log"}


async def test_a_rebuild_erases_items_whose_version_is_ahead(blog: Blog, world: World) -> None:
    post = world.posts_of_other[0]
    comment = next(item for item in await world.written_to_others_by(world.user["id"]) if item["postId"] == post["id"])
    await delete_user(blog.users, world.user["id"])
    await blog.drain()
    await blog.posts.create(comment | {"nameVersion": 7})
    await blog.posts.patch(post["id"], post["id"], [{"op": "incr", "path": "/commentCount", "value": 1}])

    await rebuild(blog.stored, lambda _: None)

    await world.assert_erased()


async def test_a_deletion_that_cannot_finish_is_kept_without_names_and_replayed(
    blog: Blog, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise NoProgress("refused too often")

    await delete_user(blog.users, world.user["id"])
    with monkeypatch.context() as patched:
        patched.setattr("shared.propagation.users.erasure_of", refused)
        await blog.handle_users(await blog.changes(blog.users))

    [failure] = await blog.all_items(blog.failures)
    assert failure["error"]["message"] == "deletion of a user: refused too often"
    assert world.user["username"] not in str(failure)
    outcomes: list[Outcome] = []
    await replay_failures(blog.stored, await find_failures(blog.stored, (), None), outcomes.append)
    assert [outcome.result for outcome in outcomes] == [Result.REPLAYED]
    await blog.drain()
    await world.assert_erased()


@pytest.mark.parametrize(
    "after", [pytest.param(after, marks=pytest.mark.nightly if after % 6 else ()) for after in range(0, 24, 2)]
)
async def test_a_crash_after_any_request_is_repaired(blog: Blog, world: World, after: int) -> None:
    await delete_user(blog.users, world.user["id"])
    changes = await blog.changes(blog.users)
    lost = (
        f"503 operation=batch,create,delete,execute,patch,replace,query database={blog.settings.database} skip={after}"
    )

    with blog.emulator.faults.during(lost), suppress(DatabaseUnavailable):
        await blog.handle_users(changes)

    await blog.drain()
    await world.assert_erased()


async def test_a_rebuild_finishes_a_deletion(blog: Blog, world: World) -> None:
    await delete_user(blog.users, world.user["id"])

    await rebuild(blog.stored, lambda _: None)

    await world.assert_erased()


async def test_a_tombstone_that_never_expires_keeps_its_user_out(blog: Blog, clock: Clock) -> None:
    """An add-on has set its ttl. The tombstone of any other deleted user expires after 30 days."""
    user_id = unique("signed-in")
    user = await register_user(blog.users, NewUser(username=unique("ada")), user_id=user_id, idempotency_key=None)
    await delete_user(blog.users, user_id)
    await blog.users.patch(user_id, user_id, [{"op": "set", "path": "/ttl", "value": -1}])
    await blog.drain()
    clock.ahead_s += 31 * 24 * 3600

    with pytest.raises(AccountDeleted, match="cannot register again"):
        await register_user(blog.users, NewUser(username=unique("ada")), user_id=user_id, idempotency_key=None)

    assert await verify(blog.stored) == []
    assert user["username"] not in str(await blog.all_items(blog.users))


async def test_an_add_on_erases_what_it_has_of_a_deleted_user_again_after_a_failure(
    blog: Blog, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    erased: list[str] = []

    async def erase(user_id: str) -> None:
        erased.append(user_id)
        if len(erased) == 1:
            raise DatabaseUnavailable("the add-on's container")

    monkeypatch.setattr(propagation_users, "erasure_hooks", [erase])
    await delete_user(blog.users, world.user["id"])

    with pytest.raises(DatabaseUnavailable):
        await blog.handle_users(await blog.changes(blog.users))
    await blog.drain()

    assert erased == [world.user["id"]] * 2
    await world.assert_erased()
