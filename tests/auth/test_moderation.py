"""Moderators delete posts, comments and accounts of others, with a reason that is recorded, and do nothing else."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from aiohttp import ClientSession

from management.audit import list_audit
from shared.database.client import connect
from tests.api import Api, Json
from tests.auth.conftest import MODERATOR, SignedIn, principal
from tests.blog import Blog
from tests.items import unique
from tests.running_app import RunningApp

REASON = "It insults people."


async def audit_of(app: RunningApp, item: Json) -> list[Json]:
    """The audit items about the deletion of an item."""
    async with connect(app.settings) as client:
        database = client.get_database_client(app.settings.database)
        blog = Blog(None, app.settings, database)  # type: ignore[arg-type]
        return [audit for audit in await list_audit(blog.stored) if audit["itemId"] == item["id"]]


async def test_a_moderator_deletes_a_comment_with_a_reason(
    signed_in: SignedIn, moderator: Api, app_service_app: RunningApp
) -> None:
    author = signed_in(unique("ada"))
    user = await author.new_user()
    post = await author.new_post(user)
    comment = await author.new_comment(post, user)

    unexplained = await moderator.delete_comment(post["id"], comment["id"])
    deleted = await moderator.delete_comment(post["id"], comment["id"], reason=REASON)
    again = await moderator.delete_comment(post["id"], comment["id"], reason=REASON)

    assert (unexplained.status, deleted.status, again.status) == (400, 204, 404)
    assert "reason" in unexplained.body["detail"]
    assert (await author.get_post(post["id"])).body["commentCount"] == 0
    [audit] = await audit_of(app_service_app, comment)
    assert (audit["itemType"], audit["authorId"], audit["reason"]) == ("comment", user["id"], REASON)
    assert comment["content"] not in str(audit)


async def test_a_moderator_deletes_a_post(signed_in: SignedIn, moderator: Api, app_service_app: RunningApp) -> None:
    author = signed_in(unique("ada"))
    user = await author.new_user()
    post = await author.new_post(user)

    stale = await moderator.delete_post(post["id"], {"If-Match": '"stale"'}, reason=REASON)
    unexplained = await moderator.delete_post(post["id"], reason=" ")
    deleted = await moderator.delete_post(post["id"], reason=REASON)

    assert (stale.status, unexplained.status, deleted.status) == (412, 400, 204)
    assert (await author.get_post(post["id"])).status == 404
    [audit] = await audit_of(app_service_app, post)
    assert (audit["itemType"], audit["authorId"], audit["reason"]) == ("post", user["id"], REASON)


@pytest.mark.parametrize("ban", [{}, {"ban": "true"}], ids=["deleted", "banned"])
async def test_a_moderator_deletes_an_account(
    signed_in: SignedIn, moderator: Api, app_service_app: RunningApp, ban: dict[str, Any]
) -> None:
    author = signed_in(unique("ada"))
    user = await author.new_user()

    unexplained = await moderator.delete_user(user["id"], **ban)
    deleted = await moderator.delete_user(user["id"], reason=REASON, **ban)

    assert (unexplained.status, deleted.status) == (400, 204)
    [audit] = await audit_of(app_service_app, user)
    assert (audit["itemType"], audit["isBan"], audit["reason"]) == ("user", bool(ban), REASON)
    again = await author.create_user(unique("ada"))
    assert again.status == 409
    assert ("banned" in again.body["detail"]) == bool(ban)


async def test_what_is_their_own_needs_no_reason(
    signed_in: SignedIn, moderator: Api, app_service_app: RunningApp
) -> None:
    user = await moderator.new_user()
    post = await moderator.new_post(user)
    comment = await moderator.new_comment(post, user)
    guest = signed_in(unique("guest"))
    of_guest = await guest.new_comment(post, await guest.new_user())

    deletions = [
        await moderator.delete_comment(post["id"], comment["id"]),
        await moderator.delete_comment(post["id"], of_guest["id"]),  # on their own post
        await moderator.delete_post(post["id"], reason=REASON),
        await moderator.delete_user(user["id"], ban="true"),
    ]

    assert [answer.status for answer in deletions] == [204] * 4
    for item in (comment, of_guest, post, user):
        assert await audit_of(app_service_app, item) == []


async def test_a_moderator_can_do_nothing_else_for_others(signed_in: SignedIn, moderator: Api) -> None:
    author = signed_in(unique("ada"))
    user = await author.new_user()
    post = await author.new_post(user)
    await author.new_like(post, user)

    attempts = [
        await moderator.edit_post(post["id"], "A title", "Forged."),
        await moderator.edit_user(user["id"], unique("forged")),
        await moderator.create_post(user["id"], "A title", "Forged."),
        await moderator.create_comment(post["id"], user["id"], "Forged."),
        await moderator.create_like(post["id"], user["id"]),
        await moderator.delete_like(post["id"], user["id"]),
        await moderator.report(post["id"], user["id"], "Forged."),
    ]

    assert {answer.status for answer in attempts} == {403}


async def test_a_reason_does_not_make_a_moderator(signed_in: SignedIn, app_service_app: RunningApp) -> None:
    author, mallory = signed_in(unique("ada")), signed_in(unique("mallory"))
    user = await author.new_user()
    post = await author.new_post(user)
    comment = await author.new_comment(post, user)

    attempts = [
        await mallory.delete_comment(post["id"], comment["id"], reason=REASON),
        await mallory.delete_post(post["id"], reason=REASON),
        await mallory.delete_user(user["id"], reason=REASON, ban="true"),
        await mallory.list_reports(),
    ]

    assert {answer.status for answer in attempts} == {403}
    for item in (user, post, comment):
        assert await audit_of(app_service_app, item) == []


@pytest.mark.parametrize("reason", ["", " \t", "x" * 501, "a\0b"])
async def test_a_reason_must_be_a_text(signed_in: SignedIn, moderator: Api, reason: str) -> None:
    author = signed_in(unique("ada"))
    post = await author.new_post(await author.new_user())

    assert (await moderator.delete_post(post["id"], reason=reason)).status == 400


async def test_concurrent_deletions_by_moderators_are_recorded_once(
    session: ClientSession, signed_in: SignedIn, app_service_app: RunningApp
) -> None:
    author = signed_in(unique("ada"))
    user = await author.new_user()
    post = await author.new_post(user)
    comment = await author.new_comment(post, user)
    moderators = [
        Api(session, app_service_app.url, {}, headers=principal(unique("moderator"), roles=[MODERATOR]))
        for _ in range(5)
    ]

    removed = await asyncio.gather(
        *(each.delete_comment(post["id"], comment["id"], reason=REASON) for each in moderators)
    )
    deleted = await asyncio.gather(*(each.delete_post(post["id"], reason=REASON) for each in moderators))

    assert sum(answer.status == 204 for answer in deleted) == 1
    assert sum(answer.status == 204 for answer in removed) >= 1  # a lost race is a success, because the comment is gone
    assert len(await audit_of(app_service_app, comment)) == 1
    assert len(await audit_of(app_service_app, post)) == 1


def _with_claims(content: object) -> dict[str, str]:
    encoded = content if isinstance(content, bytes) else base64.b64encode(json.dumps(content).encode())
    return principal(unique("mallory")) | {"X-MS-CLIENT-PRINCIPAL": encoded.decode()}


NOT_MODERATORS: dict[str, dict[str, str]] = {
    "another role": principal("m", roles=["Author", "moderator", "Moderator "]),
    "another provider": principal("m", "github", roles=[MODERATOR]),
    "another claim": principal("m")
    | _with_claims({"claims": [{"typ": "groups", "val": MODERATOR}], "role_typ": "roles"}),
    "not base64": _with_claims(b"%%%"),
    "not JSON": _with_claims(base64.b64encode(b"{")),
    "deep": _with_claims(base64.b64encode(b"[" * 3_000)),
    "a list": _with_claims([]),
    "no claims": _with_claims({"role_typ": "roles"}),
    "a text for claims": _with_claims({"claims": "roles"}),
    "a claim that is null": _with_claims({"claims": [None]}),
    "a type that the principal names": principal("m", roles=[MODERATOR], role_type="name"),
    "a list as the value": _with_claims({"claims": [{"typ": "roles", "val": [MODERATOR]}]}),
    "unhashable": _with_claims({"claims": [{"typ": ["roles"], "val": MODERATOR}], "role_typ": ["roles"]}),
}


@pytest.mark.parametrize("headers", NOT_MODERATORS.values(), ids=list(NOT_MODERATORS))
async def test_only_the_app_role_makes_a_moderator(
    session: ClientSession, app_service_app: RunningApp, headers: dict[str, str]
) -> None:
    api = Api(session, app_service_app.url, app_service_app.openapi, headers=headers)

    assert (await api.list_reports()).status == 403


@pytest.mark.parametrize("role_type", ["roles", "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"])
async def test_the_role_can_have_both_types_that_app_service_gives_it(
    session: ClientSession, app_service_app: RunningApp, role_type: str
) -> None:
    headers = principal("m", roles=["Author", MODERATOR], role_type=role_type)
    api = Api(session, app_service_app.url, app_service_app.openapi, headers=headers)

    assert (await api.list_reports()).status == 200


async def test_a_stranger_sees_no_reports(stranger: Api) -> None:
    answer = await stranger.list_reports()

    assert answer.status == 401
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("ban", ["1", "yes", "TRUE", "true%20"])
async def test_a_malformed_ban_deletes_nothing(signed_in: SignedIn, moderator: Api, ban: str) -> None:
    author = signed_in(unique("ada"))
    user = await author.new_user()

    answer = await moderator.delete_user(user["id"], reason=REASON, ban=ban)

    assert (answer.status, (await author.get_user(user["id"])).status) == (400, 200)
    assert (await moderator.delete_user(user["id"], reason=REASON, ban="false")).status == 204


async def test_only_a_user_can_be_banned(signed_in: SignedIn, moderator: Api) -> None:
    author = signed_in(unique("ada"))
    user = await author.new_user()
    post = await author.new_post(user)
    comment = await author.new_comment(post, user)

    answers = [
        await moderator.delete_comment(post["id"], comment["id"], reason=REASON, ban="true"),
        await moderator.delete_post(post["id"], reason=REASON, ban="true"),
    ]

    assert [answer.status for answer in answers] == [400, 400]
    assert (await author.get_post(post["id"])).body["commentCount"] == 1
