"""Temporary data directories, in memory if the system supports it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = "cosmos-emulator-"
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - in memory on Linux; names are unguessable


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """Create a directory for the block; remove directories of killed processes."""
    parent = _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    _remove_abandoned(parent)
    directory, lock = _locked_directory(parent)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked_directory(parent: Path) -> tuple[Path, int | None]:
    while True:
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        if sys.platform == "win32" or (lock := _lock(directory)) is not None:
            return directory, None if sys.platform == "win32" else lock


def _remove_abandoned(parent: Path) -> None:
    if sys.platform == "win32":  # which cannot lock a directory
        return
    for directory in parent.glob(f"{_PREFIX}*"):
        if (lock := _lock(directory)) is not None:
            shutil.rmtree(directory, ignore_errors=True)
            os.close(lock)


def _lock(directory: Path) -> int | None:
    """Lock a directory until the process ends; None if it is locked or gone.

    A process id would not do: in another container with the same /dev/shm, it belongs to another process.
    """
    import fcntl  # not on Windows

    descriptor = None
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        directory.stat()  # another process can have removed it before
        return descriptor
    if descriptor is not None:
        os.close(descriptor)
    return None
