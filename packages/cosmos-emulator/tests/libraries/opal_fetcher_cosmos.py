"""Data that a query selects, and that a jq program transforms."""

from __future__ import annotations

import asyncio

from azure.cosmos import CosmosClient, PartitionKey
from opal_fetcher_cosmos.provider import CosmosFetcherConfig, CosmosFetchEvent, CosmosFetchProvider
from scenario import ENDPOINT, KEY

container = CosmosClient(ENDPOINT, KEY).create_database("opal").create_container("users", PartitionKey("/city"))
for name, city in (("ada", "London"), ("grace", "New York")):
    container.create_item({"id": name, "city": city})


async def fetched(**options: str) -> object:
    connection = {"database_name": "opal", "container_name": "users", "key": KEY}
    config = CosmosFetcherConfig(connection_params=connection, **options)
    event = CosmosFetchEvent(url=ENDPOINT, fetcher="CosmosFetchProvider", config=config)
    async with CosmosFetchProvider(event) as provider:
        return await provider.process(await provider.fetch())


query = "SELECT c.id, c.city FROM c WHERE STARTSWITH(c.city, 'Lon')"
assert asyncio.run(fetched(query=query)) == [{"id": "ada", "city": "London"}]
assert asyncio.run(fetched(query=query, jqProgram=".[].id")) == ["ada"]
