"""Reading in pages: how a long read pauses, where a page ends, and how the next one finds its start."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeVar

from cosmos_emulator import json_text
from cosmos_emulator.errors import OWNER_MISSING, CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.store.items import SCAN_START, ScanPosition, StoredItem

T = TypeVar("T")

# Work in steps: every `yield` is a point at which others may run. A script drains it, the event loop breathes.
Steps = Generator[None, None, T]

Fetch = Callable[[int, int], list[StoredItem]]
"""The next items by number: behind a number, at most so many; an empty list is the end."""

MAX_PAGE_BYTES: Final = 4 * 1024 * 1024
MAX_PAGE_S: Final = 5.0
_FIRST_CHUNK: Final = 128
_CHUNK: Final = 512


async def complete(steps: Steps[T]) -> T:
    """The result of work in steps, other requests being served between them."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        await asyncio.sleep(0)


def complete_at_once(steps: Steps[T]) -> T:
    """The result of work in steps, for a thread of its own."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


@dataclass(slots=True)
class PageLimits:
    """Where a page ends: a number of rows, 4 MB, 5 s (concepts-limits: maximum response size, operation time)."""

    max_rows: int
    rows: int = 0
    size_bytes: int = 0
    deadline: float = field(default_factory=lambda: time.monotonic() + MAX_PAGE_S)

    def admit(self, size_bytes: int) -> bool:
        """Whether one more row of this size belongs to the page, which counts it; the first always does."""
        if self.rows and (self.rows >= self.max_rows or self.size_bytes + size_bytes > MAX_PAGE_BYTES):
            return False
        self.rows += 1
        self.size_bytes += size_bytes
        return True

    @property
    def is_full(self) -> bool:
        """Whether the number of rows is reached."""
        return self.rows >= self.max_rows

    @property
    def is_late(self) -> bool:
        """Whether the time of the page is over."""
        return time.monotonic() > self.deadline


@dataclass(frozen=True, slots=True)
class ItemPosition:
    """Behind an item in the order of a scan; later inserts do not shift it."""

    range_id: str
    after: ScanPosition

    @classmethod
    def behind(cls, one: Slice, item: StoredItem) -> ItemPosition:
        """The position right behind an item of a slice."""
        return cls(one.partition.id, ScanPosition(item.epk, item.number))

    def as_json(self) -> JsonObject:
        """For a continuation token."""
        return {"range": self.range_id, "epk": self.after.epk, "number": self.after.number}

    @classmethod
    def of_json(cls, token: JsonObject) -> ItemPosition | None:
        """The position in a token, None when it holds none; 400 when it is malformed."""
        match token:
            case {"range": str() as range_id, "epk": str() as epk, "number": int() as number}:
                return cls(range_id, ScanPosition(epk, number))
            case {"range": _} | {"epk": _} | {"number": _}:
                raise malformed_continuation()
        return None


def item_chunks(
    slices: list[Slice], start: ItemPosition | None, candidates: Callable[[Slice], Fetch | None] | None = None
) -> Iterator[tuple[Slice, list[StoredItem]]]:
    """The items behind `start`, range after range, in pieces that take a few milliseconds; 400 for a foreign start.

    Where `candidates` knows how to, only those of a slice are fetched, in the same order.
    """
    remaining = slices
    if start is not None:
        remaining = [one for one in slices if one.partition.index >= _index(start)]
        if not remaining or remaining[0].partition.id != start.range_id:
            raise malformed_continuation()
    size = _FIRST_CHUNK
    for one in remaining:
        after = start.after if start is not None and one is remaining[0] else SCAN_START
        fetch = None if candidates is None else candidates(one)
        while chunk := one.items.scan(one.scope, after, size) if fetch is None else fetch(after.number, size):
            yield one, chunk
            if one.partition.is_closed:
                raise CosmosError(404, "The container was deleted meanwhile.", sub_status=OWNER_MISSING)
            after = ScanPosition(chunk[-1].epk, chunk[-1].number)
            size = _CHUNK


def encode_continuation(token: JsonObject) -> str:
    """An opaque text that survives headers."""
    return base64.urlsafe_b64encode(json_text.dump(token)).decode()


def decode_continuation(text: str | None) -> JsonObject:
    """What `encode_continuation` was given, empty without a text; 400 when it is none of its texts."""
    if not text:
        return {}
    try:
        return json_text.parse_object(base64.b64decode(text.encode(), altchars=b"-_", validate=True))
    except (binascii.Error, UnicodeEncodeError, CosmosError) as error:
        raise malformed_continuation() from error


def malformed_continuation() -> CosmosError:
    """The refusal of a token that this server did not write for this request."""
    return CosmosError(400, "The continuation token is malformed or belongs to another request.")


def _index(position: ItemPosition) -> int:
    if not position.range_id.isdecimal():
        raise malformed_continuation()
    return int(position.range_id)
