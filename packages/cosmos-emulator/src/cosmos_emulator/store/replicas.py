"""Recent states of a physical partition, which lagging replicas serve.

A state is an open read transaction; SQLite keeps what it reads in the write-ahead log.
"""

from __future__ import annotations

import math
import sqlite3
import weakref
from collections import deque
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from cosmos_emulator.latency import Latency
from cosmos_emulator.store.index_entries import StoredIndex
from cosmos_emulator.store.items import Clock, ItemView

Lag = Callable[[], Latency | None]
"""Returns how far replicas are behind now, or None if they are not."""

_MOST_LOG_BYTES: Final = 64 << 20
_STATES: Final = 8  # per partition and length of the lag


class Snapshot(ItemView):
    """The items of one state. Its connection closes with the last reference."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock, indexes: tuple[StoredIndex, ...]) -> None:
        super().__init__(lambda: connection, clock)
        weakref.finalize(self, connection.close)
        connection.execute("BEGIN")
        (self.lsn,) = connection.execute("SELECT lsn FROM progress").fetchone()
        self.indexes = indexes
        self.superseded_at = math.inf


class Replicas:
    """Chooses the state that a read sees, and keeps states until replicas catch up."""

    def __init__(self, lag: Lag, clock: Clock, open_snapshot: Callable[[], Snapshot], log: Path) -> None:
        """`log` is the partition's write-ahead log."""
        self._lag = lag
        self._clock = clock
        self._open = open_snapshot
        self._log = log
        self._states: deque[Snapshot] = deque()  # oldest first; the last can be current

    def state(self, lag: Latency, source: Random, at_least: int) -> Snapshot:
        """Return a replica's state, or a newer one if it has not reached the LSN `at_least`."""
        now = self._clock()
        self._forget(now - lag.mean_s - lag.jitter_s)
        seen_until = now - lag.next_s(source)
        for one in self._states:
            if one.superseded_at > seen_until and one.lsn >= at_least:
                return one
        self._states.append(self._open())
        return self._states[-1]

    def keep_state(self) -> None:
        """Keep the current state before a commit, if replicas lag.

        Brief states are skipped, to limit connections. If the log is too large, replicas catch up: SQLite reuses it
        only after all states are closed.
        """
        lag = self._lag()
        if lag is None or self._log.stat().st_size > _MOST_LOG_BYTES:
            self.catch_up()
            return
        now, longest = self._clock(), lag.mean_s + lag.jitter_s
        self._forget(now - longest)
        states = self._states
        current = states.pop() if states and states[-1].superseded_at == math.inf else None
        if not states or states[-1].superseded_at <= now - longest / _STATES:
            current = self._open() if current is None else current
            current.superseded_at = now
            states.append(current)

    @property
    def are_current(self) -> bool:
        """Whether no replica is behind, so that reads need no kept state."""
        lag = self._lag()
        if lag is not None:
            self._forget(self._clock() - lag.mean_s - lag.jitter_s)
        return lag is None or all(one.superseded_at == math.inf for one in self._states)

    def catch_up(self) -> None:
        """Let later reads see the present."""
        self._states.clear()

    def _forget(self, superseded_before: float) -> None:
        while self._states and self._states[0].superseded_at <= superseded_before:
            self._states.popleft()
