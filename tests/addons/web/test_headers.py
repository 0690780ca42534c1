"""Headers of pages: security, caching, compression."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from tests.addons.web.deliveries import has_copies
from tests.addons.web.pages import MOVED, Site
from tests.api import Api
from tests.polling import eventually

GZIP = {"Accept-Encoding": "gzip, deflate, br"}
PLAIN = {"Accept-Encoding": "identity"}
PATHS = ["/", "/posts/{post}", "/posts/{post}/edit", "/users/{user}", "/write", "/feed.atom", "/users/{user}/feed.atom"]
OTHERS = ["/robots.txt", "/sitemap.xml", "/nope", "/posts/nope", "/?limit=x"]


@pytest.fixture
async def address(api: Api, path: str) -> str:
    author = await api.new_user()
    post, *_ = [await api.new_post(author) for _ in range(5)]  # shorter feeds are not compressed
    await eventually(lambda: has_copies(api, author, 5))
    return path.format(post=post["id"], user=post["userId"])


@pytest.mark.parametrize("path", PATHS + OTHERS)
async def test_pages_have_security_headers(site: Site, address: str) -> None:
    headers = (await site.get(address)).headers

    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("path", PATHS)
async def test_an_unchanged_page_is_not_sent_again(site: Site, address: str) -> None:
    first = await site.get(address)

    again = await site.get(address, {"If-None-Match": first.headers["etag"]})

    if again.status == 200:  # a relative time or another test's post changed it
        again = await site.get(address, {"If-None-Match": again.headers["etag"]})
    assert (again.status, again.content) == (304, b"")
    assert again.headers["content-security-policy"] == first.headers["content-security-policy"]
    assert again.headers["cache-control"] == first.headers["cache-control"] == "no-cache"


async def test_a_changed_page_has_another_etag(api: Api, site: Site) -> None:
    post = await api.new_post(await api.new_user())
    path = f"/posts/{post['id']}"
    before = await site.get(path)

    await api.new_comment(post, await api.new_user())
    after = await site.get(path, {"If-None-Match": before.headers["etag"]})

    assert after.status == 200
    assert after.headers["etag"] != before.headers["etag"]


@pytest.mark.parametrize("path", PATHS)
async def test_pages_are_compressed_for_clients_that_ask(site: Site, address: str) -> None:
    compressed, plain = await site.get(address, GZIP), await site.get(address, PLAIN)

    assert compressed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert compressed.headers["etag"] != plain.headers["etag"]
    assert compressed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["gzip;q=0", "gzip; q=0.000, br", "br", "x-gzipped"])
async def test_a_client_can_refuse_compression(site: Site, accepted: str) -> None:
    shown = await site.get("/write", {"Accept-Encoding": accepted})

    assert "content-encoding" not in shown.headers
    assert not shown.content.startswith(gzip.compress(b"")[:2])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/nope"),
        ("GET", "/API/nope"),
        ("GET", "/api"),
        ("POST", "/api/feed"),
    ],
)
async def test_unknown_paths_and_methods_of_the_api_have_no_page(site: Site, method: str, path: str) -> None:
    shown = await site.get(path, method=method)

    assert (shown.status, shown.headers["content-type"]) == (404, "application/problem+json")


async def test_a_post_to_the_front_page_does_nothing(site: Site) -> None:
    """The host answers it, in place of its own home page."""
    shown = await site.get("/", method="POST")

    assert (shown.status, shown.content) == (204, b"")


@pytest.mark.parametrize("path", PATHS)
async def test_head_returns_the_headers_only(site: Site, address: str) -> None:
    head, shown = await site.get(address, PLAIN, method="HEAD"), await site.get(address, PLAIN)

    assert (head.status, head.content) == (200, b"")
    assert head.headers["content-type"] == shown.headers["content-type"]
    assert head.headers["content-security-policy"] == shown.headers["content-security-policy"]


async def test_head_is_answered_wherever_get_is(api: Api, site: Site) -> None:
    """Without the trigger's method, the Functions host answers 404."""
    post = await api.new_post(await api.new_user())
    parameters = {
        "postId": post["id"],
        "userId": post["userId"],
        "version": "v",
        "name": "site.css",
        "asset": "docs.js",
        "words": "a-title",
    }
    functions = json.loads((await site.get("/admin/functions")).content)
    triggers = [function["config"]["bindings"][0] for function in functions]
    routes = [trigger["route"] for trigger in triggers if "GET" in trigger.get("methods", [])]
    routes = [route for route in routes if "*" not in route and route not in MOVED]
    paths = [
        "/" + re.sub(r"{(\w+)}", lambda name: parameters[name[1]], route)
        for route in routes
        if "*" not in route and route not in MOVED
    ]

    answers = {path: (await site.get(path, PLAIN, method="HEAD"), await site.get(path, PLAIN)) for path in paths}

    assert len(answers) > 15
    for path, (head, shown) in answers.items():
        assert (head.status, head.content) == (shown.status, b"") == (200, b""), path
        assert head.headers["content-type"] == shown.headers["content-type"], path


async def test_the_catch_all_hides_no_function(api: Api, site: Site) -> None:
    assert (await api.get_feed()).status == 200
    assert (await site.get("/api/docs")).headers["content-type"].startswith("text/html")
    assert (await site.get("/Posts/unknown")).status == 404
    assert (await site.get("/write/")).status == 200


async def test_the_host_tries_the_catch_all_last(site: Site) -> None:
    functions = json.loads((await site.get("/admin/functions")).content)

    # The host compares names like this (azure-functions-host WebScriptHostHttpRoutesManager.cs).
    assert max((function["name"] for function in functions), key=str.upper) == "z_page"
