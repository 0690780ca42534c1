"""Damaged items: `verify` names each that the API cannot answer with, and the API never answers 500."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from management.rebuild import rebuild
from management.verify import verify
from shared.data.username_reservations import reservation_item
from shared.models.post import short_form
from shared.platform.database.container import Container
from shared.platform.models import Item
from tests.blog import Blog
from tests.items import a_comment, a_like, a_post, a_user
from tests.management.boundary_values import DATES, NUMBERS, TEXTS
from tests.running_app import TRIGGERS, RunningApp, running_app

_ABSENT = object()
_VALUES: tuple[Any, ...] = (_ABSENT, None, 1.5, "text", {"a": 1})
# The keys of the containers and of the change feeds' queries; without them, no request finds the item.
_KEYS = {"id", "postId", "type", "userId"}
_KINDS = ("user", "post", "comment", "like", "copy", "reservation")


class _Family:
    """A user, their post, its copy, a comment and a like. One of them is damaged."""

    def __init__(self) -> None:
        self.user = a_user()
        self.username = self.user["username"]
        self.post = a_post(self.user) | {"commentCount": 1, "likeCount": 1}
        self.items: dict[str, Item] = {
            "user": self.user,
            "post": self.post,
            "comment": a_comment(self.post, self.user),
            "like": a_like(self.post, self.user),
            "copy": short_form(self.post),
            "reservation": reservation_item(self.user["username"], self.user["id"], 0),
        }

    def damage(self, kind: str, field: str, value: Any) -> str:
        """Change one field, and return the ID of its item."""
        item = self.items[kind]
        if value is _ABSENT:
            item.pop(field, None)
        else:
            item[field] = value
        return str(item["id"])

    async def store(self, blog: Blog) -> None:
        await self._create(blog.posts, self.post["postId"], "post", "comment", "like")
        await self._create(blog.users, self.user["userId"], "user", "copy")
        await self._create(blog.users, self.items["reservation"]["userId"], "reservation")

    async def _create(self, container: Container, partition_key: str, *kinds: str) -> None:
        await container.batch(partition_key, [("create", (self.items[kind],)) for kind in kinds])

    def requests(self, kind: str) -> Iterator[tuple[str, str, object]]:
        """The requests that read or write the damaged item."""
        user, post, comment = self.user["id"], self.post["id"], self.items["comment"]["id"]
        likes = ("POST", f"/api/posts/{post}/likes", {"userId": user})
        comments = ("POST", f"/api/posts/{post}/comments", {"userId": user, "content": "Well put."})
        requests: dict[str, list[tuple[str, str, object]]] = {
            "user": [
                ("GET", f"/api/users/{user}", None),
                ("GET", f"/users/{user}", None),
                comments,
                ("PUT", f"/api/users/{user}", {"username": f"u{user[:20]}"}),
            ],
            "post": [
                ("GET", f"/api/posts/{post}", None),
                ("GET", f"/posts/{post}", None),
                comments,
                ("PUT", f"/api/posts/{post}", {"title": "Another title", "content": "Other content."}),
            ],
            "comment": [
                ("GET", f"/api/posts/{post}/comments", None),
                ("GET", f"/posts/{post}?comment={comment}", None),
                ("DELETE", f"/api/posts/{post}/comments/{comment}", None),
            ],
            "like": [
                ("GET", f"/api/posts/{post}/likes", None),
                likes,
                ("DELETE", f"/api/posts/{post}/likes/{user}", None),
            ],
            "copy": [("GET", f"/api/users/{user}/posts", None), ("GET", f"/users/{user}", None)],
            "reservation": [
                ("GET", f"/api/users/{user}", None),
                ("POST", "/api/users", {"username": self.username}),
                ("PUT", f"/api/users/{user}", {"username": f"u{user[:20]}"}),
            ],
        }
        yield from requests[kind]


_INTERNAL = {"version", "nameVersion", "editId", "formerUsernames", "editedDate"}
_FIELDS = [(kind, field) for kind in _KINDS for field in sorted((set(_Family().items[kind]) | _INTERNAL) - _KEYS)]


def _damages() -> Iterator[tuple[str, str, Any]]:
    for kind, field in _FIELDS:
        for value in _VALUES:
            yield kind, field, value


@pytest.fixture
def app(blog: Blog, tmp_path: Path) -> Iterator[RunningApp]:
    """An app whose change-feed functions do not see the damage."""
    with running_app(blog.settings, tmp_path / "host.log", disabled=TRIGGERS) as running:
        yield running


async def _wrong_answers(blog: Blog, app: RunningApp, damages: Iterable[tuple[str, str, Any]]) -> list[str]:
    """Store each damage; return the requests that fail with 500, or because of an item that `verify` does not name."""
    families = []
    for kind, field, value in damages:
        family = _Family()
        families.append((family, kind, family.damage(kind, field, value), f"{kind}.{field} = {value!r}"))
    await asyncio.gather(*(family.store(blog) for family, *_ in families))
    named = "\n".join(f"{finding.subject}" for finding in await verify(blog.stored))
    wrong: list[str] = []
    one_at_a_time = asyncio.Semaphore(8)

    async with ClientSession(app.url) as session:

        async def use(family: _Family, kind: str, damaged: str, what: str) -> None:
            async with one_at_a_time:
                for method, path, body in family.requests(kind):
                    async with session.request(method, path, json=body) as response:
                        status = response.status
                    if status == 500 or (status >= 500 and damaged not in named):
                        wrong.append(f"{what}: {method} {path.replace(damaged, 'ID')} {status}")

        await asyncio.gather(*(use(*each) for each in families))
    return wrong


@pytest.mark.nightly
async def test_the_api_never_answers_500_and_verify_names_every_item_it_cannot_answer_with(
    blog: Blog, app: RunningApp
) -> None:
    wrong = await _wrong_answers(blog, app, _damages())

    assert wrong == [], json.dumps(wrong[:40], indent=1)


_SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
# As JSON, so without lone surrogates, which the database does not store.
_TEXT = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(["", " ", "/", "0001-01-01", "\u0000"])
_JSON = st.recursive(
    _SCALARS | _TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3)
)
_BOUNDARIES = st.sampled_from([*NUMBERS, *DATES, *TEXTS])
_GENERATED = st.tuples(st.sampled_from(_FIELDS), st.just(_ABSENT) | _BOUNDARIES | _JSON).map(
    lambda drawn: (*drawn[0], drawn[1])
)


# Each example has many damages, because `verify` reads everything. Shrinking would take long and show little more.
@settings(max_examples=2, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(_GENERATED, min_size=40, max_size=40))
async def test_no_generated_item_that_verify_approves_causes_a_500(
    blog: Blog, app: RunningApp, damages: list[tuple[str, str, Any]]
) -> None:
    assert await _wrong_answers(blog, app, damages) == []

    await rebuild(blog.stored, lambda _: None)
