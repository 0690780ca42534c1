"""Provisioned throughput ("offers"): validation, RU/s and the partitions it needs. http/throttle.py enforces it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.messages import headers as h

_SMALLEST_RU_S: Final = 400
_SMALLEST_AUTOSCALE_RU_S: Final = 1000
_LARGEST_RU_S: Final = 1_000_000  # concepts-limits
_PARTITION_RU_S: Final = 10_000
_PARTITION_MANUAL_RU_S: Final = 6_000
_LIMITS: Final = "offerMinimumThroughputParameters"
_HIGHEST: Final = "maxThroughputEverProvisioned"
_MIGRATIONS: Final = (h.MIGRATE_TO_AUTOSCALE, h.MIGRATE_TO_MANUAL)


def default_content() -> JsonObject:
    """Return the offer content of a container without throughput, in a database without throughput."""
    return checked_content({"offerThroughput": _SMALLEST_RU_S})


def index_content(content: JsonObject | None) -> JsonObject:
    """Return the offer content of a global secondary index. Raises 400 without autoscale, which it must have."""
    if content is None:
        return checked_content({"offerAutopilotSettings": {"maxThroughput": _SMALLEST_AUTOSCALE_RU_S}})
    if not _is_autoscale(content):
        raise CosmosError(400, "A global secondary index must have autoscale throughput.")
    return content


def offer_content(headers: Mapping[str, str]) -> JsonObject | None:
    """Return the offer content that the headers request, or None. Raises 400 if it is invalid."""
    manual, autoscale = headers.get(h.OFFER_THROUGHPUT), headers.get(h.AUTOPILOT_SETTINGS)
    if manual and autoscale:
        raise CosmosError(400, "Set either a manual throughput or autoscale settings, not both.")
    if manual:
        return checked_content({"offerThroughput": json_text.parse(manual)})
    if autoscale:
        return checked_content({"offerAutopilotSettings": json_text.parse(autoscale)})
    return None


def checked_content(content: Json) -> JsonObject:
    """Return valid content. Raises 400 if its RU/s is out of range or not a multiple of 100 (autoscale: 1000).

    It remembers the highest RU/s ever, in the service's properties (azure-sdk-for-js, OfferDefinition.ts).
    """
    if not isinstance(content, dict):
        raise CosmosError(400, "An offer must have a 'content' object with its throughput.")
    autoscale = content.get("offerAutopilotSettings")
    smallest = smallest_ru_s(content)
    if isinstance(autoscale, dict):
        _check(autoscale.get("maxThroughput"), smallest, step=1000)
        # A tenth of the maximum is the least that autoscale serves (azure-docs, provision-throughput-autoscale).
        least = int(str(autoscale["maxThroughput"])) // 10
        valid: JsonObject = {"offerThroughput": least, "offerAutopilotSettings": autoscale}
    else:
        _check(content.get("offerThroughput"), smallest, step=100)
        valid = content
    return {**valid, _LIMITS: {_HIGHEST: _highest_ru_s(content), "maxConsumedStorageEverInKB": 0}}


def replaced_content(before: Json, content: Json, headers: Mapping[str, str]) -> JsonObject:
    """Return the content of an offer after its replacement. Raises 400 if it is invalid.

    Only a migration switches between manual throughput and autoscale. It ignores the RU/s of the body, and clients send
    -1. Sources: learn.microsoft.com/rest/api/cosmos-db/replace-an-offer for the requests, the autoscale FAQ for the
    RU/s, azure-cosmos-dotnet-v3#1856 and azure-cosmos-throughput-scheduler#14 for the messages.
    """
    was_autoscale, is_autoscale = _is_autoscale(before), _is_autoscale(content)
    highest_ru_s = _highest_ru_s(before)
    limits: JsonObject = {_LIMITS: {_HIGHEST: highest_ru_s}}
    to_autoscale, to_manual = (headers.get(name, "").lower() == "true" for name in _MIGRATIONS)
    if not was_autoscale and (to_autoscale or is_autoscale):
        if is_autoscale or not to_autoscale:
            raise CosmosError(
                400,
                f"{h.MIGRATE_TO_AUTOSCALE} must be supplied and offercontent must not contain autopilotSettings"
                " for migration from manual throughput to autoscale.",
            )
        most_ru_s = max(_SMALLEST_AUTOSCALE_RU_S, _rounded(max(provisioned_ru_s(before), highest_ru_s // 10)))
        return checked_content({"offerAutopilotSettings": {"maxThroughput": most_ru_s}, **limits})
    if was_autoscale and (to_manual or not is_autoscale):
        if not (is_autoscale and to_manual):
            raise CosmosError(
                400,
                f"{h.MIGRATE_TO_MANUAL} must be supplied and offercontent must contain autopilotSettings"
                " for migration of autoscale collection to manual throughput",
            )
        return checked_content({"offerThroughput": provisioned_ru_s(before), **limits})
    return checked_content({**content, **limits} if isinstance(content, dict) else content)


def provisioned_ru_s(content: Json) -> int:
    """Return the RU/s of an offer's content; with autoscale, the maximum."""
    assert isinstance(content, dict)  # noqa: S101 - validated when stored, like the number below
    ru_s = _ru_s(content)
    assert isinstance(ru_s, int)  # noqa: S101 - see above
    return ru_s


def smallest_ru_s(content: Json) -> int:
    """Return the least RU/s, with autoscale of the maximum, to which an offer can be changed.

    It depends on the highest RU/s ever, and on the storage, here below the 100 GB from which it matters. Sources:
    concepts-limits, "Minimum throughput limits"; the autoscale FAQ for the rounding.
    """
    highest_ru_s = _highest_ru_s(content)
    if _is_autoscale(content):
        return max(_SMALLEST_AUTOSCALE_RU_S, _rounded(highest_ru_s // 10))
    return max(_SMALLEST_RU_S, -(-highest_ru_s // (100 * 100)) * 100)  # in steps of 100


def partitions_needed(content: Json, *, is_shared: bool) -> int:
    """Return the physical partitions of a new container, from its own or its database's (shared) throughput.

    Each starts with at most 10,000 RU/s, or 6,000 RU/s of a container's manual throughput. Source:
    learn.microsoft.com/azure/cosmos-db/scaling-provisioned-throughput-best-practices.
    """
    is_manual = not _is_autoscale(content) and not is_shared
    return math.ceil(provisioned_ru_s(content) / (_PARTITION_MANUAL_RU_S if is_manual else _PARTITION_RU_S))


def partitions_serving(content: Json) -> int:
    """Return the least physical partitions that can serve the RU/s: more throughput splits until there are as many."""
    return math.ceil(provisioned_ru_s(content) / _PARTITION_RU_S)


def check_growth(before: Json, content: JsonObject, *, has_containers: bool) -> None:
    """Raise 400 if autoscale throughput grows beyond a partition's, but no container uses it.

    Source: azure-cosmos-dotnet-v3#5319.
    """
    grows = provisioned_ru_s(content) > max(provisioned_ru_s(before), _PARTITION_RU_S)
    if _is_autoscale(content) and grows and not has_containers:
        raise CosmosError(
            400,
            "There are no collections using the shared database offer. Please retry the scale operation after creating"
            " a collection that uses database offer",
        )


def _highest_ru_s(content: Json) -> int:
    assert isinstance(content, dict)  # noqa: S101 - checked by the callers, or stored
    limits = content.get(_LIMITS)
    remembered = limits.get(_HIGHEST) if isinstance(limits, dict) else None
    return max((ru_s for ru_s in (remembered, _ru_s(content)) if isinstance(ru_s, int)), default=0)


def _ru_s(content: JsonObject) -> Json:
    autoscale = content.get("offerAutopilotSettings")
    return autoscale.get("maxThroughput") if isinstance(autoscale, dict) else content.get("offerThroughput")


def _rounded(ru_s: int) -> int:
    return (ru_s + 500) // 1000 * 1000


def _is_autoscale(content: Json) -> bool:
    return isinstance(content, dict) and isinstance(content.get("offerAutopilotSettings"), dict)


def _check(ru_s: Json, smallest: int, step: int) -> None:
    valid = f"The offer should have valid throughput values, in steps of {step}"
    if not isinstance(ru_s, int) or (ru_s >= smallest and ru_s % step) or ru_s > _LARGEST_RU_S:
        raise CosmosError(400, f"{valid} up to {_LARGEST_RU_S}, not {ru_s!r}.")
    if ru_s < smallest:
        # Wording: azure-cosmos test_auto_scale.py.
        raise CosmosError(
            400, f"{valid}. Requested throughput {ru_s} is less than required minimum throughput {smallest}."
        )
