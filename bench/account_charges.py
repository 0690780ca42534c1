"""Charges of the requests beyond the article, and how they grow: `python -m bench.account_charges`.

Deleting an account, taking one's data along, reporting, and the list of reports, as modeled by the emulator. The user
has one comment on each of `n` posts by others. The request of C5 has a constant charge; the change feeds then erase.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from typing import Final

from bench.request_charges import add_comment, add_post, add_user
from bench.servers import Server, emulator
from bench.tables import table
from management.account import open_blog, signed_in
from management.provision import provision
from shared.data.blog import Blog
from shared.data.permissions import BY_BACK_END
from shared.data.reports import create_report, list_reported
from shared.data.user_data import Position, read_user_data
from shared.data.users import delete_user
from shared.database.scope import request_scope
from shared.models.base import Item
from shared.models.report import NewReport
from shared.propagation.posts import handle_changed_posts
from shared.propagation.users import handle_changed_users

ITEMS: Final = (1, 10, 100)
PARTITIONS: Final = (1, 4)
_REQUESTS: Final = (
    "C5 delete an account",
    "C5, the change feeds' work",
    "Q7 a user's data, all pages of 100",
    "C6 report a post",
    "C6, the change feed's work",
    "Q8 list 20 of the reported items",
)


async def measure(server: Server, number: int) -> list[float]:
    """Return the modeled charge of each request, in request units, with this number of items."""
    configuration = server.settings(f"bench-{number}")
    await provision(configuration)
    async with signed_in(configuration) as client:
        blog = await open_blog(client, configuration.database)
        user, other = await add_user(blog, "the_user"), await add_user(blog, "another")
        posts = [await add_post(blog, other) for _ in range(number)]
        for post in posts:
            await add_comment(blog, post, user)
        await server.next_second()
        data = await charge(read_everything(blog, user))
        report = await charge(add_report(blog, posts[0], user))
        listing = await charge(list_changed(blog, posts[0]))
        for post in posts[1:]:
            await add_report(blog, post, user)
            await list_changed(blog, post)
        listed = await charge(list_reported(blog.feed, limit=20, cursor=None))
        await server.next_second()
        request = await charge(delete_user(blog.users, user["id"], deletion=BY_BACK_END))
        erasure = await charge(erase(blog, user))
        return [request, erasure, data, report, listing, listed]


async def charge(work: Awaitable[object]) -> float:
    with request_scope() as scope:
        await work
    return scope.request_units


async def read_everything(blog: Blog, user: Item) -> None:
    position: Position | None = None
    while True:
        page = await read_user_data(blog, user["id"], limit=100, cursor=position, is_counted=False)
        if page.next_cursor is None:
            return
        position = page.next_cursor


async def add_report(blog: Blog, post: Item, user: Item) -> None:
    new = NewReport(user_id=user["id"], reason="This is an advertisement.")
    await create_report(blog, post["id"], None, new, idempotency_key=None)


async def list_changed(blog: Blog, post: Item) -> None:
    """Handle the changes of the reports of a post, as the change feed delivers them."""
    reports = "SELECT * FROM c WHERE c.type = 'report'"
    with request_scope():  # the change feed's own reads are the same for every change
        changes = await blog.posts.query(reports, {}, partition_key=post["id"], page_size=100)
    await handle_changed_posts(blog, changes)


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
