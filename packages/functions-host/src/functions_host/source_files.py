"""Files whose changes reload the app, as in Core Tools.

Rules: azure-functions-host GrpcWorkerChannel.cs (every .py file), FileMonitoringService.cs and
ScriptJobHostOptionsSetup.cs (host.json, `watchFiles` and `watchDirectories`). The real host compares the name of a file
without case, and only the first directory of its path. Core Tools ignores local.settings.json.

The operating system reports changes. On network mounts, it may not: then set WATCHFILES_FORCE_POLLING.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import aclosing, suppress
from importlib.util import cache_from_source
from pathlib import Path

from functions_host.json_files import read_json

# The watcher has started by then, and the files are compared once more.
STARTED_MS = 500
# A reload waits until the files have not changed for this long.
QUIET_S = 0.1
_FILES = {"host.json", "local.settings.json"}
_IGNORED = {"__pycache__", "node_modules"}

Snapshot = Mapping[str, tuple[int, int]]
"""Modification time in ns and size of each file, by path."""


def snapshot(app_dir: Path) -> Snapshot:
    """Return the state of the files. Skips hidden directories and virtual environments."""
    names, watched_directories = _from_host_json(app_dir)
    found: dict[str, tuple[int, int]] = {}
    for directory, files in _walk(app_dir):
        takes_all = not watched_directories.isdisjoint(Path(directory).relative_to(app_dir).parts[:1])
        for name in files:
            if takes_all or name.endswith(".py") or name.lower() in names:
                _add(found, os.path.join(directory, name))  # noqa: PTH118 - a Path for each file takes longer than stat
    return found


def _walk(app_dir: Path) -> Iterator[tuple[str, list[str]]]:
    for directory, directories, files in os.walk(app_dir):
        if "pyvenv.cfg" in files:
            directories.clear()
            continue
        directories[:] = [name for name in directories if name not in _IGNORED and not name.startswith(".")]
        yield directory, files


def _add(found: dict[str, tuple[int, int]], path: str) -> None:
    try:
        status = os.stat(path)  # noqa: PTH116 - called for each file, see above
    except OSError:  # just removed, or a broken link
        return
    found[path] = (status.st_mtime_ns, status.st_size)


def _from_host_json(app_dir: Path) -> tuple[set[str], set[str]]:
    """Return the names of watched files in lower case, and the names of watched directories."""
    try:
        document = read_json(app_dir / "host.json")
        names = {name.lower() for name in document.get("watchFiles", ())}
        return _FILES | names, {*document.get("watchDirectories", ())}
    except (OSError, ValueError, AttributeError, TypeError):  # reported when the app is loaded
        return _FILES, set()


async def next_change(app_dir: Path, before: Snapshot) -> str:
    """Wait until a file differs from `before` and the files are quiet. Return its path, relative to `app_dir`."""
    while (after := await _after_an_event(app_dir, before)) == before:
        pass
    changed = _changed(before, after)
    while True:
        await asyncio.sleep(QUIET_S)
        later = await asyncio.to_thread(snapshot, app_dir)
        if later == after:
            break
        changed |= _changed(after, later)
        after = later
    for path in changed:
        _discard_bytecode(path)
    return str(Path(min(changed)).relative_to(app_dir))


async def _after_an_event(app_dir: Path, before: Snapshot) -> Snapshot:
    """Return the state of the files when it differs from `before`, or when there may be new directories to watch."""
    from watchfiles import awatch  # only a host that reloads needs it

    directories = {directory for directory, _ in _walk(app_dir)}
    # One watch per directory, because a recursive one includes the ignored ones.
    events = awatch(*directories, watch_filter=None, recursive=False, yield_on_timeout=True, rust_timeout=STARTED_MS)
    has_compared = False
    async with aclosing(events):
        async for changes in events:
            if changes or not has_compared:
                has_compared = True
                after = await asyncio.to_thread(snapshot, app_dir)
                if after != before or {directory for directory, _ in _walk(app_dir)} != directories:
                    return after
    return before


def _changed(before: Snapshot, after: Snapshot) -> set[str]:
    return {path for path, _ in before.items() ^ after.items()}


def _discard_bytecode(path: str) -> None:
    """Delete the compiled file, which hides a change of the same size within a second."""
    if path.endswith(".py"):
        with suppress(OSError):  # a directory without write permission has no bytecode of this process
            Path(cache_from_source(path)).unlink()
