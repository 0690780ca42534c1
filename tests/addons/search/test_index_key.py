"""Which partition key a search wants: what the same search costs in indexes by type and by post."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos.aio import CosmosClient, DatabaseProxy
from cosmos_emulator import EmulatorSettings

from addons.search.index import index_definition
from addons.search.query import KINDS, SearchQuery
from tests.blog import EmulatorThread
from tests.polling import eventually

INDEX = index_definition()
POSTS = 200
POST_KIND, _ = KINDS
QUERY = SearchQuery(text="partition", words=("partition",))


async def search_charge(database: DatabaseProxy, paths: list[str], partition_key: dict[str, Any]) -> float:
    """The request units of a page of 20 results, in an index with this partition key."""
    container = await database.create_container(
        f"by{len(paths)}-{paths[0].strip('/')}",
        {"paths": paths, "kind": "Hash" if len(paths) == 1 else "MultiHash", "version": 2},
        indexing_policy=INDEX["indexingPolicy"],
        full_text_policy=INDEX["fullTextPolicy"],
        global_secondary_index=INDEX["globalSecondaryIndex"],
    )

    async def is_filled() -> bool:
        counted = container.query_items("SELECT VALUE COUNT(1) FROM c", **partition_key)
        return [count async for count in counted] == [POSTS]

    await eventually(is_filled)
    charges: list[float] = []
    parameters = [{"name": f"@{key}", "value": value} for key, value in QUERY.parameters.items()]
    rows = container.query_items(
        QUERY.statement(POST_KIND, 20),
        parameters=parameters,
        raw_response_hook=lambda sent: charges.append(float(sent.http_response.headers["x-ms-request-charge"])),
        **partition_key,
    )
    assert len([row async for row in rows]) == 20
    return sum(charges)


@pytest.mark.parametrize("partitions", [1, 4])
async def test_a_search_by_type_costs_the_same_in_any_number_of_partitions(partitions: int) -> None:
    with EmulatorThread(EmulatorSettings(partitions=partitions)) as emulator:
        async with CosmosClient(emulator.endpoint, emulator.key) as client:
            database = await client.create_database("keys")
            posts = await database.create_container("posts", {"paths": ["/postId"], "kind": "Hash", "version": 2})
            for number in range(POSTS):
                item: dict[str, Any] = {"id": f"p{number}", "postId": f"p{number}", "type": "post"}
                text = f"How to choose a partition key, part {number}. " * (1 + number % 5)
                await posts.upsert_item({**item, "title": f"Post {number}", "content": text})

            by_type = await search_charge(database, ["/type"], {"partition_key": "post"})
            by_type_and_id = await search_charge(database, ["/type", "/_id"], {"partition_key": ["post"]})
            by_post = await search_charge(database, ["/postId"], {})

    # The emulator estimates the charges of searches: docs/architecture.md has these figures.
    found = [round(charge, 2) for charge in (by_type, by_type_and_id, by_post)]
    assert found == [3.05, 3.05, {1: 10.79, 4: 38.64}[partitions]]
