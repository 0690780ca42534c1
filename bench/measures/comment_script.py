"""Compare the createComment stored procedure with the two writes that it replaces."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from bench.blog_items import comment, posts_items
from bench.report import TargetResult
from bench.servers import connect, emulator
from bench.sizes import Sizes
from bench.timing import Action, Times, in_turn
from management.provision import provision
from shared.database.container import Container
from shared.database.containers import POSTS

_DATABASE: Final = "blog"
_WARM_UP: Final = 25
# After each run, a script process prepares for the next, which would slow down interleaved writes. So scripts run in
# blocks, without pauses and with pauses as in real use.
_BLOCK: Final = 25
_PAUSE_S: Final = 0.01


async def measure(sizes: Sizes, directory: Path) -> list[TargetResult]:
    """Add and count comments through the SDK, on a durable emulator."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(directory / "comments"))
        await provision(server.settings(_DATABASE))
        client = await stack.enter_async_context(connect(server))
        posts = Container(client.get_database_client(_DATABASE).get_container_client(POSTS))
        by_script, by_writes = [item for item in posts_items(200) if item["type"] == "post"]
        await posts.create(by_script)
        await posts.create(by_writes)
        actions = {"script": _script(posts, by_script["id"]), "writes": _writes(posts, by_writes["id"])}
        at_once = await in_turn(actions, sizes.repetitions, warm_up=_WARM_UP, block=_BLOCK)
        later = {name: _later(action, sizes.repetitions + _WARM_UP + _BLOCK) for name, action in actions.items()}
        apart = await in_turn(later, sizes.repetitions, warm_up=_WARM_UP, block=_BLOCK, pause_s=_PAUSE_S)
    return [_finding("without pauses", at_once), _finding(f"{_PAUSE_S * 1000:.0f} ms apart", apart)]


def _finding(how: str, times: Mapping[str, Times]) -> TargetResult:
    return TargetResult.at_most(
        f"createComment stored procedure, p50, {how}, against two plain writes",
        1,
        times["script"].p50_ms / times["writes"].p50_ms,
        "×",
        f"{times['script'].p50_ms:.2f} ms against {times['writes'].p50_ms:.2f} ms",
    )


def _later(action: Action, start: int) -> Action:
    """Shift the action's numbers to unused numbers."""
    return lambda number: action(start + number)


def _script(posts: Container, post_id: str) -> Action:
    return lambda number: posts.execute("createComment", post_id, comment(post_id, number))


def _writes(posts: Container, post_id: str) -> Action:
    async def action(number: int) -> None:
        await posts.create(comment(post_id, number))
        await posts.patch(post_id, post_id, [{"op": "incr", "path": "/commentCount", "value": 1}])

    return action
