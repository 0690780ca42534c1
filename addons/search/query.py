"""The search: what a visitor typed, and the queries for it.

One query in a logical partition of the index for each kind of result, posts and comments. The index is partitioned by
type because a search wants to read as few physical partitions as possible: docs/architecture.md has the charges of
another key.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from addons.search.index import LANGUAGE
from addons.search.stop_words import stop_words
from shared.models.characters import check_text
from shared.models.comment import Comment
from shared.models.post import Post
from shared.platform.data.pages import Cursor, cursor_after
from shared.platform.database.container import Container
from shared.platform.errors import MalformedRequest
from shared.platform.models import Item

Order = Literal["relevance", "date"]
QUERY_LENGTH: Final = 200
MOST_WORDS: Final = 10
# Of a page, because each result can be 128 KiB long.
PAGE_LENGTH: Final = 20
# By relevance, because each page reads those before it again.
MOST_RESULTS: Final = 100
# Letters have their combining marks, which many scripts need for vowels.
WORD_CHARACTER: Final = r"[\p{L}\p{M}\p{N}]"
# A page shows parts of long contents. Reading them whole would let a few huge posts delay all other requests.
_READ_LENGTH: Final = 1_500
_EXCERPT_LENGTH: Final = 1_000
# Of an excerpt, before the word.
_BEFORE: Final = 100
_SHORTEST_STEM: Final = 4


@dataclass(frozen=True)
class Kind:
    """A kind of result: its type, the properties that have its words, and its other properties."""

    type: str
    texts: tuple[str, ...]
    others: str


_SHARED: Final = (
    f"c._id, c.type, c.postId, c.userId, c.userUsername, LEFT(c.content, {_READ_LENGTH}) AS content,"
    f" SUBSTRING(c.content, ABS(INDEX_OF(LOWER(c.content), @stem) - {_BEFORE}), {_EXCERPT_LENGTH}) AS excerpt"
)
KINDS: Final = (
    Kind(Post.TYPE, ("title", "content"), "c.title, c.commentCount, c.likeCount, c.creationDate, c.editedDate"),
    Kind(Comment.TYPE, ("content",), "c.creationDate"),
)


@dataclass(frozen=True)
class SearchQuery:
    """The words of a search, all of which a result must have in its title or content; and the order of the results."""

    text: str
    words: tuple[str, ...]
    order: Order = "relevance"

    @classmethod
    def parse(cls, parameters: Mapping[str, str], language: str = LANGUAGE) -> SearchQuery:
        """Parse the query parameters `q` and `order`. Raises MalformedRequest, which says what to change."""
        order = order_of(parameters)
        text = parameters.get("q", "").strip()
        # Not on the page, which also shows the other messages: there, no text is no search.
        if not text:
            raise MalformedRequest("The search is empty. Enter a word, with the query parameter q.")
        if len(text) > QUERY_LENGTH:
            raise MalformedRequest(f"The search has {len(text)} characters. Use at most {QUERY_LENGTH}.")
        try:
            text = check_text(text)
        except ValueError as error:
            raise MalformedRequest(f"The search is not a text. {error}") from error
        # As typed, because the database treats them like the words of texts.
        words = {word.lower().replace("’", "'"): word for word in _words_of(text)}
        if not words:
            raise MalformedRequest("The search has no word. Enter one with letters or digits.")
        ignored = stop_words(language)
        rare = tuple(word for form, word in words.items() if form not in ignored)
        if not rare:
            raise MalformedRequest(
                "The search has only very frequent words, or single letters and digits. Add another word."
            )
        if len(rare) > MOST_WORDS:
            raise MalformedRequest(f"The search has {len(rare)} words. Use at most {MOST_WORDS}.")
        return cls(text, rare, order)

    @property
    def parameters(self) -> dict[str, Any]:
        """The words as parameters of a query, w0, w1, …, and the start of the first."""
        return {f"w{number}": word for number, word in enumerate(self.words)} | {"stem": stem(self.words[0]).lower()}

    def statement(self, kind: Kind, limit: int, *, skip: int = 0, is_later: bool = False) -> str:
        """Return the query, whose parameters are `parameters` and, for a later page by date, `date` and `id`.

        Where RANK orders, OFFSET and LIMIT must be literals: https://github.com/dotnet/efcore/issues/35867
        """
        names = [f"@w{number}" for number in range(len(self.words))]
        has_word = " OR ".join(f"FullTextContains(c.{text}, {{0}})" for text in kind.texts)
        has_all = " AND ".join(f"({has_word.format(name)})" for name in names)
        scores = [f"FullTextScore(c.{text}, {', '.join(names)})" for text in kind.texts]
        rank = f"RRF({', '.join(scores)})" if len(scores) > 1 else scores[0]
        order = "c.type DESC, c.creationDate DESC, c._id DESC" if self.order == "date" else f"RANK {rank}"
        older = " AND c.creationDate <= @date AND (c.creationDate < @date OR c._id <= @id)" if is_later else ""
        page = f"OFFSET {skip:d} LIMIT {limit:d}"
        return f"SELECT {_SHARED}, {kind.others} FROM c WHERE {has_all}{older} ORDER BY {order} {page}"  # noqa: S608 - constants, integers and names of parameters


def stem(word: str) -> str:
    """Return the start that other forms of the word share. The stems that the database compares are not known here."""
    return word[: max(_SHORTEST_STEM, len(word) - 3)]


def _words_of(text: str) -> list[str]:
    import regex  # type: ignore[import-untyped]  # has no annotations, and is slow to import

    return list(regex.findall(rf"{WORD_CHARACTER}+(?:['’]{WORD_CHARACTER}+)*", text))


def order_of(parameters: Mapping[str, str]) -> Order:
    """Return the query parameter `order`. Raises MalformedRequest."""
    for order in get_args(Order):
        if parameters.get("order", "relevance") == order:
            return order  # type: ignore[no-any-return]  # one of them
    raise MalformedRequest(f"The order must be {' or '.join(get_args(Order))}.")


@dataclass(frozen=True)
class SearchPosition:
    """The numbers of results of each kind on the pages before, by relevance."""

    skips: tuple[int, ...] = (0,) * len(KINDS)

    def __str__(self) -> str:
        return "-".join(map(str, self.skips))

    @property
    def count(self) -> int:
        return sum(self.skips)

    @classmethod
    def parse(cls, text: str) -> SearchPosition:
        """Parse a `nextCursor`. Raises MalformedRequest."""
        if re.fullmatch(r"[0-9]{1,3}-[0-9]{1,3}", text, re.ASCII):
            position = cls(tuple(map(int, text.split("-"))))
            if 0 < position.count < MOST_RESULTS:
                return position
        raise MalformedRequest("The cursor is not a nextCursor of a search; start again without one.")


def parse_position(text: str) -> SearchPosition | Cursor:
    """Parse a `nextCursor` of a search by relevance or date. Raises MalformedRequest."""
    return Cursor.parse(text) if text.startswith("W") else SearchPosition.parse(text)


@dataclass(frozen=True)
class Results:
    """A page of posts and comments with parts of their content, and the position of the next one, if any."""

    items: list[Item]
    next_cursor: SearchPosition | Cursor | None
    # Whether others follow that are not shown.
    is_cut: bool = False


async def search(
    index: Container, query: SearchQuery, *, limit: int, cursor: SearchPosition | Cursor | None
) -> Results:
    """Return a page of the posts and comments that have all words. One query in each of two logical partitions.

    The index is behind `posts` by a short time, so a result can be deleted. Raises MalformedRequest for a cursor of the
    other order, DatabaseUnavailable.
    """
    limit = min(limit, PAGE_LENGTH)
    if query.order == "date" and not isinstance(cursor, SearchPosition):
        return await _newest(index, query, limit, cursor)
    if query.order == "relevance" and not isinstance(cursor, Cursor):
        return await _most_relevant(index, query, limit, cursor or SearchPosition())
    raise MalformedRequest("The cursor is not a nextCursor of this order; start again without one.")


async def _newest(index: Container, query: SearchQuery, limit: int, cursor: Cursor | None) -> Results:
    """Return a page whose cursor is its first result: the index alone then finds all results of the page."""
    parameters = query.parameters | ({} if cursor is None else {"date": cursor.creation_date, "id": cursor.id})

    async def of_kind(kind: Kind) -> list[Item]:
        text = query.statement(kind, limit + 1, is_later=cursor is not None)
        return await index.query(text, parameters, partition_key=kind.type, page_size=limit + 1)

    rows = [row for of_one in await asyncio.gather(*map(of_kind, KINDS)) for row in of_one]
    rows.sort(key=lambda row: (str(row["creationDate"]), row["_id"]), reverse=True)
    items = [*map(_item, rows[: limit + 1])]
    following = cursor_after(items) if len(items) > limit else None
    # They are the same if dates are damaged.
    return Results(items[:limit], None if following == cursor else following)


async def _most_relevant(index: Container, query: SearchQuery, limit: int, position: SearchPosition) -> Results:
    """Return a page that takes turns: the best post, the best comment, the second-best post.

    Scores of posts and comments have different statistics.
    """
    limit = min(limit, MOST_RESULTS - position.count)

    async def of_kind(kind: Kind, skip: int) -> list[Item]:
        text = query.statement(kind, limit + 1, skip=skip)
        return await index.query(text, query.parameters, partition_key=kind.type, page_size=limit + 1)

    found = await asyncio.gather(*map(of_kind, KINDS, position.skips))
    rows = [
        (skip + rank, row)
        for skip, of_one in zip(position.skips, found, strict=True)
        for rank, row in enumerate(of_one)
    ]
    rows.sort(key=lambda ranked: ranked[0])  # stable: posts first
    shown = [row for _, row in rows[:limit]]
    seen = (sum(row["type"] == kind.type for row in shown) for kind in KINDS)
    after = SearchPosition(tuple(skip + number for skip, number in zip(position.skips, seen, strict=True)))
    has_more, is_full = len(rows) > limit, after.count == MOST_RESULTS
    return Results([*map(_item, shown)], after if has_more and not is_full else None, is_cut=has_more and is_full)


def _item(row: Item) -> Item:
    """Return the post or comment of an item of the index, which has null for what it lacks."""
    return {name: value for name, value in row.items() if value is not None} | {"id": row["_id"]}
