"""Import a large blog, as the app would have written it, into a stopped database."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Iterable
from pathlib import Path

from checks.chaos.database import Database
from management.provision import provision
from shared.containers import POSTS, USERS
from shared.data.username_reservations import reservation_item
from shared.models.post import short_form
from shared.models.user import name_version, user_item
from shared.platform.models import Item
from tests.items import moment

_REPOSITORY = Path(__file__).parents[3]


def named_user(number: int) -> Item:
    return user_item(f"user-{number}", f"name-{number}", moment(0))


def of_users(users: Iterable[Item]) -> Iterable[Item]:
    """Yield the users and their reservations."""
    for user in users:
        yield user
        yield reservation_item(user["username"], user["id"], name_version(user))


def copies(posts: Iterable[Item]) -> Iterable[Item]:
    """Yield the posts' copies in `users`."""
    return (short_form(post) for post in posts)


async def start_with(database: Database, directory: Path, users: Iterable[Item], posts: Iterable[Item]) -> None:
    """Provision a database, fill two containers and leave it running, with unread change feeds."""
    await database.start()
    await provision(database.settings)
    await database.stop()
    for container, items in ((USERS, users), (POSTS, posts)):
        await _import(database, directory / f"{container}.jsonl", container, items)
    await database.start()


async def _import(database: Database, file: Path, container: str, items: Iterable[Item]) -> None:
    with file.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(item) + "\n" for item in items)
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "cosmos_emulator",
            "import",
            "--data-dir",
            str(database.data),
            "--container",
            container,
        ),
        *("--database", database.settings.database, str(file)),
        cwd=_REPOSITORY,
        stdout=PIPE,
        stderr=PIPE,
    )
    _, errors = await process.communicate()
    if process.returncode:
        raise RuntimeError(errors.decode())
    await asyncio.to_thread(file.unlink)


class Stopwatch:
    """Shows the seconds since its creation."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __str__(self) -> str:
        return f"{time.monotonic() - self._started:.1f} s"
