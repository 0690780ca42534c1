"""Timer state and locks, as files.

The real host keeps them in the storage account (azure-webjobs-sdk-extensions Timers/Scheduling).
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NEVER = "0001-01-01T00:00:00"


@dataclass(frozen=True)
class TimerStatus:
    """The times of the last call (None before the first), the next call and the last update."""

    last: datetime | None
    next: datetime
    updated: datetime

    def as_dict(self) -> dict[str, str]:
        """Return the `schedule_status` of a call."""
        return {
            "Last": NEVER if self.last is None else self.last.isoformat(),
            "Next": self.next.isoformat(),
            "LastUpdated": self.updated.isoformat(),
        }


class TimerMonitor:
    """The status file of one timer."""

    def __init__(self, state_dir: Path, function_name: str) -> None:
        self._path = state_dir / "timers" / f"{function_name}.json"

    def read(self) -> TimerStatus | None:
        """Return the status, or None if it is missing or unreadable."""
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            last = found["Last"]
            return TimerStatus(
                None if last == NEVER else datetime.fromisoformat(last),
                datetime.fromisoformat(found["Next"]),
                datetime.fromisoformat(found["LastUpdated"]),
            )
        except (FileNotFoundError, ValueError, KeyError):
            return None

    def write(self, status: TimerStatus) -> None:
        """Replace the status atomically."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(".tmp")
        draft.write_text(json.dumps(status.as_dict()), encoding="utf-8")
        draft.replace(self._path)


class TimerLock:
    """A timer's lock in the state directory. It is released if the process is killed."""

    def __init__(self, state_dir: Path, function_name: str) -> None:
        self._path = state_dir / "timers" / f"{function_name}.lock"
        self._file: IO[bytes] | None = None

    def try_acquire(self) -> bool:
        """Return whether this object holds the lock now."""
        if self._file is not None:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = self._path.open("ab")
        try:
            _lock(file)
        except OSError:
            file.close()
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Release the lock."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _lock(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        file.seek(0, os.SEEK_SET)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
