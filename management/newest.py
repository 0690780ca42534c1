"""Keep the newest posts."""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

T = TypeVar("T")

# The feed's sort order.
DateAndId = tuple[str, str]


class Newest(Generic[T]):
    """The `length` values with the highest places."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._heap: list[tuple[DateAndId, int, T]] = []
        self._offered = 0

    def offer(self, place: DateAndId, value: T) -> None:
        self._offered += 1  # tie-breaker
        entry = (place, self._offered, value)
        if len(self._heap) < self._length:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heappushpop(self._heap, entry)

    def values(self) -> list[T]:
        return [value for _, _, value in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]
