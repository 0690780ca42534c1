"""Add-ons with a container of their own, which `verify` and `rebuild` check and repair with the blog's.

manage.py adds them. An add-on is used if its container exists, whatever the operator's settings say: otherwise, a
deletion that `rebuild` finishes would leave what the add-on has stored of the user.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Final

from azure.cosmos.aio import DatabaseProxy

from management.item_count import ItemCount
from management.verification.findings import Finding
from shared.data.blog import Blog
from shared.platform.database.container import Container
from shared.propagation.users import erasure_hooks


@dataclass(frozen=True)
class Addon:
    """`container` is an ID. `erase` removes what the container has of a deleted user, as a hook of the erasure does.

    `verify` counts the items that it reads, and `rebuild` repairs its findings whose advice is REBUILD or empty.
    """

    container: str
    verify: Callable[[Blog, Container, ItemCount], Awaitable[list[Finding]]]
    rebuild: Callable[[Blog, Container], Awaitable[None]]
    erase: Callable[[Container, str], Awaitable[None]]


@dataclass(frozen=True)
class OpenAddon:
    """An add-on and its container."""

    addon: Addon
    container: Container

    async def verify(self, blog: Blog, count: ItemCount) -> list[Finding]:
        return await self.addon.verify(blog, self.container, count)

    async def rebuild(self, blog: Blog) -> None:
        await self.addon.rebuild(blog, self.container)


ADDONS: Final[list[Addon]] = []


def open_addons(database: DatabaseProxy, present: Collection[str]) -> list[OpenAddon]:
    """Return the add-ons whose containers are `present`, and let the erasure of users in this process call them."""
    opened = [
        OpenAddon(addon, Container(database.get_container_client(addon.container)))
        for addon in ADDONS
        if addon.container in present
    ]
    erasure_hooks[:] = [partial(each.addon.erase, each.container) for each in opened]
    return opened
