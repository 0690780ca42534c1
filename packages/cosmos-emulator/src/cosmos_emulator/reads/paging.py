"""Paging: page limits, long reads in steps, and continuation tokens."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from itertools import dropwhile
from typing import Final, TypeVar

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.runtime.pacing import ON_LOOP, SLICE_S
from cosmos_emulator.store.items import SCAN_START, ItemScope, ScanPosition, StoredItem

T = TypeVar("T")

# A read that yields when other requests can run. Worker threads do not pause.
Steps = Generator[None, None, T]

Fetch = Callable[[int, int], list[StoredItem]]
"""`(after, limit)` returns the items after a number; an empty list means the end."""

MAX_PAGE_BYTES: Final = 4 * 1024 * 1024
MAX_PAGE_S: Final = 5.0
_FIRST_CHUNK: Final = 128
_CHUNK: Final = 512
STEP: Final = 64  # items between possible pauses


async def complete(steps: Steps[T], turn: asyncio.Lock) -> T:
    """Run a read on the event loop with pauses. Raises MovesToWorker if a step takes long.

    Long reads take turns, because together they would block the event loop.
    """
    if (result := _slice(steps)) is None:
        await asyncio.sleep(0)
        while result is None:
            async with turn:
                result = _slice(steps)
                await asyncio.sleep(0)
    return result[0]


def _slice(steps: Steps[T]) -> tuple[T] | None:
    """Run steps for some milliseconds; return the result, or None if steps remain."""
    end_s = time.monotonic() + SLICE_S
    try:
        with ON_LOOP:
            while time.monotonic() < end_s:
                next(steps)
    except StopIteration as end:
        return (end.value,)
    return None


def complete_at_once(steps: Steps[T]) -> T:
    """Run a read without pauses, in a worker thread."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


@dataclass(slots=True)
class PageLimits:
    """Limits of a page: rows, 4 MB, 5 s (concepts-limits). `is_full` is whether it has its maximum number of rows."""

    max_rows: int
    rows: int = 0
    size_bytes: int = 0
    is_full: bool = False
    deadline: float = field(default_factory=lambda: time.monotonic() + MAX_PAGE_S)

    def admit(self, size_bytes: int) -> bool:
        """Count a row if it fits; the first always does."""
        if self.is_full or (self.rows and self.size_bytes + size_bytes > MAX_PAGE_BYTES):
            return False
        self.rows += 1
        self.size_bytes += size_bytes
        self.is_full = self.rows >= self.max_rows
        return True

    @property
    def is_late(self) -> bool:
        """Whether the page has reached its deadline."""
        return time.monotonic() > self.deadline


@dataclass(frozen=True, slots=True)
class ItemPosition:
    """A position in scan order, stable under inserts and splits.

    In a child of a split, `parent` is the position in the parent, from which the later children continue.
    """

    range_id: str
    after: ScanPosition
    parent: ItemPosition | None = None

    @classmethod
    def after_item(cls, one: Slice, item: StoredItem, start: ItemPosition | None) -> ItemPosition:
        """Return the position after an item of a read that began at `start`."""
        while start is not None and start.range_id not in one.partition.lineage[1:]:
            start = start.parent
        epk = "" if one.scope.range is None else item.epk
        return cls(one.partition.id, ScanPosition(epk, item.number), start)

    def within(self, one: Slice) -> ScanPosition:
        """Return where a slice at or after this position continues."""
        if self.range_id in one.partition.lineage:
            return self.after
        return SCAN_START if self.parent is None else self.parent.within(one)

    def as_json(self) -> JsonObject:
        """Return the position for a continuation token."""
        parent: JsonObject = {} if self.parent is None else {"parent": self.parent.as_json()}
        return {"range": self.range_id, "epk": self.after.epk, "number": self.after.number, **parent}

    @classmethod
    def of_json(cls, token: JsonObject) -> ItemPosition | None:
        """Return a token's position, if any. Raises 400."""
        match token:
            case {"range": str() as range_id, "epk": str() as epk, "number": int() as number}:
                parent = token.get("parent")
                known = cls.of_json(parent) if isinstance(parent, dict) else None
                return cls(range_id, ScanPosition(epk, number), known)
            case {"range": _} | {"epk": _} | {"number": _}:
                raise malformed_continuation()
        return None


def item_chunks(
    slices: list[Slice], start: ItemPosition | None, candidates: Callable[[Slice], Fetch | None] | None = None
) -> Iterator[tuple[Slice, list[StoredItem]]]:
    """Yield the items after `start`, slice by slice, in chunks of a few milliseconds.

    `candidates` can fetch fewer items of a slice. Raises 400 if `start` is not in the slices.
    """
    remaining = slices
    if start is not None:
        remaining = list(dropwhile(lambda one: start.range_id not in one.partition.lineage, slices))
        if not remaining:
            raise malformed_continuation()
    size = _FIRST_CHUNK
    for one in remaining:
        after = SCAN_START if start is None else start.within(one)
        if after.epk and one.scope == ItemScope():  # a range that is now a whole partition: keep its order
            one = replace(one, scope=ItemScope(range=one.partition.range))
        fetch = None if candidates is None else candidates(one)
        while chunk := one.items.scan(one.scope, after, size) if fetch is None else fetch(after.number, size):
            yield one, chunk
            if fetch is None and one.items.is_last(chunk, size):
                break
            after = ScanPosition(chunk[-1].epk, chunk[-1].number)
            size = _CHUNK


def has_token_at_end(slices: list[Slice]) -> bool:
    """Return whether a full page has a continuation, if there is no filter, even if nothing remains.

    The next page is then empty. Sources: azure-sdk-for-js, functional/query.spec.ts (four items, two per page, make
    three pages); microsoft/vscode-cosmosdb#2443 (not with TOP); azure-sdk-for-python#32343 (a projection);
    azure-sdk-for-java#24747 (not with a filter); azure-cosmosdb-node#87 (a read feed). Pages of one partition key have
    none, for lack of a source. azure-cosmos-db-emulator-docker#259 expects none, but names no query, and #351 is about
    a page that is not full.
    """
    return all(one.scope.key is None for one in slices)


def encode_continuation(token: JsonObject) -> str:
    """Encode a token for a header."""
    return base64.urlsafe_b64encode(json_text.dump(token)).decode()


def decode_continuation(text: str | None) -> JsonObject:
    """Decode a token, empty for None. Raises 400."""
    if not text:
        return {}
    try:
        return json_text.parse_object(base64.b64decode(text.encode(), altchars=b"-_", validate=True))
    except (binascii.Error, UnicodeEncodeError, CosmosError) as error:
        raise malformed_continuation() from error


def malformed_continuation() -> CosmosError:
    """Return the error for a token of another request.

    Its texts are in azure-sdk-for-js (functional/query.spec.ts) and azure-cosmos-dotnet-v3#3416.
    """
    return CosmosError(
        400,
        "Invalid Continuation Token. The continuation token specified in the request is malformed, or belongs to"
        " another request. Re-run the query without it and iterate.",
    )
