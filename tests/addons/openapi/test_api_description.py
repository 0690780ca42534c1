"""The OpenAPI description and its page, and the check of real responses against the description."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest

from addons.openapi import docs
from addons.openapi.description import known_errors
from addons.openapi.docs import get_docs, get_docs_asset, get_openapi
from functions import feed, posts, users
from shared.platform.http.endpoints import HttpFunction
from tests.contract import assert_answer_matches
from tests.functions.invocations import UNTRACED

ROOT = Path(__file__).parents[3]
PAGE_ASSETS = {
    "docs.css": "text/css",
    "docs.js": "text/javascript",
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
}


def a_request(
    path: str, *, method: str = "GET", headers: dict[str, str] | None = None, body: bytes = b"", **route: str
) -> func.HttpRequest:
    parameters = dict(pair.split("=", 1) for pair in path.partition("?")[2].split("&") if pair)
    return func.HttpRequest(
        method, f"http://blog.test{path}", headers=headers or {}, params=parameters, route_params=route, body=body
    )


async def asset(name: str, headers: dict[str, str] | None = None, *, version: str = "") -> func.HttpResponse:
    response: func.HttpResponse = await get_docs_asset(
        a_request(f"/api/docs/{name}?v={version}", headers=headers, asset=name), UNTRACED
    )
    return response


@pytest.fixture(scope="module")
def openapi() -> dict[str, Any]:
    served: dict[str, Any] = json.loads(docs.openapi_document().content)
    return served


async def test_the_description_is_built_once_and_served_as_json() -> None:
    first = await get_openapi(a_request("/api/openapi.json"), UNTRACED)
    second = await get_openapi(a_request("/api/openapi.json"), UNTRACED)

    assert (first.status_code, first.mimetype) == (200, "application/json")
    assert json.loads(first.get_body())["openapi"] == "3.1.0"
    assert first.get_body() is second.get_body()
    assert first.headers["Cache-Control"] == "no-cache"


async def test_a_matching_etag_of_the_description_returns_304() -> None:
    etag = (await get_openapi(a_request("/api/openapi.json"), UNTRACED)).headers["ETag"]

    same = await get_openapi(a_request("/api/openapi.json", headers={"If-None-Match": f'"other", W/{etag}'}), UNTRACED)
    other = await get_openapi(a_request("/api/openapi.json", headers={"If-None-Match": '"other"'}), UNTRACED)

    assert (same.status_code, same.get_body(), same.headers["ETag"]) == (304, b"", etag)
    assert other.status_code == 200


async def test_the_page_loads_only_from_its_own_host() -> None:
    response = await get_docs(a_request("/api/docs"), UNTRACED)
    page = response.get_body().decode()

    assert (response.status_code, response.mimetype, response.charset) == (200, "text/html", "utf-8")
    assert "://" not in page
    assert not re.search(r"<style|<script(?! src)| on\w+=| style=", page)
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in response.headers["Content-Security-Policy"]


async def test_assets_of_the_page_are_cached_for_a_year_by_version() -> None:
    page = (await get_docs(a_request("/api/docs"), UNTRACED)).get_body().decode()
    links = dict(re.findall(r'"/api/docs/([^"?]+)\?v=([0-9a-f]+)"', page))

    assert set(links) == set(PAGE_ASSETS)
    for name, version in links.items():
        response = await asset(name, version=version)
        assert (response.status_code, response.mimetype) == (200, PAGE_ASSETS[name])
        assert response.headers["ETag"] == f'"{version}"'
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert len(response.get_body()) > 100


@pytest.mark.parametrize("version", ["", "0123456789abcdef"])
async def test_a_page_of_another_version_gets_current_assets_that_are_not_cached(version: str) -> None:
    response = await asset("docs.css", version=version)

    assert (response.status_code, response.headers["Cache-Control"]) == (200, "no-cache")


async def test_a_matching_etag_of_an_asset_returns_304() -> None:
    etag = (await asset("swagger-ui-bundle.js")).headers["ETag"]

    again = await asset("swagger-ui-bundle.js", {"If-None-Match": etag})

    assert (again.status_code, again.get_body()) == (304, b"")


@pytest.mark.parametrize(
    "name",
    ["../docs.py", "..%2Fdocs.py", "page.html", "LICENSE", "swagger-ui/swagger-ui.css", "/etc/passwd"],
)
async def test_other_files_are_not_served(name: str) -> None:
    response = await asset(name)

    assert (response.status_code, response.get_body()) == (404, b"")


async def test_every_problem_type_links_to_its_explanation() -> None:
    page = (await get_docs(a_request("/api/docs"), UNTRACED)).get_body().decode()

    for problem in (error.problem for error in known_errors()):
        path, _, fragment = problem.type.partition("#")
        assert path == "/api/docs"
        assert page.count(f'<dt id="{fragment}">{problem.title} ') == 1


def test_vendored_files_match_the_third_party_notices() -> None:
    notices = (ROOT / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
    vendored = ROOT / "addons" / "openapi" / "static" / "swagger-ui"

    sums = dict(re.findall(r"\| `([^`]+)` \| `([0-9a-f]{64})` \|", notices))

    # A name without a folder is a file of Swagger UI.
    files = {name: ROOT / name if "/" in name else vendored / name for name in sums}
    assert sums == {name: sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    assert {path.name for path in vendored.iterdir()} - set(sums) == {
        "LICENSE",
        "NOTICE",
        "swagger-ui-bundle.js.LICENSE.txt",
    }


A_LONG_BODY = b'{"username":"' + b"a" * 1_100_000 + b'"}'
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("function", "request_of", "status"),
    [
        (users.create_user, lambda: a_request("/api/users", method="POST", headers=JSON, body=b"{"), 400),
        (users.create_user, lambda: a_request("/api/users", method="POST", headers=JSON, body=A_LONG_BODY), 413),
        (users.create_user, lambda: a_request("/api/users", method="POST", body=b"{}"), 415),
        (users.create_user, lambda: a_request("/api/users", method="POST", headers=JSON, body=b'{"usr":1}'), 422),
        (users.get_user, lambda: a_request("/api/users/a%23b", userId="a#b"), 404),
        (posts.get_post, lambda: a_request("/api/posts/a%23b", postId="a#b"), 404),
        (posts.list_user_posts, lambda: a_request("/api/users/u/posts?cursor=x", userId="u"), 400),
        (feed.get_feed, lambda: a_request("/api/feed?limit=0"), 400),
    ],
)
async def test_requests_rejected_before_the_database_match_the_description(
    openapi: dict[str, Any], function: HttpFunction, request_of: Callable[[], func.HttpRequest], status: int
) -> None:
    request = request_of()

    answer = await function(request, UNTRACED)

    assert answer.status_code == status
    assert_answer_matches(openapi, request.method, request.url, status, sent(answer), answer.get_body())


def sent(answer: func.HttpResponse) -> dict[str, str]:
    return {**answer.headers, "content-type": answer.mimetype}


A_USER = {
    "id": "u1",
    "type": "user",
    "userId": "u1",
    "username": "ada",
    "creationDate": "2026-01-31T23:59:59.123Z",
}
OF_A_USER = {"content-type": "application/json; charset=utf-8", "etag": '"1"', "x-ms-request-charge": "1.00"}
UNKNOWN_POST = {"type": "/api/docs#post-not-found", "title": "", "status": 404, "detail": "", "instance": "/"}


def test_a_described_response_passes_the_check(openapi: dict[str, Any]) -> None:
    assert_answer_matches(openapi, "GET", "/api/users/u1?limit=3", 200, OF_A_USER, json.dumps(A_USER).encode())
    assert_answer_matches(openapi, "GET", "http://host:7071/api/users/u1", 304, OF_A_USER, b"")


def test_undescribed_responses_pass_only_from_the_host_and_the_docs(openapi: dict[str, Any]) -> None:
    assert_answer_matches(openapi, "GET", "/api/nothing", 404, {}, b"")
    assert_answer_matches(openapi, "PATCH", "/api/users/u1", 404, {}, b"")
    assert_answer_matches(openapi, "GET", "/api/docs/docs.css", 200, {}, b"body {}")
    with pytest.raises(AssertionError, match="not described"):
        assert_answer_matches(openapi, "GET", "/api/nothing", 200, {}, b"")


@pytest.mark.parametrize(
    ("path", "status", "headers", "body", "fault"),
    [
        ("/api/users/u1", 202, OF_A_USER, A_USER, "not among"),
        ("/api/users/u1", 200, OF_A_USER | {"content-type": "text/plain"}, A_USER, "text/plain"),
        ("/api/users/u1", 200, {"content-type": "application/json", "etag": '"1"'}, A_USER, "charge is missing"),
        ("/api/users/u1", 200, OF_A_USER | {"etag": "1"}, A_USER, "ETag"),
        ("/api/users/u1", 200, OF_A_USER, A_USER | {"_rid": "x"}, "_rid"),
        ("/api/users/u1", 200, OF_A_USER, A_USER | {"creationDate": "2026-01-31"}, "creationDate"),
        ("/api/users/u1", 200, OF_A_USER, {"id": "u1"}, "username"),
        ("/api/users/u1", 304, OF_A_USER, A_USER, "body is not described"),
        ("/api/users/u1", 404, {"content-type": "application/problem+json"}, UNKNOWN_POST, "post-not-found"),
    ],
)
def test_an_undescribed_response_fails_the_check(
    openapi: dict[str, Any], path: str, status: int, headers: dict[str, str], body: dict[str, Any], fault: str
) -> None:
    with pytest.raises(AssertionError, match=fault):
        assert_answer_matches(openapi, "GET", path, status, headers, json.dumps(body).encode())
