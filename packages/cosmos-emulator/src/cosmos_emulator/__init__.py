"""An Azure Cosmos DB for NoSQL emulator: an HTTP gateway for the unmodified SDKs, stored in SQLite.

    async with CosmosEmulator(EmulatorSettings()) as emulator:
        client = CosmosClient(emulator.endpoint, emulator.key)

`cosmos-emulator` starts it from the command line. README.md lists what is emulated.
"""

from typing import TYPE_CHECKING

from cosmos_emulator.settings import WELL_KNOWN_KEY, EmulatorSettings
from cosmos_emulator.version import __version__

if TYPE_CHECKING:
    from cosmos_emulator.emulator import CosmosEmulator

__all__ = ["WELL_KNOWN_KEY", "CosmosEmulator", "EmulatorSettings", "__version__"]


def __getattr__(name: str) -> object:
    # Importing aiohttp takes a tenth of a second, so import it only for the emulator.
    if name == "CosmosEmulator":
        from cosmos_emulator.emulator import CosmosEmulator

        return CosmosEmulator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
