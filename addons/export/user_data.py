"""A user's data, page by page: the user, their posts, comments and likes.

No container records where a user has commented, so the posts are read one feed range after the other, which costs at
least one query for each physical partition. A cursor is the position in the feed ranges; nothing is stored between two
pages. If a partition splits meanwhile, what is in it can come again.
"""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from typing import Final

from shared.data.blog import Blog
from shared.data.users import get_user
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post
from shared.models.user import User
from shared.platform.data.pages import Page, is_readable
from shared.platform.database.container import Container, patch_of
from shared.platform.database.refusals import ConditionFailed, ItemExists, ItemMissing
from shared.platform.database.retries import ENTRY_ATTEMPTS
from shared.platform.errors import DatabaseUnavailable, MalformedRequest, Problem, RetryLater
from shared.platform.models import Item, Resource

RESOURCES: Final[dict[str, type[Resource]]] = {each.TYPE: each for each in (User, Post, Comment, Like)}
# Pages that a signed-in user gets until they ask for none for an hour. All count, because a cursor can be forged.
PAGES: Final = 1_000
EXPORTS_TYPE: Final = "exports"
EXPORTS_TTL_S: Final = 3600

_RANGES_PER_PAGE = 10
_LAST = "FF"
_OF_USER = (
    f"SELECT * FROM c WHERE c.userId = @userId AND c.type IN ('{Post.TYPE}', '{Comment.TYPE}', '{Like.TYPE}')"  # noqa: S608 - constants
    " AND (NOT IS_DEFINED(c.ttl) OR c.ttl = -1)"
)


class TooManyExports(RetryLater):
    """The user has asked for their data too often."""

    problem = Problem(429, "Too many exports")
    detail = "You have downloaded your data too often; try again later."


@dataclass(frozen=True)
class ExportPosition:
    """A position in the feed ranges: the bounds of one, as effective partition keys, and its continuation token."""

    least: str
    below: str
    continuation: str | None = None

    def __str__(self) -> str:
        text = json.dumps([self.least, self.below, self.continuation], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> ExportPosition:
        """Parse a `nextCursor`. Raises MalformedRequest."""
        try:
            padded = text + "=" * (-len(text) % 4)
            match json.loads(base64.b64decode(padded, altchars=b"-_", validate=True)):
                case [str(least), str(below), str() | None as continuation] if least < below <= _LAST:
                    return cls(least, below, continuation)
            raise ValueError(text)
        except (ValueError, RecursionError) as error:
            raise _malformed() from error


async def read_user_data(
    blog: Blog, user_id: str, *, limit: int, cursor: ExportPosition | None, is_counted: bool
) -> Page[ExportPosition]:
    """Q7: a point read of the user, and one to ten queries, each in one physical partition of `posts`.

    A page can be empty before the last one. If it `is_counted`, it also costs a write. Raises UserNotFound,
    MalformedRequest, TooManyExports.
    """
    user = await get_user(blog.users, user_id)
    if is_counted:
        await _count_page(blog.users, user_id)
    items = [] if cursor else [user | {"type": User.TYPE}]  # a V1 user has none
    position: ExportPosition | None = cursor or await _range_from(blog.posts, "")
    for _ in range(_RANGES_PER_PAGE):
        if position is None or len(items) >= limit:
            break
        found, position = await _read(blog.posts, user_id, position, limit - len(items))
        items += found
        if found:
            break
    return Page(items, position)


async def _count_page(users: Container, user_id: str) -> None:
    """Count a page: a patch, and for the first one a creation. Raises TooManyExports."""
    for _ in range(ENTRY_ATTEMPTS):
        try:
            predicate = f"FROM c WHERE c.count < {PAGES:d}"
            await users.patch(EXPORTS_TYPE, user_id, patch_of({}, count=1), predicate=predicate)
        except ItemMissing:
            try:
                counter = {"id": EXPORTS_TYPE, "type": EXPORTS_TYPE, "userId": user_id, "count": 1}
                await users.create(counter | {"ttl": EXPORTS_TTL_S})
            except ItemExists:
                continue
        except ConditionFailed as error:
            counter_item = await users.read_latest(EXPORTS_TYPE, user_id) or {"_ts": time.time()}
            raise TooManyExports(EXPORTS_TTL_S - (time.time() - counter_item["_ts"])) from error
        return
    raise DatabaseUnavailable("concurrent exports of one user refused every attempt")


async def _read(
    posts: Container, user_id: str, position: ExportPosition, limit: int
) -> tuple[list[Item], ExportPosition | None]:
    """Read at most `limit` rows from here in the feed range; return the user's items and the next position.

    If the partition has split since the continuation token was returned, the SDK starts the feed range again. It raises
    ValueError if the token is not one of this query and feed range (azure-cosmos 4.17,
    _routing/feed_range_continuation.py).
    """
    bounds = {"min": position.least, "max": position.below, "isMinInclusive": True, "isMaxInclusive": False}

    async def attempt() -> tuple[list[Item], str | None]:
        rows = posts.proxy.query_items(
            _OF_USER,
            parameters=[{"name": "@userId", "value": user_id}],
            feed_range={"Range": bounds},
            max_item_count=limit,
        )
        pages = rows.by_page(position.continuation)
        page = await anext(pages, None)
        if page is None:  # nothing is left, and the iterator keeps the token that it was given
            return [], None
        return [row async for row in page], getattr(pages, "continuation_token", None)

    try:
        rows, continuation = await posts.in_session(None, attempt)
    except (ValueError, RuntimeError) as error:
        raise _malformed() from error
    if continuation is not None:
        following: ExportPosition | None = ExportPosition(position.least, position.below, continuation)
    else:
        following = await _range_from(posts, position.below) if position.below < _LAST else None
    # A damaged item does not end the export.
    return [row for row in rows if is_readable(RESOURCES[row["type"]], row)], following


async def _range_from(posts: Container, least: str) -> ExportPosition:
    """Return the part of a feed range that starts here."""
    ends = [feed_range["Range"]["max"] for feed_range in await posts.feed_ranges()]
    return ExportPosition(least, min(end for end in ends if end > least))


def _malformed() -> MalformedRequest:
    return MalformedRequest("The cursor is not a nextCursor of this user's data; start again without one.")
