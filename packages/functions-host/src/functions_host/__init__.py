"""A local Azure Functions host for Python v2 apps."""

from typing import TYPE_CHECKING

from .errors import HostStartError, InvocationError
from .settings import HostSettings

if TYPE_CHECKING:
    from .host import FunctionsHost

__all__ = ["FunctionsHost", "HostSettings", "HostStartError", "InvocationError"]


def __getattr__(name: str) -> object:
    # pytest imports this package for its plugin, and aiohttp takes a tenth of a second.
    if name == "FunctionsHost":
        from .host import FunctionsHost

        return FunctionsHost
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
