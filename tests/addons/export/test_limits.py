"""A user's data is for the user themselves, and not too often."""

from __future__ import annotations

from addons.export.user_data import EXPORTS_TTL_S, EXPORTS_TYPE, PAGES, ExportPosition
from shared.platform.database.client import connect
from tests.api import Api
from tests.auth.conftest import SignedIn
from tests.items import unique
from tests.running_app import RunningApp


async def test_only_the_user_gets_their_data(signed_in: SignedIn, moderator: Api, stranger: Api) -> None:
    own, other = signed_in(unique("ada")), signed_in(unique("mallory"))
    user = await own.new_user()
    await other.new_user()

    answers = [await api.get_user_data(user["id"]) for api in (own, other, moderator, stranger)]

    assert [answer.status for answer in answers] == [200, 403, 403, 401]
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}


async def test_a_user_gets_a_number_of_pages(signed_in: SignedIn, app_service_app: RunningApp) -> None:
    own, other = signed_in(unique("ada")), signed_in(unique("grace"))
    user = await own.new_user()
    for _ in range(3):
        await own.new_post(user)
    first = await own.get_user_data(user["id"], limit=1)
    async with connect(app_service_app.settings) as client:
        users = client.get_database_client(app_service_app.settings.database).get_container_client("users")
        until_last = [{"op": "set", "path": "/count", "value": PAGES - 1}]
        await users.patch_item(EXPORTS_TYPE, user["id"], until_last)

    last = await own.get_user_data(user["id"], limit=1)
    cursors = ({}, {"cursor": first.body["nextCursor"]}, {"cursor": str(ExportPosition("", "FF"))})
    refused = [await own.get_user_data(user["id"], limit=1, **cursor) for cursor in cursors]

    assert (first.status, last.status) == (200, 200)
    assert {(answer.status, answer.body["title"]) for answer in refused} == {(429, "Too many exports")}
    assert all(EXPORTS_TTL_S - 60 < int(answer.headers["retry-after"]) <= EXPORTS_TTL_S for answer in refused)
    assert (await other.get_user_data((await other.new_user())["id"])).status == 200


async def test_the_number_of_exports_does_not_survive_the_account(signed_in: SignedIn) -> None:
    own = signed_in(unique("ada"))
    user = await own.new_user()
    await own.get_user_data(user["id"])

    assert (await own.delete_user(user["id"])).status == 204
    assert (await own.get_user_data(user["id"])).status == 404


async def test_another_site_cannot_use_up_the_exports_of_its_visitors(signed_in: SignedIn) -> None:
    own = signed_in(unique("ada"))
    user, other = await own.new_user(), {"Sec-Fetch-Site": "cross-site"}
    sent = [other | {"Sec-Fetch-Mode": mode} for mode in ("cors", "no-cors")]
    sent += [other | {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": to} for to in ("document", "iframe")]

    answers = [await own.send("GET", f"/api/users/{user['id']}/data", headers=headers) for headers in sent]

    assert {answer.status for answer in answers} == {403}
