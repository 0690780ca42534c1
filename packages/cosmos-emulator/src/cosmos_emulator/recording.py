"""A record of requests and their charges, on which tests assert."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request. `operation` is as in fault rules, `container` as `shop/orders`; None for other resources."""

    operation: str
    container: str | None
    status: int
    request_units: float


@dataclass(frozen=True, slots=True)
class Recording:
    """Requests in the order of their responses, also those of the SDK for the account and partition key ranges."""

    requests: list[RecordedRequest] = field(default_factory=list)

    @property
    def request_units(self) -> float:
        """The sum of the charges, with two decimals."""
        return round(sum(one.request_units for one in self.requests), 2)

    def of(self, *, operation: str | None = None, container: str | None = None) -> Recording:
        """Return the requests of an operation (`query`), a container (`shop/orders`), or both."""
        return Recording(
            [one for one in self.requests if operation in (None, one.operation) and container in (None, one.container)]
        )


class Recordings:
    """The current recordings of an emulator. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: tuple[Recording, ...] = ()

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """Record the requests that are answered during the block."""
        own = Recording()
        with self._lock:
            self._current = (*self._current, own)
        try:
            yield own
        finally:
            with self._lock:
                self._current = tuple(one for one in self._current if one is not own)

    def __bool__(self) -> bool:
        return bool(self._current)

    def add(self, request: RecordedRequest) -> None:
        """Add a request to all."""
        for one in self._current:
            one.requests.append(request)
