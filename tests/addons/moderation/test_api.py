"""Moderators delete posts, comments and accounts of others, with a reason that is recorded, and do nothing else."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import urlencode

import pytest
from aiohttp import ClientSession

from addons.moderation.container import NAME
from addons.moderation.deletions import AUDIT_TYPE
from shared.platform.database.client import connect
from shared.platform.database.container import Container
from tests.api import Api, ApiResponse, Json
from tests.auth.conftest import MODERATOR, SignedIn, principal
from tests.items import unique
from tests.running_app import RunningApp

REASON = "It insults people."


async def audit_of(app: RunningApp, item: Json) -> list[Json]:
    """Return the audit items about the deletion of an item."""
    async with connect(app.settings) as client:
        moderation = Container(client.get_database_client(app.settings.database).get_container_client(NAME))
        text = "SELECT * FROM c WHERE c.itemId = @id"
        return await moderation.query(text, {"id": item["id"]}, partition_key=AUDIT_TYPE, page_size=100)


async def page_of(api: Api, path: str) -> tuple[int, str]:
    async with api.session.get(api.url + path, headers=api.headers) as answer:
        return answer.status, await answer.text()


async def moderate(api: Api, path: str, headers: dict[str, str] | None = None, **query: object) -> ApiResponse:
    return await api.send("DELETE", f"/api/moderation/{path}?{urlencode(query)}", headers=headers)


async def written_by(author: Api) -> dict[str, tuple[str, Json]]:
    """Create a user with a post and a comment. Return the path and the item of each, in the order of deletions."""
    user = await author.new_user()
    post = await author.new_post(user)
    comment = await author.new_comment(post, user)
    return {
        "comment": (f"posts/{post['id']}/comments/{comment['id']}", comment),
        "post": (f"posts/{post['id']}", post),
        "user": (f"users/{user['id']}", user),
    }


@pytest.mark.parametrize("ban", [{}, {"ban": "true"}], ids=["deleted", "banned"])
async def test_a_moderator_deletes_with_a_reason(
    signed_in: SignedIn, moderator: Api, app_service_app: RunningApp, ban: dict[str, Any]
) -> None:
    author = signed_in(unique("ada"))
    written = await written_by(author)

    for kind, (path, item) in written.items():
        of_user = ban if kind == "user" else {}
        for reason in ("", " \t", "x" * 501, "a\0b"):
            assert (await moderate(moderator, path, reason=reason, **of_user)).status == 400
        assert (await moderate(moderator, path, {"If-Match": '"stale"'}, reason=REASON, **of_user)).status == 412
        assert await audit_of(app_service_app, item) == []
        assert (await moderate(moderator, path, reason=REASON, **of_user)).status == 204
        [audit] = await audit_of(app_service_app, item)
        shown = (audit["itemType"], audit["authorId"], audit["reason"], audit["isBan"])
        assert shown == (kind, written["user"][1]["id"], REASON, bool(of_user))
        assert item.get("content", "no content") not in str(audit)
    again = await author.create_user(unique("ada"))
    assert (again.status, "cannot register" in again.body["detail"]) == (409, bool(ban))


@pytest.mark.parametrize("ban", ["1", "yes", "TRUE", "true "])
async def test_a_malformed_ban_deletes_nothing(signed_in: SignedIn, moderator: Api, ban: str) -> None:
    author = signed_in(unique("ada"))
    user = await author.new_user()

    answer = await moderate(moderator, f"users/{user['id']}", reason=REASON, ban=ban)

    assert (answer.status, (await author.get_user(user["id"])).status) == (400, 200)


@pytest.mark.parametrize(("destination", "status"), [("document", 200), ("iframe", 403)])
async def test_a_link_of_another_site_leads_to_a_private_page_but_not_into_a_frame(
    moderator: Api, destination: str, status: int
) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": destination}

    async with moderator.session.get(f"{moderator.url}/reports", headers={**moderator.headers, **followed}) as page:
        assert page.status == status


async def test_a_reason_does_not_make_a_moderator(
    signed_in: SignedIn, stranger: Api, app_service_app: RunningApp
) -> None:
    author, mallory = signed_in(unique("ada")), signed_in(unique("mallory"))
    written = await written_by(author)

    for api, status in ((mallory, 403), (stranger, 401), (author, 403)):
        attempts = [await moderate(api, path, reason=REASON) for path, _ in written.values()]
        attempts += [await api.list_reports(), await api.send("DELETE", "/api/reports/some-id")]
        assert {answer.status for answer in attempts} == {status}
    for _, item in written.values():
        assert await audit_of(app_service_app, item) == []


async def test_a_moderator_can_do_nothing_else_for_others(signed_in: SignedIn, moderator: Api) -> None:
    author = signed_in(unique("ada"))
    user = await author.new_user()
    post = await author.new_post(user)
    comment = await author.new_comment(post, user)

    attempts = [
        await moderator.edit_post(post["id"], "A title", "Forged."),
        await moderator.edit_user(user["id"], unique("forged")),
        await moderator.delete_post(post["id"]),
        await moderator.delete_comment(post["id"], comment["id"]),
        await moderator.delete_user(user["id"]),
        await moderator.create_post(user["id"], "A title", "Forged."),
        await moderator.create_comment(post["id"], user["id"], "Forged."),
        await moderator.create_like(post["id"], user["id"]),
        await moderator.report(post["id"], user["id"], "Forged."),
    ]

    assert {answer.status for answer in attempts} == {403}


async def test_a_report_reaches_the_list_and_its_page_at_once(signed_in: SignedIn, moderator: Api) -> None:
    author, reader = signed_in(unique("ada")), signed_in(unique("reader"))
    post = await author.new_post(await author.new_user())
    user = await reader.new_user()

    first, again = [await reader.report(post["id"], user["id"], reason) for reason in (REASON, "Another.")]

    assert (first.status, again.status, again.body) == (201, 200, first.body)
    entries = (await moderator.list_reports(limit=100)).body["items"]
    entry = next(entry for entry in entries if entry["itemId"] == post["id"])
    assert (entry["title"], entry["userId"], entry["isEdited"]) == (post["title"], post["userId"], False)
    _, page = await page_of(moderator, "/reports")
    assert REASON in page
    assert post["title"] in page
    dismissed = await moderator.send("DELETE", first.headers["location"])
    assert dismissed.status == 204


async def test_an_author_reads_why_and_nobody_else_does(signed_in: SignedIn, moderator: Api, stranger: Api) -> None:
    author, mallory = signed_in(unique("ada")), signed_in(unique("mallory"))
    written = await written_by(author)
    for kind in ("comment", "post"):
        await moderate(moderator, written[kind][0], reason=f"The {kind} {REASON}")
    path = f"/users/{written['user'][1]['id']}/deletions"

    status, page = await page_of(author, path)

    assert status == 200
    assert f"The comment {REASON}" in page
    assert f"The post {REASON}" in page
    assert [(await page_of(api, path))[0] for api in (mallory, moderator, stranger)] == [403, 403, 401]
    assert f"{path}" in (await page_of(author, f"/users/{written['user'][1]['id']}"))[1]


async def test_only_a_moderator_sees_the_buttons_and_the_link(signed_in: SignedIn, moderator: Api) -> None:
    author = signed_in(unique("ada"))
    post = await author.new_post(await author.new_user())

    pages = [(await page_of(api, f"/posts/{post['id']}"))[1] for api in (author, moderator)]

    assert ["data-moderate" in page for page in pages] == [False, True]
    assert ['href="/reports"' in page for page in pages] == [False, True]
    assert all("data-report" in page for page in pages)


async def test_health_checks_the_container(signed_in: SignedIn) -> None:
    checks = (await signed_in(unique("ada")).send("GET", "/api/health")).body["checks"]

    assert checks["moderation"] == "ready"


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
