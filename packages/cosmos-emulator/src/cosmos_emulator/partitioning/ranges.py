"""Ranges of EPKs, of physical partitions or requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.partitioning.hashing import v1_boundary
from cosmos_emulator.partitioning.partition_keys import PartitionKeyDefinition

FIRST: Final = ""
END: Final = "FF"
_V1_HASHES: Final = 1 << 32
_V2_HASHES: Final = 0x40 << 120  # version 2 clears the two highest bits


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


@dataclass(frozen=True, slots=True)
class PartitionRange:
    """A physical partition's id and its range of hashes, as numbers.

    `ancestors` are the ids of the partitions that were split, oldest first.
    """

    id: int
    low: int
    high: int
    ancestors: tuple[int, ...] = ()

    def keys(self, definition: PartitionKeyDefinition) -> KeyRange:
        """Return the range of EPKs."""
        return KeyRange(_boundary(definition, self.low), _boundary(definition, self.high))

    def halves(self, first_id: int) -> tuple[PartitionRange, PartitionRange]:
        """Return the ranges of two children, with `first_id` and the next id."""
        middle, ancestors = (self.low + self.high) // 2, (*self.ancestors, self.id)
        return (
            PartitionRange(first_id, self.low, middle, ancestors),
            PartitionRange(first_id + 1, middle, self.high, ancestors),
        )


def even_ranges(definition: PartitionKeyDefinition, count: int) -> list[PartitionRange]:
    """Return adjacent ranges of equal size, divided as in the service."""
    if definition.version == 1:
        cuts = [(_V1_HASHES - 1) // count * index for index in range(1, count)]
    else:
        cuts = [(_V2_HASHES - 1) // count * index + 1 for index in range(1, count)]
    cuts = [0, *cuts, _hashes(definition)]
    return [PartitionRange(index, low, high) for index, (low, high) in enumerate(pairwise(cuts))]


def dumped_ranges(ranges: Sequence[PartitionRange]) -> str:
    """Return ranges as JSON."""
    return json_text.dump([[one.id, str(one.low), str(one.high), list(one.ancestors)] for one in ranges]).decode()


def parsed_ranges(text: str) -> list[PartitionRange]:
    """Return the ranges of `dumped_ranges`."""
    return [
        PartitionRange(number, int(low), int(high), tuple(ancestors))
        for number, low, high, ancestors in json.loads(text)
    ]


def _boundary(definition: PartitionKeyDefinition, hashed: int) -> str:
    if hashed in (0, _hashes(definition)):
        return END if hashed else FIRST
    return v1_boundary(hashed) if definition.version == 1 else f"{hashed - 1:032X}"


def _hashes(definition: PartitionKeyDefinition) -> int:
    return _V1_HASHES if definition.version == 1 else _V2_HASHES
