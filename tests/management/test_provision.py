"""Provisioning: what is missing is made, what differs is replaced, what is right is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

from management.definitions import changeable_differences, unchangeable_differences
from management.errors import ManagementError, sentence
from management.provision import provision, script_text
from shared.containers import container_definitions
from shared.cosmos import connect
from tests.blog import Blog

_POSTS = next(definition for definition in container_definitions() if definition["id"] == "posts")


async def _said(blog: Blog, *, throughput: int | None = None) -> list[str]:
    lines: list[str] = []
    await provision(blog.settings, throughput=throughput, say=lines.append)
    return lines


async def test_a_provisioned_database_is_left_as_it_is(blog: Blog) -> None:
    before = [properties["_etag"] async for properties in blog.database.list_containers()]

    lines = await _said(blog)

    assert lines == [f"Database {blog.settings.database}: everything is in place."]
    assert [properties["_etag"] async for properties in blog.database.list_containers()] == before


async def test_a_database_without_scripts_is_enough_for_batches_and_not_for_procedures(blog: Blog) -> None:
    database = f"fresh-{blog.settings.database}"
    settings = replace(blog.settings, database=database)
    lines: list[str] = []

    refusals = f"500 operation=create-script database={database}"
    with blog.emulator.faults.during(refusals):
        await provision(settings, say=lines.append)
        with pytest.raises(CosmosHttpResponseError):
            await provision(replace(settings, transactions="procedure"))

    of_posts = "Container posts: the database takes no scripts (500); none is needed while BLOG_TRANSACTIONS is batch."
    assert of_posts in lines
    async with connect(settings) as client:
        await client.delete_database(database)


async def test_a_missing_container_is_made_with_its_scripts(blog: Blog) -> None:
    await blog.database.delete_container("feed")

    assert await _said(blog) == ["Container feed: created.", "Trigger truncateFeed: created."]
    assert await _said(blog) == [f"Database {blog.settings.database}: everything is in place."]


async def test_an_indexing_policy_and_a_ttl_that_differ_are_replaced(blog: Blog) -> None:
    await blog.database.replace_container("posts", PartitionKey("/postId"))

    assert await _said(blog) == ["Container posts: indexing policy and TTL replaced."]

    present = await blog.posts.proxy.read()
    assert (present["defaultTtl"], changeable_differences(_POSTS, present)) == (-1, [])


async def test_scripts_with_another_text_are_replaced(blog: Blog) -> None:
    scripts = blog.posts.proxy.scripts
    await scripts.replace_stored_procedure("createLike", {"id": "createLike", "body": "function () {}"})
    trigger = {"id": "truncateFeed", "body": "function () {}", "triggerType": "Post", "triggerOperation": "Create"}
    await blog.feed.proxy.scripts.replace_trigger("truncateFeed", trigger)

    assert await _said(blog) == ["Stored procedure createLike: replaced.", "Trigger truncateFeed: replaced."]

    assert (await scripts.get_stored_procedure("createLike"))["body"] == script_text("createLike")
    assert (await blog.feed.proxy.scripts.get_trigger("truncateFeed"))["triggerOperation"] == "All"


async def test_another_partition_key_is_refused_with_what_to_do(blog: Blog) -> None:
    await blog.database.delete_container("posts")
    await blog.database.create_container("posts", PartitionKey("/id"))

    with pytest.raises(ManagementError, match=r"partition key is /id .* not /postId .* cannot be changed in place"):
        await _said(blog)


async def test_throughput_is_set_for_a_new_database_and_changed_for_an_old_one(blog: Blog) -> None:
    settings = replace(blog.settings, database=f"{blog.settings.database}-shared")
    database = replace(blog, settings=settings)

    assert (await _said(database, throughput=400))[0] == f"Database {settings.database}: created with 400 RU/s."
    changed = await _said(database, throughput=1000)
    again = await _said(database, throughput=1000)

    assert changed == [f"Database {settings.database}: 1000 RU/s instead of 400."]
    assert again == [f"Database {settings.database}: everything is in place."]


async def test_a_database_without_throughput_of_its_own_cannot_be_given_any(blog: Blog) -> None:
    with pytest.raises(ManagementError, match="no throughput of its own"):
        await _said(blog, throughput=400)


def test_what_the_service_adds_to_a_policy_is_no_difference() -> None:
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


def test_unique_keys_that_differ_are_told() -> None:
    present = _POSTS | {"uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/title"]}]}}

    assert unchangeable_differences(_POSTS, present) == ["its unique keys are others"]


def test_an_identity_that_may_not_create_is_told_the_ways_that_there_are() -> None:
    refusal = CosmosHttpResponseError(status_code=403, message="Request blocked by Auth")
    refusal.sub_status = 5300

    text = sentence(refusal, None)

    assert all(word in text for word in ("403/5300", "Bicep", "az cosmosdb", "connection string"))
