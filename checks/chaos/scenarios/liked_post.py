"""Like, unlike and delete a post with 50,000 likes while hosts are killed."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from checks.chaos.scenarios.loading import Stopwatch, copies, named_user, of_users
from checks.chaos.scenarios.running_blog import RunningBlog, running_blog
from shared.platform.models import Item
from tests.items import a_like, a_post

LIKES = 50_000
_NEW, _UNLIKED, _CLIENTS, _KILLS = 400, 300, 20, 4
_LASTING = "SELECT VALUE COUNT(1) FROM c WHERE c.type = 'like' AND NOT IS_DEFINED(c.ttl)"
_THERE = "SELECT VALUE COUNT(1) FROM c WHERE c.type = 'like'"
_GONE_WITHIN_S, _POLL_S = 300.0, 0.5


async def run_scenario(directory: Path, likes: int = LIKES, kills: int = _KILLS) -> str:
    """Run the scenario and describe the result. Raises AssertionError."""
    users = [named_user(number) for number in range(likes + _NEW)]
    post = a_post(users[0]) | {"likeCount": likes}
    items = [post, *(a_like(post, user, second=number) for number, user in enumerate(users[:likes]))]
    async with running_blog(directory, [*of_users(users), *copies([post])], items) as system:
        liked = Stopwatch()
        async with system.under_kills(kills, seed=1):
            await _like_and_unlike(system, post["id"], users[likes:], users[:_UNLIKED])
            answered = str(liked)
        count = await _counted(system, post, likes + _NEW - _UNLIKED)
        deleted = Stopwatch()
        async with system.under_kills(kills, seed=2):
            answer = await system.api_client("author").send("DELETE", f"/posts/{post['id']}")
            assert answer.status == 204
            await _until_gone(system, post)
            gone = str(deleted)
        await system.settled()
        assert await system.reader.get(f"/posts/{post['id']}") == {}
        return (
            f"{likes:,} likes, {_NEW} added and {_UNLIKED} removed in {answered}, {count:,} counted; post deleted, "
            f"all likes gone after {gone}; {2 * kills} hosts killed"
        )


async def _like_and_unlike(system: RunningBlog, post_id: str, new: list[Item], old: list[Item]) -> None:
    path = f"/posts/{post_id}/likes"
    commands = [("POST", user["id"]) for user in new] + [("DELETE", user["id"]) for user in old]

    async def send(number: int) -> None:
        api_client = system.api_client(f"client-{number}")
        for method, user_id in commands[number::_CLIENTS]:
            if method == "POST":
                answer = await api_client.create(path, {"userId": user_id})
            else:
                answer = await api_client.send("DELETE", f"{path}/{user_id}")
            assert answer.status in (200, 201, 204), answer

    async with asyncio.TaskGroup() as group:
        for number in range(_CLIENTS):
            group.create_task(send(number))


async def _counted(system: RunningBlog, post: Item, expected: int) -> int:
    """Return the number of likes, which must equal the post's count."""
    shown = (await system.reader.get(f"/posts/{post['id']}"))["likeCount"]
    there = await _number(system, post, _LASTING)
    assert (shown, there) == (expected, expected), (shown, there)
    return there


async def _until_gone(system: RunningBlog, post: Item) -> None:
    deadline = time.monotonic() + _GONE_WITHIN_S
    while left := await _number(system, post, _THERE):
        assert time.monotonic() < deadline, f"{left} likes are left"
        await asyncio.sleep(_POLL_S)


async def _number(system: RunningBlog, post: Item, text: str) -> int:
    return sum(await system.blog.posts.query(text, {}, partition_key=post["id"], page_size=1))
