"""PUT /dbs/{db}/colls/{coll}: change the indexing policy or the default time to live."""

from __future__ import annotations

from cosmos_emulator.container_definition import completed
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import check_if_match


async def handle(request: Request) -> Answer:
    """Replace a container (200).

    Raises 412, 400 if the ID or the partition key differs, and 403 if the unique keys differ. The body repeats them all
    (azure-sdk-for-python#40070, azure-cosmos-js#354). A partition key without a version has version 1
    (terraform-provider-azurerm#27692).
    """
    container = request.container
    check_if_match(request, container.resource)
    present = container.resource.body
    body = completed({"id": present["id"], **request.json_object()})
    if body["id"] != present["id"]:
        raise CosmosError(400, "The id of a container cannot be changed.")
    if body["partitionKey"] != present["partitionKey"]:
        raise CosmosError(
            400,
            "Document collection partition key cannot be changed. Send the same definition; without a version, it has "
            "version 1.",
        )
    if body["uniqueKeyPolicy"] != present["uniqueKeyPolicy"]:
        raise CosmosError(
            403,
            "The unique index cannot be modified. Send the same uniqueKeyPolicy, or delete the container and create it "
            "again.",
        )
    await request.gateway.account.replace_container(container, body)
    return resource_answer(200, container.resource)
