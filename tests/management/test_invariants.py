"""Whatever a stranger stores: `verify` reports it and reads on, and `rebuild` repairs all that it claims to repair."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError
from azure.cosmos.partition_key import NonePartitionKeyValue
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from management.failures import list_failures, state_of
from management.rebuild import rebuild
from management.verification.findings import REBUILD, Finding
from management.verification.invariants import INVARIANTS, violated
from management.verify import verify
from shared.data.failures import keep_failure
from shared.data.posts import delete_post, edit_post
from shared.data.username_reservations import reservation_item
from shared.data.users import edit_user
from shared.database.container import Container
from shared.models.base import Item
from shared.models.post import DELETED_TYPE, PostChanges, short_form
from shared.models.user import UserChanges
from tests.blog import Blog
from tests.items import a_comment, a_like, a_post, a_record, a_user, moment, unique
from tests.management.test_manage import manage_blog
from tests.running_app import REPOSITORY

ABSENT = "(absent)"
PAGE = REPOSITORY / "docs" / "reliability.md"
KEYS = {"users": "userId", "posts": "postId", "feed": "type", "failures": "source"}
# A value that obeys its invariant, and that nothing else depends on, is no damage.
FREE = {
    *(("user", name) for name in ("creationDate", "nameVersion", "editId", "formerUsernames")),
    *(("comment", name) for name in ("id", "content", "creationDate", "nameVersion", "editId")),
    *(("like", name) for name in ("creationDate", "nameVersion", "editId")),
    *(("post", name) for name in ("nameVersion", "editId")),
    *(("tombstone", name) for name in ("userId", "title", "content", "ttl", "version", "creationDate")),
    *(("record", name) for name in ("fingerprint", "ttl")),
    *(("reservation", name) for name in ("nameVersion", "username", "editId")),
    *(("failure", name) for name in ("source", "container", "itemId", "failureDate", "error")),
}


class Family:
    """One item of each kind, all of which are consistent."""

    def __init__(self) -> None:
        user = a_user()
        post = a_post(user) | {"commentCount": 1, "likeCount": 1}
        gone = a_post(user)
        comment = a_comment(post, user)
        tombstone = gone | {"type": DELETED_TYPE, "title": "", "content": "", "ttl": 3600}
        failure = {"id": unique("failure"), "source": unique("on_x"), "container": "posts", "itemId": "gone"}
        self.items: dict[str, tuple[str, Item]] = {
            "user": ("users", user),
            "reservation": ("users", reservation_item(user["username"], user["id"], 0)),
            "copy": ("users", short_form(post)),
            "post": ("posts", post),
            "comment": ("posts", comment),
            "like": ("posts", a_like(post, user)),
            "tombstone": ("posts", tombstone),
            "record": ("posts", a_record(comment, comment["id"])),
            "copy in `feed`": ("feed", short_form(post)),
            "failure": ("failures", failure | {"failureDate": moment(0), "partitionKey": "gone", "error": {}}),
        }
        self.ids = {item["id"] for _, item in self.items.values()}

    def damage(self, kind: str, name: str, value: Any) -> Item:
        container, item = self.items[kind]
        damaged = {other: own for other, own in item.items() if other != name}
        if value != ABSENT:
            damaged |= {name: value}
        self.items[kind] = container, damaged
        self.ids.add(str(damaged.get("id")))
        return damaged

    async def store(self, blog: Blog) -> None:
        """Raises CosmosHttpResponseError or CosmosBatchOperationError if nobody can store it."""
        for container, item in self.items.values():
            key = item.get(KEYS[container], NonePartitionKeyValue)
            proxy = blog.container(container).proxy
            await proxy.execute_item_batch([("create", (item,))], key)

    def is_named_in(self, finding: Finding) -> bool:
        return any(item_id in f"{finding.subject} {finding.detail}" for item_id in self.ids)


NAMES = sorted({(each.item, each.property) for each in INVARIANTS if each.property != "all others"})
NAMES += [("copy", name) for name in short_form(a_post(a_user())) if name not in ("id", "userId")]
NAMES += [("copy in `feed`", name) for name in short_form(a_post(a_user())) if name != "id"]
NAMES += [(kind, "type") for kind in ("user", "reservation", "post", "comment", "like", "tombstone", "record")]
NAMES += [(kind, "editId") for kind in ("user", "post")] + [("post", "editedDate")]
DATES = ["0001-01-01T00:00:00+08:00", "9999-12-31T23:59:59-08:00", "0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z"]
DATES += ["2026-01-01T00:00:00.000Z", "/Date(0)/", "2026-W01", "24:00"]
NUMBERS = [0, -0.0, 1, -1, 2, 1.5, 1e308, -1e308, 5e-324, 2**31 - 1, 2**53, 2**63, 10**30, True, False]
TEXTS = [
    "",
    " ",
    "\u200b",
    "\u0000",
    "\n",
    "x" * 300,
    "x" * 70_000,
    "😀",
    "\U0010ffff",
    "../..",
    "..",
    "a/b",
    "a ",
    "%",
    "'\"`",
]
JSON = [None, [], [1], {}, {"a": 1}, {"id": 1}, ABSENT]


def _values() -> list[Any]:
    return [*JSON, *NUMBERS, *DATES, *TEXTS]


async def _undetected(blog: Blog, damages: Iterable[tuple[str, str, Any]]) -> list[str]:
    """Store each damage in a family of its own; return what `verify` missed, or `rebuild` did not repair."""
    stored: list[tuple[Family, Item, str, str, bool]] = []
    at_once = asyncio.Semaphore(8)

    async def store(kind: str, name: str, value: Any) -> None:
        family = Family()
        before = json.dumps(family.items[kind][1].get(name, ABSENT))
        item = family.damage(kind, name, value)
        changed = json.dumps(item.get(name, ABSENT)) != before
        async with at_once:
            # Raises ValueError for a key that cannot be one.
            with suppress(CosmosHttpResponseError, CosmosBatchOperationError, ValueError, TypeError):
                await family.store(blog)
                stored.append((family, item, kind, name, changed))

    await asyncio.gather(*(store(*damage) for damage in damages))
    findings = await verify(blog.stored)
    missed = []
    for family, item, kind, name, changed in stored:
        if changed and not any(map(family.is_named_in, findings)) and not _is_harmless(kind, name, item):
            missed.append(f"verify: {kind}.{name} = {str(item.get(name, ABSENT))[:40]!r}")
    assert all(finding.advice for finding in findings if finding.kind.is_broken)
    [failure async for failure in _failures(blog)]

    for _ in range(2):
        await rebuild(blog.stored, lambda _: None)
    for finding in await verify(blog.stored):
        if finding.advice == REBUILD:
            of = [
                f"{kind}.{name} = {str(item.get(name, ABSENT))[:40]!r}"
                for family, item, kind, name, _ in stored
                if family.is_named_in(finding)
            ]
            missed.append(f"rebuild: {of}: {finding.kind.name} {str(finding)[:150]}")
    return missed


def _is_harmless(kind: str, name: str, item: Item) -> bool:
    if kind == "record" and name == "type" or kind == "tombstone" and name == "id":
        return False
    stored = json.loads(json.dumps(item).replace("-0.0", "0"))  # as the database stores it
    return (kind, name) in FREE and not violated(kind, stored)


async def _failures(blog: Blog) -> Any:
    async for failure in list_failures(blog.stored, None):
        yield failure, await state_of(blog.stored, failure)
