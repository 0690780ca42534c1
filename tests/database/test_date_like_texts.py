"""Texts that look like dates are stored in a form that the Functions host leaves alone, and read as they were sent."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from functions_host.date_texts import UnparsableChangesError, parsed
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from management.failures import Outcome, find_failures, replay_failures
from management.rebuild import rebuild
from management.verification.findings import Kind
from management.verify import is_broken, verify
from shared.data.blog import Blog as ManagedBlog
from shared.data.comments import create_comment
from shared.data.likes import create_like
from shared.data.permissions import BackEnd
from shared.data.posts import create_post, edit_post
from shared.data.users import create_user, edit_user
from shared.database.container import Container, patch_of
from shared.database.date_like_texts import TEXTS, as_sent, stored_form
from shared.models.base import Item, RequestModel
from shared.models.comment import NewComment
from shared.models.like import NewLike
from shared.models.post import NewPost, PostChanges
from shared.models.user import NewUser, UserChanges
from shared.propagation.change_feeds import POSTS_CHANGE_FEED, USERS_CHANGE_FEED
from shared.propagation.delivery import run_delivery
from shared.transactions import transactions
from tests.blog import Blog
from tests.items import a_comment, a_post, a_user, unique

REWRITTEN = [
    "2026-01-01T00:00:00+02:00",
    "2026-01-01T00:00:00.1200000Z",
    "2026-01-01T24:00:00",
    "2026-01-01T00:00:00+99:99",
    "2026-01-01T00:00:00z",
    "/Date(0)/",
]
FATAL = ["/Date(99999999999999999)/", "/Date(253402300800000)/", "9999-12-31T24:00:00", "9999-12-31T24:00:00-14:00"]

# Newtonsoft.Json takes these shapes for dates, whatever the digits.
dates = st.from_regex(
    r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:?[0-9]{0,2})?",
    fullmatch=True,
)
numbers = st.from_regex(r"/Date\(-?[0-9]{1,20}([+-][0-9]{2,4})?.{0,9}\)/", fullmatch=True)
# Also what is stored, so that the mark in a text is not taken for our own.
texts = st.one_of(st.text(), dates, numbers).flatmap(
    lambda text: st.integers(0, 2).map(lambda marks: "text:" * marks + text)
)


@given(texts)
def test_the_host_leaves_the_stored_form_alone_and_it_can_be_read(text: str) -> None:
    stored = stored_form({"title": text})

    assert parsed(stored) == stored
    assert as_sent(stored) == {"title": text}


@pytest.mark.parametrize(
    "text", ["text: a note", "2026 was a year", "/Date/", r"\begin", "2026-01-01", "a" * 40, "text:"]
)
def test_an_ordinary_text_is_stored_unchanged(text: str) -> None:
    assert stored_form({"title": text}) == {"title": text}
    assert as_sent({"title": text}) == {"title": text}


@pytest.mark.parametrize("text", REWRITTEN + FATAL)
async def test_a_text_that_looks_like_a_date_reaches_every_reader_as_sent(blog: Blog, text: str) -> None:
    author = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)
    new = NewPost(user_id=author["id"], title=text, content="Before")
    post = await create_post(blog.stored, new, idempotency_key=text)
    assert post["title"] == text
    edited = await edit_post(blog.posts, post["id"], PostChanges(title=text, content=text), by=BackEnd())
    comment = await create_comment(
        blog.stored, post["id"], NewComment(user_id=author["id"], content=text), idempotency_key=text
    )
    await create_like(blog.stored, post["id"], NewLike(user_id=author["id"]), idempotency_key=text)
    await edit_user(blog.users, author["id"], UserChanges(username=unique("countess")))

    await _deliver_everything(blog)

    assert [edited["title"], edited["content"], comment["content"]] == [text] * 3
    copies = [await blog.users.read(post["id"], author["id"]), await blog.feed.read(post["id"], "post")]
    assert [(copy or {})["title"] for copy in copies] == [text] * 2
    assert [(copy or {})["content"] for copy in copies] == [text] * 2
    assert not is_broken(await verify(ManagedBlog(blog.users, blog.posts, blog.feed, blog.failures)))


async def test_both_transactions_store_the_same_form(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post = await blog.posts.create(a_post(author))
    by_batch, by_script = a_comment(post, author, content=FATAL[0]), a_comment(post, author, content=FATAL[0])
    created = (await transactions(blog.settings.transactions).add(blog.posts, by_batch, None)).item
    answer = await blog.posts.execute("createComment", post["id"], by_script, None)

    assert created["content"] == answer["item"]["content"] == FATAL[0]
    stored = [(await _stored(blog.posts, item, post["id"]))["content"] for item in (by_batch, by_script)]
    assert stored[0] == stored[1] != FATAL[0]


async def test_a_failed_change_is_replayed_with_the_text_as_sent(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post = a_post(author, title=FATAL[0])
    del post["content"]
    await blog.posts.create(post)

    await _deliver_everything(blog)

    [failure] = await blog.all_items(blog.failures)
    assert "title" not in failure["change"]
    await blog.posts.patch(post["id"], post["id"], patch_of({"content": "Some content."}))
    managed = ManagedBlog(blog.users, blog.posts, blog.feed, blog.failures)
    outcomes: list[Outcome] = []
    assert await replay_failures(managed, await find_failures(managed, (), None), outcomes.append)
    copies = [await blog.users.read(post["id"], author["id"]), await blog.feed.read(post["id"], "post")]
    assert [copy and copy["title"] for copy in copies] == [FATAL[0]] * 2


async def test_verify_names_texts_stored_before_and_rebuild_repairs_them(blog: Blog) -> None:
    author = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)
    post = await blog.posts.create(a_post(author))
    comment = await blog.posts.create(a_comment(post, author))
    await blog.drain()
    await _set_stored(blog.posts, post, post["id"], title=FATAL[0])
    await _set_stored(blog.posts, comment, post["id"], content=FATAL[1])
    await _set_stored(blog.users, post, author["id"], title=FATAL[0])
    await _set_stored(blog.feed, post, "post", title=REWRITTEN[0])
    managed = ManagedBlog(blog.users, blog.posts, blog.feed, blog.failures)

    named = [str(finding) for finding in await verify(managed) if finding.kind is Kind.DATE_LIKE]
    await rebuild(managed, lambda line: None)

    assert sorted(line.partition(":")[0] for line in named) == sorted(
        [
            f"post {post['id']} in posts",
            f"comment {comment['id']} in posts",
            f"post {post['id']} in users",
            f"post {post['id']} in feed",
        ]
    )
    assert not is_broken(await verify(managed))
    for container in (blog.posts, blog.users, blog.feed):
        for item in await _all_stored(container):
            assert parsed({name: item.get(name) for name in TEXTS}) == {name: item.get(name) for name in TEXTS}
    assert (await blog.posts.read(post["id"], post["id"]) or {})["title"] == FATAL[0]
    assert (await blog.feed.read(post["id"], "post") or {})["title"] == FATAL[0]


@pytest.mark.parametrize("text", [FATAL[0], REWRITTEN[0]])
def test_a_list_of_texts_is_stored_in_another_form(text: str) -> None:
    item = {"content": [text, "Some text.", 7, [text]]}
    stored = stored_form(item)
    assert parsed(stored) == stored
    assert as_sent(stored) == item
    assert stored["content"][1:3] == ["Some text.", 7]


def _text_fields() -> list[tuple[type[RequestModel], str]]:
    return [
        (model, name)
        for model in RequestModel.__subclasses__()
        for name, field in model.model_fields.items()
        if _has_text(field.annotation)
    ]


def _has_text(annotation: object) -> bool:
    return annotation is str or any(map(_has_text, get_args(annotation)))


@pytest.mark.parametrize(("model", "name"), _text_fields(), ids=lambda part: getattr(part, "__name__", part))
@pytest.mark.parametrize("text", [FATAL[0], REWRITTEN[0]])
def test_a_text_in_a_request_is_marked_or_refused(model: type[RequestModel], name: str, text: str) -> None:
    """`userId` names a user who exists, and their IDs are ours."""
    if name in ("user_id", *TEXTS):
        return
    for value in (text, [text]):
        with pytest.raises(ValidationError):
            model.__pydantic_validator__.validate_assignment(model.model_construct(), name, value)


async def _deliver_everything(blog: Blog) -> None:
    """Run the functions on changes as the Functions host delivers them, until they write nothing more."""
    for _ in range(3):
        for feed, container, handle in (
            (POSTS_CHANGE_FEED, blog.posts, blog.handle_posts),
            (USERS_CHANGE_FEED, blog.users, blog.handle_users),
        ):
            await run_delivery(feed, parsed(await blog.changes(container)), handle, deadline_s=60)


async def _stored(container: Container, item: Item, key: str) -> Item:
    return dict(await container.proxy.read_item(item["id"], key))


async def _all_stored(container: Container) -> list[Item]:
    return [dict(item) async for item in container.proxy.read_all_items()]


async def _set_stored(container: Container, item: Item, key: str, **values: Any) -> None:
    stored = await _stored(container, item, key)
    await container.proxy.replace_item(item["id"], {**stored, **values})


async def test_only_the_dates_of_the_blog_reach_the_host_as_dates(blog: Blog) -> None:
    text = REWRITTEN[0]
    author = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=text)
    new = NewPost(user_id=author["id"], title=text, content=text)
    post = await create_post(blog.stored, new, idempotency_key=text)
    await create_comment(blog.stored, post["id"], NewComment(user_id=author["id"], content=text), idempotency_key=text)
    await create_like(blog.stored, post["id"], NewLike(user_id=author["id"]), idempotency_key=text)
    await blog.drain()

    stored = [item for container in (blog.posts, blog.users) for item in await _all_stored(container)]
    dates = set().union(*(_date_like_paths(item) for item in stored))

    assert len(stored) >= 8
    assert dates <= {"creationDate", "result.creationDate"}


def _date_like_paths(value: Any, path: str = "") -> set[str]:
    if isinstance(value, dict):
        return set().union(*(_date_like_paths(part, f"{path}.{name}") for name, part in value.items()))
    if isinstance(value, list):
        return set().union(*(_date_like_paths(part, path) for part in value))
    if not isinstance(value, str):
        return set()
    try:
        # A date with milliseconds that end in zero is rewritten; others are taken for dates, too.
        is_date = parsed(value) != value or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value)
    except UnparsableChangesError:
        is_date = True
    return {path.lstrip(".")} if is_date else set()
