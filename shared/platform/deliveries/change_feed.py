"""A change feed that the app handles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shared.platform.models import Item


@dataclass(frozen=True)
class ChangeFeed:
    """The change feed of `container`, and `function`, which handles it.

    Functions with the same leases share the changes, so a second function of a container needs `leases` of its own.
    """

    function: str
    container: str
    partition_key: str
    # The properties of a change that a failure keeps.
    kept: tuple[str, ...] = ("id", "type", "_etag", "_ts")
    # What a change is if the text of its error can be private; nothing for other changes.
    private: Callable[[Item], str] = lambda _change: ""
    # The start of the IDs of its leases; the name of the container if it is empty.
    leases: str = ""

    @property
    def lease_prefix(self) -> str:
        return f"{self.leases or self.container}-"
