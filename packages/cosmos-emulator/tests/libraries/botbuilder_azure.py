"""The state of a bot: keys that Cosmos DB does not allow, ETags, and a container that exists already."""

from __future__ import annotations

import asyncio

from azure.cosmos.exceptions import CosmosAccessConditionFailedError
from botbuilder.azure import CosmosDbPartitionedConfig, CosmosDbPartitionedStorage
from botbuilder.core import ConversationState, TurnContext
from botbuilder.core.adapters import TestAdapter
from scenario import ENDPOINT, KEY


def storage(**options: object) -> CosmosDbPartitionedStorage:
    config = CosmosDbPartitionedConfig(
        cosmos_db_endpoint=ENDPOINT, auth_key=KEY, database_id="bots", container_id="state", **options
    )
    return CosmosDbPartitionedStorage(config)


async def check_storage() -> None:
    first = storage()
    await first.write({"a/b?c": {"text": "é", "e_tag": "*"}, "other": {"text": "other"}})
    found = await storage().read(["a/b?c", "other", "absent"])
    assert {key: item["text"] for key, item in found.items()} == {"a/b?c": "é", "other": "other"}
    await first.write({"a/b?c": {**found["a/b?c"], "text": "changed"}})
    try:
        await first.write({"a/b?c": {**found["a/b?c"], "text": "late"}})
    except CosmosAccessConditionFailedError:
        assert (await first.read(["a/b?c"]))["a/b?c"]["text"] == "changed"
    else:
        raise AssertionError("A write with an old ETag must fail")
    await first.delete(["a/b?c", "absent"])
    assert await first.read(["a/b?c"]) == {}
    suffixed = storage(key_suffix="-test")
    await suffixed.write({"other": {"text": "suffixed"}})
    assert [(await one.read(["other"]))["other"]["text"] for one in (first, suffixed)] == ["other", "suffixed"]


async def check_bot() -> None:
    """A bot counts the messages of a conversation."""
    state = ConversationState(storage())
    count = state.create_property("count")

    async def answer(context: TurnContext) -> None:
        number = await count.get(context, lambda: 0) + 1
        await count.set(context, number)
        await context.send_activity(f"{number}")
        await state.save_changes(context)

    adapter = TestAdapter(answer)
    for text, number in (("a", "1"), ("b", "2")):
        await (await adapter.send(text)).assert_reply(number)


asyncio.run(check_storage())
asyncio.run(check_bot())
