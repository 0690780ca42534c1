"""Compare Q2 over HTTP through the Functions host with the SDK's point read."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import aiohttp

from bench.blog_items import posts_items
from bench.report import TargetResult
from bench.servers import connect, emulator, functions_host
from bench.sizes import Sizes
from bench.timing import in_turn
from management.provision import provision
from shared.database.containers import POSTS

_TARGET: Final = 1.5
_DATABASE: Final = "blog"
_WARM_UP: Final = 50


async def measure(sizes: Sizes, directory: Path) -> list[TargetResult]:
    """Measure both while the app reads its change feeds."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(directory / "http"))
        settings = server.settings(_DATABASE)
        await provision(settings)
        client = await stack.enter_async_context(connect(server))
        posts = client.get_database_client(_DATABASE).get_container_client(POSTS)
        (directory / "host").mkdir()
        post = next(posts_items(100))
        await posts.create_item(post)
        host = await stack.enter_async_context(functions_host(settings, directory / "host"))
        session = await stack.enter_async_context(aiohttp.ClientSession(host.endpoint, raise_for_status=True))

        async def over_http(_: int) -> None:
            async with session.get(f"/api/posts/{post['id']}") as response:
                await response.read()

        async def by_sdk(_: int) -> None:
            await posts.read_item(post["id"], post["postId"])

        times = await in_turn({"http": over_http, "sdk": by_sdk}, sizes.repetitions, warm_up=_WARM_UP)
    return [
        TargetResult.at_most(
            "Q2 over HTTP through the Functions host, p50, against the SDK's point read",
            _TARGET,
            times["http"].p50_ms / times["sdk"].p50_ms,
            "×",
            f"{times['http'].p50_ms:.2f} ms against {times['sdk'].p50_ms:.2f} ms",
        )
    ]
