"""`x-ms-session-token` takes what a client wrote to one instance to another one, whose replicas lag."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from shared.platform.database.client import connect
from shared.platform.database.sessions import Session
from tests.api import ApiResponse
from tests.blog import EmulatorThread
from tests.instances import TOKEN, Instances, rewritten
from tests.items import unique
from tests.problems import assert_problem
from tests.running_app import RunningApp


def token_of(answer: ApiResponse) -> dict[str, str]:
    return {TOKEN: answer.headers[TOKEN]}


# The answer to a command, the path to read, and whether the answer to that shows the command's result.
Ran = tuple[ApiResponse, str, Callable[[ApiResponse], bool]]


async def create_user(on: Instances) -> Ran:
    answer = await on.writer.create_user(unique("ada"))
    return answer, f"/api/users/{answer.body['id']}", lambda read: read.status == 200


async def rename_user(on: Instances) -> Ran:
    user, name = await on.writer.new_user(), unique("grace")
    on.let_replicas_catch_up()
    answer = await on.writer.edit_user(user["id"], name)
    return answer, f"/api/users/{user['id']}", lambda read: read.body["username"] == name


async def create_post(on: Instances) -> Ran:
    author = await on.writer.new_user()
    answer = await on.writer.create_post(author["id"], "A title", "Some content.")
    return answer, f"/api/posts/{answer.body['id']}", lambda read: read.status == 200


async def edit_post(on: Instances) -> Ran:
    post = await on.writer.new_post(await on.writer.new_user())
    on.let_replicas_catch_up()
    answer = await on.writer.edit_post(post["id"], "Another title", "Other content.")
    return answer, f"/api/posts/{post['id']}", lambda read: read.body["title"] == "Another title"


async def delete_post(on: Instances) -> Ran:
    post = await on.writer.new_post(await on.writer.new_user())
    on.let_replicas_catch_up()
    answer = await on.writer.delete_post(post["id"])
    return answer, f"/api/posts/{post['id']}", lambda read: read.status == 404


async def create_comment(on: Instances) -> Ran:
    author = await on.writer.new_user()
    post = await on.writer.new_post(author)
    on.let_replicas_catch_up()
    answer = await on.writer.create_comment(post["id"], author["id"], "Well put.")
    return answer, f"/api/posts/{post['id']}/comments", lambda read: len(read.body["items"]) == 1


async def delete_comment(on: Instances) -> Ran:
    author = await on.writer.new_user()
    post = await on.writer.new_post(author)
    comment = await on.writer.new_comment(post, author)
    on.let_replicas_catch_up()
    answer = await on.writer.delete_comment(post["id"], comment["id"])
    return answer, f"/api/posts/{post['id']}/comments", lambda read: read.body["items"] == []


async def like(on: Instances) -> Ran:
    author = await on.writer.new_user()
    post = await on.writer.new_post(author)
    on.let_replicas_catch_up()
    answer = await on.writer.create_like(post["id"], author["id"])
    return answer, f"/api/posts/{post['id']}/likes", lambda read: len(read.body["items"]) == 1


async def like_and_read_the_count(on: Instances) -> Ran:
    answer, path, _ = await like(on)
    return answer, path.removesuffix("/likes"), lambda read: read.body["likeCount"] == 1


async def unlike(on: Instances) -> Ran:
    author = await on.writer.new_user()
    post = await on.writer.new_post(author)
    await on.writer.new_like(post, author)
    on.let_replicas_catch_up()
    answer = await on.writer.delete_like(post["id"], author["id"])
    return answer, f"/api/posts/{post['id']}/likes", lambda read: read.body["items"] == []


COMMANDS: list[Callable[[Instances], Awaitable[Ran]]] = [
    *(create_user, rename_user, create_post, edit_post, delete_post, create_comment, delete_comment),
    *(like, like_and_read_the_count, unlike),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
async def test_a_token_shows_a_commands_result_on_another_instance(
    instances: Instances, command: Callable[[Instances], Awaitable[Ran]]
) -> None:
    answer, path, is_current = await command(instances)

    without = await instances.reader.send("GET", path)
    brought = await instances.reader.send("GET", path, headers=token_of(answer))

    assert not is_current(without)
    assert is_current(brought)
    assert brought.headers["x-ms-request-charge"]


async def test_a_read_waits_for_a_replica_to_reach_a_token(instances: Instances, lagging: EmulatorThread) -> None:
    user = await instances.writer.create_user(unique("ada"))

    with lagging.faults.during("404 operation=read container=users sub-status=1002 times=3") as refusals:
        read = await instances.reader.get_user(user.body["id"], token_of(user))

    assert (read.status, refusals.struck) == (200, 3)


async def test_a_token_shows_a_new_user_to_a_command_on_another_instance(instances: Instances) -> None:
    registered = await instances.writer.create_user(unique("ada"))
    user_id = registered.body["id"]

    without = await instances.reader.create_post(user_id, "A title", "Some content.")
    brought = await instances.reader.create_post(user_id, "A title", "Some content.", token_of(registered))

    assert (without.status, brought.status) == (404, 201)


async def test_a_token_is_at_least_as_new_as_the_one_that_the_command_brought(instances: Instances) -> None:
    registered = await instances.writer.create_user(unique("ada"))
    posted = await instances.reader.create_post(registered.body["id"], "A title", "Some content.", token_of(registered))
    instances.let_replicas_catch_up()
    renamed = await instances.writer.edit_user(registered.body["id"], unique("grace"), token_of(posted))
    edited = await instances.writer.edit_post(posted.body["id"], "Another title", "Some content.", token_of(renamed))

    user = await instances.reader.get_user(registered.body["id"], token_of(edited))
    post = await instances.reader.get_post(posted.body["id"], token_of(edited))

    assert user.body["username"] == renamed.body["username"]
    assert post.body["title"] == "Another title"


async def test_tokens_joined_by_commas_combine(instances: Instances) -> None:
    author = await instances.writer.new_user()
    posted = [await instances.writer.create_post(author["id"], "A title", "Some content.") for _ in range(8)]
    joined = {TOKEN: ", ".join(answer.headers[TOKEN] for answer in posted)}

    reads = [await instances.reader.get_post(answer.body["id"], joined) for answer in posted]

    assert [read.status for read in reads] == [200] * 8


async def test_every_command_of_a_shared_batch_returns_the_token(instances: Instances) -> None:
    users = [await instances.writer.new_user() for _ in range(12)]
    post = await instances.writer.new_post(users[0])
    instances.let_replicas_catch_up()

    liked = await asyncio.gather(*(instances.writer.create_like(post["id"], user["id"]) for user in users))
    read = await instances.reader.get_post(post["id"], {TOKEN: ",".join(answer.headers[TOKEN] for answer in liked)})

    assert read.body["likeCount"] == 12


async def test_a_replay_returns_a_token_that_shows_the_first_result(instances: Instances) -> None:
    author = await instances.writer.new_user()
    key = {"Idempotency-Key": unique("key")}
    first = await instances.writer.create_post(author["id"], "A title", "Some content.", key)
    again = await instances.writer.create_post(author["id"], "A title", "Some content.", key)

    read = await instances.reader.get_post(first.body["id"], token_of(again))

    assert (again.status, read.status) == (201, 200)


async def test_a_conditional_read_with_a_token_is_not_answered_from_a_stale_version(instances: Instances) -> None:
    user = await instances.writer.create_user(unique("ada"))
    instances.let_replicas_catch_up()
    renamed = await instances.writer.edit_user(user.body["id"], unique("grace"))
    known = {"If-None-Match": user.etag}

    without = await instances.reader.get_user(user.body["id"], known)
    brought = await instances.reader.get_user(user.body["id"], known | token_of(renamed))

    assert (without.status, brought.status) == (304, 200)


async def test_a_rename_back_is_written_although_replicas_still_show_that_name(instances: Instances) -> None:
    first = unique("ada")
    user = await instances.writer.create_user(first)
    instances.let_replicas_catch_up()
    await instances.writer.edit_user(user.body["id"], unique("grace"))

    outdated = await instances.reader.edit_user(user.body["id"], first, {"If-Match": user.etag})
    undone = await instances.reader.edit_user(user.body["id"], first)
    instances.let_replicas_catch_up()

    read = await instances.writer.get_user(user.body["id"])
    assert (outdated.status, undone.status, read.body["username"]) == (412, 200, first)


async def test_if_match_is_compared_with_the_latest_state_of_a_user(instances: Instances) -> None:
    user = await instances.writer.create_user(unique("ada"))
    instances.let_replicas_catch_up()
    renamed = await instances.writer.edit_user(user.body["id"], unique("grace"))

    again = await instances.reader.edit_user(user.body["id"], unique("ada"), {"If-Match": renamed.etag})
    deleted = await instances.writer.delete_user(user.body["id"], {"If-Match": again.etag})

    assert (again.status, deleted.status) == (200, 204)


async def test_a_forged_token_is_ignored_at_once_and_changes_nothing_for_other_requests(instances: Instances) -> None:
    own = await instances.reader.create_user(unique("ada"))
    path, forged = own.headers["location"], rewritten(own, r"#\d+", "#999999999999999999")
    await instances.reader.send("GET", path)  # the SDK forgets the session of the container that it used last

    answers = await asyncio.gather(*(instances.reader.send("GET", path, headers=forged) for _ in range(5)))
    listed = await instances.reader.send("GET", f"{path}/posts", headers=forged)
    read = await instances.reader.send("GET", path)
    written = await instances.reader.create_post(own.body["id"], "A title", "Some content.", forged)
    after = await instances.writer.get_post(written.body["id"], token_of(written))

    # A refused read, the primary's answer, and the read.
    assert [(answer.status, answer.charge_ru) for answer in answers] == [(200, read.charge_ru + 2)] * 5
    assert (listed.status, read.status, written.status, after.status) == (200, 200, 201, 200)


async def test_a_forged_token_cannot_fail_the_shared_front_page(
    instances: Instances, apps: tuple[RunningApp, RunningApp]
) -> None:
    settings = apps[0].settings
    async with connect(settings) as client:
        feed = await client.get_database_client(settings.database).get_container_client("feed").read()
    forged = Session()
    forged.add(feed["_rid"], ",".join(f"{range_id}:-1#999999999999999999" for range_id in range(4)))

    answers = [await instances.reader.send("GET", "/api/feed", headers={TOKEN: str(forged)}) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        pytest.param(r"[^/,]+/(\d+:-?\d+)#\d+", r"AAAAAIAAAAA=/\1#999999999999999999", id="deleted-container"),
        pytest.param(r"/\d+:(-?\d+)#\d+", r"/9999:\1#999999999999999999", id="unknown-range"),
        pytest.param(r"(#\d+)", r"\1#3=-1#7=12", id="regions"),
    ],
)
async def test_a_token_that_cannot_apply_locks_nobody_out(instances: Instances, pattern: str, replacement: str) -> None:
    created = await instances.writer.create_user(unique("ada"))
    instances.let_replicas_catch_up()

    read = await instances.reader.get_user(created.body["id"], rewritten(created, pattern, replacement))

    assert read.status == 200


@pytest.mark.parametrize(
    "content",
    [
        *("", ",", "x", "0:-1#5", "AAAAAIAAAAE=/0:-1#5,", "AAAAAIAAAAE=/0:5", "AAAAAIAAAAE=/0:-1#5#", "a/b/0:-1#5"),
        *("AAAAAIAAAAE=/0:-1#1234567890123456789", "AAAAAIAAAAE=/0:-1#5\r\nx: y", "AAAAAIAAAAE=/٣:-1#5", "\0"),
        "AAAAAIAAAAE=/" + "0:-1#5" + "#1=2" * 10,
    ],
)
async def test_a_token_with_invalid_content_returns_400(instances: Instances, content: str) -> None:
    token = "1." + base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")

    answer = await instances.reader.send("GET", "/api/posts/any", headers={TOKEN: token})

    assert_problem(answer, 400, "Malformed request", "/api/posts/any")


@pytest.mark.parametrize(
    "token",
    ["x", "1", "0:-1#5", "2.QUFBPS8wOi0xIzU", "1.A", "1.*", "1.QUFBPS8wOi0xIzU, x", "1.é", "1." + "QUFB" * 1000],
)
async def test_a_text_that_is_not_a_token_returns_400_and_says_what_to_do(instances: Instances, token: str) -> None:
    for method, path in (("GET", "/api/feed"), ("DELETE", "/api/posts/any"), ("GET", "/api/users/any")):
        answer = await instances.reader.send(method, path, headers={TOKEN: token})

        assert_problem(answer, 400, "Malformed request", path)
        assert answer.body["detail"] == "x-ms-session-token is invalid; send the last one unchanged, or none."
        assert "x-ms-request-charge" not in answer.headers


async def test_a_token_stays_short_and_adds_no_charge(instances: Instances) -> None:
    author = await instances.writer.create_user(unique("ada"))
    answer = author
    for _ in range(30):
        answer = await instances.writer.create_post(author.body["id"], "A title", "Some content.", token_of(answer))
    instances.let_replicas_catch_up()

    # The first use of a container costs a read of its properties.
    _, without = [await instances.reader.get_post(answer.body["id"]) for _ in range(2)]
    brought = await instances.reader.get_post(answer.body["id"], token_of(answer))

    assert len(answer.headers[TOKEN]) < 400
    assert brought.charge_ru == without.charge_ru


async def test_only_commands_return_tokens(instances: Instances) -> None:
    user: dict[str, Any] = await instances.writer.new_user()

    read = await instances.writer.get_user(user["id"])

    assert TOKEN not in read.headers


async def test_a_rename_succeeds_although_replicas_lack_the_previous_one(instances: Instances) -> None:
    user = await instances.writer.new_user()
    instances.let_replicas_catch_up()
    await instances.writer.edit_user(user["id"], unique("grace"))

    stale = await instances.reader.edit_user(user["id"], name := unique("ada"))

    assert (stale.status, stale.body["username"]) == (200, name)
