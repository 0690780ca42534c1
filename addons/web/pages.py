"""The pages of the web site, its Atom feeds, the sitemap and robots.txt. They run the same queries as the API."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

import azure.functions as func
from async_lru import alru_cache

from addons.web.slugs import post_path
from addons.web.web_page import Context, PageMoved, WebPage, fragment
from shared.data import posts, users
from shared.data.blog import open_blog
from shared.data.comments import get_comment
from shared.data.front_page import FRONT_PAGE_LENGTH, front_page
from shared.endpoints import Endpoint
from shared.models.base import CommentContent, PostDraft
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post
from shared.models.user import User
from shared.platform.data.pages import Cursor, Page, read_page
from shared.platform.database.container import Container
from shared.platform.http.calls import DEFAULT_PAGE, PAGE_LIMIT, QUERY, Call
from shared.platform.http.responses import Response
from shared.platform.models import Item, RequestModel
from shared.settings import settings

bp = func.Blueprint()

_ATOM = "application/atom+xml"
# Of a post's text in the feed. A longer one would make each download of the feed long.
_FULL_TEXT_BYTES = 65_536


# The host tries routes in the order of function names, so this name must sort after all others.
@bp.route(route="{*path}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("Q6", template="feed.html", listed=True)
async def z_page(call: Call[None]) -> Context:
    """Show the front page.

    No other path has a page.
    """
    if "path" in call.path:
        return None
    newest = (await front_page()).posts
    is_last = len(newest) <= call.limit
    more = None if is_last else {"limit": min(call.limit + DEFAULT_PAGE, FRONT_PAGE_LENGTH)}
    return {"posts": newest[: call.limit], "more": more, "has_older": is_last and len(newest) == FRONT_PAGE_LENGTH}


@bp.route(route="about", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage(template="about.html")
async def page_about(_call: Call[None]) -> Context:
    """Show what the owner says about the blog."""
    return {}


@bp.route(route="posts/{postId}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("Q2, Q4, Q5, Q6", template="post.html")
async def page_post(call: Call[None]) -> Context:
    """Show a post with its comments and likes.

    Comments are in the order of reading, unlike in the API. With the query parameter comment, they start at this one,
    which costs another point read. With newest, they are the last ones.
    """
    return await _post(call)


@bp.route(route="posts/{postId}/{words}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("Q2, Q4, Q5, Q6", template="post.html")
async def page_post_of_title(call: Call[None]) -> Context:
    """Show a post with its comments and likes.

    The address has the words of the title. Former words lead to the current ones.
    """
    context = await _post(call)
    current = post_path(context["post"])
    if call.path["words"] != unquote(current.rpartition("/")[2]):
        raise PageMoved(current)
    return context


async def _post(call: Call[None]) -> dict[str, Any]:
    """The variables of a post's page: Q2, Q4, Q5, and its neighbors on the front page, which is cached."""
    stored, post_id = (await open_blog()).posts, call.path["postId"]
    post, commented, liked, recent = await run_all(
        posts.get_post(stored, post_id),
        _comments(stored, call),
        read_page(stored, Like, post_id, Like.TYPE, limit=DEFAULT_PAGE, cursor=None),
        front_page(),
    )
    place = next((place for place, other in enumerate(recent.posts) if other["id"] == post_id), None)
    around = (None, None) if place is None else (_at(recent.posts, place + 1), _at(recent.posts, place - 1))
    return {
        "post": Post.serialize(post),
        "etag": Post.entity_tag(post),
        "comments": [Comment.serialize(item) for item in commented.items],
        "likes": [Like.serialize(item) for item in liked.items],
        "more": {"cursor": commented.next_cursor, "limit": PAGE_LIMIT} if commented.next_cursor else None,
        "is_first": not (call.cursor or call.params.get("comment") or call.params.get("newest")),
        "around": around,
        "others": [each for each in recent.posts if each["userId"] == post["userId"] and each["id"] != post_id][:3],
    }


async def _comments(stored: Container, call: Call[None]) -> Page[Cursor]:
    """The comments on a post, which the page reads itself."""
    post_id, comment_id, first, cursor = call.path["postId"], call.params.get("comment"), list[Item](), call.cursor
    read = partial(read_page, stored, Comment, post_id, Comment.TYPE, limit=call.limit)
    if call.params.get("newest") and not comment_id:
        return Page((await read(cursor=None)).items[::-1], None)
    if comment_id:
        first = [await get_comment(stored, post_id, comment_id)]
        cursor = Cursor(first[0]["creationDate"], comment_id)
    newer = await read(cursor=cursor, oldest_first=True)
    return Page([*first, *newer.items], newer.next_cursor)


def _at(posts: Sequence[Any], place: int) -> Any:
    return posts[place] if 0 <= place < len(posts) else None


@bp.route(route="posts/{postId}/edit", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("Q2", template="editor.html")
async def page_edit(call: Call[None]) -> Context:
    """Show a post in the editor."""
    post = await posts.get_post((await open_blog()).posts, call.path["postId"])
    return {"post": Post.serialize(post), "etag": Post.entity_tag(post)}


@bp.route(route="write", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage(template="editor.html")
async def page_write(_call: Call[None]) -> Context:
    """Show the empty editor."""
    return {"post": None}


@bp.route(route="users/{userId}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("Q1, Q3", template="user.html")
async def page_user(call: Call[None]) -> Context:
    """Show a user and their posts."""
    return await _user_with_posts(call)


class Draft(RequestModel):
    """The body that previews a post."""

    content: PostDraft


class CommentDraft(RequestModel):
    """The body that previews a comment."""

    content: CommentContent


# Like a command, because only writers need it and rendering takes up to 0.2 s.
@bp.route(route="preview", methods=["POST"])
@Endpoint(body=Draft)
async def preview_markdown(call: Call[Draft]) -> Response:
    """Render the content of a post."""
    return await fragment("preview.html", {"content": call.body.content})


@bp.route(route="preview/comment", methods=["POST"])
@Endpoint(body=CommentDraft)
async def preview_comment(call: Call[CommentDraft]) -> Response:
    """Render the content of a comment."""
    return await fragment("preview_comment.html", {"content": call.body.content})


@bp.route(route="feed.atom", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("Q6", template="atom.xml", media_type=_ATOM, listed=True)
async def get_atom(call: Call[None]) -> Context:
    """Load the most recent posts as an Atom feed.

    The first 20 have their text up to 64 KiB, the others a summary. Each text is a read by the primary, once for each
    version in each process.
    """
    # Stable under another host name, and different for each blog.
    blog_id = f"{settings().account.endpoint}{settings().database}"
    listed = (await front_page()).posts[: call.limit]
    full = listed[:DEFAULT_PAGE]
    found = await run_all(*(_text(post["id"], post.get("editedDate", "")) for post in full))
    texts = {post["id"]: text for post, text in zip(full, found, strict=True)}
    return {"user": None, "feed_id": blog_id, "posts": listed, "texts": texts}


@alru_cache(maxsize=2 * DEFAULT_PAGE)
async def _text(post_id: str, _edited: str) -> str | None:
    """The text of a version of a post, unless it is long, or the post was deleted."""
    post = await (await open_blog()).posts.read_latest(post_id, post_id)
    text = (post or {}).get("content")
    return text if isinstance(text, str) and len(text.encode()) <= _FULL_TEXT_BYTES else None


@bp.route(route="feed.xml", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage(template="atom.xml")
async def get_feed_xml(_call: Call[None]) -> Context:
    """Lead to the Atom feed from an address that readers try."""
    raise PageMoved("/feed.atom")


@bp.route(route="rss", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage(template="atom.xml")
async def get_rss(_call: Call[None]) -> Context:
    """Lead to the Atom feed from another one."""
    raise PageMoved("/feed.atom")


@bp.route(route="users/{userId}/feed.atom", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("Q1, Q3", template="atom.xml", media_type=_ATOM)
async def get_user_atom(call: Call[None]) -> Context:
    """Load a user's posts as an Atom feed."""
    context = await _user_with_posts(call)
    return context | {"feed_id": context["user"]["id"], "texts": {}}


@bp.route(route="robots.txt", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage(template="robots.txt", media_type="text/plain")
async def get_robots(_call: Call[None]) -> Context:
    """Load the rules for crawlers."""
    return {}


@bp.route(route="sitemap.xml", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("Q6", template="sitemap.xml", media_type="application/xml", listed=True)
async def get_sitemap(_call: Call[None]) -> Context:
    """Load the addresses of the most recent posts and their authors."""
    return {"posts": (await front_page()).posts}


async def _user_with_posts(call: Call[None]) -> dict[str, Any]:
    """The user and the posts that the pages about a user show: Q1 and Q3. Raises UserNotFound."""
    stored, user_id = (await open_blog()).users, call.path["userId"]
    user, page = await run_all(
        users.get_user(stored, user_id),
        posts.list_posts_of_user(stored, user_id, limit=call.limit, cursor=call.cursor),
    )
    return {
        "user": User.serialize(user),
        "etag": User.entity_tag(user),
        "posts": [Post.serialize(item) for item in page.items],
        "more": {"cursor": page.next_cursor} if page.next_cursor else None,
        "is_newest": call.cursor is None,
    }


async def run_all(*work: Awaitable[Any]) -> Sequence[Any]:
    """Run work concurrently and to the end, then raise its first error. A page thus reports the whole charge."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results
