"""An embedded Azure Cosmos DB for NoSQL: a gateway over HTTP for the unmodified SDKs, durable in SQLite.

    async with CosmosEmulator(EmulatorSettings()) as emulator:
        client = CosmosClient(emulator.endpoint, emulator.key)

It knows nothing of any app. `python -m local.cosmos` serves it; README.md says what is emulated.
"""

from local.cosmos.emulator import CosmosEmulator
from local.cosmos.settings import WELL_KNOWN_KEY, EmulatorSettings

__all__ = ["WELL_KNOWN_KEY", "CosmosEmulator", "EmulatorSettings"]
