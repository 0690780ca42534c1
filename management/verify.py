"""Verify the account and the blog's data, once or until a deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence

from management.addons import OpenAddon
from management.errors import MULTIPLE_WRITE_REGIONS
from management.item_count import ItemCount, number_of_items
from management.verification.census import take_census
from management.verification.examination import examine
from management.verification.findings import Finding, Kind, in_order
from shared.containers import container_definitions
from shared.data.blog import Blog
from shared.platform.database.client import has_multiple_write_regions
from shared.platform.database.container import Container
from shared.platform.database.refusals import database_errors

_POLL_S = 0.5


async def verify(blog: Blog, count: ItemCount | None = None, addons: Sequence[OpenAddon] = ()) -> list[Finding]:
    """Return all findings, including updates still in progress while the app runs. `count` counts the items read."""
    count = count or ItemCount()
    count.expect(await number_of_items(blog.users, blog.posts, blog.feed, blog.failures))
    findings = await examine(blog, await take_census(blog, count))
    for addon in addons:
        findings += await addon.verify(blog, count)
    for container in (blog.users, blog.posts, blog.feed, blog.failures):
        findings += await _ttl_findings(container)
    if await has_multiple_write_regions(blog.users.proxy):
        findings.append(Finding(Kind.ACCOUNT, "account", MULTIPLE_WRITE_REGIONS))
    return in_order(findings)


async def _ttl_findings(container: Container) -> list[Finding]:
    """Compare the container's TTL with its definition, because another one deletes items. One request."""
    with database_errors():
        present = await container.proxy.read()
    declared = next(definition for definition in container_definitions() if definition["id"] == present["id"])
    ttl, wanted = present.get("defaultTtl"), declared.get("defaultTtl")
    if ttl == wanted:
        return []
    detail = f"its default TTL is {'absent' if ttl is None else ttl}, not {'absent' if wanted is None else wanted}"
    return [Finding(Kind.CONTAINER, f"container {present['id']}", detail, "Run `manage.py provision`.")]


async def verify_within(
    blog: Blog, seconds: float, count: ItemCount | None = None, addons: Sequence[OpenAddon] = ()
) -> list[Finding]:
    """Verify until nothing is broken or `seconds` have passed."""
    deadline = time.monotonic() + seconds
    while True:
        findings = await verify(blog, count, addons)
        if not any_broken(findings) or time.monotonic() + _POLL_S > deadline:
            return findings
        await asyncio.sleep(_POLL_S)


def any_broken(findings: Iterable[Finding]) -> bool:
    return any(finding.kind.is_broken for finding in findings)
