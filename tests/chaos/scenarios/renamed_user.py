"""A user with 20,000 items on 5,000 posts is renamed while the hosts that carry the name are killed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from shared.data.username_reservations import reservation_id
from shared.models.base import Item
from tests.chaos.scenarios.loading import Stopwatch, copies, named_user, of_users
from tests.chaos.scenarios.stage import Stage, stage
from tests.items import a_comment, a_like, a_post

POSTS, COMMENTS_EACH = 5_000, 2
_KILLS = 10
_LEFT = "SELECT VALUE COUNT(1) FROM c WHERE c.userId = @user AND c.userUsername != @name"
_ALL = "SELECT VALUE COUNT(1) FROM c WHERE c.userId = @user AND c.userUsername = @name"


async def play(directory: Path, posts: int = POSTS, kills: int = _KILLS) -> str:
    """What was seen, in a line. Raises AssertionError."""
    user = named_user(0)
    written = [a_post(user, second=number) for number in range(posts)]
    for post in written:
        post |= {"commentCount": COMMENTS_EACH, "likeCount": 1}
    items = [*written, *_contributions(written, user)]
    async with stage(directory, [*of_users([user]), *copies(written)], items) as on:
        renamed = Stopwatch()
        async with on.under_kills(kills, seed=1):
            answer = await on.sender("renamer").send("PUT", f"/users/{user['id']}", {"username": "renamed"})
            assert answer.status == 200
            answered = str(renamed)
        killed = str(renamed)
        await on.settled()
        seen = f"{len(items):,} items on {posts:,} posts renamed, {kills} hosts killed meanwhile (until {killed})"
        await _check(on, user["id"], len(items), posts)
        return f"{seen}: answered after {answered}, all names and copies right after {renamed}"


def _contributions(posts: list[Item], user: Item) -> Iterable[Item]:
    for post in posts:
        yield a_like(post, user)
        for second in range(COMMENTS_EACH):
            yield a_comment(post, user, second=second)


async def _check(on: Stage, user_id: str, items: int, posts: int) -> None:
    """Every item and every copy bears the name, and the name before is free."""
    for container, expected in ((on.blog.posts, items), (on.blog.users, posts)):
        left, all_ = [
            sum(
                [row async for row in container.query_across(text, {"user": user_id, "name": "renamed"}, page_size=100)]
            )
            for text in (_LEFT, _ALL)
        ]
        assert (left, all_) == (0, expected), (left, all_)
    key = reservation_id("name-0")
    assert await on.blog.users.read(key, key) is None
