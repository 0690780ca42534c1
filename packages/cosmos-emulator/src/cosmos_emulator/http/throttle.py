"""Throttling: 429 once a physical partition has used its share of the provisioned throughput for a second.

The RU/s of a container (with autoscale, its maximum) are divided evenly among its physical partitions
(learn.microsoft.com/azure/cosmos-db/partitioning-overview). A request is charged when it ends, so the last request
in a second can exceed the share. Starting each second from zero is an assumption.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.scope import slices_of
from cosmos_emulator.messages.throughput import provisioned_ru_s
from cosmos_emulator.store.account import Container
from cosmos_emulator.vocabulary.operation_names import ITEM_OPERATIONS

SPENT: Final = 3200
_SMALLEST_RU_S: Final = 400


class Throttle:
    """Counts the RU that each partition has used in the current second of `clock`."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._charges = gateway.charges
        self._clock = gateway.settings.clock
        self._second = 0
        self._spent_ru: dict[tuple[str, str], float] = {}

    async def around(self, request: Request, name: str, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Run `work` and count its charge. Raises 429/3200 instead if no throughput is left."""
        if name not in ITEM_OPERATIONS:
            return await work()
        container = request.container
        partitions = [one.partition.id for one in slices_of(request, container)]
        owner, share_ru = self._share(container)
        self._admit(container, owner, partitions, share_ru)
        try:
            answer = await work()
        except CosmosError as error:
            self._spend(owner, partitions, self._charges.refusal(error.status))
            raise
        # Not `partitions`: a query reads fewer if its filter names their keys.
        self._spend(owner, answer.headers[h.PARTITIONS].split(","), answer.charge_ru)
        return answer

    def _share(self, container: Container) -> tuple[str, float]:
        for owner in (container.resource, container.database):
            offer = self._gateway.account.resources.offer_of(owner)
            if offer is not None:
                return owner.rid, provisioned_ru_s(offer.body["content"]) / len(container.partitions)
        return container.rid, _SMALLEST_RU_S / len(container.partitions)

    def _admit(self, container: Container, owner: str, partitions: Iterable[str], share_ru: float) -> None:
        now_s = self._clock()
        if int(now_s) != self._second:
            self._second = int(now_s)
            self._spent_ru.clear()
        full = next((one for one in partitions if self._spent_ru.get((owner, one), 0.0) >= share_ru), None)
        if full is not None:
            error = CosmosError(
                429,
                "Request rate is large. More Request Units may be needed, so no changes were made. Please retry this "
                "request later. Learn more: http://aka.ms/cosmosdb-error-429",
                sub_status=SPENT,
                retry_after_ms=max(1, math.ceil((self._second + 1 - now_s) * 1000)),
            )
            error.headers = {h.CONTENT_PATH: container.rid, h.PARTITION_KEY_RANGE_ID: full, h.PARTITIONS: full}
            raise error

    def _spend(self, owner: str, partitions: list[str], charge_ru: float) -> None:
        for partition in partitions:
            key = (owner, partition)
            self._spent_ru[key] = self._spent_ru.get(key, 0.0) + charge_ru / len(partitions)
