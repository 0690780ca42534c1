"""The search: what a visitor typed, and the query for it.

One query in one logical partition of the index, that of the posts. The index is partitioned by type because a search
wants to read as few physical partitions as possible: docs/architecture.md has the charges of another key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from search.index import LANGUAGE
from search.stop_words import stop_words
from shared.database.container import Container
from shared.errors import MalformedRequest
from shared.models.base import Item, check_text
from shared.models.post import Post

Order = Literal["relevance", "date"]
QUERY_LENGTH: Final = 200
MOST_WORDS: Final = 10
# Each page reads those before it again.
MOST_RESULTS: Final = 200
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# A page shows parts of long contents. Reading them whole would let a few huge posts delay all other requests.
_READ_LENGTH: Final = 10_000
_SHOWN: Final = (
    f"c._id, c.type, c.postId, c.userId, c.userUsername, c.title, LEFT(c.content, {_READ_LENGTH}) AS content,"
    " c.commentCount, c.likeCount,"
    " c.creationDate, c.editedDate"
)


@dataclass(frozen=True)
class SearchQuery:
    """The words of a search, all of which a post must have in its title or content; and the order of the results."""

    text: str
    words: tuple[str, ...]
    order: Order = "relevance"

    @classmethod
    def parse(cls, parameters: Mapping[str, str], language: str = LANGUAGE) -> SearchQuery:
        """Parse the query parameters `q` and `order`. Raises MalformedRequest, which says what to change."""
        order = parameters.get("order", "relevance")
        if order not in get_args(Order):
            raise MalformedRequest(f"The query parameter order must be {' or '.join(get_args(Order))}.")
        text = parameters.get("q", "").strip()
        if len(text) > QUERY_LENGTH:
            raise MalformedRequest(f"The search has {len(text)} characters. Use at most {QUERY_LENGTH}.")
        words = tuple(dict.fromkeys(word.casefold() for word in _WORD.findall(text)))
        if not words:
            raise MalformedRequest("The search has no word. Enter one, with the query parameter q.")
        try:
            check_text(text)
        except ValueError as error:
            raise MalformedRequest(f"The search is not a text. {error}") from error
        ignored = stop_words(language)
        rare = tuple(word for word in words if word not in ignored)
        if not rare:
            raise MalformedRequest("The search has only very frequent words. Add a word that fewer posts have.")
        if len(rare) > MOST_WORDS:
            raise MalformedRequest(f"The search has {len(rare)} words. Use at most {MOST_WORDS}.")
        return cls(text, rare, "date" if order == "date" else "relevance")

    @property
    def parameters(self) -> dict[str, Any]:
        """The words as parameters of a query: w0, w1, …"""
        return {f"w{number}": word for number, word in enumerate(self.words)}

    def statement(self, skip: int, limit: int) -> str:
        """Return the query, whose parameters are `parameters`.

        Where RANK orders, OFFSET and LIMIT must be literals: https://github.com/dotnet/efcore/issues/35867
        """
        names = [f"@{name}" for name in self.parameters]
        has_word = "(FullTextContains(c.title, {0}) OR FullTextContains(c.content, {0}))"
        has_all = " AND ".join(map(has_word.format, names))
        scores = ", ".join(f"FullTextScore(c.{path}, {', '.join(names)})" for path in ("title", "content"))
        order = "c.type DESC, c.creationDate DESC, c._id DESC" if self.order == "date" else f"RANK RRF({scores})"
        page = f"OFFSET {skip:d} LIMIT {limit:d}"
        return f"SELECT {_SHOWN} FROM c WHERE {has_all} ORDER BY {order} {page}"  # noqa: S608 - integers and names


@dataclass(frozen=True)
class Position:
    """The number of results on the pages before."""

    skip: int

    def __str__(self) -> str:
        return str(self.skip)

    @classmethod
    def parse(cls, text: str) -> Position:
        """Parse a `nextCursor`. Raises MalformedRequest."""
        if not re.fullmatch(r"[0-9]{1,3}", text, re.ASCII) or not 0 < int(text) < MOST_RESULTS:
            raise MalformedRequest("The cursor is not a nextCursor of a search; start again without one.")
        return cls(int(text))


@dataclass(frozen=True)
class Results:
    """A page of posts with the beginning of their content, and the position of the next page if there is one."""

    posts: list[Item]
    next_cursor: Position | None


async def search(index: Container, query: SearchQuery, *, limit: int, cursor: Position | None) -> Results:
    """Return a page of the posts that have all words. One query in one logical partition.

    The index is behind `posts` by a short time, so a result can be deleted. Raises DatabaseUnavailable.
    """
    skip = 0 if cursor is None else cursor.skip
    limit = min(limit, MOST_RESULTS - skip)
    text = query.statement(skip, limit + 1)
    rows = await index.query(text, query.parameters, partition_key=Post.TYPE, page_size=limit + 1)
    found = [_post(row) for row in rows[:limit]]
    has_more = len(rows) > limit and skip + limit < MOST_RESULTS
    return Results(found, Position(skip + limit) if has_more else None)


def _post(row: Item) -> Item:
    """Return the post of an item of the index, which has null for what the post lacks."""
    return {name: value for name, value in row.items() if value is not None} | {"id": row["_id"]}
