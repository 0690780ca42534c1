"""Authorization: every command, tried on another user's resources (OWASP API1, API5).

A command that is added without an attempt here fails a test.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.api import Api, ApiResponse, Json
from tests.auth.conftest import SignedIn
from tests.items import unique
from tests.operations import Operation, operations

COMMANDS = {operation.name: operation for operation in operations() if operation.is_command}


@dataclass(frozen=True)
class Victim:
    """A user with a post. The user commented on and liked that post and another user's post (`elsewhere`)."""

    api: Api
    user: Json
    post: Json
    comment: Json
    elsewhere: Json
    comment_elsewhere: Json

    async def everything(self) -> list[Any]:
        """Every response that shows the victim's resources."""
        seen = [await self.api.get_user(self.user["id"])]
        for post in (self.post, self.elsewhere):
            seen.append(await self.api.get_post(post["id"]))
            seen.append(await self.api.list_comments(post["id"]))
            seen.append(await self.api.list_likes(post["id"]))
        return [answer.body for answer in seen]


@pytest.fixture
async def victim(signed_in: SignedIn) -> Victim:
    own, host = signed_in(unique("victim")), signed_in(unique("host"))
    user, post_host = await own.new_user(), await host.new_user()
    post, elsewhere = await own.new_post(user), await host.new_post(post_host)
    await own.new_like(post, user)
    await own.new_like(elsewhere, user)
    comment, comment_elsewhere = await own.new_comment(post, user), await own.new_comment(elsewhere, user)
    return Victim(own, user, post, comment, elsewhere, comment_elsewhere)


# Requests that another signed-in user tries, by command.
Attempt = Callable[[Api, Victim], Awaitable[ApiResponse]]
ATTEMPTS: dict[str, list[Attempt]] = {
    # A registration cannot name a user; see test_registration.py.
    "create_user": [],
    "edit_user": [lambda api, victim: api.edit_user(victim.user["id"], unique("mallory"))],
    "delete_user": [lambda api, victim: api.delete_user(victim.user["id"])],
    "create_post": [lambda api, victim: api.create_post(victim.user["id"], "A title", "Forged.")],
    "edit_post": [
        lambda api, victim: api.edit_post(victim.post["id"], "A title", "Forged."),
        lambda api, victim: api.edit_post(victim.post["id"], "A title", "Forged.", {"If-Match": '"stale"'}),
        lambda api, victim: api.edit_post(victim.post["id"], victim.post["title"], victim.post["content"]),
    ],
    "delete_post": [lambda api, victim: api.delete_post(victim.post["id"])],
    "create_comment": [
        lambda api, victim: api.create_comment(victim.post["id"], victim.user["id"], "Forged."),
        lambda api, victim: api.create_comment(victim.elsewhere["id"], victim.user["id"], "Forged."),
    ],
    "delete_comment": [
        lambda api, victim: api.delete_comment(victim.post["id"], victim.comment["id"]),
        lambda api, victim: api.delete_comment(victim.elsewhere["id"], victim.comment_elsewhere["id"]),
    ],
    "create_like": [lambda api, victim: api.create_like(victim.post["id"], victim.user["id"])],
    "delete_like": [lambda api, victim: api.delete_like(victim.post["id"], victim.user["id"])],
}


def test_every_command_has_attempts() -> None:
    assert set(ATTEMPTS) == set(COMMANDS)


@pytest.mark.parametrize("command", [name for name, attempts in ATTEMPTS.items() if attempts])
@pytest.mark.parametrize("registered", [True, False], ids=["registered", "unregistered"])
async def test_a_caller_cannot_act_as_another_user(
    signed_in: SignedIn, victim: Victim, command: str, registered: bool
) -> None:
    mallory = signed_in(unique("mallory"))
    if registered:
        await mallory.new_user()
    before = await victim.everything()

    answers = [await attempt(mallory, victim) for attempt in ATTEMPTS[command]]

    for answer in answers:
        assert (answer.status, answer.body["title"]) == (403, "Forbidden")
        assert answer.headers["www-authenticate"].startswith('Bearer realm="blog", error="insufficient_scope"')
    assert await victim.everything() == before


def path_of(operation: Operation, values: dict[str, str]) -> str:
    return "/api/" + operation.route.format_map(values)


# aiohttp warns about bodies over 1 MB.
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
@pytest.mark.parametrize("operation", COMMANDS.values(), ids=list(COMMANDS))
async def test_unauthenticated_commands_reveal_nothing(stranger: Api, victim: Victim, operation: Operation) -> None:
    existing = {
        "userId": victim.user["id"],
        "postId": victim.post["id"],
        "commentId": victim.comment["id"],
    }
    before = await victim.everything()

    answers = [
        await stranger.send(operation.method, path_of(operation, values), content=content, headers=headers)
        for values in (existing, dict.fromkeys(existing, "unknown"), dict.fromkeys(existing, "a%23b"))
        for content, headers in (
            (b"{", {"Content-Type": "application/json"}),
            (b"x" * 1_100_000, {}),
            (
                b'{"userId": "x"}',
                {"Content-Type": "application/json", "If-Match": "nonsense", "x-ms-session-token": "nonsense"},
            ),
        )
    ]

    assert {answer.status for answer in answers} == {401}
    assert len({answer.content.replace(answer.body["instance"].encode(), b"") for answer in answers}) == 1
    assert not any("x-ms-request-charge" in answer.headers for answer in answers)
    assert await victim.everything() == before


async def test_queries_ignore_tokens(stranger: Api, victim: Victim) -> None:
    queries = [each for each in operations() if not each.is_command and not each.endpoint.private]
    values = {"userId": victim.user["id"], "postId": victim.post["id"]}

    for headers in ({}, {"Authorization": "Bearer garbage"}):
        answers = [await stranger.send("GET", path_of(query, values), headers=headers) for query in queries]
        assert {answer.status for answer in answers} == {200}


async def test_a_user_can_change_their_own_resources(signed_in: SignedIn) -> None:
    api = signed_in(unique("ada"))
    user = await api.new_user()
    post = await api.new_post(user)
    comment = await api.new_comment(post, user)
    await api.new_like(post, user)

    renamed = await api.edit_user(user["id"], unique("grace"))
    edited = await api.edit_post(post["id"], "A title", "Better.")
    unliked = await api.delete_like(post["id"], user["id"])
    uncommented = await api.delete_comment(post["id"], comment["id"])
    deleted = await api.delete_post(post["id"])

    answers = (renamed, edited, unliked, uncommented, deleted)
    assert [answer.status for answer in answers] == [200, 200, 204, 204, 204]


async def test_a_comment_can_be_deleted_by_its_author_and_the_posts_author(signed_in: SignedIn, victim: Victim) -> None:
    visitor = signed_in(unique("visitor"))
    guest = await visitor.new_user()
    first, second = [await visitor.new_comment(victim.post, guest) for _ in range(2)]

    by_the_posts_author = await victim.api.delete_comment(victim.post["id"], first["id"])
    by_its_author = await visitor.delete_comment(victim.post["id"], second["id"])

    assert (by_the_posts_author.status, by_its_author.status) == (204, 204)
    assert (await visitor.get_post(victim.post["id"])).body["commentCount"] == 1


async def test_unknown_resources_return_404_to_signed_in_callers(signed_in: SignedIn, victim: Victim) -> None:
    api = signed_in(unique("ada"))
    user = await api.new_user()
    await victim.api.delete_post(victim.post["id"])

    titles = [
        answer.body["title"]
        for answer in (
            await api.edit_post("unknown", "A title", "Some content."),
            await api.edit_post(victim.post["id"], "A title", "Some content."),
            await api.delete_post(victim.post["id"]),
            await api.delete_comment("unknown", "unknown"),
            await api.delete_comment(victim.post["id"], victim.comment["id"]),
            await api.delete_comment(victim.elsewhere["id"], "unknown"),
            await api.delete_comment(victim.elsewhere["id"], victim.elsewhere["id"]),
            await api.create_comment("unknown", user["id"], "Well put."),
        )
    ]

    assert titles == ["Post not found"] * 5 + ["Comment not found"] * 2 + ["Post not found"]


async def test_checking_a_posts_owner_costs_nothing_extra(signed_in: SignedIn, api: Api) -> None:
    own = signed_in(unique("ada"))
    charges = []
    for client in (own, api):
        user = await client.new_user()
        post = await client.new_post(user)
        edited = await client.edit_post(post["id"], "A title", "Some content, edited.")
        charges.append(edited.charge_ru)

    # An edit in another second than the creation also changes `_ts`, which costs 0.38 RU; a read would cost 1 RU.
    assert charges[0] == pytest.approx(charges[1], abs=0.5)


async def test_server_controlled_fields_are_rejected(signed_in: SignedIn) -> None:
    """OWASP API3, mass assignment: try each property that items or responses add in each request body."""
    api = signed_in(unique("ada"))
    user = await api.new_user()
    post = await api.new_post(user)
    bodies = {
        "create_user": {"username": unique("ada")},
        "edit_user": {"username": unique("ada")},
        "create_post": {"userId": user["id"], "title": "A title", "content": "Some content."},
        "edit_post": {"title": "A title", "content": "Some content."},
        "create_comment": {"userId": user["id"], "content": "Well put."},
        "create_like": {"userId": user["id"]},
    }
    assert set(bodies) == {name for name, operation in COMMANDS.items() if operation.endpoint.body}
    values = {"userId": user["id"], "postId": post["id"], "commentId": "unknown"}
    foreign = ["id", "type", "postId", "userUsername", "creationDate", "commentCount", "likeCount", "version", "ttl"]
    foreign += [
        "nameVersion",
        "formerUsernames",
        "ownerId",
        "fingerprint",
        "_etag",
        "_ts",
        "_self",
        "__proto__",
        "user_id",
    ]

    for name, body in bodies.items():
        for field in [*foreign, "userId"]:
            if field in body:
                continue
            operation = COMMANDS[name]
            answer = await api.send(operation.method, path_of(operation, values), body={**body, field: 1})
            assert answer.status == 422, f"{name}: {field}"
            assert [fault["pointer"] for fault in answer.body["errors"]] == [f"/{field}"]
