"""Request units by container."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, Final

_CONTAINER: Final = re.compile(r"/colls/([^/]+)/(docs|sprocs)")
_NOT_MODIFIED: Final = 304


@dataclass(frozen=True)
class Charges:
    """Request units (or RU/s) per container."""

    users: float = 0.0
    posts: float = 0.0
    feed: float = 0.0
    leases: float = 0.0

    @property
    def total(self) -> float:
        return self.users + self.posts + self.feed + self.leases

    def __add__(self, other: Charges) -> Charges:
        return Charges(*(mine + theirs for mine, theirs in zip(self.parts(), other.parts(), strict=True)))

    def __sub__(self, other: Charges) -> Charges:
        return self + other * -1

    def __mul__(self, factor: float) -> Charges:
        return Charges(*(part * factor for part in self.parts()))

    def parts(self) -> tuple[float, ...]:
        """Return the values in field order."""
        return tuple(getattr(self, one.name) for one in fields(self))


@dataclass
class Reading:
    """Charges of one period. `idle` is the charge of change feed reads without changes."""

    by_container: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    idle: float = 0.0

    @property
    def charges(self) -> Charges:
        return Charges(**self.by_container)


class ContainerMeter:
    """Adds up response charges by container, for one reading at a time."""

    def __init__(self) -> None:
        self._reading: Reading | None = None

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        self._reading = Reading()
        try:
            yield self._reading
        finally:
            self._reading = None

    def record(self, response: Any) -> None:
        """The client's `raw_response_hook`."""
        found = _CONTAINER.search(response.http_request.url)
        if self._reading is None or found is None:
            return
        charge = charge_of(response.http_response.headers)
        if response.http_response.status_code == _NOT_MODIFIED:
            self._reading.idle += charge
        else:
            self._reading.by_container[found.group(1)] += charge


def charge_of(headers: Mapping[str, str]) -> float:
    return float(headers.get("x-ms-request-charge") or 0)
