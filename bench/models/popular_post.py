"""Measure listing 20 comments of a post beneath an increasing number of newer likes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from bench.loading import send_batches
from bench.models.loading import emulated
from bench.models.project_model import ProjectModel
from bench.models.request_costs import Cost, measure
from shared.models.comment import NewComment, comment_item
from shared.models.like import like_item
from shared.models.user import user_item
from shared.platform.models import iso_utc

COMMENTS: Final = 20
LIKES: Final = (0, 100_000)
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class PopularPost:
    """The cost of listing the comments (Q4) beneath this many newer likes."""

    likes: int
    cost: Cost


async def measure_popular_post(repetitions: int, numbers: Sequence[int] = LIKES) -> list[PopularPost]:
    """Measure Q4 after each number of likes, in ascending order."""
    found: list[PopularPost] = []
    async with emulated([ProjectModel], None) as (model,):
        author = await model.create_user("author")
        post = await model.create_post(author, "A title", "Some content.")
        posts = model.database.get_container_client("posts")
        new = NewComment(user_id=author.id, content="word " * 200)
        signer = user_item(author.id, author.username, _date(0))
        comments = (comment_item(f"comment-{n}", post.id, signer, new, _date(n)) for n in range(COMMENTS))
        await send_batches(posts, "postId", comments)
        present = 0
        for number in numbers:
            users = (user_item(f"user-{n}", f"user-{n}", _date(0)) for n in range(present, number))
            likes = (like_item(post.id, user, _date(COMMENTS + n)) for n, user in enumerate(users, present))
            await send_batches(posts, "postId", likes)
            present = number
            costs = await measure({model.NAME: {"Q4": lambda _: model.list_comments(post.id)}}, repetitions)
            found.append(PopularPost(number, costs["Q4"][model.NAME]))
    return found


def _date(second: int) -> str:
    return iso_utc(_START + timedelta(seconds=second))
