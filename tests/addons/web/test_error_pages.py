"""Error pages: they say what to do, and reveal nothing."""

from __future__ import annotations

from tests.addons.web.pages import Shown, Site
from tests.gateway import Gateway, named
from tests.items import a_post, a_user

RETRY_SOON = {"x-ms-retry-after-ms": "1"}


def assert_says_what_to_do(shown: Shown, status: int, heading: str) -> None:
    assert (shown.status, shown.page.one("h1").text) == (status, heading)
    assert shown.page.one("p", class_="status").text == str(status)
    assert [link.text for link in shown.page.all("a", class_="button")] == ["Write", "Reload"]
    assert shown.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in shown.headers["content-security-policy"]


async def test_a_throttled_page_says_to_wait(quiet_site: Site, gateway: Gateway) -> None:
    with gateway.answering(named("read users"), 429, headers=RETRY_SOON):
        shown = await quiet_site.get("/users/any")

    assert_says_what_to_do(shown, 429, "The blog is very busy")
    assert shown.headers["retry-after"] == "1"


async def test_a_page_without_a_database_says_to_wait(quiet_site: Site, gateway: Gateway) -> None:
    with gateway.answering(named("read posts", "query posts"), 503):
        shown = await quiet_site.get("/posts/any")

    assert_says_what_to_do(shown, 503, "The blog is unavailable")
    assert shown.headers["retry-after"] == "5"


async def test_an_unexpected_error_reveals_no_details(quiet_site: Site, gateway: Gateway) -> None:
    broken = a_post(a_user()) | {"id": "any", "postId": "any", "secret": "hidden"}  # without an _etag
    with gateway.answering(named("read posts"), 200, body=broken):
        shown = await quiet_site.get("/posts/any/edit")

    assert_says_what_to_do(shown, 500, "Something went wrong")
    assert all(
        inner not in shown.page.one("main").text for inner in ("secret", "hidden", "Traceback", "pydantic", ".py")
    )
