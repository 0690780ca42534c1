"""What a comment or like may count on, in both ways of writing it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.data.contributions import MOST_EARLIER, Contributions
from shared.data.posts import delete_post
from shared.errors import CommentNotFound, PostNotFound, VersionMismatch
from shared.models.base import Item
from tests.blog import Blog, EmulatorThread, new_blog
from tests.items import a_comment, a_like, a_post, a_user


async def _post(blog: Blog, **attributes: Any) -> Item:
    return await blog.posts.create(a_post(a_user()) | attributes)


async def test_an_addition_is_written_with_its_count_and_raises_the_version(
    blog: Blog, contributions: Contributions
) -> None:
    post, reader = await _post(blog), a_user()

    comment = await contributions.add(blog.posts, a_comment(post, reader))
    like = await contributions.add(blog.posts, a_like(post, reader))

    assert (comment.created, like.created) == (True, True)
    assert comment.item == await blog.posts.read(comment.item["id"], post["id"])
    assert like.item == await blog.posts.read(like.item["id"], post["id"])
    assert await blog.counts(post) == (1, 1)
    assert (await blog.posts.read(post["id"], post["id"]) or {})["version"] == post["version"] + 2


async def test_a_repeated_addition_answers_the_first_and_counts_once(blog: Blog, contributions: Contributions) -> None:
    post, reader = await _post(blog), a_user()
    comment = a_comment(post, reader) | {"commandId": "command"}
    first = [await contributions.add(blog.posts, item) for item in (comment, a_like(post, reader, second=1))]

    repeated = [await contributions.add(blog.posts, item) for item in (comment, a_like(post, reader, second=2))]

    assert [added.item for added in repeated] == [added.item for added in first]
    assert [added.created for added in repeated] == [False, False]
    assert await blog.counts(post) == (1, 1)


@pytest.mark.parametrize("deleted", [False, True])
async def test_nothing_is_added_to_a_post_that_is_not_there(
    blog: Blog, contributions: Contributions, deleted: bool
) -> None:
    reader = a_user()
    post = await _post(blog) if deleted else a_post(reader)
    if deleted:
        await delete_post(blog.posts, post["id"], etag=None)

    for item in (a_comment(post, reader), a_like(post, reader)):
        with pytest.raises(PostNotFound):
            await contributions.add(blog.posts, item)

    assert [item["type"] for item in await blog.items_of(post)] == (["deletedPost"] if deleted else [])


async def test_a_repeated_addition_to_a_post_deleted_since_finds_no_post(
    blog: Blog, contributions: Contributions
) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader)
    await contributions.add(blog.posts, like)
    await delete_post(blog.posts, post["id"], etag=None)

    with pytest.raises(PostNotFound):
        await contributions.add(blog.posts, like)
    with pytest.raises(PostNotFound):
        await contributions.remove(blog.posts, post["id"], like["id"], "like", etag=None)


async def test_a_removal_is_uncounted_and_a_second_one_finds_nothing(blog: Blog, contributions: Contributions) -> None:
    post, reader = await _post(blog), a_user()
    comment, like = a_comment(post, reader), a_like(post, reader)
    for item in (comment, like):
        await contributions.add(blog.posts, item)

    for item in (comment, like):
        assert await contributions.remove(blog.posts, post["id"], item["id"], item["type"], etag=None) is True
        assert await contributions.remove(blog.posts, post["id"], item["id"], item["type"], etag=None) is False

    assert await blog.counts(post) == (0, 0)
    assert len(await blog.items_of(post)) == 1


@pytest.mark.parametrize("kind", ["comment", "like"])
async def test_a_removal_from_a_post_that_is_not_there_finds_no_post(
    blog: Blog, contributions: Contributions, kind: str
) -> None:
    with pytest.raises(PostNotFound):
        await contributions.remove(blog.posts, "unknown", "unknown", kind, etag=None)


async def test_one_kind_is_not_removed_as_the_other(blog: Blog, contributions: Contributions) -> None:
    post, reader = await _post(blog), a_user()
    comment, like = a_comment(post, reader), a_like(post, reader)
    for item in (comment, like):
        await contributions.add(blog.posts, item)

    assert await contributions.remove(blog.posts, post["id"], comment["id"], "like", etag=None) is False
    assert await contributions.remove(blog.posts, post["id"], like["id"], "comment", etag=None) is False
    assert await contributions.remove(blog.posts, post["id"], post["id"], "comment", etag=None) is False

    assert await blog.counts(post) == (1, 1)


async def test_a_removal_under_an_etag_wants_that_very_state(blog: Blog, contributions: Contributions) -> None:
    post, reader = await _post(blog), a_user()
    for item in (a_comment(post, reader), a_like(post, reader)):
        added = (await contributions.add(blog.posts, item)).item
        with pytest.raises(VersionMismatch):
            await contributions.remove(blog.posts, post["id"], added["id"], added["type"], etag='"another"')
        assert await contributions.remove(blog.posts, post["id"], added["id"], added["type"], etag=added["_etag"])

    with pytest.raises(VersionMismatch):
        await contributions.remove(blog.posts, post["id"], a_like(post, reader)["id"], "like", etag='"any"')
    assert await blog.counts(post) == (0, 0)


async def test_a_repeated_command_brings_back_nothing_that_was_removed(
    blog: Blog, contributions: Contributions
) -> None:
    post, reader = await _post(blog), a_user()
    comment = a_comment(post, reader) | {"commandId": "command"}
    like = a_like(post, reader) | {"commandId": "command"}
    first = {}
    for item in (comment, like):
        first[item["type"]] = (await contributions.add(blog.posts, item)).item
        await contributions.remove(blog.posts, post["id"], item["id"], item["type"], etag=None)

    with pytest.raises(CommentNotFound):
        await contributions.add(blog.posts, comment)
    again = await contributions.add(blog.posts, like)

    assert again.created is False
    assert (again.item["type"], again.item["creationDate"]) == ("like", first["like"]["creationDate"])
    marks = [item for item in await blog.items_of(post) if item["type"] != "post"]
    assert sorted(mark["type"] for mark in marks) == ["deletedComment", "deletedLike"]
    assert {mark["ttl"] for mark in marks} == {24 * 3600}
    stored = await blog.posts.read(post["id"], post["id"]) or {}
    assert (stored["commentCount"], stored["likeCount"]) == (0, 0)


@pytest.mark.parametrize("command", [{}, {"commandId": "another"}])
async def test_a_new_like_takes_the_place_of_the_mark(
    blog: Blog, contributions: Contributions, command: dict[str, str]
) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader)
    await contributions.add(blog.posts, like | {"commandId": "command"})
    await contributions.remove(blog.posts, post["id"], like["id"], "like", etag=None)

    added = await contributions.add(blog.posts, like | command)

    assert added.created is True
    assert "ttl" not in added.item
    assert await blog.counts(post) == (0, 1)


async def test_a_command_that_found_a_like_brings_back_none_after_it_was_removed(
    blog: Blog, contributions: Contributions
) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader)
    await contributions.add(blog.posts, like | {"commandId": "first"})
    found = await contributions.add(blog.posts, like | {"commandId": "second"})
    version = (await blog.posts.read(post["id"], post["id"]) or {})["version"]
    await contributions.remove(blog.posts, post["id"], like["id"], "like", etag=None)

    again = await contributions.add(blog.posts, like | {"commandId": "second"})

    assert (found.created, again.created) == (False, False)
    assert version == post["version"] + 1
    stored = await blog.posts.read(post["id"], post["id"]) or {}
    assert (stored["likeCount"], stored["version"]) == (0, version + 1)


@pytest.mark.parametrize("last", [{}, {"commandId": "last"}])
async def test_a_command_is_known_after_likes_and_removals_by_others(
    blog: Blog, contributions: Contributions, last: dict[str, str]
) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader)
    for command in ({"commandId": "first"}, {"commandId": "second"}, last):
        await contributions.add(blog.posts, like | command)
        await contributions.remove(blog.posts, post["id"], like["id"], "like", etag=None)

    again = [await contributions.add(blog.posts, like | {"commandId": command}) for command in ("first", "second")]

    assert [added.created for added in again] == [False, False]
    assert (await blog.posts.read(post["id"], post["id"]) or {})["likeCount"] == 0


async def test_a_like_keeps_the_last_commands_about_it_and_no_more(blog: Blog, contributions: Contributions) -> None:
    post, reader = await _post(blog), a_user()
    like = a_like(post, reader)
    for number in range(MOST_EARLIER + 5):
        await contributions.add(blog.posts, like | {"commandId": str(number)})

    stored = await blog.posts.read(like["id"], post["id"]) or {}

    assert stored["commandId"] == "0"
    assert stored["earlierCommands"] == [str(number) for number in range(5, MOST_EARLIER + 5)]
    assert await blog.counts(post) == (0, 1)


@pytest.mark.parametrize("counts", [{}, {"commentCount": None, "likeCount": None}])
async def test_a_post_without_counts_gets_them(
    blog: Blog, contributions: Contributions, counts: dict[str, None]
) -> None:
    """As the article's V1 writes posts, and as JavaScript writes NaN."""
    reader = a_user()
    bare = {
        name: value for name, value in a_post(reader).items() if name not in ("commentCount", "likeCount", "version")
    }
    post = await blog.posts.create(bare | counts)
    comment = a_comment(post, reader)
    await blog.posts.create(comment)  # which nobody has counted

    assert await contributions.remove(blog.posts, post["id"], comment["id"], "comment", etag=None)
    assert (await contributions.add(blog.posts, a_like(post, reader))).created

    assert await blog.counts(post) == (0, 1)


@pytest.mark.parametrize("version", [None, "7"])
async def test_a_post_whose_version_is_no_number_gets_one(
    blog: Blog, contributions: Contributions, version: str | None
) -> None:
    post, reader = await _post(blog, version=version), a_user()

    assert (await contributions.add(blog.posts, a_like(post, reader))).created

    assert await blog.counts(post) == (0, 1)
    assert (await blog.posts.read(post["id"], post["id"]) or {})["version"] == 1


async def test_an_item_of_no_type_is_neither_comment_nor_like(blog: Blog, contributions: Contributions) -> None:
    post = await _post(blog)
    await blog.posts.create({"id": "note", "postId": post["id"]})

    assert await contributions.remove(blog.posts, post["id"], "note", "comment", etag=None) is False


async def test_likes_of_one_user_that_race_count_once(blog: Blog, contributions: Contributions) -> None:
    post, reader, posts = await _post(blog), a_user(), blog.posts

    added = await asyncio.gather(*(contributions.add(posts, a_like(post, reader)) for _ in range(10)))

    assert sum(one.created for one in added) == 1
    assert len({one.item["_etag"] for one in added}) == 1
    assert await blog.counts(post) == (0, 1)


async def test_fifty_likes_and_comments_at_once_are_all_counted(blog: Blog, contributions: Contributions) -> None:
    post, posts, readers = await _post(blog), blog.posts, [a_user() for _ in range(50)]

    await asyncio.gather(*(contributions.add(posts, a_like(post, reader)) for reader in readers))
    await asyncio.gather(
        *(contributions.add(posts, a_comment(post, reader)) for reader in readers),
        *(
            contributions.remove(posts, post["id"], a_like(post, reader)["id"], "like", etag=None)
            for reader in readers[:20]
        ),
    )

    assert await blog.counts(post) == (50, 30)


_COMMANDS = st.lists(
    st.tuples(st.sampled_from(["like", "like with key", "unlike", "comment", "delete comment"]), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)


@given(rounds=st.lists(_COMMANDS, min_size=1, max_size=4))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_sent_at_once_the_counts_are_those_of_the_items(
    emulator: EmulatorThread, contributions: Contributions, rounds: list[list[tuple[str, int]]]
) -> None:
    asyncio.run(_send_all(emulator, contributions, rounds))


async def _send_all(
    emulator: EmulatorThread, contributions: Contributions, rounds: list[list[tuple[str, int]]]
) -> None:
    readers = [a_user(f"reader{number}") for number in range(3)]
    async with new_blog(emulator) as blog:
        posts, post = blog.posts, await _post(blog)

        async def send(command: str, number: int) -> None:
            comment = a_comment(post, readers[number]) | {"id": f"comment-{number}", "commandId": f"comment-{number}"}
            like = a_like(post, readers[number])
            try:
                match command:
                    case "like":
                        await contributions.add(posts, like)
                    case "like with key":
                        await contributions.add(posts, like | {"commandId": f"like-{number}"})
                    case "comment":
                        await contributions.add(posts, comment)
                    case "unlike":
                        await contributions.remove(posts, post["id"], like["id"], "like", etag=None)
                    case _:
                        await contributions.remove(posts, post["id"], comment["id"], "comment", etag=None)
            except CommentNotFound:
                pass  # deleted since

        for commands in rounds:
            await asyncio.gather(*(send(command, number) for command, number in commands))
            await blog.counts(post)
