"""The guarantees of comments and likes, with batches and with stored procedures."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.data.permissions import BY_BACK_END
from shared.data.posts import delete_post
from shared.errors import CommentNotFound, IdempotencyKeyReused, PostNotFound, VersionMismatch
from shared.models.base import Item, Resource, edit_of
from shared.propagation.rename import rename_in_post
from shared.transactions import Transactions
from shared.transactions.batches import remove_item
from tests.blog import Blog, EmulatorThread, new_blog
from tests.items import a_comment, a_like, a_post, a_record, a_user


async def _post(blog: Blog, **attributes: Any) -> Item:
    return await blog.posts.create(a_post(a_user()) | attributes)


async def _read(blog: Blog, post: Item) -> Item:
    return await blog.posts.read(post["id"], post["id"]) or {}


async def test_an_addition_writes_the_item_its_count_and_a_version(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()

    comment = await transactions.add(blog.posts, a_comment(post, reader))
    like = await transactions.add(blog.posts, a_like(post, reader))

    assert (comment.created, like.created) == (True, True)
    assert comment.item == await blog.posts.read(comment.item["id"], post["id"])
    assert like.item == await blog.posts.read(like.item["id"], post["id"])
    assert await blog.counts(post) == (1, 1)
    assert (await _read(blog, post))["version"] == post["version"] + 2


@pytest.mark.parametrize("with_record", [False, True])
async def test_a_repeated_addition_returns_the_first_item_and_counts_once(
    blog: Blog, transactions: Transactions, with_record: bool
) -> None:
    post, reader = await _post(blog), a_user()
    comment = a_comment(post, reader)

    async def add_both(second: int) -> list[Any]:
        items = (comment, a_like(post, reader, second=second))
        return [await transactions.add(blog.posts, item, a_record(item, item["type"])) for item in items]

    first, repeated = await add_both(1), await add_both(2)

    assert [added.item for added in repeated] == [added.item for added in first]
    assert [added.created for added in repeated] == [False, False]
    assert await blog.counts(post) == (1, 1)


@pytest.mark.parametrize("deleted", [False, True])
async def test_an_addition_to_a_missing_post_writes_nothing(
    blog: Blog, transactions: Transactions, deleted: bool
) -> None:
    reader = a_user()
    post = await _post(blog) if deleted else a_post(reader)
    if deleted:
        await delete_post(blog.posts, post["id"], deletion=BY_BACK_END)

    for item in (a_comment(post, reader), a_like(post, reader)):
        for record in (None, a_record(item)):
            with pytest.raises(PostNotFound):
                await transactions.add(blog.posts, item, record)

    assert [item["type"] for item in await blog.items_of(post)] == (["tombstone"] if deleted else [])


async def test_a_deleted_post_refuses_repeated_additions_and_removals(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader)
    await transactions.add(blog.posts, like, a_record(like))
    await delete_post(blog.posts, post["id"], deletion=BY_BACK_END)

    for record in (None, a_record(like)):
        with pytest.raises(PostNotFound):
            await transactions.add(blog.posts, like, record)
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
        added = (await transactions.add(blog.posts, item)).item
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
    added = [(await transactions.add(blog.posts, item(post, reader))).item for item in (a_comment, a_like)]
    renamed = reader | {"username": "grace", "nameVersion": 1}
    await rename_in_post(blog.posts, post["id"], renamed, procedure=transactions.rename_procedure)

    for item in added:
        etag = Resource.entity_tag(item)
        assert await remove_item(blog.posts, post["id"], item["id"], item["type"], if_match={edit_of(etag)})


async def test_a_removal_rejects_the_etag_of_an_earlier_like(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    like, later = a_like(post, reader, second=1), a_like(post, reader, second=2)
    etag = Resource.entity_tag((await transactions.add(blog.posts, like, a_record(like))).item)
    await remove_item(blog.posts, post["id"], like["id"], "like")
    await transactions.add(blog.posts, later)
    restored = (await transactions.add(blog.posts, like, a_record(like))).item

    for stale in (etag, Resource.entity_tag(restored)):
        with pytest.raises(VersionMismatch):
            await remove_item(blog.posts, post["id"], like["id"], "like", if_match={edit_of(stale)})
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
    for item in (a_comment(post, reader), a_like(post, reader)):
        record = a_record(item, item["type"])
        await transactions.add(blog.posts, item, record)

        stored = await blog.posts.read(record["id"], post["id"]) or {}
        assert {name: stored[name] for name in record} == record
        assert stored["ttl"] == 24 * 3600


async def test_a_removal_leaves_only_the_record(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    for item in (a_comment(post, reader), a_like(post, reader)):
        await transactions.add(blog.posts, item, a_record(item, item["type"]))
        await remove_item(blog.posts, post["id"], item["id"], item["type"])

    assert sorted(item["type"] for item in await blog.items_of(post)) == ["idempotency", "idempotency", "post"]


async def test_a_retry_does_not_recreate_a_removed_item(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    comment, like = a_comment(post, reader), a_like(post, reader)
    first = {}
    for item in (comment, like):
        first[item["type"]] = (await transactions.add(blog.posts, item, a_record(item, item["type"]))).item
        await remove_item(blog.posts, post["id"], item["id"], item["type"])

    with pytest.raises(CommentNotFound):
        await transactions.add(blog.posts, comment, a_record(comment, "comment"))
    again = await transactions.add(blog.posts, like, a_record(like, "like"))

    assert again.created is False
    assert {name: again.item[name] for name in like} == {name: first["like"][name] for name in like}
    assert await blog.counts(post) == (0, 0)


async def test_a_retry_of_a_like_returns_the_first_like_despite_a_later_like(
    blog: Blog, transactions: Transactions
) -> None:
    post, reader = await _post(blog), a_user()
    like, later = a_like(post, reader, second=1), a_like(post, reader, second=2)
    await transactions.add(blog.posts, like, a_record(like, "first"))
    await remove_item(blog.posts, post["id"], like["id"], "like")
    await transactions.add(blog.posts, later, a_record(later, "second"))

    retry = a_like(post, reader, second=3)
    again = await transactions.add(blog.posts, retry, a_record(retry, "first"))

    assert (again.created, again.item["creationDate"]) == (False, like["creationDate"])
    assert await blog.counts(post) == (0, 1)


async def test_a_retry_returns_the_like_under_its_users_current_name(blog: Blog, transactions: Transactions) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader)
    await transactions.add(blog.posts, like, a_record(like))
    renamed = reader | {"username": "grace", "nameVersion": 1}
    await rename_in_post(blog.posts, post["id"], renamed, procedure=transactions.rename_procedure)

    again = await transactions.add(blog.posts, like, a_record(like))

    assert again.item["userUsername"] == "grace"


@pytest.mark.parametrize("removed", [False, True])
async def test_a_record_with_another_fingerprint_is_rejected(
    blog: Blog, transactions: Transactions, removed: bool
) -> None:
    post, reader = await _post(blog), a_user()
    comment = a_comment(post, reader, content="First.")
    await transactions.add(blog.posts, comment, a_record(comment))
    if removed:
        await remove_item(blog.posts, post["id"], comment["id"], "comment")

    other = comment | {"content": "Second."}
    with pytest.raises(IdempotencyKeyReused):
        await transactions.add(blog.posts, other, a_record(other))

    assert await blog.counts(post) == ((0, 0) if removed else (1, 0))


@pytest.mark.parametrize("with_record", [False, True])
async def test_a_new_like_after_an_unlike_counts(blog: Blog, transactions: Transactions, with_record: bool) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader)
    await transactions.add(blog.posts, like, a_record(like, "first"))
    await remove_item(blog.posts, post["id"], like["id"], "like")

    added = await transactions.add(blog.posts, like, a_record(like, "second") if with_record else None)

    assert added.created is True
    assert "ttl" not in added.item
    assert await blog.counts(post) == (0, 1)


async def test_a_retry_of_a_like_that_existed_does_not_like_again_after_an_unlike(
    blog: Blog, transactions: Transactions
) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader, second=1)
    await transactions.add(blog.posts, like, a_record(like, "first"))
    other = a_like(post, reader, second=2)
    found = await transactions.add(blog.posts, other, a_record(other, "second"))
    version = (await _read(blog, post))["version"]
    await remove_item(blog.posts, post["id"], like["id"], "like")

    again = await transactions.add(blog.posts, other, a_record(other, "second"))

    assert (found.created, again.created) == (False, False)
    assert found.item["creationDate"] == again.item["creationDate"] == like["creationDate"]
    assert version == post["version"] + 1
    stored = await _read(blog, post)
    assert (stored["likeCount"], stored["version"]) == (0, version + 1)


@pytest.mark.parametrize("with_record", [False, True])
async def test_retries_are_recognized_after_later_likes_and_unlikes(
    blog: Blog, transactions: Transactions, with_record: bool
) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader)
    for record in (a_record(like, "first"), a_record(like, "second"), a_record(like, "last") if with_record else None):
        await transactions.add(blog.posts, like, record)
        await remove_item(blog.posts, post["id"], like["id"], "like")

    again = [await transactions.add(blog.posts, like, a_record(like, command)) for command in ("first", "second")]

    assert [added.created for added in again] == [False, False]
    assert (await _read(blog, post))["likeCount"] == 0


@pytest.mark.parametrize("counts", [{}, {"commentCount": None, "likeCount": None}])
async def test_writes_add_missing_counts_to_a_post(
    blog: Blog, transactions: Transactions, counts: dict[str, None]
) -> None:
    """A V1 post has no counts, and JavaScript stores NaN as null."""
    reader = a_user()
    bare = {
        name: value for name, value in a_post(reader).items() if name not in ("commentCount", "likeCount", "version")
    }
    post = await blog.posts.create(bare | counts)
    comment = a_comment(post, reader)
    await blog.posts.create(comment)  # not counted

    assert await remove_item(blog.posts, post["id"], comment["id"], "comment")
    assert (await transactions.add(blog.posts, a_like(post, reader))).created

    assert await blog.counts(post) == (0, 1)


@pytest.mark.parametrize("version", [None, "7"])
async def test_a_version_that_is_not_a_number_is_replaced(
    blog: Blog, transactions: Transactions, version: str | None
) -> None:
    post, reader = await _post(blog, version=version), a_user()

    assert (await transactions.add(blog.posts, a_like(post, reader))).created

    assert await blog.counts(post) == (0, 1)
    assert (await _read(blog, post))["version"] == 1


async def test_a_removal_does_not_find_an_item_without_a_type(blog: Blog, transactions: Transactions) -> None:
    post = await _post(blog)
    await blog.posts.create({"id": "note", "postId": post["id"]})

    assert await remove_item(blog.posts, post["id"], "note", "comment") is False


@pytest.mark.parametrize("with_record", [False, True])
async def test_concurrent_likes_of_one_user_count_once(
    blog: Blog, transactions: Transactions, with_record: bool
) -> None:
    post, reader, posts = await _post(blog), a_user(), blog.posts
    likes = [a_like(post, reader, second=number) for number in range(10)]

    added = await asyncio.gather(
        *(transactions.add(posts, like, a_record(like) if with_record else None) for like in likes)
    )

    assert sum(one.created for one in added) == 1
    assert len({one.item["_etag"] for one in added}) == 1
    assert await blog.counts(post) == (0, 1)


async def test_fifty_concurrent_likes_and_comments_are_all_counted(blog: Blog, transactions: Transactions) -> None:
    post, posts, readers = await _post(blog), blog.posts, [a_user() for _ in range(50)]

    await asyncio.gather(*(transactions.add(posts, a_like(post, reader)) for reader in readers))
    await asyncio.gather(
        *(transactions.add(posts, a_comment(post, reader)) for reader in readers),
        *(remove_item(posts, post["id"], a_like(post, reader)["id"], "like") for reader in readers[:20]),
    )

    assert await blog.counts(post) == (50, 30)


_COMMANDS = st.lists(
    st.tuples(st.sampled_from(["like", "like with key", "unlike", "comment", "delete comment"]), st.integers(0, 2)),
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
                    case "like with key":
                        await transactions.add(posts, like, a_record(like, f"like-{number}"))
                    case "comment":
                        await transactions.add(posts, comment, a_record(comment, f"comment-{number}"))
                    case "unlike":
                        await remove_item(posts, post["id"], like["id"], "like")
                    case _:
                        await remove_item(posts, post["id"], comment["id"], "comment")
            except CommentNotFound:
                pass  # already deleted

        for commands in rounds:
            await asyncio.gather(*(send(command, number) for command, number in commands))
            await blog.counts(post)
