"""An Azure Functions host for Python v2 apps: HTTP, Cosmos DB and timer triggers, in one process.

It knows nothing of any particular app or database. See README.md for what it emulates and from which sources.
"""

from .errors import HostStartError
from .host import FunctionsHost
from .settings import HostSettings

__all__ = ["FunctionsHost", "HostSettings", "HostStartError"]
