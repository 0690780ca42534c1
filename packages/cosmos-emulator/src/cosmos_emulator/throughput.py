"""Throughput documents ("offers"): what headers and bodies may say, and how much that is. throttle.py enforces it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http import headers as h
from cosmos_emulator.json_text import Json, JsonObject

_SMALLEST_RU_S: Final = 400
_SMALLEST_AUTOSCALE_RU_S: Final = 1000
DEFAULT_CONTENT: Final[JsonObject] = {"offerThroughput": _SMALLEST_RU_S}


def offer_content(headers: Mapping[str, str]) -> JsonObject | None:
    """The offer's content that the headers of a create ask for; None when they do not."""
    manual, autoscale = headers.get(h.OFFER_THROUGHPUT), headers.get(h.AUTOPILOT_SETTINGS)
    if manual and autoscale:
        raise CosmosError(400, "Give either a manual throughput or autoscale settings, not both.")
    if manual:
        return checked_content({"offerThroughput": json_text.parse(manual)})
    if autoscale:
        return checked_content({"offerAutopilotSettings": json_text.parse(autoscale)})
    return None


def checked_content(content: Json) -> JsonObject:
    """The content of an offer; 400 below the service's minimum or off its steps of 100 (autoscale: 1000)."""
    if not isinstance(content, dict):
        raise CosmosError(400, "An offer must have a content.")
    autoscale = content.get("offerAutopilotSettings")
    if isinstance(autoscale, dict):
        _check(autoscale.get("maxThroughput"), _SMALLEST_AUTOSCALE_RU_S, step=1000)
        return {"offerThroughput": _SMALLEST_RU_S, "offerAutopilotSettings": autoscale}
    _check(content.get("offerThroughput"), _SMALLEST_RU_S, step=100)
    return content


def provisioned_ru_s(offer: JsonObject) -> int:
    """RU/s of a throughput document: the maximum where they scale by themselves."""
    content = offer["content"]
    assert isinstance(content, dict)  # noqa: S101 - checked when it was stored, like the number below
    autoscale = content.get("offerAutopilotSettings")
    ru_s = autoscale.get("maxThroughput") if isinstance(autoscale, dict) else content.get("offerThroughput")
    assert isinstance(ru_s, int)  # noqa: S101 - see above
    return ru_s


def _check(ru_s: Json, smallest: int, step: int) -> None:
    if not isinstance(ru_s, int) or ru_s < smallest or ru_s % step:
        raise CosmosError(400, f"The throughput must be at least {smallest} RU/s in steps of {step}, not {ru_s!r}.")
