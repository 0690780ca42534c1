"""PUT /dbs/{db}/colls/{coll}: change the indexing policy or the default time to live."""

from __future__ import annotations

from typing import Final

from cosmos_emulator.definitions.container import completed, conflict_resolution
from cosmos_emulator.definitions.secondary_index import PROPERTIES, SecondaryIndexDefinition
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.container_bodies import container_body
from cosmos_emulator.operations.resource_requests import check_if_match
from cosmos_emulator.partitioning.partition_keys import PartitionKeyDefinition
from cosmos_emulator.search.policies import check_unchanged

# terraform-provider-azurerm#27692 (a key without a version), azure-sdk-for-python#40070 (unique keys)
_FIXED: Final = {
    "id": (400, "The id of a container cannot be changed."),
    "uniqueKeyPolicy": (
        403,
        "The unique index cannot be modified. Send the same uniqueKeyPolicy, or delete the container and create it "
        "again.",
    ),
}


async def handle(request: Request) -> Answer:
    """Replace a container (200).

    Raises 412, 400 if the ID, the partition key, the vectors or the conflict resolution policy differs, and 403 if the
    unique keys differ. A body without unique keys has none; azure-cosmos's `replace_container` cannot send them. A body
    without a conflict resolution policy has the default one (Azure/azure-powershell#11383).
    """
    container = request.container
    check_if_match(request, container.resource)
    present = container.resource.body
    body = completed({"id": present["id"], **container_body(request)}, is_new=False)
    index = SecondaryIndexDefinition.parse(body)
    if (index and index.text) != (container.definition.source and container.definition.source.text):
        raise CosmosError(400, "The definition of a global secondary index cannot be changed.")
    body |= {name: present[name] for name in PROPERTIES if name in present}
    if PartitionKeyDefinition.parse(body["partitionKey"]) != container.definition.partition_key:
        raise CosmosError(
            400,
            "Document collection partition key cannot be changed. Send the same definition; without a version, it has "
            "version 1.",
        )
    for name, (status, message) in _FIXED.items():
        if body[name] != present[name]:
            raise CosmosError(status, message)
    if conflict_resolution(body) != conflict_resolution(present):  # MicrosoftDocs/azure-docs#76341
        raise CosmosError(
            400,
            "The conflict resolution policy cannot be changed. Send the same policy; without one, it is the default.",
        )
    check_unchanged(present, body)
    await request.gateway.account.replace_container(container, body)
    return resource_answer(200, container.resource)
