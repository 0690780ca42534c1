"""A search of indexes that the event loop and a worker thread share."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from cosmos_emulator.reads.entry_lookup import EntryLookup
from cosmos_emulator.store.items import EntryPosition

RANGES = [(b"a", b"b"), (b"c", b"d"), (b"e", b"f")]
NUMBERS = {b"a": 1, b"c": 2, b"e": 3}


class _Items:
    """One entry in each range. The first two reads happen at the same time, if they can."""

    def __init__(self) -> None:
        self._meeting = threading.Barrier(2)

    def entries(self, _index: object, after: EntryPosition, _high: bytes, _limit: int) -> tuple[list[int], None]:
        with suppress(threading.BrokenBarrierError):
            self._meeting.wait(timeout=0.2)
        return [NUMBERS[after.entry]], None


class _Slice:
    lsn = 1

    def __init__(self) -> None:
        self.items = _Items()


def test_two_threads_that_advance_a_search_skip_no_range() -> None:
    index: Any = object()
    one: Any = _Slice()
    search = EntryLookup([(index, RANGES)], lsn=1)
    threads = [threading.Thread(target=search.advance, args=(one,)) for _ in range(2)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert search.numbers is not None
    assert list(search.numbers) == [1, 2, 3]
