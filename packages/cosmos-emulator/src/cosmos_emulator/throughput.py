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
DEFAULT_CONTENT: Final[JsonObject] = {"offerThroughput": _SMALLEST_RU_S}


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
    """Return valid content. Raises 400 if its RU/s is out of range or not a multiple of 100 (autoscale: 1000)."""
    if not isinstance(content, dict):
        raise CosmosError(400, "An offer must have a 'content' object with its throughput.")
    autoscale = content.get("offerAutopilotSettings")
    if isinstance(autoscale, dict):
        _check(autoscale.get("maxThroughput"), _SMALLEST_AUTOSCALE_RU_S, step=1000)
        # A tenth of the maximum is the least that autoscale serves (azure-docs, provision-throughput-autoscale).
        return {"offerThroughput": int(str(autoscale["maxThroughput"])) // 10, "offerAutopilotSettings": autoscale}
    _check(content.get("offerThroughput"), _SMALLEST_RU_S, step=100)
    return content


def provisioned_ru_s(content: Json) -> int:
    """Return the RU/s of an offer's content; with autoscale, the maximum."""
    assert isinstance(content, dict)  # noqa: S101 - validated when stored, like the number below
    autoscale = content.get("offerAutopilotSettings")
    ru_s = autoscale.get("maxThroughput") if isinstance(autoscale, dict) else content.get("offerThroughput")
    assert isinstance(ru_s, int)  # noqa: S101 - see above
    return ru_s


def smallest_ru_s(content: Json) -> int:
    """Return the least RU/s, with autoscale of the maximum, to which an offer can be changed."""
    is_autoscale = isinstance(content, dict) and "offerAutopilotSettings" in content
    return _SMALLEST_AUTOSCALE_RU_S if is_autoscale else _SMALLEST_RU_S


def partitions_needed(content: Json, *, is_shared: bool) -> int:
    """Return the physical partitions of a new container, from its own or its database's (shared) throughput.

    Each starts with at most 10,000 RU/s, or 6,000 RU/s of a container's manual throughput. Source:
    learn.microsoft.com/azure/cosmos-db/scaling-provisioned-throughput-best-practices.
    """
    is_manual = isinstance(content, dict) and "offerAutopilotSettings" not in content and not is_shared
    return math.ceil(provisioned_ru_s(content) / (_PARTITION_MANUAL_RU_S if is_manual else _PARTITION_RU_S))


def partitions_serving(content: Json) -> int:
    """Return the least physical partitions that can serve the RU/s: more throughput splits until there are as many."""
    return math.ceil(provisioned_ru_s(content) / _PARTITION_RU_S)


def _check(ru_s: Json, smallest: int, step: int) -> None:
    valid = f"The offer should have valid throughput values, in steps of {step}"
    if not isinstance(ru_s, int) or (ru_s >= smallest and ru_s % step) or ru_s > _LARGEST_RU_S:
        raise CosmosError(400, f"{valid} up to {_LARGEST_RU_S}, not {ru_s!r}.")
    if ru_s < smallest:
        # Wording: azure-cosmos test_auto_scale.py.
        raise CosmosError(
            400, f"{valid}. Requested throughput {ru_s} is less than required minimum throughput {smallest}."
        )
