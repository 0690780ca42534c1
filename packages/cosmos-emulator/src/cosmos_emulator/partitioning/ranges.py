"""Ranges of EPKs, of physical partitions or requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cosmos_emulator.partitioning.hashing import v1_boundary
from cosmos_emulator.partitioning.partition_keys import PartitionKeyDefinition

FIRST: Final = ""
END: Final = "FF"
_V2_LAST: Final = (0x40 << 120) - 1  # version 2 clears the two highest bits


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A range from `start`, inclusive, to `end`, exclusive, compared as text."""

    start: str
    end: str

    def __contains__(self, epk: str) -> bool:
        return self.start <= epk < self.end

    def covers(self, other: KeyRange) -> bool:
        """Return whether `other` is within this range."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: KeyRange) -> bool:
        """Return whether the ranges intersect."""
        return self.start < other.end and other.start < self.end


EVERYTHING: Final = KeyRange(FIRST, END)


def split_evenly(definition: PartitionKeyDefinition, count: int) -> list[KeyRange]:
    """Return adjacent ranges from "" to "FF", split as in the service."""
    cuts = [_boundary(definition, index, count) for index in range(1, count)]
    return [KeyRange(start, end) for start, end in zip([FIRST, *cuts], [*cuts, END], strict=True)]


def _boundary(definition: PartitionKeyDefinition, index: int, count: int) -> str:
    if definition.version == 1:
        return v1_boundary(index / count)
    return f"{_V2_LAST // count * index:032X}"
