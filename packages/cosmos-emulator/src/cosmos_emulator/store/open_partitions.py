"""The partitions of an account whose files are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cosmos_emulator.store.partition import Partition


class OpenPartitions:
    """Closes the files of idle partitions, least recently used first, while more than `most` are open.

    The next use of a partition opens its file again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: set[Partition] = set()

    def add(self, partition: Partition) -> None:
        """Count a partition that was opened."""
        self._open.add(partition)
        if len(self._open) > self._most:
            self._close_idle(partition)

    def current(self) -> list[Partition]:
        """Return the partitions that remain open. Those that were busy before can be idle now."""
        self._close_idle(None)
        return list(self._open)

    def _close_idle(self, opened: Partition | None) -> None:
        self._open = {one for one in self._open if one.is_open or one is opened}  # without deleted ones
        for one in sorted(self._open - {opened}, key=lambda one: one.used_s):
            if len(self._open) <= self._most:
                return
            if one.close_if_idle():
                self._open.remove(one)
