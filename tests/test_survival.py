"""The blog as a whole, under kills."""

from __future__ import annotations

from pathlib import Path

import pytest

from management import account
from management.verify import verify_within
from tests.blog import EmulatorThread, new_blog
from tests.survival import KilledHost, missing, run_commands


@pytest.mark.parametrize("seed", [1])
async def test_two_hundred_commands_and_ten_killed_hosts_leave_nothing_broken_and_nothing_lost(
    emulator: EmulatorThread, tmp_path: Path, seed: int
) -> None:
    async with new_blog(emulator) as blog:
        host = KilledHost(blog.settings, tmp_path / "host.log")
        await host.start()
        try:
            acknowledged = await run_commands(host, commands=200, kills=10, clients=4, seed=seed)
            # The last kill's leases are taken over when they have expired, 15 s later.
            findings = await verify_within(account.Blog(blog.users, blog.posts, blog.feed, blog.failures), seconds=60)
            lost = await missing(host, acknowledged)
        finally:
            await host.kill()

    assert acknowledged.commands == 200
    assert findings == []
    assert lost == []
