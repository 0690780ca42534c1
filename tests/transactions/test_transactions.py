"""The guarantees of comments and likes, with batches and with stored procedures."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.data.likes import create_like
from shared.data.posts import delete_post
from shared.errors import CommentNotFound, PostNotFound
from shared.models.like import NewLike
from shared.platform.database.client import connect
from shared.platform.database.container import Container
from shared.platform.database.refusals import ItemExists
from shared.platform.deliveries.pacing import Pace
from shared.platform.errors import ItemDamaged, VersionMismatch
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item, Resource, edit_of
from shared.propagation.rename import rename_items
from shared.transactions import Transactions
from shared.transactions.batches import remove_item
from tests.blog import Blog, EmulatorThread, lagging, new_blog
from tests.items import a_comment, a_like, a_post, a_record, a_user


async def _post(blog: Blog, **attributes: Any) -> Item:
    return await blog.posts.create(a_post(a_user()) | attributes)


async def _read(blog: Blog, post: Item) -> Item:
    return await blog.posts.read(post["id"], post["id"]) or {}


async def test_an_addition_writes_the_item_its_count_and_a_version(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()

    comment = await transactions.add(blog.posts, a_comment(post, reader))
    like = await transactions.add(blog.posts, a_like(post, reader))

    assert comment == await blog.posts.read(comment["id"], post["id"])
    assert like == await blog.posts.read(like["id"], post["id"])
    assert await blog.counts(post) == (1, 1)
    assert (await _read(blog, post))["version"] == post["version"] + 2


@pytest.mark.parametrize("deleted", [False, True])
async def test_an_addition_to_a_missing_post_writes_nothing(
    blog: Blog, transactions: Transactions, deleted: bool
) -> None:
    reader = a_user()
    post = await _post(blog) if deleted else a_post(reader)
    if deleted:
        await delete_post(blog.posts, post["id"], by=BackEnd())

    comment = a_comment(post, reader)
    for item, record in ((comment, None), (comment, a_record(comment)), (a_like(post, reader), None)):
        with pytest.raises(PostNotFound):
            await transactions.add(blog.posts, item, record)

    assert [item["type"] for item in await blog.items_of(post)] == (["tombstone"] if deleted else [])


async def test_a_deleted_post_refuses_repeated_additions_and_removals(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader)
    await transactions.add(blog.posts, like)
    await delete_post(blog.posts, post["id"], by=BackEnd())

    with pytest.raises(PostNotFound):
        await transactions.add(blog.posts, like)
    with pytest.raises(PostNotFound):
        await remove_item(blog.posts, post["id"], like["id"], "like")


async def test_a_repeated_removal_decrements_the_count_once(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    comment, like = a_comment(post, reader), a_like(post, reader)
    for item in (comment, like):
        await transactions.add(blog.posts, item)

    for item in (comment, like):
        assert await remove_item(blog.posts, post["id"], item["id"], item["type"]) is True
        assert await remove_item(blog.posts, post["id"], item["id"], item["type"]) is False

    assert await blog.counts(post) == (0, 0)
    assert len(await blog.items_of(post)) == 1


@pytest.mark.parametrize("kind", ["comment", "like"])
async def test_a_removal_from_a_missing_post_raises_post_not_found(
    blog: Blog, transactions: Transactions, kind: str
) -> None:
    with pytest.raises(PostNotFound):
        await remove_item(blog.posts, "unknown", "unknown", kind)


async def test_a_removal_finds_only_items_of_its_type(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    comment, like = a_comment(post, reader), a_like(post, reader)
    record = a_record(comment)
    await transactions.add(blog.posts, comment, record)
    await transactions.add(blog.posts, like)

    assert await remove_item(blog.posts, post["id"], comment["id"], "like") is False
    for item in (like, post, record):
        assert await remove_item(blog.posts, post["id"], item["id"], "comment") is False

    assert await blog.counts(post) == (1, 1)


async def test_a_removal_rejects_a_stale_etag(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    for item in (a_comment(post, reader), a_like(post, reader)):
        added = await transactions.add(blog.posts, item)
        for stale in ('"another"', '""', '"/another"', added["_etag"], Resource.entity_tag(added).replace("/", ".")):
            with pytest.raises(VersionMismatch):
                await remove_item(blog.posts, post["id"], added["id"], added["type"], if_match={edit_of(stale)})
        etag = Resource.entity_tag(added)
        assert await remove_item(blog.posts, post["id"], added["id"], added["type"], if_match={edit_of(etag)})

    with pytest.raises(VersionMismatch):
        await remove_item(blog.posts, post["id"], a_like(post, reader)["id"], "like", if_match={"any"})
    assert await blog.counts(post) == (0, 0)


async def test_a_removal_accepts_an_etag_from_before_a_rename(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    added = [(await transactions.add(blog.posts, item(post, reader))) for item in (a_comment, a_like)]
    renamed = reader | {"username": "grace", "nameVersion": 1}
    await rename_items(blog.posts, renamed, transactions.rename_procedure, Pace()).in_post(post["id"])

    for item in added:
        etag = Resource.entity_tag(item)
        assert await remove_item(blog.posts, post["id"], item["id"], item["type"], if_match={edit_of(etag)})


async def test_a_removal_rejects_the_etag_of_an_earlier_like(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    like, later = a_like(post, reader, second=1), a_like(post, reader, second=2)
    etag = Resource.entity_tag(await transactions.add(blog.posts, like))
    await remove_item(blog.posts, post["id"], like["id"], "like")
    await transactions.add(blog.posts, later)

    with pytest.raises(VersionMismatch):
        await remove_item(blog.posts, post["id"], like["id"], "like", if_match={edit_of(etag)})
    assert await blog.counts(post) == (0, 1)


async def test_a_like_with_an_old_date_format_has_an_etag_that_is_accepted(
    blog: Blog, transactions: Transactions
) -> None:
    post, reader = await _post(blog, likeCount=1), a_user()
    like = await blog.posts.create(a_like(post, reader) | {"creationDate": '5 Dec 2018, 10/05 "UTC"'})
    etag = Resource.entity_tag(like)

    assert re.fullmatch(r'"[!#-~]+"', etag)
    assert await remove_item(blog.posts, post["id"], like["id"], "like", if_match={edit_of(etag)})


async def test_a_record_is_written_with_its_item_and_expires_after_a_day(
    blog: Blog, transactions: Transactions
) -> None:
    post, reader = await _post(blog), a_user()
    comment = a_comment(post, reader)
    record = a_record(comment)
    await transactions.add(blog.posts, comment, record)

    stored = await blog.posts.read(record["id"], post["id"]) or {}
    assert {name: stored[name] for name in record} == record
    assert stored["ttl"] == 24 * 3600


async def test_a_removal_leaves_only_the_record(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    comment = a_comment(post, reader)
    await transactions.add(blog.posts, comment, a_record(comment))
    await remove_item(blog.posts, post["id"], comment["id"], "comment")

    assert sorted(item["type"] for item in await blog.items_of(post)) == ["idempotency", "post"]
    with pytest.raises(ItemExists):
        await transactions.add(blog.posts, comment, a_record(comment))
    assert await blog.counts(post) == (0, 0)


async def test_a_repeated_addition_is_refused_and_counts_once(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    comment = a_comment(post, reader)
    commands = [(comment, a_record(comment)), (a_like(post, reader), None)]
    for _ in range(5):
        outcomes = await asyncio.gather(
            *(transactions.add(blog.posts, *command) for command in commands), return_exceptions=True
        )

    assert [type(outcome) for outcome in outcomes] == [ItemExists] * 2
    assert await blog.counts(post) == (1, 1)


async def test_a_like_of_another_process_is_found_despite_a_lagging_replica(
    blog: Blog, transactions: Transactions
) -> None:
    post, reader = await _post(blog), await blog.users.create(a_user())
    async with connect(blog.settings) as client:
        here = Container(client.get_database_client(blog.settings.database).get_container_client("posts"))
        stored = replace(blog.stored, posts=here, transactions=transactions)
        with lagging(blog):
            await blog.stored.transactions.add(blog.posts, a_like(post, reader))
            _, is_new = await create_like(stored, post["id"], NewLike(user_id=reader["id"]))

    assert not is_new


async def test_concurrent_likes_of_one_user_count_once_and_a_new_one_after_an_unlike_counts(
    blog: Blog, transactions: Transactions
) -> None:
    post, reader = await _post(blog), await blog.users.create(a_user())
    stored, new = replace(blog.stored, transactions=transactions), NewLike(user_id=reader["id"])

    liked = await asyncio.gather(*(create_like(stored, post["id"], new) for _ in range(10)))

    assert sum(is_new for _, is_new in liked) == 1
    assert len({like["_etag"] for like, _ in liked}) == 1
    assert await blog.counts(post) == (0, 1)
    await remove_item(blog.posts, post["id"], reader["id"], "like")
    assert (await create_like(stored, post["id"], new))[1]
    assert await blog.counts(post) == (0, 1)


async def test_the_counts_of_a_v1_post_start_at_zero(blog: Blog, transactions: Transactions) -> None:
    reader = a_user()
    counts = ("commentCount", "likeCount", "version")
    post = await blog.posts.create({name: value for name, value in a_post(reader).items() if name not in counts})

    await transactions.add(blog.posts, a_comment(post, reader))
    await transactions.add(blog.posts, a_like(post, reader))

    assert await blog.counts(post) == (1, 1)
    assert (await _read(blog, post))["version"] == 2


@pytest.mark.parametrize("damage", [{"commentCount": None}, {"commentCount": -1}, {"version": None}, {"version": "7"}])
async def test_a_comment_on_a_post_that_cannot_be_counted_is_refused(blog: Blog, damage: dict[str, object]) -> None:
    post, reader = await _post(blog, **damage), a_user()

    with pytest.raises(ItemDamaged):
        await blog.stored.transactions.add(blog.posts, a_comment(post, reader))

    assert await blog.items_of(post) == [post]


async def test_a_removal_that_would_make_a_count_negative_is_refused(blog: Blog) -> None:
    post, reader = await _post(blog), a_user()
    comment = await blog.posts.create(a_comment(post, reader))  # not counted

    with pytest.raises(ItemDamaged):
        await remove_item(blog.posts, post["id"], comment["id"], "comment")

    assert await blog.posts.read(comment["id"], post["id"]) is not None


async def test_a_removal_does_not_find_an_item_without_a_type(blog: Blog, transactions: Transactions) -> None:
    post = await _post(blog)
    await blog.posts.create({"id": "note", "postId": post["id"]})

    assert await remove_item(blog.posts, post["id"], "note", "comment") is False


async def test_fifty_concurrent_likes_and_comments_are_all_counted(blog: Blog, transactions: Transactions) -> None:
    post, posts, readers = await _post(blog), blog.posts, [a_user() for _ in range(50)]

    await asyncio.gather(*(transactions.add(posts, a_like(post, reader)) for reader in readers))
    await asyncio.gather(
        *(transactions.add(posts, a_comment(post, reader)) for reader in readers),
        *(remove_item(posts, post["id"], a_like(post, reader)["id"], "like") for reader in readers[:20]),
    )

    assert await blog.counts(post) == (50, 30)


_COMMANDS = st.lists(
    st.tuples(st.sampled_from(["like", "unlike", "comment", "delete comment"]), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)


@given(rounds=st.lists(_COMMANDS, min_size=1, max_size=4))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_counts_match_the_items_after_any_concurrent_commands(
    emulator: EmulatorThread, transactions: Transactions, rounds: list[list[tuple[str, int]]]
) -> None:
    asyncio.run(_send_all(emulator, transactions, rounds))


async def _send_all(emulator: EmulatorThread, transactions: Transactions, rounds: list[list[tuple[str, int]]]) -> None:
    readers = [a_user(f"reader{number}") for number in range(3)]
    async with new_blog(emulator) as blog:
        posts, post = blog.posts, await _post(blog)

        async def send(command: str, number: int) -> None:
            comment = a_comment(post, readers[number]) | {"id": f"comment-{number}"}
            like = a_like(post, readers[number])
            try:
                match command:
                    case "like":
                        await transactions.add(posts, like)
                    case "comment":
                        await transactions.add(posts, comment, a_record(comment, f"comment-{number}"))
                    case "unlike":
                        await remove_item(posts, post["id"], like["id"], "like")
                    case _:
                        await remove_item(posts, post["id"], comment["id"], "comment")
            except (CommentNotFound, ItemExists):
                pass  # already deleted, or a retry

        for commands in rounds:
            await asyncio.gather(*(send(command, number) for command, number in commands))
            await blog.counts(post)
