"""What Microsoft's worker, which sets the root logger to INFO, logs of the app and of its requests to the database."""

from __future__ import annotations

from checks.real_host.conftest import RealApp
from tests.api import Api
from tests.items import unique
from tests.polling import eventually


async def test_the_log_contains_no_usernames_and_no_requests_to_the_database(real_app: RealApp, real_api: Api) -> None:
    former, new = unique("telling"), unique("telling")
    author = (await real_api.create_user(former)).body
    post = await real_api.new_post(author, title="A telling title")
    assert (await real_api.edit_user(author["id"], new)).status == 200

    async def is_renamed() -> bool:
        items = (await real_api.get_feed(limit=100)).body["items"]
        return any(item["id"] == post["id"] and item["userUsername"] == new for item in items)

    await eventually(is_renamed)
    # The app's own lines arrive at INFO.
    await eventually(lambda: real_app.host.log_lines(containing='delivery function="on_users_changed"'))
    assert not real_app.host.log_lines(containing="telling")
    assert not real_app.host.log_lines(containing="Request URL")
