"""ETag, If-Match, If-None-Match."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tests.api import Api, ApiResponse, Headers, Json
from tests.items import unique
from tests.polling import eventually

Send = Callable[[Headers], Awaitable[ApiResponse]]


async def _of_user(api: Api) -> tuple[str, list[Send]]:
    user = await api.new_user()
    etag = (await api.get_user(user["id"])).etag
    return etag, [lambda headers: api.edit_user(user["id"], user["username"] + "-x", headers)]


async def _of_post(api: Api) -> tuple[str, list[Send]]:
    post = await api.new_post(await api.new_user())
    etag = (await api.get_post(post["id"])).etag
    return etag, [
        lambda headers: api.edit_post(post["id"], "Another title", "Other content.", headers),
        lambda headers: api.delete_post(post["id"], headers),
    ]


async def _of_comment(api: Api) -> tuple[str, list[Send]]:
    author = await api.new_user()
    post = await api.new_post(author)
    comment = await api.create_comment(post["id"], author["id"], "Well put.")
    return comment.etag, [lambda headers: api.delete_comment(post["id"], comment.body["id"], headers)]


async def _of_like(api: Api) -> tuple[str, list[Send]]:
    liker = await api.new_user()
    post = await api.new_post(liker)
    like = await api.create_like(post["id"], liker["id"])
    return like.etag, [lambda headers: api.delete_like(post["id"], liker["id"], headers)]


PUT_AND_DELETE = pytest.mark.parametrize("resource", [_of_user, _of_post, _of_comment, _of_like])
Resource = Callable[[Api], Awaitable[tuple[str, list[Send]]]]
# The statuses of the commands when they are accepted.
ACCEPTED: dict[Resource, list[int]] = {_of_user: [200], _of_post: [200, 204], _of_comment: [204], _of_like: [204]}


@PUT_AND_DELETE
async def test_a_stale_if_match_is_rejected(api: Api, resource: Resource) -> None:
    etag, commands = await resource(api)

    for command in commands:
        for stale in ('"stale"', '""', f"W/{etag}", etag.strip('"').join(["'", "'"]).join(['"', '"'])):
            answer = await command({"If-Match": stale})
            assert (answer.status, answer.body["title"]) == (412, "Version mismatch"), stale


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_query_holds_only_for_the_representation_that_if_match_names(api: Api, method: str) -> None:
    """https://www.rfc-editor.org/rfc/rfc9110#section-13.1.1"""
    author = await api.new_user()
    post = await api.new_post(author)
    path, undescribed = f"/api/posts/{post['id']}", Api(api.session, api.url, None)
    etag = (await api.get_post(post["id"])).etag
    gzipped = f'{etag[:-1]}-gzip"'

    held = [
        await undescribed.send(method, path, headers={"If-Match": tag}) for tag in (etag, gzipped, f'"x", {etag}', "*")
    ]
    await api.new_like(post, author)
    missed = [await undescribed.send(method, path, headers={"If-Match": tag}) for tag in (etag, f"W/{etag}", '"stale"')]
    unknown = await undescribed.send(method, "/api/posts/unknown", headers={"If-Match": etag})
    feed = await undescribed.send(method, "/api/feed", headers={"If-Match": '"stale"'})

    assert [answer.status for answer in held] == [200] * 4
    assert [answer.status for answer in missed] == [412] * 3
    assert (unknown.status, feed.status) == (404, 412)


@PUT_AND_DELETE
async def test_a_current_if_match_is_accepted(api: Api, resource: Resource) -> None:
    etag, commands = await resource(api)

    answer = await commands[0]({"If-Match": etag})

    assert answer.status == ACCEPTED[resource][0]


@PUT_AND_DELETE
async def test_an_if_match_with_an_asterisk_is_accepted(api: Api, resource: Resource) -> None:
    _, commands = await resource(api)

    assert [(await command({"If-Match": "*"})).status for command in commands] == ACCEPTED[resource]


@PUT_AND_DELETE
async def test_an_if_match_with_a_list_is_accepted_if_one_of_its_etags_is_current(api: Api, resource: Resource) -> None:
    etag, commands = await resource(api)

    for command in commands:
        assert (await command({"If-Match": '"stale", W/"other","third"'})).status == 412
    assert (await commands[0]({"If-Match": f'"stale", {etag}'})).status == ACCEPTED[resource][0]


@pytest.mark.parametrize("header", ['"a",,{etag}', "{etag},", ", ,\t{etag} ,\t,", ",{etag}"])
async def test_empty_elements_of_an_if_match_are_ignored(api: Api, header: str) -> None:
    """RFC 9110, 5.6.1.2."""
    etag, commands = await _of_post(api)

    assert (await commands[0]({"If-Match": header.format(etag='"stale"')})).status == 412
    assert (await commands[0]({"If-Match": header.format(etag=etag)})).status == 200


@PUT_AND_DELETE
async def test_a_command_for_what_does_not_exist_yet_is_rejected(api: Api, resource: Resource) -> None:
    """RFC 9110, 13.1.2."""
    etag, commands = await resource(api)

    for command in commands:
        for headers in ({"If-None-Match": "*"}, {"If-None-Match": " * ", "If-Match": etag}):
            answer = await command(headers)
            assert (answer.status, answer.body["title"]) == (412, "Version mismatch")


@PUT_AND_DELETE
async def test_a_command_for_any_other_version_is_refused(api: Api, resource: Resource) -> None:
    """Ignoring the condition could overwrite what the client excludes."""
    etag, commands = await resource(api)

    for command in commands:
        assert (await command({"If-None-Match": etag})).status == 400


@PUT_AND_DELETE
@pytest.mark.parametrize("header", ["", "unquoted", '"open', '"a" "b"', '"a",b', ",", ", ,", '"a",*', '"a",,b'])
async def test_a_malformed_if_match_is_rejected(api: Api, resource: Resource, header: str) -> None:
    _, commands = await resource(api)

    for command in commands:
        assert (await command({"If-Match": header})).status == 400


@pytest.mark.parametrize("name", ["If-Match", "Idempotency-Key"])
async def test_a_query_ignores_malformed_headers_of_commands(api: Api, name: str) -> None:
    post = await api.new_post(await api.new_user())

    for header in ("", "unquoted" * 40):
        assert (await api.get_post(post["id"], {name: header})).status == 200


async def _make_popular(api: Api, post: Json, *, renamed: Json) -> None:
    """Like and comment on the post, delete one of each, and wait until the post shows the new name of `renamed`."""
    readers = [await api.new_user() for _ in range(2)]
    for reader in readers:
        await api.new_like(post, reader)
        comment = await api.new_comment(post, reader)
    await api.delete_like(post["id"], readers[0]["id"])
    await api.delete_comment(post["id"], comment["id"])
    name = unique("countess")
    assert (await api.edit_user(renamed["id"], name)).status == 200

    async def shows_name() -> bool:
        answers = [
            await api.get_post(post["id"]),
            await api.list_comments(post["id"]),
            await api.list_likes(post["id"]),
        ]
        items = [answers[0].body, *answers[1].body["items"], *answers[2].body["items"]]
        return all(item["userUsername"] == name for item in items if item["userId"] == renamed["id"])

    await eventually(shows_name)


async def test_an_if_match_on_a_post_holds_despite_likes_comments_and_renames(api: Api) -> None:
    author = await api.new_user()
    created = await api.create_post(author["id"], "A title", "Some content.")
    post = created.body
    await _make_popular(api, post, renamed=author)

    edited = await api.edit_post(post["id"], "Another title", "Other content.", {"If-Match": created.etag})
    await _make_popular(api, post, renamed=author)
    late = await api.edit_post(post["id"], "Late", "Late.", {"If-Match": created.etag})
    late_deletion = await api.delete_post(post["id"], {"If-Match": created.etag})
    deleted = await api.delete_post(post["id"], {"If-Match": edited.etag})

    assert [answer.status for answer in (edited, late, late_deletion, deleted)] == [200, 412, 412, 204]
    assert (edited.body["title"], edited.body["likeCount"], edited.body["commentCount"]) == ("Another title", 1, 1)


async def test_an_if_none_match_on_a_post_names_the_whole_representation(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    before = await api.get_post(post["id"])
    await api.new_like(post, author)

    after = await api.get_post(post["id"], {"If-None-Match": before.etag})

    assert (after.status, after.body["likeCount"]) == (200, 1)


async def test_an_if_match_on_a_comment_or_like_holds_despite_a_rename(api: Api) -> None:
    reader = await api.new_user()
    post = await api.new_post(await api.new_user())
    comment = await api.create_comment(post["id"], reader["id"], "Well put.")
    like = await api.create_like(post["id"], reader["id"])
    await _make_popular(api, post, renamed=reader)

    answers = [
        await api.delete_comment(post["id"], comment.body["id"], {"If-Match": comment.etag}),
        await api.delete_like(post["id"], reader["id"], {"If-Match": like.etag}),
    ]

    assert [answer.status for answer in answers] == [204, 204]


async def test_an_if_match_of_a_removed_like_does_not_hold_for_the_next_like(api: Api) -> None:
    reader = await api.new_user()
    post = await api.new_post(reader)
    first = await api.create_like(post["id"], reader["id"])
    await api.delete_like(post["id"], reader["id"])
    second = await api.create_like(post["id"], reader["id"])

    stale, current = [
        await api.delete_like(post["id"], reader["id"], {"If-Match": like.etag}) for like in (first, second)
    ]

    assert (stale.status, current.status) == (412, 204)


async def test_an_if_match_cannot_change_the_predicate(api: Api) -> None:
    """The edit part of an ETag becomes a part of a patch's predicate, which takes no parameters."""
    post = await api.new_post(await api.new_user())
    _, _, version = (await api.get_post(post["id"])).etag.partition("/")
    parts = ("%27%20OR%20true%20OR%20c.editId%3D%27", "'||1=1||'", "0" * 33, "A" * 32, "%", "%00")

    answers = [await api.edit_post(post["id"], "Late", "Late.", {"If-Match": f'"{part}/{version}'}) for part in parts]

    assert {answer.status for answer in answers} == {412}
    assert (await api.get_post(post["id"])).body["title"] == post["title"]


async def test_large_json_is_compressed_and_its_etags_are_accepted(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author, content="Some content. " * 500)
    path = f"/api/posts/{post['id']}"

    plain = await api.send("GET", path, headers={"Accept-Encoding": "identity"})
    gzipped = await api.send("GET", path, headers={"Accept-Encoding": "gzip"})
    known = [
        await api.send("GET", path, headers={"Accept-Encoding": accepted, "If-None-Match": answer.etag})
        for accepted, answer in (("identity", plain), ("gzip", gzipped))
    ]
    edited = await api.edit_post(post["id"], "Another title", "c" * 5_000, {"If-Match": gzipped.etag})
    deleted = await api.delete_post(post["id"], {"If-Match": edited.etag})

    assert "content-encoding" not in plain.headers
    assert (gzipped.headers["content-encoding"], gzipped.body) == ("gzip", plain.body)
    assert gzipped.etag != plain.etag
    assert [(answer.status, answer.etag) for answer in known] == [(304, plain.etag), (304, gzipped.etag)]
    assert {answer.headers["vary"] for answer in (plain, gzipped, *known, edited)} == {"Accept-Encoding"}
    assert (edited.status, deleted.status) == (200, 204)


async def test_lists_are_compressed_and_small_json_is_not(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    for _ in range(5):
        await api.new_comment(post, author, "Well put. " * 30)
    accepts = {"Accept-Encoding": "gzip"}

    listed = await api.send("GET", f"/api/posts/{post['id']}/comments", headers=accepts)
    small = await api.send("GET", f"/api/users/{author['id']}", headers=accepts)

    assert listed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in small.headers


async def test_every_change_creates_a_new_etag(api: Api) -> None:
    author = await api.new_user()
    created = await api.create_post(author["id"], "A title", "Some content.")
    post = created.body
    edited = await api.edit_post(post["id"], "Another title", "Other content.", {"If-Match": created.etag})
    await api.new_like(post, author)
    liked = await api.get_post(post["id"])

    late = await api.edit_post(post["id"], "Late", "Late.", {"If-Match": created.etag})

    assert len({created.etag, edited.etag, liked.etag}) == 3
    assert late.status == 412
    assert (await api.get_post(post["id"])).body == liked.body


async def test_unknown_resources_return_404_regardless_of_if_match(api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    stale = {"If-Match": '"stale"'}

    answers = [
        await api.edit_user("unknown", "somebody", stale),
        await api.edit_post("unknown", "A title", "Some content.", stale),
        await api.edit_post("unknown", "A title", "Some content.", {"If-None-Match": "*"}),
        await api.delete_post("unknown", stale),
        await api.delete_comment(post["id"], "unknown", stale),
        await api.delete_like("unknown", user["id"], stale),
    ]

    assert {answer.status for answer in answers} == {404}


async def test_an_if_match_on_a_missing_like_is_rejected(api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)

    assert (await api.delete_like(post["id"], user["id"], {"If-Match": '"stale"'})).status == 412


@pytest.mark.parametrize("kind", ["user", "post"])
async def test_a_current_if_none_match_returns_304(api: Api, kind: str) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    path = f"/api/users/{user['id']}" if kind == "user" else f"/api/posts/{post['id']}"
    etag = (await api.send("GET", path)).etag

    for header in (etag, f"W/{etag}", "*", f'"other", {etag}', f'W/"other",W/{etag},"third"'):
        answer = await api.send("GET", path, headers={"If-None-Match": header})
        assert (answer.status, answer.content, answer.etag) == (304, b"", etag), header
        assert answer.charge_ru > 0
    for header in ('"other"', 'W/"other", "third"', etag.strip('"'), ""):
        assert (await api.send("GET", path, headers={"If-None-Match": header})).status == 200, header


async def test_if_none_match_on_an_unknown_resource_returns_404(api: Api) -> None:
    assert (await api.get_user("unknown", {"If-None-Match": "*"})).status == 404


async def test_etags_are_strong_and_quoted(api: Api) -> None:
    user = await api.create_user((await api.new_user())["username"] + "-y")

    assert user.etag.startswith('"')
    assert user.etag.endswith('"')
    assert len(user.etag) > 2


async def test_a_stale_if_match_is_rejected_even_if_the_edit_changes_nothing(api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    of_post, of_user = (await api.get_post(post["id"])).etag, (await api.get_user(user["id"])).etag
    name = unique("countess")
    first = await api.edit_post(post["id"], "Another", "Other.", {"If-Match": of_post})
    renamed = await api.edit_user(user["id"], name, {"If-Match": of_user})

    again = await api.edit_post(post["id"], "Another", "Other.", {"If-Match": of_post})
    renamed_again = await api.edit_user(user["id"], name, {"If-Match": of_user})

    assert (first.status, renamed.status) == (200, 200)
    assert (again.status, renamed_again.status) == (412, 412)


async def test_saving_a_post_without_a_change_changes_nothing(api: Api) -> None:
    author = await api.new_user()
    created = await api.create_post(author["id"], "A title", "Some content.")
    post_id = created.body["id"]

    same = await api.edit_post(post_id, "  A title ", "Some content.", {"If-Match": created.etag})
    edited = await api.edit_post(post_id, "A title", "Other content.", {"If-Match": same.etag})
    same_again = await api.edit_post(post_id, "A title", "Other content.")

    assert (same.status, same.body, same.etag) == (200, created.body, created.etag)
    assert "editedDate" in edited.body
    assert (same_again.body, same_again.etag) == (edited.body, edited.etag)
    assert same.charge_ru < edited.charge_ru / 5
