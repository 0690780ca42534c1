"""POST /dbs/{db}/colls."""

from __future__ import annotations

from typing import Final

from cosmos_emulator.container_definition import completed
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.container_bodies import container_body
from cosmos_emulator.throughput import default_content, offer_content, partitions_needed

_MOST_SHARING: Final = 25  # learn.microsoft.com/azure/cosmos-db/set-throughput, "Set throughput on a database"
# SharedThroughputDatabaseCollectionCountExceeded of Microsoft.Azure.Documents.SubStatusCodes. The status is that of its
# neighbor for databases, 1020 (azure-cosmos-dotnet-v3#1964).
_TOO_MANY_SHARE: Final = 1019


async def handle(request: Request) -> Answer:
    """Create a container, with defaults filled in (201). Raises 400 if it is invalid, 409 if the name is taken.

    If the headers set no throughput, the container shares the database's or gets the minimum. Its throughput and the
    setting `partitions` decide how many physical partitions it has.
    """
    account, database = request.gateway.account, request.database
    body = container_body(request)
    content, shared = offer_content(request.headers), account.offer_of(database)
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
    answer = resource_answer(201, container.resource)
    answer.headers[h.SHARE_THROUGHPUT] = str(content is None)
    return answer
