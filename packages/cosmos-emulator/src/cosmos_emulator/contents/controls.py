"""Controls for tests: reset, snapshots, and files of the whole account.

All but snapshots replace the contents at once: new files are prepared beside the old ones, running requests end, and
later ones use the new files. Clients can stay open, because LSNs and rids continue. A failure leaves the contents as
they are.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Final, Protocol

from cosmos_emulator.contents.account_file import exported_lines, import_lines
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.store.account import Account
from cosmos_emulator.store.contents import SNAPSHOTS, existing_contents, make_current, new_directory, remove_contents

_SMALL_BYTES: Final = 1 << 20
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")  # lower case: some file systems ignore case


class OpenAccount(Protocol):
    """Opens an account in a directory."""

    def __call__(self, directory: Path, *, replaces: Account | None = None) -> Account:
        """`replaces` is the account that clients have used so far."""


class Controls:
    """Changes the account of a gateway as a whole, one change at a time."""

    def __init__(
        self, gateway: Gateway, root: Path, open_account: OpenAccount, forget_queries: Callable[[], None]
    ) -> None:
        """`root` is the data directory. `forget_queries` ends queries of the former account between their pages."""
        self._gateway = gateway
        self._root = root
        self._open = open_account
        self._forget_queries = forget_queries
        self._turn = asyncio.Lock()

    @property
    def container_names(self) -> set[str]:
        """The names of all containers, as `shop/orders`."""
        return {f"{one.database.id}/{one.resource.id}" for one in self._gateway.account.containers}

    async def reset(self) -> None:
        """Delete everything."""
        await self._replace(_leave_empty)

    async def snapshot(self, name: str) -> None:
        """Keep a copy of the account under a name; replace an earlier one. Raises 400 for an invalid name."""
        target = self._path(name)

        async def keep(copy: Path) -> None:
            await asyncio.to_thread(_keep, copy, target)

        await self._with_copy(keep)

    async def restore(self, name: str) -> None:
        """Replace the account with a snapshot. Raises 404."""

        async def fill(directory: Path) -> None:
            source = self._existing(name)
            if _size(source) <= _SMALL_BYTES:  # a thread would take longer to start
                _copy(source, directory)
            else:
                await asyncio.to_thread(_copy, source, directory)

        await self._replace(fill)

    def snapshots(self) -> list[str]:
        """Return the names of all snapshots, in alphabetical order."""
        return sorted(path.name for path in (self._root / SNAPSHOTS).glob("*") if existing_contents(path))

    async def forget(self, name: str) -> None:
        """Delete a snapshot. Raises 404."""
        async with self._turn:
            self._existing(name)
            await asyncio.to_thread(shutil.rmtree, self._path(name))

    async def export_to(self, file: Path) -> None:
        """Write the account to a file (contents/account_file.py)."""

        async def export(copy: Path) -> None:
            account = self._open(copy)
            try:
                for container in account.containers:
                    container.open()
                await asyncio.to_thread(_write, account, file)
            finally:
                await account.close()

        await self._with_copy(export)

    async def import_from(self, file: Path) -> None:
        """Replace the account with a file that `export_to` wrote. Raises 400 and 409, which name a line."""

        async def fill(directory: Path) -> None:
            # Numbers continue here too: the rids in the file's items must be new.
            account = self._open(directory, replaces=self._gateway.account)
            try:
                with file.open("rb") as lines:
                    await import_lines(account, lines, self._gateway.settings.clock)
            finally:
                await account.close()

        await self._replace(fill)

    async def close(self) -> None:
        """Close the account, after a change that runs."""
        async with self._turn:
            await self._gateway.account.close()

    async def _replace(self, fill: Callable[[Path], Awaitable[None]]) -> None:
        """Replace the account with the files that `fill` writes to a directory."""
        await _to_its_end(self._replaced(fill))

    async def _replaced(self, fill: Callable[[Path], Awaitable[None]]) -> None:
        async with self._turn:
            directory = new_directory(self._root)
            try:
                await fill(directory)
                async with self._gateway.gate.change():
                    before = self._gateway.account
                    self._gateway.account = await self._opened(directory)
                    self._gateway.indexes_changed.set()
            except BaseException:
                shutil.rmtree(directory, ignore_errors=True)
                raise
            await before.close()
            remove_contents(before.directory)

    async def _opened(self, directory: Path) -> Account:
        self._forget_queries()
        account = self._open(directory, replaces=self._gateway.account)
        try:
            make_current(self._root, directory)
        except OSError:
            await account.close()
            raise
        return account

    async def _with_copy(self, use: Callable[[Path], Awaitable[None]]) -> None:
        """Use a copy of the account, which is deleted unless `use` moves it."""
        await _to_its_end(self._copied(use))

    async def _copied(self, use: Callable[[Path], Awaitable[None]]) -> None:
        async with self._turn:
            directory = new_directory(self._root)
            try:
                async with self._gateway.gate.change():
                    await self._gateway.account.copy_to(directory)
                await use(directory)
            finally:
                shutil.rmtree(directory, ignore_errors=True)

    def _path(self, name: str) -> Path:
        if _NAME.fullmatch(name) is None:
            raise CosmosError(
                400, f"The name {name!r} of a snapshot must have lower-case letters, digits, _ and -, up to 64."
            )
        return self._root / SNAPSHOTS / name

    def _existing(self, name: str) -> Path:
        contents = existing_contents(self._path(name))
        if contents is None:
            raise CosmosError(404, f"The snapshot {name!r} does not exist.")
        return contents


async def _leave_empty(_directory: Path) -> None:
    """Write no files: a new account is empty."""


async def _to_its_end(change: Coroutine[None, None, None]) -> None:
    """Run a change, and end it even if the caller is canceled."""
    task = asyncio.create_task(change)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _keep(copy: Path, snapshot: Path) -> None:
    """Move a copy into a snapshot, and make it the current contents there."""
    snapshot.mkdir(parents=True, exist_ok=True)
    before = existing_contents(snapshot)
    make_current(snapshot, copy.rename(snapshot / copy.name))
    if before is not None:
        remove_contents(before)


def _size(directory: Path | str) -> int:
    with os.scandir(directory) as entries:
        return sum(_size(entry.path) if entry.is_dir() else entry.stat().st_size for entry in entries)


def _copy(source: Path | str, target: Path) -> None:
    """Copy files and directories, in a third less time than `shutil.copytree`, which also copies their status."""
    with os.scandir(source) as entries:
        for entry in entries:
            copy = target / entry.name
            if entry.is_dir():
                copy.mkdir()
                _copy(entry.path, copy)
            else:
                shutil.copyfile(entry.path, copy)


def _write(account: Account, file: Path) -> None:
    with file.open("wb") as lines:
        lines.writelines(exported_lines(account))
