"""Rename a user with 20,000 items on 5,000 posts while hosts are killed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from checks.chaos.scenarios.loading import Stopwatch, copies, named_user, of_users
from checks.chaos.scenarios.running_blog import RunningBlog, running_blog
from shared.data.username_reservations import reservation_id
from shared.platform.models import Item
from tests.items import a_comment, a_like, a_post

POSTS, COMMENTS_EACH = 5_000, 2
_KILLS = 10
_LEFT = "SELECT VALUE COUNT(1) FROM c WHERE c.userId = @user AND c.userUsername != @name"
_ALL = "SELECT VALUE COUNT(1) FROM c WHERE c.userId = @user AND c.userUsername = @name"


async def run_scenario(directory: Path, posts: int = POSTS, kills: int = _KILLS) -> str:
    """Run the scenario and describe the result. Raises AssertionError."""
    user = named_user(0)
    written = [a_post(user, second=number) for number in range(posts)]
    for post in written:
        post |= {"commentCount": COMMENTS_EACH, "likeCount": 1}
    items = [*written, *_contributions(written, user)]
    async with running_blog(directory, [*of_users([user]), *copies(written)], items) as system:
        renamed = Stopwatch()
        async with system.under_kills(kills, seed=1):
            answer = await system.api_client("renamer").send("PUT", f"/users/{user['id']}", {"username": "renamed"})
            assert answer.status == 200
            answered = str(renamed)
        killed = str(renamed)
        await system.settled()
        seen = f"{len(items):,} items on {posts:,} posts renamed, {kills} hosts killed (until {killed})"
        await _check(system, user["id"], len(items), posts)
        return f"{seen}: answered after {answered}, all usernames and copies updated after {renamed}"


def _contributions(posts: list[Item], user: Item) -> Iterable[Item]:
    for post in posts:
        yield a_like(post, user)
        for second in range(COMMENTS_EACH):
            yield a_comment(post, user, second=second)


async def _check(system: RunningBlog, user_id: str, items: int, posts: int) -> None:
    """Check that all items and copies have the new username, and that the old one is free."""
    for container, expected in ((system.blog.posts, items), (system.blog.users, posts)):
        left, all_ = [
            sum(
                [row async for row in container.query_across(text, {"user": user_id, "name": "renamed"}, page_size=100)]
            )
            for text in (_LEFT, _ALL)
        ]
        assert (left, all_) == (0, expected), (left, all_)
    key = reservation_id("name-0")
    assert await system.blog.users.read(key, key) is None
