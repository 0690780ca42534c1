"""Verify the blog's data, once or until a deadline."""

from __future__ import annotations

import asyncio
import time

from management.account import Blog
from management.verification.census import take_census
from management.verification.examination import examine
from management.verification.findings import Finding, in_order

_POLL_S = 0.5


async def verify(blog: Blog) -> list[Finding]:
    """Return all findings, including updates still in progress while the app runs."""
    return in_order(await examine(blog, await take_census(blog)))


async def verify_within(blog: Blog, seconds: float) -> list[Finding]:
    """Verify until nothing is broken or `seconds` have passed."""
    deadline = time.monotonic() + seconds
    while True:
        findings = await verify(blog)
        if not is_broken(findings) or time.monotonic() + _POLL_S > deadline:
            return findings
        await asyncio.sleep(_POLL_S)


def is_broken(findings: list[Finding]) -> bool:
    return any(finding.kind.is_broken for finding in findings)
