"""The bindings of a function besides its trigger and HTTP response."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import azure.functions as func

from .app_settings import AppSettings
from .binding_expressions import values_of
from .cosmos_bindings import CosmosInput, CosmosOutput
from .cosmos_connection import ClientCache
from .functions import COSMOS_BINDING, RETURN, LoadedFunction, is_supported
from .trigger_thread import TriggerThread


class Output(func.Out[object]):
    """The value of a `func.Out` parameter."""

    def __init__(self) -> None:
        self.value: object = None

    def set(self, val: object) -> None:
        """Set the value."""
        self.value = val

    def get(self) -> object:
        """Return the value."""
        return self.value


@dataclass(frozen=True)
class FunctionBindings:
    """Reads inputs and writes outputs on the loop of the triggers, which owns the clients."""

    function: LoadedFunction
    inputs: tuple[CosmosInput, ...]
    outputs: tuple[CosmosOutput, ...]
    stubs: tuple[str, ...]
    triggers: TriggerThread
    stubbed: list[dict[str, object]]
    """What each call set on the outputs that this host does not write, by name."""

    async def read(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Return the arguments of inputs and outputs. Raises AzureError or BindingError."""
        names = (*(output.name for output in self.outputs), *self.stubs)
        outputs: dict[str, object] = {name: Output() for name in names if name != RETURN}
        if not self.inputs:
            return outputs
        values = values_of(self.function, arguments[self.function.argument])

        async def read_all() -> list[object]:
            return await asyncio.gather(*(each.read(values) for each in self.inputs))

        found = await self.triggers.run(read_all())
        return outputs | {each.name: value for each, value in zip(self.inputs, found, strict=True)}

    async def write(self, arguments: Mapping[str, object], result: object) -> None:
        """Write the outputs that the function set. Raises AzureError, BindingError, TypeError or ValueError."""
        stubbed = {name: _value(name, arguments, result) for name in self.stubs}
        if any(value is not None for value in stubbed.values()):
            self.stubbed.append({name: value for name, value in stubbed.items() if value is not None})
        if not self.outputs:
            return
        set_values = [(output, _value(output.name, arguments, result)) for output in self.outputs]
        values = values_of(self.function, arguments[self.function.argument])

        async def write_all() -> None:
            # A worker always sends the return value, and the other outputs only if they are set.
            writes = (out.write(value, values) for out, value in set_values if out.name == RETURN or value is not None)
            await asyncio.gather(*writes)

        await self.triggers.run(write_all())


def _value(name: str, arguments: Mapping[str, object], result: object) -> object:
    argument = arguments.get(name)
    return argument.value if isinstance(argument, Output) else result


def parse_bindings(
    function: LoadedFunction, settings: AppSettings, clients: ClientCache, triggers: TriggerThread
) -> FunctionBindings | None:
    """Return the bindings of a function, or None if it has none. Raises FunctionIndexError."""
    found = [binding for binding in function.bindings if binding["type"] == COSMOS_BINDING]
    annotations = function.annotations
    inputs = tuple(
        CosmosInput(binding, annotations.get(str(binding["name"])), settings, clients)
        for binding in found
        if binding["direction"] == "IN"
    )
    outputs = tuple(
        CosmosOutput(binding, annotations.get(str(binding["name"])), settings, clients)
        for binding in found
        if binding["direction"] == "OUT"
    )
    stubs = tuple(
        str(binding["name"])
        for binding in function.bindings
        if binding is not function.trigger and not is_supported(binding)
    )
    if function.returns_value and not any(binding["name"] == RETURN for binding in function.bindings):
        stubs += (RETURN,)
    return FunctionBindings(function, inputs, outputs, stubs, triggers, []) if found or stubs else None
