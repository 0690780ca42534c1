"""Faults before and after an operation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.faults.faults import Fault, Faults
from cosmos_emulator.faults.rule import DEFAULT_SUB_STATUS, Target, When
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.request import Request

_POLL_S: Final = 0.02


class ConnectionDropped(Exception):
    """The connection must be closed without a response."""


async def strike(faults: Faults, target: Target, when: When, is_connected: Callable[[], bool]) -> None:
    """Raise CosmosError or ConnectionDropped if a fault strikes before or after an operation."""
    fault = faults.striking(target, when)
    if fault is None:
        return
    rule = fault.rule
    if rule.effect == "hang":
        await _hang(fault, faults, is_connected)
    if isinstance(rule.effect, str):
        raise ConnectionDropped
    raise CosmosError(
        rule.effect,
        f"Fault {fault.number} of the emulator struck {rule.when} the operation.",
        sub_status=DEFAULT_SUB_STATUS[rule.effect] if rule.sub_status is None else rule.sub_status,
        retry_after_ms=rule.retry_after_ms,
    )


async def _hang(fault: Fault, faults: Faults, is_connected: Callable[[], bool]) -> None:
    loop = asyncio.get_running_loop()
    end = None if fault.rule.hang_ms is None else loop.time() + fault.rule.hang_ms / 1000
    fault.hanging += 1
    try:
        # Polled: transports do not signal that they closed, and any thread can remove a rule.
        while is_connected() and fault in faults and (end is None or loop.time() < end):  # noqa: ASYNC110 - see above
            await asyncio.sleep(_POLL_S)
    finally:
        fault.hanging -= 1


def target_of(request: Request, name: str) -> Target:
    """Return what fault rules select requests by."""
    link, resources = request.link, request.gateway.account.resources

    def named(kind: str) -> str | None:
        if kind not in link.kinds[: len(link.ids)]:
            return None
        text = link.ids[link.kinds.index(kind)]
        found = resources.find_rid(kind, text) if link.by_rid else None
        return found.id if found is not None else text

    return Target(name, named("dbs"), named("colls"), _scripts(request, named("sprocs")), _partition_key(request))


def _scripts(request: Request, procedure: str | None) -> frozenset[str]:
    triggers = (request.headers.get(name, "") for name in (h.PRE_TRIGGER, h.POST_TRIGGER))
    names = [name.strip() for named in triggers for name in named.split(",")]
    return frozenset(name for name in (procedure, *names) if name)


def _partition_key(request: Request) -> str | None:
    text = request.headers.get(h.PARTITION_KEY)
    try:
        return None if text is None else json_text.dump(json_text.parse(text)).decode()
    except CosmosError:
        return text  # the operation rejects it
