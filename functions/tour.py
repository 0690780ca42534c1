"""The tour: eight steps that do what the article describes. function_app.py imports it only if BLOG_INSPECTOR=1."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import azure.functions as func

from functions.feed import front_page
from functions.site import run_all
from shared.data import comments, likes, posts, users
from shared.data.blog import Blog, open_blog
from shared.data.idempotency import new_id
from shared.database.charges import add_share, metered
from shared.database.client import connect
from shared.database.container import Container
from shared.database.containers import POSTS
from shared.database.emulator_switches import EmulatorSwitches
from shared.errors import Forbidden, PostNotFound, UserNotFound
from shared.http.calls import PAGE_LIMIT, Call
from shared.http.endpoints import QUERY, Endpoint
from shared.http.responses import answered
from shared.models.base import Item, RequestModel
from shared.models.comment import NewComment
from shared.models.like import NewLike
from shared.models.post import NewPost, Post
from shared.models.user import NewUser
from shared.settings import settings
from shared.site.web_page import Context, WebPage

bp = func.Blueprint()

_STEPS = 8
_READERS = 50
_POSTS, _COMMENTS = 10, 100
# The posts of this reader would fill the front page, so only the newest are kept.
_WRITER, _KEPT_POSTS = 1, 3
_switches = EmulatorSwitches()


class _NoFields(RequestModel):
    """The body of a command without parameters: a page of another site cannot send JSON."""


@bp.route(route="tour/{step?}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("tour.html")
async def page_tour(call: Call[None]) -> Context:
    """Show a step of the tour."""
    step = call.path.get("step", "1")
    if step not in map(str, range(1, _STEPS + 1)):
        return None
    load = f"{settings().account.endpoint}_explorer/#/dbs/{settings().database}/colls/posts/load"
    newest = next(iter((await front_page()).posts), None)
    if newest is not None:
        # This read detects a session token from an earlier database, which the page then deletes. Otherwise, step 1
        # would cost 4 RU.
        newest = await (await open_blog()).posts.read(newest["id"], newest["id"])
    return {"step": int(step), "newest": newest, "load_view": load}


@bp.route(route="tour/switches/{name?}", methods=["PUT"])
@Endpoint(statuses=(200,))
async def switch_emulator(call: Call[None]) -> func.HttpResponse:
    """Turn on or renew a switch of the emulator, or turn off all."""
    _require_back_end(call)
    return answered({"isOn": await _switches.switch(call.path.get("name", ""))})


@bp.route(route="tour/readers", methods=["POST"])
@Endpoint(body=_NoFields, statuses=(200,))
async def prepare_readers(call: Call[_NoFields]) -> func.HttpResponse:
    """Prepare fifty sample users, and delete the older posts of the one who writes."""
    _require_back_end(call)
    blog, writer = await open_blog(), _reader_id(_WRITER)
    await asyncio.gather(*(_reader(blog, number) for number in range(_READERS)))
    written = await posts.list_posts_of_user(blog.users, writer, limit=PAGE_LIMIT, cursor=None)
    for post in written.items[_KEPT_POSTS:]:
        with suppress(PostNotFound):  # the list can be stale
            await posts.delete_post(blog.posts, post["id"])
    return answered({"userId": writer})


@bp.route(route="tour/likes/{postId}", methods=["POST"])
@Endpoint(body=_NoFields, statuses=(200,))
async def like_tour_post(call: Call[_NoFields]) -> func.HttpResponse:
    """Like a post fifty times at once (C4)."""
    _require_back_end(call)
    blog, post_id = await open_blog(), call.path["postId"]
    new = [NewLike(user_id=_reader_id(number)) for number in range(_READERS)]
    await asyncio.gather(*(likes.create_like(blog, post_id, one, idempotency_key=None) for one in new))
    return answered({"likes": _READERS})


@bp.route(route="tour/comments", methods=["POST"])
@Endpoint(body=_NoFields, statuses=(200,))
async def write_tour_comments(call: Call[_NoFields]) -> func.HttpResponse:
    """Prepare an author with a thousand comments, of which only the missing ones are written."""
    _require_back_end(call)
    blog = await open_blog()
    author = await _reader(blog, 0)
    ids = await run_all(*(_commented_post(blog, author, number) for number in range(_POSTS)))
    return answered({"userId": author["id"], "username": author["username"], "postIds": [one for one in ids if one]})


@bp.route(route="tour/reads/{postId}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(statuses=(200,))
async def read_as_another_instance(call: Call[None]) -> func.HttpResponse:
    """Read a post without and with the session token of the request, as a new instance of the app would."""
    async with connect(settings()) as client:
        stored = Container(client.get_database_client(settings().database).get_container_client(POSTS))
        with metered() as tokenless:
            without = await stored.read(call.path["postId"], call.path["postId"])
        own = await stored.read(call.path["postId"], call.path["postId"])
        add_share(tokenless, 1)
    return answered({"without": (without or {}).get("title"), "with": (own or {}).get("title")})


def _require_back_end(call: Call[None] | Call[_NoFields]) -> None:
    """Raises Forbidden if users sign in, because the tour writes as its sample users."""
    if call.caller.user is not None:
        raise Forbidden("The tour writes as its sample users, which an app with sign-in does not allow.")


def _reader_id(number: int) -> str:
    return new_id("user", f"tour-{number}")


async def _reader(blog: Blog, number: int) -> Item:
    """A sample user, who is created once."""
    try:
        return await users.get_user(blog.users, _reader_id(number))
    except UserNotFound:
        new = NewUser(username=f"tour_reader_{number:02}")
        return await users.create_user(blog.users, new, idempotency_key=f"tour-{number}")


async def _commented_post(blog: Blog, author: Item, number: int) -> str | None:
    """Return the ID of a post with a hundred comments, or None if someone has deleted it."""
    key = f"tour-{number}"
    post_id = new_id("post", key, author["id"])
    post = await blog.posts.read(post_id, post_id)
    if post is None:
        title, content = f"Post {number + 1} of a busy commenter", "The [tour](/tour) wrote this post."
        first = NewPost(user_id=author["id"], title=title, content=content)
        post = await posts.create_post(blog, first, idempotency_key=key)
    elif post["type"] != Post.TYPE:
        return None
    new = [NewComment(user_id=author["id"], content=f"Comment {n + 1}") for n in range(post["commentCount"], _COMMENTS)]
    # To the end, so that a repetition of a failed request sees their writes.
    await run_all(*(comments.create_comment(blog, post_id, one, idempotency_key=None) for one in new))
    return post_id
