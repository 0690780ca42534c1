"""User-defined functions in queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cosmos_emulator.gateway import Gateway
from cosmos_emulator.query import UdfCaller
from cosmos_emulator.reads.query_text import QueryText
from cosmos_emulator.scripts import UdfRuntime
from cosmos_emulator.store.account import Container


@contextmanager
def udf_caller(gateway: Gateway, container: Container, text: QueryText) -> Iterator[UdfCaller | None]:
    """Provide a caller for one thread; None if the query calls no UDF."""
    if not text.calls_udfs:
        yield None
        return
    functions = gateway.account.resources.children("udfs", container.rid)
    bodies = {function.id: str(function.body["body"]) for function in functions}
    with UdfRuntime(bodies, gateway.script_limits) as runtime:
        yield runtime.call
