"""POST /dbs/{db}/colls."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from cosmos_emulator.definitions.container import completed
from cosmos_emulator.definitions.secondary_index import BUILDING, SecondaryIndexDefinition, with_status
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.throughput import default_content, index_content, offer_content, partitions_needed
from cosmos_emulator.operations.container_bodies import container_body
from cosmos_emulator.store.account import Account, Container
from cosmos_emulator.store.resources import Resource

_MOST_SHARING: Final = 25  # learn.microsoft.com/azure/cosmos-db/set-throughput, "Set throughput on a database"
# SharedThroughputDatabaseCollectionCountExceeded of Microsoft.Azure.Documents.SubStatusCodes. The status is as for its
# neighbor for databases, 1020 (azure-cosmos-dotnet-v3#1964).
_TOO_MANY_SHARE: Final = 1019
_MOST_INDEXES: Final = 5  # azure-cosmos 4.17, GlobalSecondaryIndexDefinition


async def handle(request: Request) -> Answer:
    """Create a container, with defaults filled in (201). Raises 400 if it is invalid, 409 if the name is taken.

    If the headers set no throughput, the container shares the database's or gets the minimum. Its throughput and the
    setting `partitions` decide how many physical partitions it has.
    """
    account, database = request.gateway.account, request.database
    body = container_body(request)
    content, shared = offer_content(request.headers), account.resources.offer_of(database)
    index = SecondaryIndexDefinition.parse(body)
    source = None if index is None else _source(account, database, index)
    if index is not None and source is not None:
        body = with_status(body, replace(index, source_rid=source.rid), BUILDING)
        content = index_content(content)
    if content is None and shared is not None:
        if len(account.containers_of(shared)) >= _MOST_SHARING:
            raise CosmosError(
                400,
                f"{_MOST_SHARING} containers already share the throughput of the database, the maximum. Create the"
                " container with throughput of its own.",
                sub_status=_TOO_MANY_SHARE,
            )
        needed = partitions_needed(shared.body["content"], is_shared=True)
    else:
        content = content or default_content()
        needed = partitions_needed(content, is_shared=False)
    container = account.add_container(database, completed(body), max(needed, request.gateway.settings.partitions))
    if content is not None:
        account.add_offer(container.resource, content)
    if source is not None:
        request.gateway.indexes_changed.set()
    answer = resource_answer(201, container.resource)
    answer.headers[h.SHARE_THROUGHPUT] = str(content is None)
    return answer


def _source(account: Account, database: Resource, index: SecondaryIndexDefinition) -> Container:
    """Return the source of a new index. Raises 400 if it does not exist or cannot have another index."""
    found = account.resources.find("colls", database.rid, index.source_id)
    if found is None:
        raise CosmosError(400, f"The source '{index.source_id}' of the global secondary index does not exist.")
    source = account.container(found.rid)
    if source.definition.source is not None:
        raise CosmosError(400, "The source of a global secondary index cannot be another index.")
    if len(account.indexes_of(source)) >= _MOST_INDEXES:
        raise CosmosError(400, f"A container can have at most {_MOST_INDEXES} global secondary indexes.")
    return source
