"""The directory of an account's files within the data directory, or within a snapshot.

At first, this is the data directory itself. Each time all contents are replaced, the new files are written to another
directory, which the file `contents` then names. So a kill leaves either the old contents or the new.
"""

from __future__ import annotations

import re
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from cosmos_emulator.definitions import rids

ACCOUNT_FILE: Final = "account.sqlite"
CONTAINER_DIRECTORY: Final = re.compile(f"[0-9a-f]{{{2 * rids.CONTAINER_BYTES}}}")  # a container's rid
SNAPSHOTS: Final = "snapshots"
"""The directory of the snapshots in the data directory."""
_NAMING_FILE: Final = "contents"
_PREFIX: Final = "contents-"


def current_directory(root: Path) -> Path:
    """Return the directory of the account's files in the data directory `root`."""
    try:
        name = (root / _NAMING_FILE).read_text(encoding="ascii")
    except (FileNotFoundError, NotADirectoryError):  # the account cannot be opened either, and says so
        return root
    return root / name


def existing_contents(root: Path) -> Path | None:
    """Return the directory of the account's files in `root`, or None without an account."""
    directory = current_directory(root)
    return directory if (directory / ACCOUNT_FILE).exists() else None


def new_directory(root: Path) -> Path:
    """Create an empty directory for other contents."""
    directory = root / f"{_PREFIX}{secrets.token_hex(8)}"
    directory.mkdir()
    return directory


def make_current(root: Path, directory: Path) -> None:
    """Make a directory the current one, in one step."""
    naming = root / _NAMING_FILE
    draft = naming.with_suffix(".new")
    draft.write_text(directory.name, encoding="ascii")
    draft.replace(naming)


def remove_contents(directory: Path) -> None:
    """Delete an account's files, and the directory if nothing else is in it."""
    for path in directory.iterdir():
        if CONTAINER_DIRECTORY.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)
        elif path.name.startswith(ACCOUNT_FILE):
            path.unlink(missing_ok=True)
    with suppress(OSError):  # something else is in it
        directory.rmdir()


def remove_leftovers(root: Path) -> None:
    """Delete what a killed process was writing or replacing. The account must be open, which locks it."""
    for kept in (root, *root.glob(f"{SNAPSHOTS}/*")):
        current = current_directory(kept)
        for directory in kept.glob(f"{_PREFIX}*"):
            if directory != current:
                shutil.rmtree(directory, ignore_errors=True)
        if current != kept:
            remove_contents(kept)
