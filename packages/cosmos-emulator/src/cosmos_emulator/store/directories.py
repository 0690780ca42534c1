"""Where data live that end with the process: a temporary directory, in memory where the system has such a place."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PREFIX: Final = "local-cosmos-"
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - Linux' file system in memory; the names in it are unguessable


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """A new directory, removed at the end; those that killed processes left are removed first."""
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
    """Whether a process exists; on Windows, where asking would end it, every one is taken to run."""
    if os.name == "nt":
        return True
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
