"""Compare the blog on the local stack with the SDK: Q2 through the Functions host, and the createComment procedure."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import aiohttp

from bench.blog_items import comment, posts_items
from bench.report import TargetResult
from bench.servers import connect, emulator, functions_host
from bench.timing import Action, in_turn
from management.provision import provision
from shared.containers import POSTS
from shared.platform.database.container import Container

_DATABASE: Final = "blog"
_WARM_UP: Final = 50
_REPETITIONS: Final = 500
# After each run, a script process prepares for the next, which would slow down interleaved writes. So scripts run in
# blocks, without pauses and with pauses as in real use.
_BLOCK: Final = 25
_PAUSE_S: Final = 0.01


async def measure_http(directory: Path) -> list[TargetResult]:
    """Compare Q2 with the SDK's point read, while the app reads its change feeds."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(directory))
        settings = server.settings(_DATABASE)
        await provision(settings)
        client = await stack.enter_async_context(connect(server))
        posts = client.get_database_client(_DATABASE).get_container_client(POSTS)
        post = next(posts_items(100))
        await posts.create_item(post)
        host = await stack.enter_async_context(functions_host(settings))
        session = await stack.enter_async_context(aiohttp.ClientSession(host.endpoint, raise_for_status=True))

        async def over_http(_: int) -> None:
            async with session.get(f"/api/posts/{post['id']}") as response:
                await response.read()

        async def by_sdk(_: int) -> None:
            await posts.read_item(post["id"], post["postId"])

        times = await in_turn({"http": over_http, "sdk": by_sdk}, _REPETITIONS, warm_up=_WARM_UP)
    what = "Q2 over HTTP through the Functions host, p50, against the SDK's point read"
    return [TargetResult.ratio(what, 1.5, times["http"], times["sdk"])]


async def measure_comments(directory: Path) -> list[TargetResult]:
    """Compare the procedure with the two writes that it replaces, through the SDK, on a durable emulator."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(directory))
        await provision(server.settings(_DATABASE))
        client = await stack.enter_async_context(connect(server))
        posts = Container(client.get_database_client(_DATABASE).get_container_client(POSTS))
        by_script, by_writes = [item for item in posts_items(200) if item["type"] == "post"]
        await posts.create(by_script)
        await posts.create(by_writes)

        async def writes(number: int) -> None:
            await posts.create(comment(by_writes["id"], number))
            await posts.patch(by_writes["id"], by_writes["id"], [{"op": "incr", "path": "/commentCount", "value": 1}])

        async def script(number: int) -> None:
            await posts.execute("createComment", by_script["id"], comment(by_script["id"], number))

        found, first = [], 0
        for how, pause_s in (("without pauses", 0.0), (f"{_PAUSE_S * 1000:.0f} ms apart", _PAUSE_S)):
            actions = {"script": _from(first, script), "writes": _from(first, writes)}
            times = await in_turn(actions, _REPETITIONS, warm_up=_BLOCK, block=_BLOCK, pause_s=pause_s)
            what = f"createComment stored procedure, p50, {how}, against two plain writes"
            found.append(TargetResult.ratio(what, 1, times["script"], times["writes"]))
            first += _REPETITIONS + 2 * _BLOCK
        return found


def _from(first: int, action: Action) -> Action:
    """Shift the action's numbers to unused numbers."""
    return lambda number: action(first + number)
