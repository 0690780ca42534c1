"""The table in damages.txt: what `verify` finds, the API answers, and `rebuild` repairs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from management.rebuild import rebuild
from management.verification.findings import Finding
from management.verify import verify
from shared.data.blog import Blog as ManagedBlog
from shared.data.username_reservations import reservation_id, reservation_item
from shared.models.post import short_form
from shared.platform.database.container import Container
from shared.platform.models import Item
from tests.blog import Blog
from tests.items import a_comment, a_like, a_post, a_user
from tests.running_app import running_app

TABLE = Path(__file__).with_name("damages.txt")
HEAD = ("| damage | found by `verify` as | the API meanwhile | `rebuild` |", "|---|---|---|---|")


class Case:
    """A user, their post, a comment and a like by another user, and what belongs to them. One item gets damaged."""

    def __init__(self, blog: Blog) -> None:
        self.users, self.posts, self.feed = blog.users, blog.posts, blog.feed
        self.author, self.reader = a_user(), a_user("reader")
        self.post = a_post(self.author) | {"commentCount": 1, "likeCount": 1}
        self.comment, self.like = a_comment(self.post, self.reader), a_like(self.post, self.reader)
        self.reservation = reservation_id(self.author["username"])
        self.missing_post = a_post(self.author)
        self.others: list[str] = []

    async def store(self) -> None:
        for user in (self.author, self.reader):
            await self.users.create(user)
            await self.users.create(reservation_item(user["username"], user["id"], 0))
        for item in (self.post, self.comment, self.like):
            await self.posts.create(item)
        for container in (self.users, self.feed):
            await container.create(short_form(self.post))

    async def create(self, container: Container, item: Item) -> None:
        self.others.append(item["id"])
        await container.create(item)

    def is_named_in(self, finding: Finding) -> bool:
        ids = (
            self.author["id"],
            self.reader["id"],
            self.post["id"],
            self.comment["id"],
            self.reservation,
            *self.others,
        )
        return any(each in str(finding) for each in ids)


async def _set(container: Container, item_id: str, key: str, **values: Any) -> None:
    operations = [
        {"op": "remove", "path": f"/{name}"} if value is None else {"op": "set", "path": f"/{name}", "value": value}
        for name, value in values.items()
    ]
    await container.patch(item_id, key, operations)


def user(**values: Any) -> Damage:
    return lambda case: _set(case.users, case.author["id"], case.author["id"], **values)


def post(**values: Any) -> Damage:
    return lambda case: _set(case.posts, case.post["id"], case.post["id"], **values)


def comment(**values: Any) -> Damage:
    return lambda case: _set(case.posts, case.comment["id"], case.post["id"], **values)


def like(**values: Any) -> Damage:
    return lambda case: _set(case.posts, case.like["id"], case.post["id"], **values)


def copy(**values: Any) -> Damage:
    return lambda case: _set(case.users, case.post["id"], case.author["id"], **values)


def feed_copy(**values: Any) -> Damage:
    return lambda case: _set(case.feed, case.post["id"], "post", **values)


def reservation(**values: Any) -> Damage:
    return lambda case: _set(case.users, case.reservation, case.reservation, **values)


Damage = Callable[[Case], Awaitable[None]]
GET_USER = ("`GET` user", lambda case: f"/api/users/{case.author['id']}", None)
GET_POST = ("`GET` post", lambda case: f"/api/posts/{case.post['id']}", None)
COMMENTS = ("list of comments", lambda case: f"/api/posts/{case.post['id']}/comments", lambda case: case.comment["id"])
LIKES = ("list of likes", lambda case: f"/api/posts/{case.post['id']}/likes", lambda case: case.like["id"])
GET_OTHER = ("`GET` user", lambda case: f"/api/users/{case.others[0]}", None)
OTHERS = (
    "list of comments",
    lambda case: f"/api/posts/{case.missing_post['id']}/comments",
    lambda case: case.others[0],
)
POSTS = ("list of posts", lambda case: f"/api/users/{case.author['id']}/posts", lambda case: case.post["id"])
OTHER_POSTS = (*POSTS[:2], lambda case: case.others[0])
FEED = ("feed", lambda _: "/api/feed?limit=100", lambda case: case.post["id"])

CASES: list[tuple[str, Damage, Any]] = [
    ("a user's name is an object", user(username={"a": 1}), GET_USER),
    ("a user has no name", user(username=None), GET_USER),
    ("a user's date is a number", user(creationDate=3), GET_USER),
    ("a user has no date", user(creationDate=None), GET_USER),
    ("a user has no type", user(type=None), GET_USER),
    ("a user is deleted", lambda case: case.users.delete(case.author["id"], case.author["id"]), GET_USER),
    ("a user has former names", user(formerUsernames=["former"]), GET_USER),
    ("a user is in another partition", lambda case: case.create(case.users, a_user() | {"userId": "other"}), GET_OTHER),
    ("a name is not reserved", lambda case: case.users.delete(case.reservation, case.reservation), GET_USER),
    ("a reservation expires", reservation(ttl=3600), GET_USER),
    ("a reservation has no owner", reservation(ownerId=None), GET_USER),
    ("a post has no title", post(title=None), GET_POST),
    ("a post's content is an object", post(content={"a": 1}), GET_POST),
    ("a post's date is a number", post(creationDate=3), GET_POST),
    ("a post's type is unknown", post(type="advertisement"), GET_POST),
    ("a post has a wrong count", post(commentCount=99), GET_POST),
    ("a post's count is text", post(likeCount="many"), GET_POST),
    ("a post has no version", post(version=None), GET_POST),
    ("a post has an old name of its author", post(userUsername="old.name"), GET_POST),
    ("a post is deleted, without a tombstone", lambda case: case.posts.delete(case.post["id"], case.post["id"]), POSTS),
    ("a tombstone never expires", post(type="tombstone"), GET_POST),
    ("a comment has no text", comment(content=None), COMMENTS),
    ("a comment's date is a number", comment(creationDate=3), COMMENTS),
    ("a comment has an old name of its author", comment(userUsername="old.name"), COMMENTS),
    (
        "a comment is deleted, still counted",
        lambda case: case.posts.delete(case.comment["id"], case.post["id"]),
        GET_POST,
    ),
    (
        "a comment is added, not counted",
        lambda case: case.create(case.posts, a_comment(case.post, case.reader)),
        GET_POST,
    ),
    (
        "a comment has no post",
        lambda case: case.create(case.posts, a_comment(case.missing_post, case.reader)),
        OTHERS,
    ),
    ("a like has no date", like(creationDate=None), LIKES),
    ("a copy of a post is missing", lambda case: case.users.delete(case.post["id"], case.author["id"]), POSTS),
    ("a copy has an old title", copy(title="Old title"), POSTS),
    ("a copy has no title", copy(title=None), POSTS),
    ("a copy has no post", lambda case: case.create(case.users, short_form(case.missing_post)), OTHER_POSTS),
    ("a post is missing from the feed", lambda case: case.feed.delete(case.post["id"], "post"), FEED),
    ("a copy in the feed has an old title", feed_copy(title="Old title"), FEED),
    ("a copy in the feed has no date", feed_copy(creationDate=None), FEED),
]


@dataclass
class Row:
    damage: str
    case: Case
    found: list[str] = field(default_factory=list)
    answer: str = ""
    is_repaired: bool = False

    @property
    def outcome(self) -> str:
        found = "; ".join(self.found) or "**not found**"
        return f"{found} | {self.answer} | {'repairs it' if self.is_repaired else 'by hand'}"


@pytest.fixture
async def rows(blog: Blog, managed: ManagedBlog, tmp_path: Path) -> list[Row]:
    """Damage an item in each of several consistent families, and see what becomes of it."""
    rows = [Row(damage, Case(blog)) for damage, _, _ in CASES]
    await asyncio.gather(*(row.case.store() for row in rows))
    assert await verify(managed) == []
    await asyncio.gather(*(damage(row.case) for row, (_, damage, _) in zip(rows, CASES, strict=True)))
    for row, findings in _by_row(rows, await verify(managed)):
        row.found = list(dict.fromkeys(finding.kind.value for finding in findings))
    with running_app(blog.settings, tmp_path / "host.log", disabled=("on_posts_changed", "on_users_changed")) as app:
        async with ClientSession(app.url) as session:
            for row, (_, _, request) in zip(rows, CASES, strict=True):
                row.answer = await _answer(session, row.case, *request)
    await rebuild(managed, lambda _: None)
    for row, findings in _by_row(rows, await verify(managed)):
        row.is_repaired = not findings
        assert all(finding.advice for finding in findings)
    return rows


def _by_row(rows: list[Row], findings: list[Finding]) -> list[tuple[Row, list[Finding]]]:
    return [(row, [finding for finding in findings if row.case.is_named_in(finding)]) for row in rows]


async def _answer(
    session: ClientSession, case: Case, name: str, path: Callable[[Case], str], listed: Callable[[Case], str] | None
) -> str:
    async with session.get(path(case)) as response:
        body = await response.json()
        if listed is None or response.status != 200:
            return f"{name}: {response.status}"
    shown = "with" if listed(case) in [item["id"] for item in body["items"]] else "without"
    return f"{name}: 200, {shown} it"


async def test_the_table_of_damages_is_true(rows: list[Row]) -> None:
    damages = dict[str, list[str]]()
    for row in rows:
        damages.setdefault(row.outcome, []).append(row.damage)
    table = [*HEAD, *(f"| {'; '.join(of)} | {outcome} |" for outcome, of in damages.items())]

    assert [row.damage for row in rows if not row.found] == []
    assert table == TABLE.read_text(encoding="utf-8").splitlines()
