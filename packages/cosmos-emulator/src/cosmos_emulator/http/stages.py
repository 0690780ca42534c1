"""The stages before an operation: RBAC, faults, throttling and session checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cosmos_emulator.consistency import replicas_read
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.http.fault_stage import with_faults
from cosmos_emulator.http.rbac import DataRole
from cosmos_emulator.http.routes import Operation
from cosmos_emulator.http.throttle import Throttle
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.sessions import check_session
from cosmos_emulator.operation_names import ITEM_OPERATIONS, ITEM_READS, operation_name

# The status is an assumption: the documentation says only that indexes are read-only.
_WRITES: Final = (ITEM_OPERATIONS - ITEM_READS) | {"delete-partition-key"}


class Stages:
    """Applies the currently enabled stages."""

    def __init__(self, gateway: Gateway) -> None:
        self.role = DataRole(gateway.settings)
        self._settings = gateway.settings
        self._throttle = Throttle(gateway)
        self._gate = gateway.gate

    async def run(
        self, operation: Operation, request: Request, *, is_manager: bool, is_connected: Callable[[], bool]
    ) -> Answer:
        """Run the operation, unless a stage raises.

        A manager, who has the management key, is exempt from `rbac`. `is_connected` tells whether the client still
        waits.
        """
        name = operation_name(operation)
        if self._settings.rbac and not is_manager:
            self.role.check(name, request)

        async def work() -> Answer:
            async with self._gate:
                if name in _WRITES and request.container.definition.source is not None:
                    raise CosmosError(403, "A global secondary index is read-only. Write to its source container.")
                if name in ITEM_OPERATIONS:
                    if name != "batch":  # checks it itself
                        check_session(request)
                    with request.container.serving():
                        answer = await operation(request)
                    if name in ITEM_READS:
                        answer.charge_ru *= replicas_read(request.consistency)
                    return answer
                return await operation(request)

        async def throttled() -> Answer:
            return await self._throttle.around(request, name, work) if self._settings.throttle else await work()

        if not self._settings.faults:
            return await throttled()
        return await with_faults(self._settings.faults, request, name, throttled, is_connected)
