"""Provisioning creates what is missing and replaces what differs."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

from management.comparison import is_as_defined
from management.definitions import changeable_differences, script_text, unchangeable_differences
from management.errors import ManagementError, sentence
from management.provision import provision
from shared.containers import container_definitions
from shared.platform.database.client import connect
from shared.platform.settings import Account
from shared.settings import Settings
from tests.blog import Blog, EmulatorThread
from tests.items import unique

_POSTS = next(definition for definition in container_definitions() if definition["id"] == "posts")


async def _provision(blog: Blog, *, throughput: int | None = None) -> list[str]:
    lines: list[str] = []
    await provision(blog.settings, throughput=throughput, say=lines.append)
    return lines


async def test_provisioning_twice_changes_nothing(blog: Blog) -> None:
    before = [properties["_etag"] async for properties in blog.database.list_containers()]

    lines = await _provision(blog)

    assert lines == [f"Database {blog.settings.database}: up to date."]
    assert [properties["_etag"] async for properties in blog.database.list_containers()] == before


async def test_a_database_without_scripts_works_only_in_batch_mode(blog: Blog) -> None:
    database = f"fresh-{blog.settings.database}"
    settings = blog.settings.model_copy(update={"database": database})
    lines: list[str] = []

    refusals = f"500 operation=create-script database={database}"
    with blog.emulator.faults.during(refusals):
        await provision(settings, say=lines.append)
        with pytest.raises(CosmosHttpResponseError):
            await provision(settings.model_copy(update={"transactions": "procedure"}))

    assert any(line.startswith("Container posts: the database does not support scripts (500).") for line in lines)
    async with connect(settings) as client:
        await client.delete_database(database)


async def test_a_missing_container_is_created_with_its_scripts(blog: Blog) -> None:
    await blog.database.delete_container("feed")

    assert await _provision(blog) == ["Container feed: created.", "Trigger truncateFeed: created."]
    assert await _provision(blog) == [f"Database {blog.settings.database}: up to date."]


async def test_a_different_indexing_policy_and_ttl_are_replaced(blog: Blog) -> None:
    await blog.database.replace_container("posts", PartitionKey("/postId"))

    assert await _provision(blog) == ["Container posts: indexing policy and TTL replaced."]

    present = await blog.posts.proxy.read()
    assert (present["defaultTtl"], changeable_differences(_POSTS, present)) == (-1, [])


async def test_changed_scripts_are_replaced(blog: Blog) -> None:
    scripts = blog.posts.proxy.scripts
    await scripts.replace_stored_procedure("createLike", {"id": "createLike", "body": "function () {}"})
    trigger = {"id": "truncateFeed", "body": "function () {}", "triggerType": "Post", "triggerOperation": "Create"}
    await blog.feed.proxy.scripts.replace_trigger("truncateFeed", trigger)

    assert await _provision(blog) == ["Stored procedure createLike: replaced.", "Trigger truncateFeed: replaced."]

    assert (await scripts.get_stored_procedure("createLike"))["body"] == script_text("createLike")
    assert (await blog.feed.proxy.scripts.get_trigger("truncateFeed"))["triggerOperation"] == "All"


async def test_a_different_partition_key_is_rejected(blog: Blog) -> None:
    await blog.database.delete_container("posts")
    await blog.database.create_container("posts", PartitionKey("/id"))

    with pytest.raises(ManagementError, match=r"partition key is /id .* not /postId .* cannot be changed in place"):
        await _provision(blog)


async def test_throughput_is_set_for_a_new_database_and_changed_for_an_existing_one(blog: Blog) -> None:
    settings = blog.settings.model_copy(update={"database": f"{blog.settings.database}-shared"})
    database = replace(blog, settings=settings)

    assert (await _provision(database, throughput=400))[0] == f"Database {settings.database}: created with 400 RU/s."
    changed = await _provision(database, throughput=1000)
    again = await _provision(database, throughput=1000)

    assert changed == [f"Database {settings.database}: throughput changed from 400 to 1000 RU/s."]
    assert again == [f"Database {settings.database}: up to date."]


async def test_throughput_of_a_database_without_shared_throughput_is_rejected(blog: Blog) -> None:
    with pytest.raises(ManagementError, match="has no shared throughput"):
        await _provision(blog, throughput=400)


def test_additions_by_the_service_to_a_policy_are_ignored() -> None:
    policy = _POSTS["indexingPolicy"]
    as_answered = {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": entry["path"], "indexes": []} for entry in reversed(policy["includedPaths"])],
        "excludedPaths": [*policy["excludedPaths"], {"path": '/"_etag"/?'}],
        "compositeIndexes": policy["compositeIndexes"],
        "spatialIndexes": [],
    }

    assert changeable_differences(_POSTS, _POSTS | {"indexingPolicy": as_answered}) == []


def test_different_unique_keys_are_reported() -> None:
    present = _POSTS | {"uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/title"]}]}}

    assert unchangeable_differences(_POSTS, present) == ["its unique keys differ"]


def test_an_identity_without_its_role_is_told_what_to_do() -> None:
    message = "Request is blocked because principal [ada] does not have required RBAC permissions to perform action"
    refusal = CosmosHttpResponseError(status_code=403, message=message)

    text = sentence(refusal, None)

    assert text.startswith("The identity has no data-plane role that allows this. Assign it one, or wait:")


async def test_concurrent_runs_on_an_empty_account_all_succeed(emulator: EmulatorThread) -> None:
    settings = Settings(account=Account(emulator.endpoint, emulator.key), database=unique("concurrent"))
    lines: list[str] = []

    await asyncio.gather(*(provision(settings, say=lines.append) for _ in range(3)))

    assert sorted(line for line in lines if line.startswith("Container ")) == sorted(
        f"Container {declared['id']}: created." for declared in container_definitions()
    )
    assert lines.count("Stored procedure createLike: created.") == 1
    async with connect(settings) as client:
        assert await is_as_defined(settings, lines.append)
        await client.delete_database(settings.database)
