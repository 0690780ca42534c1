"""Where an HTTP function is reached."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Route:
    """`path` as the host wants it, below /api, with its parameters in braces; `function` is the function's name."""

    method: str
    path: str
    function: str

    @property
    def is_command(self) -> bool:
        return self.method != "GET"
