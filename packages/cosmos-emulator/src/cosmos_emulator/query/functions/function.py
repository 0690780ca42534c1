"""Descriptions of built-in functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from cosmos_emulator.query.errors import query_error
from cosmos_emulator.query.syntax import FunctionCall
from cosmos_emulator.query.values import JsonOrUndefined

Call = Callable[..., JsonOrUndefined]
"""Receives argument values, including UNDEFINED. Returns UNDEFINED for arguments of the wrong type."""


class Evaluated(Enum):
    """How often a call with constant arguments is evaluated."""

    ONCE = auto()
    """At compile time."""

    PER_QUERY = auto()
    """Once per query, with one value for all rows: the static clock functions."""

    PER_ROW = auto()
    """For every row: the clock functions and RAND."""


@dataclass(frozen=True, slots=True)
class Function:
    """A built-in function: name in capitals, minimum and maximum number of arguments."""

    name: str
    call: Call
    minimum: int
    maximum: int | None
    evaluated: Evaluated = Evaluated.ONCE
    reads_clock: bool = False
    """Whether the first argument of `call` is the clock, in seconds since the epoch."""

    def arity(self) -> str:
        """Return the number of arguments, as worded in SC2050."""
        if self.maximum is None:
            return f"at least {self.minimum}"
        return f"{self.minimum}" if self.minimum == self.maximum else f"{self.minimum} to {self.maximum}"

    def takes(self, count: int) -> bool:
        """Return whether this many arguments are valid."""
        return self.minimum <= count and (self.maximum is None or count <= self.maximum)


def check_arity(function: Function, call: FunctionCall) -> None:
    """Raise 400 if the call has too few or too many arguments."""
    if not function.takes(len(call.arguments)):
        message = f"The {call.written or call.name} function requires {function.arity()} argument(s)."
        raise query_error("SC2050", message, call.location)


def table(*functions: Function) -> dict[str, Function]:
    """Index functions by name."""
    return {function.name: function for function in functions}
