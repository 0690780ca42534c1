"""An API client that checks every response against the OpenAPI description."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from aiohttp import ClientSession
from yarl import URL

from tests.contract import assert_answer_matches
from tests.items import unique

Json = dict[str, Any]
Headers = Mapping[str, str] | None
POST_PROPERTIES = {
    *("id", "type", "postId", "userId", "userUsername"),
    *("title", "content", "commentCount", "likeCount", "creationDate"),
}


@dataclass(frozen=True)
class ApiResponse:
    """A response, with lowercase header names."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        """The parsed JSON."""
        return json.loads(self.content)

    @property
    def etag(self) -> str:
        return self.headers["etag"]

    @property
    def charge_ru(self) -> float:
        return float(self.headers["x-ms-request-charge"])


class Api:
    """One method per endpoint, named C1 to C4 and Q1 to Q6 as in docs/architecture.md.

    Methods return the response, whatever its status. The `new_…` methods check for 201 and return the resource.
    """

    def __init__(self, session: ClientSession, url: str, openapi: Json, *, headers: Headers = None) -> None:
        """`headers` are added to every request."""
        self.session = session
        self.headers = headers or {}
        self.url = url
        self._openapi = openapi

    async def send(
        self, method: str, path: str, *, body: object = None, content: bytes | None = None, headers: Headers = None
    ) -> ApiResponse:
        """Send `body` as JSON, or the bytes `content` with explicit headers. `path` is sent unchanged."""
        if body is not None:
            content = json.dumps(body, ensure_ascii=False).encode()
            headers = {"Content-Type": "application/json", **(headers or {})}
        headers = {**self.headers, **(headers or {})}
        url = URL(self.url + path, encoded=True)
        skip = ("Content-Type", "User-Agent")
        async with self.session.request(method, url, data=content, headers=headers, skip_auto_headers=skip) as sent:
            lowered = {name.lower(): value for name, value in sent.headers.items()}
            answer = ApiResponse(sent.status, lowered, await sent.read())
        if self._openapi:
            assert_answer_matches(self._openapi, method, path, answer.status, answer.headers, answer.content)
        return answer

    async def create_user(self, username: str, headers: Headers = None) -> ApiResponse:
        """C1."""
        return await self.send("POST", "/api/users", body={"username": username}, headers=headers)

    async def edit_user(self, user_id: str, username: str, headers: Headers = None) -> ApiResponse:
        """C1."""
        return await self.send("PUT", f"/api/users/{_id(user_id)}", body={"username": username}, headers=headers)

    async def delete_user(self, user_id: str, headers: Headers = None, **query: object) -> ApiResponse:
        return await self.send("DELETE", f"/api/users/{_id(user_id)}{_query(query)}", headers=headers)

    async def get_user(self, user_id: str, headers: Headers = None) -> ApiResponse:
        """Q1."""
        return await self.send("GET", f"/api/users/{_id(user_id)}", headers=headers)

    async def create_post(self, user_id: str, title: str, content: str, headers: Headers = None) -> ApiResponse:
        """C2."""
        body = {"userId": user_id, "title": title, "content": content}
        return await self.send("POST", "/api/posts", body=body, headers=headers)

    async def edit_post(self, post_id: str, title: str, content: str, headers: Headers = None) -> ApiResponse:
        """C2."""
        body = {"title": title, "content": content}
        return await self.send("PUT", f"/api/posts/{_id(post_id)}", body=body, headers=headers)

    async def get_post(self, post_id: str, headers: Headers = None) -> ApiResponse:
        """Q2."""
        return await self.send("GET", f"/api/posts/{_id(post_id)}", headers=headers)

    async def delete_post(self, post_id: str, headers: Headers = None, **query: object) -> ApiResponse:
        return await self.send("DELETE", f"/api/posts/{_id(post_id)}{_query(query)}", headers=headers)

    async def list_user_posts(self, user_id: str, **query: object) -> ApiResponse:
        """Q3."""
        return await self.send("GET", f"/api/users/{_id(user_id)}/posts{_query(query)}")

    async def create_comment(self, post_id: str, user_id: str, content: str, headers: Headers = None) -> ApiResponse:
        """C3."""
        body = {"userId": user_id, "content": content}
        return await self.send("POST", f"/api/posts/{_id(post_id)}/comments", body=body, headers=headers)

    async def list_comments(self, post_id: str, **query: object) -> ApiResponse:
        """Q4."""
        return await self.send("GET", f"/api/posts/{_id(post_id)}/comments{_query(query)}")

    async def delete_comment(
        self, post_id: str, comment_id: str, headers: Headers = None, **query: object
    ) -> ApiResponse:
        path = f"/api/posts/{_id(post_id)}/comments/{_id(comment_id)}{_query(query)}"
        return await self.send("DELETE", path, headers=headers)

    async def create_like(self, post_id: str, user_id: str, headers: Headers = None) -> ApiResponse:
        """C4."""
        return await self.send("POST", f"/api/posts/{_id(post_id)}/likes", body={"userId": user_id}, headers=headers)

    async def list_likes(self, post_id: str, **query: object) -> ApiResponse:
        """Q5."""
        return await self.send("GET", f"/api/posts/{_id(post_id)}/likes{_query(query)}")

    async def delete_like(self, post_id: str, user_id: str, headers: Headers = None) -> ApiResponse:
        return await self.send("DELETE", f"/api/posts/{_id(post_id)}/likes/{_id(user_id)}", headers=headers)

    async def report(
        self, post_id: str, user_id: str, reason: str, *, comment_id: str | None = None, headers: Headers = None
    ) -> ApiResponse:
        """Report a post or comment."""
        comment = f"/comments/{_id(comment_id)}" if comment_id else ""
        body = {"userId": user_id, "reason": reason}
        return await self.send("POST", f"/api/posts/{_id(post_id)}{comment}/reports", body=body, headers=headers)

    async def list_reports(self, **query: object) -> ApiResponse:
        """The reported items."""
        return await self.send("GET", f"/api/reports{_query(query)}")

    async def get_user_data(self, user_id: str, **query: object) -> ApiResponse:
        """Q7."""
        return await self.send("GET", f"/api/users/{_id(user_id)}/data{_query(query)}")

    async def get_feed(self, **query: object) -> ApiResponse:
        """Q6."""
        return await self.send("GET", f"/api/feed{_query(query)}")

    async def get_health(self) -> ApiResponse:
        return await self.send("GET", "/api/health")

    async def new_user(self, stem: str = "ada") -> Json:
        """A user with a unique name."""
        return _created(await self.create_user(unique(stem)))

    async def new_post(self, author: Json, title: str = "A title", content: str = "Some content.") -> Json:
        """A post by `author`."""
        return _created(await self.create_post(author["id"], title, content))

    async def new_comment(self, post: Json, author: Json, content: str = "Well put.") -> Json:
        """A comment by `author` on `post`."""
        return _created(await self.create_comment(post["id"], author["id"], content))

    async def new_like(self, post: Json, liker: Json) -> Json:
        """A like by `liker` on `post`."""
        return _created(await self.create_like(post["id"], liker["id"]))

    async def pages(self, path: str, limit: int) -> AsyncIterator[list[Json]]:
        """The items of the list at `path`, page by page."""
        query: dict[str, object] = {"limit": limit}
        while True:
            answer = await self.send("GET", path + _query(query))
            assert answer.status == 200, answer.content
            yield answer.body["items"]
            if "nextCursor" not in answer.body:
                return
            query["cursor"] = answer.body["nextCursor"]


def _created(answer: ApiResponse) -> Json:
    assert answer.status == 201, answer.content
    return dict(answer.body)


def _id(text: str) -> str:
    # A client would resolve `.` and `..` as path segments.
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def _query(parameters: Mapping[str, object]) -> str:
    return "?" + urlencode(parameters) if parameters else ""
