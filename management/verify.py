"""Hold every promise of the blog's data against what is stored, once or until it is clean."""

from __future__ import annotations

import asyncio
import time

from management.account import Blog
from management.verification.census import take_census
from management.verification.examination import examine
from management.verification.findings import Finding, in_order

_POLL_S = 0.5


async def verify(blog: Blog) -> list[Finding]:
    """All findings, in the order of the report. While the app is in use, what is on its way is found, too."""
    return in_order(await examine(blog, await take_census(blog)))


async def verify_within(blog: Blog, seconds: float) -> list[Finding]:
    """As `verify`, again and again until nothing is broken or so many seconds have passed; the last findings."""
    deadline = time.monotonic() + seconds
    while True:
        findings = await verify(blog)
        if not is_broken(findings) or time.monotonic() + _POLL_S > deadline:
            return findings
        await asyncio.sleep(_POLL_S)


def is_broken(findings: list[Finding]) -> bool:
    return any(finding.kind.is_broken for finding in findings)
