"""createComment, one stored procedure, against the two plain writes that it stands for."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from bench.blog_items import comment, posts_items
from bench.report import Finding
from bench.servers import connect, emulator
from bench.sizes import Sizes
from bench.timing import Action, in_turn
from management.provision import provision
from shared.containers import POSTS
from shared.cosmos import Container

_DATABASE: Final = "blog"
_WARM_UP: Final = 30


async def measure(sizes: Sizes, directory: Path) -> list[Finding]:
    """Both add a comment and count it on its post, through the SDK on a durable emulator."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(directory / "comments"))
        await provision(server.settings(_DATABASE))
        client = await stack.enter_async_context(connect(server))
        posts = Container(client.get_database_client(_DATABASE).get_container_client(POSTS))
        by_script, by_writes = [item for item in posts_items(200) if item["type"] == "post"]
        await posts.create(by_script)
        await posts.create(by_writes)
        actions = {"script": _script(posts, by_script["id"]), "writes": _writes(posts, by_writes["id"])}
        times = await in_turn(actions, sizes.repetitions, warm_up=_WARM_UP)
    return [
        Finding.at_most(
            "createComment by its stored procedure, p50, against two plain writes",
            1,
            times["script"].p50_ms / times["writes"].p50_ms,
            "×",
            f"{times['script'].p50_ms:.2f} ms against {times['writes'].p50_ms:.2f} ms",
        )
    ]


def _script(posts: Container, post_id: str) -> Action:
    return lambda number: posts.execute("createComment", post_id, comment(post_id, number))


def _writes(posts: Container, post_id: str) -> Action:
    async def action(number: int) -> None:
        await posts.create(comment(post_id, number))
        await posts.patch(post_id, post_id, [{"op": "incr", "path": "/commentCount", "value": 1}])

    return action
