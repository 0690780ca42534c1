"""User-defined functions of a container, as a query calls them."""

from __future__ import annotations

from local.cosmos.gateway import Gateway
from local.cosmos.query import UdfCaller
from local.cosmos.scripts import UdfRuntime
from local.cosmos.store.account import Container


def udf_caller(gateway: Gateway, container: Container) -> UdfCaller:
    """Calls the functions in one JavaScript context; to be made and used in the same thread."""
    functions = gateway.account.resources.children("udfs", container.rid)
    bodies = {function.id: str(function.body["body"]) for function in functions}
    return UdfRuntime(bodies, gateway.script_limits).call
