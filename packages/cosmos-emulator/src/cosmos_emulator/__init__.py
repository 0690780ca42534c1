"""An Azure Cosmos DB for NoSQL emulator: an HTTP gateway for the unmodified SDKs, stored in SQLite.

    async with CosmosEmulator(EmulatorSettings()) as emulator:
        client = CosmosClient(emulator.endpoint, emulator.key)

`cosmos-emulator` starts it from the command line. README.md lists what is emulated.
"""

from typing import TYPE_CHECKING

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.faults import Fault, FaultRule, Faults
from cosmos_emulator.latency import Latency
from cosmos_emulator.recording import RecordedRequest, Recording
from cosmos_emulator.runtime.clock import AdjustableClock
from cosmos_emulator.settings import WELL_KNOWN_KEY, EmulatorSettings
from cosmos_emulator.version import __version__
from cosmos_emulator.vocabulary.operation_names import OperationName

if TYPE_CHECKING:
    from cosmos_emulator.emulator import CosmosEmulator
    from cosmos_emulator.pytest_plugin import CosmosAccount

__all__ = [
    "WELL_KNOWN_KEY",
    "AdjustableClock",
    "CosmosAccount",
    "CosmosEmulator",
    "CosmosError",
    "EmulatorSettings",
    "Fault",
    "FaultRule",
    "Faults",
    "Latency",
    "OperationName",
    "RecordedRequest",
    "Recording",
    "__version__",
]

if not TYPE_CHECKING:  # for type checkers, any other name would exist

    def __getattr__(name: str) -> object:
        # Importing aiohttp takes a tenth of a second, so import it only for the emulator.
        if name == "CosmosEmulator":
            from cosmos_emulator.emulator import CosmosEmulator

            return CosmosEmulator
        if name == "CosmosAccount":  # imports pytest
            from cosmos_emulator.pytest_plugin import CosmosAccount

            return CosmosAccount
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
