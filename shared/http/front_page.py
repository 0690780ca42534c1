"""The front page as an answer: written once for each reading and length, with headers that let a cache on the way
answer most of those who ask."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

import azure.functions as func

from shared.data.front_page import FrontPage, Page
from shared.http.calls import Call
from shared.http.replies import has_already
from shared.models.post import Post

# A second here and a second in the process (KEPT_S): with both a page is two seconds old at most. A cache that shows
# the page before while it asks for this one may add a second of its own.
CACHE_CONTROL = "public, max-age=1, stale-while-revalidate=1"


@dataclass
class FrontPageAnswers:
    """Answers from the pages of one process."""

    front_page: FrontPage
    _page: Page | None = None
    _shown: list[dict[str, object]] = field(default_factory=list)
    _bodies: dict[int, tuple[bytes, str]] = field(default_factory=dict)

    async def answer(self, call: Call[None]) -> func.HttpResponse:
        """200 with the `limit` most recent posts, or 304 where If-None-Match names that very list."""
        page = await self.front_page.page()
        body, etag = self._body(page, call.limit)
        headers = {"ETag": etag, "Cache-Control": CACHE_CONTROL}
        if has_already(call, etag):
            return func.HttpResponse(status_code=304, headers=headers)
        return func.HttpResponse(body, status_code=200, headers=headers, mimetype="application/json")

    def _body(self, page: Page, limit: int) -> tuple[bytes, str]:
        if page is not self._page:
            shown = [Post.from_item(item).model_dump(by_alias=True) for item in page.items]
            self._page, self._shown, self._bodies = page, shown, {}
        if limit not in self._bodies:
            text = {"items": self._shown[:limit]}
            body = json.dumps(text, ensure_ascii=False, separators=(",", ":")).encode()
            self._bodies[limit] = (body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
        return self._bodies[limit]
