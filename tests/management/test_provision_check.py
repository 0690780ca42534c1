"""`manage.py provision --check` compares and changes nothing, also with an identity instead of a key."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from azure.cosmos import PartitionKey
from cosmos_emulator import WELL_KNOWN_KEY
from typer.testing import CliRunner

from manage import app
from management.commands import check_definitions
from shared.platform.database.client import connect
from shared.platform.settings import Account
from shared.settings import Settings
from tests.blog import Blog, at
from tests.gateway import Gateway, named
from tests.identity import deployed_account, managed_identity
from tests.management.command_line import manage


async def check(settings: Settings) -> tuple[int, list[str]]:
    """Return the exit code and the lines without the request charge."""
    result = await manage(settings, "provision", "--check")
    return result.exit_code, [line for line in result.output.splitlines() if not line.startswith("Request charge")]


async def test_a_provisioned_database_is_equal(blog: Blog) -> None:
    equal = [f"Database {blog.settings.database}: equal to its definition."]

    assert await check(blog.settings) == (0, equal)


async def test_each_difference_is_printed_and_nothing_is_changed(blog: Blog) -> None:
    await blog.database.replace_container("users", PartitionKey("/userId"))
    await blog.database.delete_container("feed")
    await blog.database.delete_container("failures")
    await blog.database.create_container("failures", PartitionKey("/id"))
    scripts = blog.posts.proxy.scripts
    await scripts.replace_stored_procedure("createLike", {"id": "createLike", "body": "function () {}"})
    await scripts.delete_stored_procedure("createComment")

    first, second = [await check(blog.settings) for _ in range(2)]

    assert first == second
    assert first == (
        1,
        [
            "Container users: its indexing policy differs and its TTL differs.",
            "Stored procedure createComment: missing.",
            "Stored procedure createLike: differs.",
            "Container feed: missing.",
            "Container failures: its partition key is /id (version 2), not /source (version 2) and its indexing policy"
            " differs.",
        ],
    )


def test_a_check_runs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if running a command did not end the process."""
    ran: list[object] = []
    monkeypatch.setattr("manage._run", lambda _, command: ran.append(command))

    CliRunner().invoke(app, ["provision", "--check"])

    assert ran == [check_definitions]


async def test_a_missing_database_is_a_difference(blog: Blog) -> None:
    settings = blog.settings.model_copy(update={"database": "missing"})

    assert await check(settings) == (1, ["Database missing: missing."])


async def test_an_unsuitable_account_is_a_difference(blog: Blog) -> None:
    with Gateway(blog.settings.account.endpoint) as gateway:
        location = {"name": "North", "databaseAccountEndpoint": gateway.endpoint}
        account = {
            "writableLocations": [location],
            "readableLocations": [location],
            "enableMultipleWriteLocations": True,
            "userConsistencyPolicy": {"defaultConsistencyLevel": "Eventual"},
        }
        settings = at(blog.settings, gateway.endpoint)
        with gateway.answering(named("GET /"), 200, body=account):
            code, lines = await check(settings)

    assert code == 1
    assert lines[0].startswith("Account: it has multiple write regions, which can break unique usernames")
    assert lines[1] == (
        "Account: its default consistency is Eventual, not Session. Run `az cosmosdb update --default-consistency-level"
        " Session`."
    )


async def test_a_database_without_scripts_is_not_different_in_batch_mode(blog: Blog) -> None:
    with Gateway(blog.settings.account.endpoint) as gateway:
        settings = at(blog.settings, gateway.endpoint)
        with gateway.answering(named("GET sprocs posts"), 405):
            code, lines = await check(settings)

    assert code == 0
    assert lines[0].startswith("Not checked: scripts of posts, because the database returned 405")


@pytest.fixture
async def developer(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Settings, Settings]]:
    """The settings of a developer who signs in to a deployed account, and the settings of its deployment."""
    with deployed_account() as deployment:
        async with managed_identity(monkeypatch):
            yield Settings(account=Account(deployment.account.endpoint), database=deployment.database), deployment


async def test_an_identity_can_check_all_but_scripts(developer: tuple[Settings, Settings]) -> None:
    signed_in, deployment = developer

    code, lines = await check(signed_in)
    async with connect(deployment) as client:
        await client.get_database_client(deployment.database).delete_container("leases")
    code_after, lines_after = await check(signed_in)

    unchecked = "Not checked: stored procedures and triggers, because no data-plane role can read them."
    equal = f"Database {signed_in.database}: equal to its definition."
    assert (code, lines) == (0, [unchecked, equal])
    assert (code_after, lines_after) == (1, ["Container leases: missing.", unchecked])


async def test_an_identity_without_a_role_is_told_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deployment's hook tries again after 2, because a new role assignment takes minutes to work."""
    with deployed_account(actions=frozenset()) as deployment:
        async with managed_identity(monkeypatch):
            code, lines = await check(
                Settings(account=Account(deployment.account.endpoint), database=deployment.database)
            )

    assert code == 2
    assert lines[0].startswith("The identity has no data-plane role that allows this. Assign it one, or wait:")


async def test_an_identity_is_told_that_the_template_provisions(developer: tuple[Settings, Settings]) -> None:
    result = await manage(developer[0], "provision")

    assert result.exit_code == 2
    assert "`azd provision --no-state`" in result.output
    assert "--check" in result.output


async def test_check_cannot_be_combined_with_changes() -> None:
    settings = Settings(account=Account("http://localhost:1/", WELL_KNOWN_KEY), database="blog")

    for option in (("--seed",), ("--throughput", "400")):
        result = await manage(settings, "provision", "--check", *option)
        assert result.exit_code == 2
        assert "--check changes nothing" in result.output
