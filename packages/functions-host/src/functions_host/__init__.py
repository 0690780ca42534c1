"""A local Azure Functions host for Python v2 apps."""

from .errors import HostStartError, InvocationError
from .host import FunctionsHost
from .settings import HostSettings

__all__ = ["FunctionsHost", "HostSettings", "HostStartError", "InvocationError"]
