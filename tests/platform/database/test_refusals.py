"""Refusals of the database: the errors of scripts, and the log, with what Microsoft's support asks for."""

from __future__ import annotations

import logging

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError

from shared.platform.database.client import connect
from shared.platform.database.container import Container
from shared.platform.database.refusals import ScriptFailed
from shared.platform.deliveries.delivery import run_delivery
from shared.platform.errors import DatabaseUnavailable, ItemTooLarge, PartitionFull
from shared.propagation.change_feeds import POSTS_CHANGE_FEED
from tests.blog import Blog, at
from tests.gateway import Gateway, named

REASON = "the database answered 503 for posts: (ServiceUnavailable) "


async def test_the_reason_names_container_message_and_activity(blog: Blog) -> None:
    with (
        blog.emulator.settings.faults.during(f"503 database={blog.settings.database} container=posts"),
        pytest.raises(DatabaseUnavailable) as failed,
    ):
        await blog.posts.read("a", "a")

    assert failed.value.reason.startswith(REASON)
    assert "activity ID none" not in failed.value.reason
    assert str(failed.value) == "The database is unavailable; try again later."


async def test_a_failed_delivery_logs_the_reason(blog: Blog, caplog: pytest.LogCaptureFixture) -> None:
    async def handle(_: object) -> None:
        await blog.posts.read("a", "a")

    with (
        caplog.at_level(logging.INFO),
        blog.emulator.settings.faults.during(f"503 database={blog.settings.database} container=posts"),
        pytest.raises(DatabaseUnavailable),
    ):
        await run_delivery(POSTS_CHANGE_FEED, [], handle, deadline_s=60)

    assert any(line.startswith("delivery ") and REASON in line for line in caplog.messages)


async def test_the_reason_does_not_name_a_user(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    message = (
        '(Forbidden) Message: {"Errors":["The key ["username:ada"] is full."]}\r\nRequest URI: /docs/username:ada/'
    )

    async def refuse(*_: object, **__: object) -> None:
        raise CosmosHttpResponseError(403, message)

    users = blog.users
    monkeypatch.setattr(users.proxy, "read_item", refuse)
    with pytest.raises(DatabaseUnavailable) as refused:
        await users.read("username:ada", "username:ada")

    assert "ada" not in refused.value.reason
    assert refused.value.reason.startswith(
        'the database answered 403 for users: (Forbidden) Message: {"Errors":["The key'
    )


async def test_a_failed_delivery_does_not_log_a_name_that_the_app_mentions(caplog: pytest.LogCaptureFixture) -> None:
    async def handle(_: object) -> None:
        raise DatabaseUnavailable("other writes refused the release of username:ada 3 times")

    with caplog.at_level(logging.INFO), pytest.raises(DatabaseUnavailable):
        await run_delivery(POSTS_CHANGE_FEED, [], handle, deadline_s=60)

    assert any("the release of username:" in line for line in caplog.messages)
    assert not any("ada" in line for line in caplog.messages)


@pytest.mark.parametrize(
    ("number", "error"), [(403, PartitionFull), (413, ItemTooLarge), (449, DatabaseUnavailable), (404, ScriptFailed)]
)
async def test_a_number_that_a_script_throws_is_the_refusal_of_its_write(
    blog: Blog, number: int, error: type[Exception]
) -> None:
    with Gateway(blog.emulator.endpoint) as gateway:
        async with connect(at(blog.settings, gateway.endpoint)) as client:
            posts = Container(client.get_database_client(blog.settings.database).get_container_client("posts"))
            answer = {"x-ms-substatus": str(number)}
            with gateway.answering(named("createComment posts"), 400, headers=answer), pytest.raises(error):
                await posts.execute("createComment", "a", {})
