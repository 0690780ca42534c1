"""POST …/sprocs, …/triggers, …/udfs."""

from __future__ import annotations

from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.scripts.edition import check_edition
from cosmos_emulator.vocabulary.names import canonical, checked_name

_REQUIRED: Final = {
    "sprocs": ("body",),
    "triggers": ("body", "triggerType", "triggerOperation"),
    "udfs": ("body",),
}
_ALLOWED: Final = {
    "triggerType": ("Pre", "Post"),
    "triggerOperation": ("All", "Create", "Replace", "Delete", "Update", "Upsert"),
}
_LIMITS: Final = {"sprocs": 100, "triggers": 25, "udfs": 50}


def checked_script(kind: str, body: JsonObject) -> JsonObject:
    """Return a valid script, unparsed until it runs. Raises 400.

    Trigger types and operations stay as sent, as in the service (azure-cosmosdb-node#148).
    """
    checked_name(body.get("id"))
    missing = [name for name in _REQUIRED[kind] if not isinstance(body.get(name), str)]
    if missing:
        names = "".join(f"{name}; " for name in missing)
        raise CosmosError(
            400, f"The input content is invalid because the required properties - '{names}' - are missing."
        )
    if kind == "triggers":
        for name, allowed in _ALLOWED.items():
            if canonical(body[name], allowed) is None:
                raise CosmosError(400, f"The {name} of a trigger must be one of {', '.join(allowed)}.")
    return body


async def check_edition_of(request: Request, body: JsonObject) -> None:
    """Raise 400 if a script is newer than the edition of the settings allows."""
    gateway = request.gateway
    if gateway.settings.script_edition != "latest":
        await gateway.in_worker(lambda: check_edition(str(body["body"])))


async def handle(request: Request) -> Answer:
    """Create a script (201). Raises 409, and 400 if there are too many (concepts-limits)."""
    container, kind = request.container, request.link.kinds[-1]
    account = request.gateway.account
    body = checked_script(kind, request.json_object())
    await check_edition_of(request, body)
    if len(account.resources.children(kind, container.rid)) >= _LIMITS[kind]:
        raise CosmosError(400, f"A container can have at most {_LIMITS[kind]} {kind}.")
    return resource_answer(201, account.add_script(container, kind, body), charge_ru=4.95)
