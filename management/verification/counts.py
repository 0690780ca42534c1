"""Compare a post's counts with the comments and likes in its logical partition."""

from __future__ import annotations

from dataclasses import dataclass

from management.verification.invariants import is_version
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post
from shared.platform.database.container import Container
from shared.platform.errors import DatabaseUnavailable
from shared.platform.models import Item, integer_of

_COUNT = "SELECT VALUE COUNT(1) FROM c WHERE c.type = @type"
# Comments and likes write their post, so a busy post needs several attempts.
_ATTEMPTS = 20


@dataclass(frozen=True)
class Recount:
    """A post and its numbers of comments and likes."""

    post: Item
    comments: int
    likes: int

    def faults(self) -> list[str]:
        """Describe each wrong field."""
        counted = {"commentCount": self.comments, "likeCount": self.likes}
        faults = [
            f"{name} is {self.post.get(name, 'absent')}, but there are {number}"
            for name, number in counted.items()
            if integer_of(self.post, name, -1) != number
        ]
        return faults if is_version(self.post) else [*faults, "version is not a whole number from 1"]


async def recount(posts: Container, post_id: str) -> Recount | None:
    """Count a post's comments and likes; return None if it does not exist.

    Costs two point reads and two single-partition queries per attempt. Raises DatabaseUnavailable if the post keeps
    changing.
    """
    for _ in range(_ATTEMPTS):
        before = await posts.read(post_id, post_id)
        if before is None or before.get("type") != Post.TYPE:
            return None
        comments, likes = await _count(posts, post_id, Comment.TYPE), await _count(posts, post_id, Like.TYPE)
        after = await posts.read(post_id, post_id)
        # Comments and likes are written in one transaction with their post, so if it is unchanged, so are the counts.
        if after is not None and after["_etag"] == before["_etag"]:
            return Recount(before, comments, likes)
    raise DatabaseUnavailable(f"post {post_id} changes too often to be counted")


async def _count(posts: Container, post_id: str, type_: str) -> int:
    rows = await posts.query(_COUNT, {"type": type_}, partition_key=post_id, page_size=1)
    return sum(rows)
