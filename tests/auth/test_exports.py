"""A user's data is for the user themselves, and not too often."""

from __future__ import annotations

from shared.data.user_data import EXPORTS, EXPORTS_TTL_S
from tests.api import Api
from tests.auth.conftest import SignedIn
from tests.items import unique


async def test_only_the_user_gets_their_data(signed_in: SignedIn, moderator: Api, stranger: Api) -> None:
    own, other = signed_in(unique("ada")), signed_in(unique("mallory"))
    user = await own.new_user()
    await other.new_user()

    answers = [await api.get_user_data(user["id"]) for api in (own, other, moderator, stranger)]

    assert [answer.status for answer in answers] == [200, 403, 403, 401]
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}


async def test_a_user_can_start_a_number_of_exports(signed_in: SignedIn) -> None:
    own, other = signed_in(unique("ada")), signed_in(unique("grace"))
    user = await own.new_user()
    for _ in range(3):
        await own.new_post(user)

    started = [await own.get_user_data(user["id"], limit=1) for _ in range(EXPORTS)]
    refused = await own.get_user_data(user["id"], limit=1)
    continued = await own.get_user_data(user["id"], limit=1, cursor=started[0].body["nextCursor"])

    assert {answer.status for answer in started} == {200}
    assert (refused.status, refused.body["title"]) == (429, "Too many exports")
    assert EXPORTS_TTL_S - 60 < int(refused.headers["retry-after"]) <= EXPORTS_TTL_S
    assert continued.status == 200  # what was started can be finished
    assert (await other.get_user_data((await other.new_user())["id"])).status == 200


async def test_the_number_of_exports_does_not_survive_the_account(signed_in: SignedIn) -> None:
    own = signed_in(unique("ada"))
    user = await own.new_user()
    await own.get_user_data(user["id"])

    assert (await own.delete_user(user["id"])).status == 204
    assert (await own.get_user_data(user["id"])).status == 404
