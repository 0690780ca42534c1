"""Another site cannot make a signed-in browser send a command (cross-site request forgery)."""

from __future__ import annotations

import json

import pytest

from tests.api import Api, Json
from tests.auth.conftest import SignedIn
from tests.items import unique

ORIGIN = "https://evil.example"


@pytest.fixture
def ada(signed_in: SignedIn) -> Api:
    return signed_in(unique("ada"))


@pytest.fixture
async def user(ada: Api) -> Json:
    return await ada.new_user()


@pytest.mark.parametrize(
    "media_type",
    # All that a page can send to another site without asking it first (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
    ],
)
async def test_a_body_of_a_form_is_refused(ada: Api, user: Json, media_type: str) -> None:
    content = json.dumps({"userId": user["id"], "title": "A title", "content": "Forged."}).encode()
    headers = {"Content-Type": media_type, "Origin": ORIGIN}

    assert (await ada.send("POST", "/api/posts", content=content, headers=headers)).status == 415


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_commands_of_other_sites_are_refused(ada: Api, user: Json, site: str) -> None:
    post = await ada.new_post(user)
    forged = {"Sec-Fetch-Site": site, "Origin": ORIGIN}

    answers = (
        await ada.create_post(user["id"], "A title", "Forged.", forged),
        await ada.edit_post(post["id"], "A title", "Forged.", forged),
        await ada.delete_post(post["id"], forged),
        await ada.edit_user(user["id"], unique("forged"), forged),
    )

    assert [answer.status for answer in answers] == [403] * 4
    assert (await ada.get_post(post["id"])).body["content"] == post["content"]


async def test_queries_of_other_sites_are_answered(ada: Api, user: Json) -> None:
    assert (await ada.get_user(user["id"], {"Sec-Fetch-Site": "cross-site"})).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        # Another site needs permission (CORS_ORIGINS in docs/deploy.md) to add this header, and then sends no cookie.
        {"Sec-Fetch-Site": "cross-site", "Authorization": "Bearer a.b.c"},
    ],
    ids=str,
)
async def test_other_commands_are_not(ada: Api, user: Json, headers: dict[str, str]) -> None:
    assert (await ada.create_post(user["id"], "A title", "Some content.", headers)).status == 201


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_no_origin_gets_permission(ada: Api, user: Json, method: str) -> None:
    """Without it, browsers send neither JSON nor other methods than GET, HEAD and POST across sites."""
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "content-type",
    }
    async with ada.session.options(f"{ada.url}/api/posts", headers=asked) as preflight:
        permissions = [name for name in preflight.headers if name.lower().startswith("access-control-")]
    answer = await ada.create_post(user["id"], "A title", "Some content.", {"Origin": ORIGIN})

    assert (preflight.status, permissions) == (404, [])
    assert [name for name in answer.headers if name.startswith("access-control-allow-")] == []


async def test_the_pages_of_a_permitted_origin_can_read_all_headers(ada: Api, user: Json) -> None:
    """The platform sends the permissions, but not this header."""
    created = await ada.create_post(user["id"], "A title", "Some content.", {"Origin": ORIGIN})
    refused = await ada.create_post("unknown", "A title", "Some content.", {"Origin": ORIGIN})

    for answer in (created, refused):
        readable = {name.strip().lower() for name in answer.headers["access-control-expose-headers"].split(",")}
        assert readable == {"etag", "location", "retry-after", "x-ms-request-charge", "x-ms-session-token"}


async def test_a_navigation_from_another_site_sends_no_command(ada: Api, user: Json) -> None:
    for destination in ("document", "iframe"):
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": destination}
        assert (await ada.create_post(user["id"], "A title", "Forged.", headers)).status == 403
