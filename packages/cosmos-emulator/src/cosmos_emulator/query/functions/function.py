"""What a built-in function is: a name, how many arguments it takes, what computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from cosmos_emulator.query.values import JsonOrUndefined

Call = Callable[..., JsonOrUndefined]
"""Takes the arguments' values, UNDEFINED among them; answers UNDEFINED for arguments of a wrong type."""


class Evaluated(Enum):
    """How often a call is computed when its arguments are constants."""

    ONCE = auto()
    """Pure: while the query is compiled."""

    PER_QUERY = auto()
    """The static clock functions: one value for all rows, even without arguments."""

    PER_ROW = auto()
    """The clock and RAND."""


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    call: Call
    minimum: int
    maximum: int | None
    evaluated: Evaluated = Evaluated.ONCE

    def arity(self) -> str:
        """The number of arguments as the service's SC2050 sentence says it."""
        if self.maximum is None:
            return f"at least {self.minimum}"
        return f"{self.minimum}" if self.minimum == self.maximum else f"{self.minimum} to {self.maximum}"

    def takes(self, count: int) -> bool:
        return self.minimum <= count and (self.maximum is None or count <= self.maximum)


def table(*functions: Function) -> dict[str, Function]:
    return {function.name: function for function in functions}
