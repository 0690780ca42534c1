"""A local Azure Functions host for Python v2 apps."""

from typing import TYPE_CHECKING

from .errors import HostStartError, InvocationError, ListenerStartError
from .settings import HostSettings

if TYPE_CHECKING:
    from .host import FunctionsHost
    from .pytest_plugin import RunningFunctions, StartFunctions

__all__ = [
    "FunctionsHost",
    "HostSettings",
    "HostStartError",
    "InvocationError",
    "ListenerStartError",
    "RunningFunctions",
    "StartFunctions",
]


def __getattr__(name: str) -> object:
    # pytest imports this package for its plugin, and aiohttp takes a tenth of a second.
    if name == "FunctionsHost":
        from .host import FunctionsHost

        return FunctionsHost
    if name in ("RunningFunctions", "StartFunctions"):
        from . import pytest_plugin

        return getattr(pytest_plugin, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
