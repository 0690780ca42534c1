"""A local Azure Functions host for Python v2 apps: HTTP, Cosmos DB and timer triggers in one process."""

from .errors import HostStartError
from .host import FunctionsHost
from .settings import HostSettings

__all__ = ["FunctionsHost", "HostSettings", "HostStartError"]
