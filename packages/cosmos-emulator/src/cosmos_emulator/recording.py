"""A record of requests and their charges, on which tests assert."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from cosmos_emulator.faults.rule import parse_operations
from cosmos_emulator.vocabulary.operation_names import OperationName


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request.

    Attributes:
        operation: As in fault rules, such as `query`.
        container: As `shop/orders`; None for databases, users, the account, and to create or list containers.
        status: The status of the response, such as 201.
        request_units: The charge in RU, with two decimals.
    """

    operation: OperationName
    container: str | None
    status: int
    request_units: float


@dataclass(frozen=True, slots=True)
class Recording:
    """Requests in the order of their responses, also the SDK's own for the account and partition key ranges."""

    requests: list[RecordedRequest] = field(default_factory=list)
    _containers: Callable[[], set[str]] = field(default=set, repr=False, compare=False)

    @property
    def request_units(self) -> float:
        """The sum of the charges, with two decimals."""
        return round(sum(one.request_units for one in self.requests), 2)

    def of(self, *, operation: OperationName | None = None, container: str | None = None) -> Recording:
        """Return the requests of an operation (`query`), a container (`orders` or `shop/orders`), or both.

        Raises ValueError for an unknown operation, and for a container that did not exist when the recording began,
        has no request in it, and does not exist now.
        """
        operations, paths = parse_operations(operation), self._paths(container)
        return Recording(
            [
                one
                for one in self.requests
                if (not operations or one.operation in operations) and (paths is None or one.container in paths)
            ],
            lambda: self._known,
        )

    def _paths(self, container: str | None) -> set[str] | None:
        if container is None:
            return None
        known = self._known
        paths = {path for path in known if container in (path, path.partition("/")[2])}
        if not paths:
            raise ValueError(f"container must be one of {', '.join(sorted(known))}, not {container!r}")
        return paths

    @property
    def _known(self) -> set[str]:
        return self._containers() | {one.container for one in self.requests if one.container is not None}


class Recordings:
    """The current recordings of an emulator. Thread-safe."""

    def __init__(self, containers: Callable[[], set[str]]) -> None:
        """`containers` returns those that exist, as `shop/orders`."""
        self._containers = containers
        self._lock = threading.Lock()
        self.current: tuple[Recording, ...] = ()
        """The running ones; each change replaces the tuple."""

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """Record the requests that are answered during the block."""
        at_start = self._containers()
        own = Recording(_containers=lambda: at_start | self._containers())
        with self._lock:
            self.current = (*self.current, own)
        try:
            yield own
        finally:
            with self._lock:
                self.current = tuple(one for one in self.current if one is not own)

    def add(self, request: RecordedRequest) -> None:
        """Add a request to all."""
        for one in self.current:
            one.requests.append(request)
