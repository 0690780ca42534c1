"""Listing and replaying failed changes."""

from __future__ import annotations

import asyncio
import json

import pytest

from management.errors import ManagementError
from management.failures import Failure, Outcome, Result, find_failures, list_failures, replay_failures
from management.verify import any_broken, verify
from shared.data.blog import Blog as ManagedBlog
from shared.data.posts import delete_post
from shared.data.users import create_user
from shared.models.user import NewUser
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from tests.blog import Blog
from tests.items import a_post, unique
from tests.management.command_line import manage_blog


async def _author(blog: Blog) -> Item:
    author = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)
    await blog.handle_users([author])
    return author


async def _poison(blog: Blog, *, content: str = "Some content.") -> Item:
    """Create a post without an author and let the posts function fail on it."""
    post = a_post(await _author(blog), content=content)
    poison = await blog.posts.create({name: value for name, value in post.items() if name != "userId"})
    errors = await blog.handle_posts([poison])
    assert [type(error) for error in errors] == [KeyError]
    return poison


async def _repair(blog: Blog, poison: Item) -> None:
    author = await _author(blog)
    repaired = poison | {"userId": author["id"], "userUsername": author["username"]}
    await blog.posts.replace(repaired, etag=poison["_etag"])


async def _replay(managed: ManagedBlog, *failures: Failure) -> list[Outcome]:
    outcomes: list[Outcome] = []
    went_well = await replay_failures(managed, failures or await find_failures(managed, [], None), outcomes.append)
    assert went_well == all(outcome.result.is_good for outcome in outcomes)
    return outcomes


async def _listed(managed: ManagedBlog, source: str | None = None) -> list[Failure]:
    return [failure async for failure in list_failures(managed, source)]


async def test_replay_of_a_repaired_item_deletes_its_failure(blog: Blog, managed: ManagedBlog) -> None:
    poison = await _poison(blog)
    [failure] = await _listed(managed)
    await _repair(blog, poison)

    [outcome] = await _replay(managed)

    assert (failure.item_id, failure.error) == (poison["id"], "KeyError: 'userId'")
    assert outcome.result is Result.REPLAYED
    assert await _listed(managed) == []
    assert not any_broken(await verify(managed))


async def test_a_replay_that_fails_again_stores_the_new_error(blog: Blog, managed: ManagedBlog) -> None:
    poison = await _poison(blog)
    worse = {name: value for name, value in poison.items() if name != "title"} | {"userId": 7}
    await blog.posts.replace(worse, etag=poison["_etag"])

    [outcome] = await _replay(managed)

    [failure] = await _listed(managed)
    assert outcome.result is Result.FAILED
    assert failure.error == outcome.detail
    assert "KeyError: 'userId'" not in failure.error


async def test_one_failing_replay_does_not_stop_the_others(blog: Blog, managed: ManagedBlog) -> None:
    poisons = [await _poison(blog) for _ in range(4)]
    for poison in poisons[1:]:
        await _repair(blog, poison)

    outcomes = await _replay(managed)

    assert sorted(outcome.result.name for outcome in outcomes) == ["FAILED", "REPLAYED", "REPLAYED", "REPLAYED"]
    assert [failure.item_id for failure in await _listed(managed)] == [poisons[0]["id"]]


async def test_a_failure_has_no_text_and_no_name_and_is_read_again(blog: Blog, managed: ManagedBlog) -> None:
    poison = await _poison(blog, content="long " * 2_000)
    [stored] = await blog.all_items(blog.failures)
    await _repair(blog, poison)

    [outcome] = await _replay(managed)

    assert stored["change"]["id"] == poison["id"]
    assert not {"title", "content", "userUsername"} & stored["change"].keys()
    assert outcome.result is Result.REPLAYED
    assert not any_broken(await verify(managed))


async def test_a_failure_of_a_missing_item_is_dropped(blog: Blog, managed: ManagedBlog) -> None:
    poison = await _poison(blog)
    await blog.posts.delete(poison["id"], poison["postId"])

    [outcome] = await _replay(managed)

    assert (outcome.result, outcome.detail) == (Result.DROPPED, "the item no longer exists")
    assert await _listed(managed) == []


async def test_a_deletion_is_replayed_after_its_tombstone_expired(
    blog: Blog, managed: ManagedBlog, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = await _author(blog)
    post = await blog.posts.create(a_post(author))
    await blog.handle_posts([post])
    await delete_post(blog.posts, post["id"], by=BackEnd())
    tombstone = await blog.posts.read(post["id"], post["id"])
    assert tombstone is not None
    with monkeypatch.context() as patched:
        patched.setattr("shared.propagation.posts.expire_contributions", _raise_value_error)
        await blog.handle_posts([tombstone])
    await blog.users.proxy.upsert_item(_copy(post))  # the function deleted it before it failed
    await blog.posts.delete(post["id"], post["id"])

    [outcome] = await _replay(managed)

    assert outcome.result is Result.REPLAYED
    assert await blog.users.read(post["id"], author["id"]) is None


async def _raise_value_error(*_: object) -> None:
    raise ValueError("raised by the test")


def _copy(post: Item) -> Item:
    return {name: value for name, value in post.items() if not name.startswith("_")}


@pytest.mark.parametrize("key", [{}, {"postId": None}], ids=["none", "null"])
async def test_replay_finds_an_item_without_a_partition_key(
    blog: Blog, managed: ManagedBlog, key: dict[str, None]
) -> None:
    poison = {"id": unique("poison"), "type": "post", **key}
    await blog.posts.create(poison)
    await blog.handle_posts([poison])

    [outcome] = await _replay(managed)

    assert outcome.result is Result.FAILED
    assert len(await _listed(managed)) == 1


async def test_replay_keeps_a_newer_failure_of_the_item(
    blog: Blog, managed: ManagedBlog, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison = await _poison(blog)
    await _repair(blog, poison)
    newer: list[object] = []

    async def fail_concurrently(_: object, changes: list[Item]) -> object:
        newer.extend(await blog.handle_posts([poison]))
        return await blog.handle_posts(changes)

    monkeypatch.setattr("management.failures.handle_changed_posts", fail_concurrently)
    [outcome] = await _replay(managed)

    assert len(newer) == 1
    assert outcome.result is Result.REPLAYED
    assert len(await _listed(managed)) == 1


async def test_concurrent_replays_handle_every_failure(blog: Blog, managed: ManagedBlog) -> None:
    poisons = [await _poison(blog) for _ in range(6)]
    for poison in poisons:
        await _repair(blog, poison)
    found = await _listed(managed)

    both = await asyncio.gather(_replay(managed, *found), _replay(managed, *found))

    assert all(outcome.result.is_good for outcomes in both for outcome in outcomes)
    assert await _listed(managed) == []
    assert not any_broken(await verify(managed))


async def test_replay_runs_the_function_that_failed(blog: Blog, managed: ManagedBlog) -> None:
    poison = await blog.users.create({"id": "u", "userId": "u", "type": "user", "formerUsernames": ["lovelace"]})
    await blog.handle_users([poison])
    await _poison(blog)
    [failure] = await _listed(managed, "on_users_changed")
    await blog.users.replace(poison | {"username": unique("ada"), "creationDate": "x"}, etag=poison["_etag"])

    [outcome] = await _replay(managed, failure)

    assert outcome.result is Result.REPLAYED
    assert [failure.source for failure in await _listed(managed)] == ["on_posts_changed"]


async def test_a_failure_of_an_unknown_function_is_kept(blog: Blog, managed: ManagedBlog) -> None:
    await blog.failures.create({"id": "f", "source": "on_feed_changed", "itemId": "i"})

    [outcome] = await _replay(managed)

    assert (outcome.result, len(await _listed(managed))) == (Result.FAILED, 1)


async def test_a_failure_is_kept_if_the_database_fails_during_replay(blog: Blog, managed: ManagedBlog) -> None:
    poison = await _poison(blog)
    await _repair(blog, poison)
    before = await blog.all_items(blog.failures)

    with blog.emulator.settings.faults.during(f"503 database={blog.settings.database} container=feed"):
        [outcome] = await _replay(managed)

    assert outcome.result is Result.FAILED
    assert outcome.detail.startswith("the database failed: the database answered 503 for feed: (ServiceUnavailable)")
    assert await blog.all_items(blog.failures) == before


async def test_find_failures_rejects_an_unknown_id(managed: ManagedBlog) -> None:
    with pytest.raises(ManagementError, match="No failure has ID unknown"):
        await find_failures(managed, ["unknown"], None)


async def test_the_failures_commands_print_results_and_set_exit_codes(blog: Blog) -> None:
    poison, other = await _poison(blog), await _poison(blog)
    await _repair(blog, poison)

    listed = await manage_blog(blog, "failures", "list")
    as_json = await manage_blog(blog, "failures", "list", "--json", "--source", "on_posts_changed")
    ids = {line["itemId"]: line["id"] for line in map(json.loads, as_json.stdout.splitlines())}
    one = await manage_blog(blog, "failures", "replay", ids[poison["id"]])
    rest = await manage_blog(blog, "failures", "replay", "--all", "--json")
    none = await manage_blog(blog, "failures", "replay")
    unknown = await manage_blog(blog, "failures", "replay", ids[poison["id"]])

    assert f"posts/{poison['id']}" in listed.output
    assert "2 failed changes." in listed.output
    assert "1 replayed, 0 dropped, 0 failed again." in one.output
    [line] = map(json.loads, rest.stdout.splitlines())
    assert (line["itemId"], line["result"], line["detail"]) == (other["id"], "failed again", "KeyError: 'userId'")
    assert [result.exit_code for result in (listed, as_json, one, rest, none, unknown)] == [0, 0, 0, 1, 2, 2]
    assert "Request charge: " in rest.stderr


async def test_a_replay_of_all_says_if_there_are_more_than_its_limit(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("management.failures.MOST", 2)
    for poison in [await _poison(blog) for _ in range(4)]:
        await _repair(blog, poison)

    first, last = [await manage_blog(blog, "failures", "replay", "--all", "--json") for _ in range(2)]

    assert "More failures are stored. Run the command again." in first.stderr
    assert len(first.stdout.splitlines()) == len(last.stdout.splitlines()) == 2
    assert "More" not in last.stderr
    assert (first.exit_code, last.exit_code) == (1, 0)


async def test_control_characters_in_items_are_escaped(blog: Blog) -> None:
    hostile = {"id": "f", "source": "s", "itemId": "i\x1b[2J", "error": {"type": "E", "message": "a\nb [bold]"}}
    await blog.failures.create(hostile)

    listed = await manage_blog(blog, "failures", "list")

    assert "\x1b" not in listed.output
    assert r"E: a\nb [bold]" in listed.output
