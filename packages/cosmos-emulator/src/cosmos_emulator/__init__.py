"""An embedded Azure Cosmos DB for NoSQL: a gateway over HTTP for the unmodified SDKs, durable in SQLite.

    async with CosmosEmulator(EmulatorSettings()) as emulator:
        client = CosmosClient(emulator.endpoint, emulator.key)

It knows nothing of any app. `python -m cosmos_emulator` serves it; README.md says what is emulated.
"""

from typing import TYPE_CHECKING

from cosmos_emulator.settings import WELL_KNOWN_KEY, EmulatorSettings

if TYPE_CHECKING:
    from cosmos_emulator.emulator import CosmosEmulator

__all__ = ["WELL_KNOWN_KEY", "CosmosEmulator", "EmulatorSettings"]


def __getattr__(name: str) -> object:
    """The emulator is imported by its first use: who wants only its settings or its key need not wait for it."""
    if name == "CosmosEmulator":
        from cosmos_emulator.emulator import CosmosEmulator

        return CosmosEmulator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
