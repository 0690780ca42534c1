"""Charges of the requests beyond the article, and how they grow: `python -m bench.account_charges`.

Deleting an account and taking one's data along, as modeled by the emulator. The user
has one comment on each of `n` posts by others. The request of C5 has a constant charge; the change feeds then erase.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from typing import Final

from addons.export.user_data import ExportPosition, read_user_data
from bench.request_charges import add_comment, add_post, add_user
from bench.servers import Server, emulator
from bench.tables import table
from management.account import open_client, open_containers
from management.provision import provision
from shared.data.blog import Blog
from shared.data.users import delete_user
from shared.platform.database.scope import request_scope
from shared.platform.models import Item
from shared.propagation.users import handle_changed_users

ITEMS: Final = (1, 10, 100)
PARTITIONS: Final = (1, 4)
_REQUESTS: Final = (
    "C5 delete an account",
    "C5, the change feeds' work",
    "Q7 a user's data, all pages of 100",
)


async def measure(server: Server, number: int) -> list[float]:
    """Return the modeled charge of each request, in request units, with this number of items."""
    configuration = server.settings(f"bench-{number}")
    await provision(configuration)
    async with open_client(configuration) as client:
        blog = await open_containers(client, configuration.database)
        user, other = await add_user(blog, "the_user"), await add_user(blog, "another")
        posts = [await add_post(blog, other) for _ in range(number)]
        for post in posts:
            await add_comment(blog, post, user)
        await server.next_second()
        data = await charge(read_everything(blog, user))
        await server.next_second()
        request = await charge(delete_user(blog.users, user["id"]))
        erasure = await charge(erase(blog, user))
        return [request, erasure, data]


async def charge(work: Awaitable[object]) -> float:
    with request_scope() as scope:
        await work
    return scope.request_units


async def read_everything(blog: Blog, user: Item) -> None:
    position: ExportPosition | None = None
    while True:
        page = await read_user_data(blog, user["id"], limit=100, cursor=position, is_counted=False)
        if page.next_cursor is None:
            return
        position = page.next_cursor


async def erase(blog: Blog, user: Item) -> None:
    tombstone = await blog.users.read_latest(user["id"], user["id"])
    await handle_changed_users(blog, [tombstone] if tombstone else [])


async def main() -> None:
    charges = []
    for partitions in PARTITIONS:
        async with emulator(None, "--partitions", str(partitions)) as server:
            charges += [await measure(server, number) for number in ITEMS]
    heads = [f"P = {partitions}, n = {number}" for partitions in PARTITIONS for number in ITEMS]
    rows = [(name, *(f"{each[place]:.2f}" for each in charges)) for place, name in enumerate(_REQUESTS)]
    sys.stdout.write("\n".join(table(["request", *heads], rows)) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
