"""Temporary data directories, in memory if the system supports it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PREFIX: Final = "local-cosmos-"
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - in memory on Linux; names are unguessable


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """Create a directory for the block; remove those of killed processes."""
    parent = _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    _remove_abandoned(parent)
    directory = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    for directory in parent.glob(f"{_PREFIX}*"):
        owner = directory.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdecimal() and not _is_running(int(owner)):
            shutil.rmtree(directory, ignore_errors=True)


def _is_running(process_id: int) -> bool:
    """Return whether a process exists; always true on Windows, where os.kill would end it."""
    if os.name == "nt":
        return True
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
