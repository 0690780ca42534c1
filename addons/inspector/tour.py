"""The tour: eight steps that do what the article describes."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import azure.functions as func
from pydantic import StringConstraints

from addons.inspector.emulator_switches import SWITCHES
from addons.inspector.tour_visits import Visits
from addons.web.pages import run_all
from addons.web.web_page import Context, WebPage
from shared.containers import POSTS
from shared.data import comments, likes, posts, users
from shared.data.blog import Blog, open_blog
from shared.data.front_page import front_page
from shared.endpoints import Endpoint
from shared.errors import AccountDeleted, PostNotFound, UserNotFound
from shared.models.comment import NewComment
from shared.models.like import NewLike
from shared.models.post import NewPost, Post, PostChanges
from shared.models.user import NewUser, UserChanges
from shared.platform.data.idempotency import new_id
from shared.platform.database.client import connect
from shared.platform.database.container import Container
from shared.platform.database.scope import nested_scope, request_scope
from shared.platform.errors import Forbidden
from shared.platform.http.callers import BackEnd, SignedIn
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import Response, json_response
from shared.platform.models import Item, RequestModel, now
from shared.platform.telemetry import log, span
from shared.settings import settings

bp = func.Blueprint()

_STEPS = 8
_READERS = 50
_POSTS, _COMMENTS = 10, 100
# Writes posts. Each visit has another reader who comments and is renamed, because the renames of a user are limited.
_WRITER = 0
# Names the tour, for those who see its posts until they are deleted.
_TITLE = "Written on the tour"
# As long as the article's.
_CONTENT = "Watch the copies arrive. " * 59
_OF_AUTHORS = f"SELECT c.id, c.userId FROM c WHERE c.type = '{Post.TYPE}' AND ARRAY_CONTAINS(@authors, c.userId)"  # noqa: S608 - constants
_PAGE_SIZE = 1_000
_ARTICLE = Path(__file__).parent / "static" / "article.json"
_COST = Path(__file__).parents[2] / "docs" / "cost.md"
# Other pages of the documentation have no address here.
_LINK_TO_PAGE = re.compile(r"\[([^\]]*)\]\((?!https:)[^)]*\)")
_visits = Visits()
# How many accounts of each sample user are known to be deleted.
_deleted = [0] * _READERS


class _Command(RequestModel):
    """The body of a command: the visit of the page that sends it. A page of another site cannot send JSON."""

    visit: Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]


@bp.route(route="tour/{step?}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage(template="tour.html")
async def page_tour(call: Call[None]) -> Context:
    """Show a step of the tour."""
    step = call.path.get("step", "1")
    if step not in map(str, range(1, _STEPS + 1)):
        return None
    load = f"{settings().account.endpoint}_explorer/#/dbs/{settings().database}/colls/posts/load"
    readers = _reader_ids()
    newest = next((post for post in (await front_page()).posts if post["userId"] not in readers), None)
    if newest is not None:
        # This read detects a session token from an earlier database, which the page then deletes. Otherwise, step 1
        # would cost 4 RU.
        newest = await (await open_blog()).posts.read(newest["id"], newest["id"])
    # A deployed app has no documentation.
    cost = _LINK_TO_PAGE.sub(r"\1", _COST.read_text(encoding="utf-8")) if step == "8" and _COST.exists() else ""
    return {"step": int(step), "newest": newest, "load_view": load, "figure_of": _figure_of, "cost": cost}


@bp.route(route="tour/switches/{name?}", methods=["PUT"])
@Endpoint(body=_Command)
async def switch_emulator(call: Call[_Command]) -> Response:
    """Turn on or renew a switch of the emulator, or turn off all. Failures hit only what the visit has written."""
    _require_back_end(call)
    partitions = (_reader_id(_commenter(call.body.visit)), *_visits.posts(call.body.visit))
    return json_response({"isOn": await SWITCHES.switch(call.path.get("name", ""), partitions)})


@bp.route(route="tour/readers", methods=["POST"])
@Endpoint(body=_Command)
async def prepare_readers(call: Call[_Command]) -> Response:
    """Prepare fifty sample users."""
    _require_back_end(call)
    blog = await open_blog()
    await asyncio.gather(*(_reader(blog, number) for number in range(_READERS)))
    return json_response({"readers": _READERS})


@bp.route(route="tour/posts", methods=["POST"])
@Endpoint("C2", body=_Command)
async def write_tour_post(call: Call[_Command]) -> Response:
    """Create a post."""
    async with _visiting(call) as visit:
        new = NewPost(user_id=_reader_id(_WRITER), title=_TITLE, content=_CONTENT)
        # Without an idempotency key, it costs no record. A lost response leaves a post that no visit has.
        post = await posts.create_post(await open_blog(), new, idempotency_key=None)
        _visits.add(visit, post["id"])
    return json_response({"id": post["id"]})


@bp.route(route="tour/posts/{postId}", methods=["PUT"])
@Endpoint("C2", body=_Command)
async def edit_tour_post(call: Call[_Command]) -> Response:
    """Edit a post."""
    async with _visiting(call) as visit:
        post_id, writer = call.path["postId"], SignedIn(uuid.UUID(_reader_id(_WRITER)))
        _visits.require(visit, post_id)
        changes = PostChanges(title=f"Edited on the tour at {now()[11:23]}", content="Read me.")
        await posts.edit_post((await open_blog()).posts, post_id, changes, by=writer)
    return json_response({"title": changes.title})


@bp.route(route="tour/likes/{postId}", methods=["POST"])
@Endpoint("C4", body=_Command)
async def like_tour_post(call: Call[_Command]) -> Response:
    """Like a post fifty times at once."""
    async with _visiting(call) as visit:
        blog, post_id = await open_blog(), call.path["postId"]
        _visits.require(visit, post_id)
        new = [NewLike(user_id=_reader_id(number)) for number in range(_READERS)]
        await asyncio.gather(*(likes.create_like(blog, post_id, like) for like in new))
    return json_response({"likes": _READERS})


@bp.route(route="tour/comments", methods=["POST"])
@Endpoint(body=_Command)
async def write_tour_comments(call: Call[_Command]) -> Response:
    """Write ten posts with a thousand comments."""
    async with _visiting(call) as visit:
        blog = await open_blog()
        author = await _reader(blog, _commenter(visit))
        keys = [f"tour-{visit}-{number}" for number in range(_POSTS)]
        ids = [new_id("post", key, author["id"]) for key in keys]
        # Before they are written, so that faults can hit them and no response can be lost.
        _visits.add(visit, *ids)
        written = await run_all(*(_commented_post(blog, author, key) for key in keys))
    return json_response({"postIds": ids, "written": sum(written)})


@bp.route(route="tour/name", methods=["PUT"])
@Endpoint("C1", body=_Command)
async def rename_commenter(call: Call[_Command]) -> Response:
    """Rename a user."""
    async with _visiting(call) as visit:
        number = _commenter(visit)
        changes = UserChanges(username=f"{_username(number)}.{uuid.uuid4().hex[:6]}")
        user = await users.edit_user((await open_blog()).users, _reader_id(number), changes)
    return json_response({"username": user["username"]})


@bp.route(route="tour/reads/{postId}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint()
async def read_as_another_instance(call: Call[None]) -> Response:
    """Read a post without and with the session token of the request, as a new instance of the app would."""
    async with connect(settings()) as client:
        stored = Container(client.get_database_client(settings().database).get_container_client(POSTS))
        with nested_scope():  # without the request's session token
            without = await stored.read(call.path["postId"], call.path["postId"])
        with_token = await stored.read(call.path["postId"], call.path["postId"])
    return json_response({"without": (without or {}).get("title"), "with": (with_token or {}).get("title")})


@bp.route(route="tour/end", methods=["POST"])
@Endpoint(body=_Command)
async def end_visit(call: Call[_Command]) -> Response:
    """End a visit: turn off the emulator's switch, and delete what the visit has written."""
    _require_back_end(call)
    _visits.end(call.body.visit)
    await SWITCHES.switch("")
    return json_response({"deleted": await _delete_left_posts()})


# A closed tab usually ends its visit; a crash of the browser or of this process does not.
@bp.timer_trigger(arg_name="timer", schedule="0 * * * * *", run_on_startup=True, use_monitor=False)
async def clean_up_tour(timer: func.TimerRequest) -> None:  # noqa: ARG001 - named by the trigger
    """Delete the posts of idle visits, and those from before this process: a query of all partitions of `posts`."""
    _visits.end_idle()
    with span("clean_up_tour") as recorded, request_scope("clean_up_tour") as scope:
        deleted = await _delete_left_posts()
        recorded.set_attribute("blog.charge_ru", charge_ru := round(scope.request_units, 2))
    if deleted:  # not a line every minute
        log(logging.INFO, "tour cleaned up", posts=deleted, charge_ru=charge_ru)


async def _delete_left_posts() -> int:
    """Delete the posts of sample users that no open visit has; return how many.

    A query of all partitions of `posts`, because an author's list of posts can be stale, and a patch for each post.
    """
    blog = await open_blog()
    await blog.posts.catch_up()
    found = blog.posts.query_across(_OF_AUTHORS, {"authors": sorted(_reader_ids())}, page_size=_PAGE_SIZE)
    written = [post async for post in found]
    kept = _visits.kept()
    left = [post for post in written if post["id"] not in kept]
    await run_all(*(_delete(blog, post) for post in left))
    return len(left)


async def _delete(blog: Blog, post: Item) -> None:
    with suppress(PostNotFound):  # another visit has ended, too
        # The owner is a condition of the write.
        await posts.delete_post(blog.posts, post["id"], by=SignedIn(uuid.UUID(post["userId"])))


@asynccontextmanager
async def _visiting(call: Call[_Command]) -> AsyncIterator[str]:
    """Run a command of a visit. If its page is left meanwhile, delete what the command has written."""
    _require_back_end(call)
    visit = call.body.visit
    _visits.use(visit)
    try:
        yield visit
    finally:
        if _visits.has_ended(visit):
            await _delete_left_posts()


@cache
def _article() -> Any:
    return json.loads(_ARTICLE.read_text(encoding="utf-8"))


def _figure_of(path: str) -> Any:
    """A figure of article.json, such as `requests.Q2.measured.0`. Small ones have no exponent."""
    value = _article()
    for name in path.split("."):
        value = value[int(name)] if isinstance(value, list) else value[name]
    return f"{Decimal(str(value)):f}" if isinstance(value, float) else value


def _require_back_end(call: Call[_Command]) -> None:
    """Raises Forbidden if users sign in, because the tour writes as its sample users."""
    if not isinstance(call.caller, BackEnd):
        raise Forbidden("The tour writes as its sample users, which an app with sign-in does not allow.")


def _commenter(visit: str) -> int:
    """The reader who comments and is renamed in a visit: not the one who writes."""
    return 1 + int(visit, 16) % (_READERS - 1)


def _reader_id(number: int) -> str:
    # A scope of its own: no client's idempotency key gives the same ID.
    return new_id("tour reader", f"{number}-{_deleted[number]}")


def _reader_ids() -> set[str]:
    return {_reader_id(number) for number in range(_READERS)}


def _username(number: int) -> str:
    return f"tour_reader_{number:02}"


async def _reader(blog: Blog, number: int) -> Item:
    """A sample user, who is created once, and with another ID if somebody deletes their account."""
    while True:
        reader_id = _reader_id(number)
        with suppress(UserNotFound):
            return await users.get_user(blog.users, reader_id)
        new = NewUser(username=f"{_username(number)}.{reader_id[:6]}")
        try:
            return await users.register_user(blog.users, new, user_id=reader_id, idempotency_key="tour")
        except AccountDeleted:
            _deleted[number] += reader_id == _reader_id(number)  # unless a concurrent request has


async def _commented_post(blog: Blog, author: Item, key: str) -> int:
    """Complete a post with a hundred comments; return how many were missing. Raises PostNotFound if it was deleted."""
    post_id = new_id("post", key, author["id"])
    post = await blog.posts.read(post_id, post_id)
    if post is None:
        first = NewPost(user_id=author["id"], title=_TITLE, content=_CONTENT)
        post = await posts.create_post(blog, first, idempotency_key=key)
    elif post["type"] != Post.TYPE:
        raise PostNotFound(post_id)
    new = [NewComment(user_id=author["id"], content=f"Comment {n + 1}") for n in range(post["commentCount"], _COMMENTS)]
    # To the end, so that a repetition of a failed request sees their writes.
    await run_all(*(comments.create_comment(blog, post_id, comment, idempotency_key=None) for comment in new))
    return len(new)
