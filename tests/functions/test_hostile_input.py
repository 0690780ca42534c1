"""Hostile input: injection, forged log lines and headers, and excessive sizes.

See also test_errors.py for bodies, test_pages.py for cursors, and tests/auth/. docs/security.md lists all attacks.
"""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from shared.platform.models import is_item_id
from tests.api import Api, ApiResponse
from tests.items import unique
from tests.operations import Operation, operations
from tests.raw_http import raw
from tests.running_app import RunningApp

BODIES = {
    "create_user": {"username": "ada"},
    "edit_user": {"username": "ada"},
    "create_post": {"userId": "u", "title": "A title", "content": "Some content."},
    "edit_post": {"title": "A title", "content": "Some content."},
    "create_comment": {"userId": "u", "content": "Well put."},
    "create_like": {"userId": "u"},
}
WITH_IDS = {operation.name: operation for operation in operations() if "{" in operation.route}

# Strings with a meaning in queries, patch conditions, links, scripts, or paths.
INJECTIONS = [
    *("x' OR '1'='1", "x' OR 1=1 --", 'x" OR ""="', "x'; DROP", "' UNION SELECT * FROM c --", "@id", "c.id", "*"),
    *("{{7*7}}", "${jndi:ldap://x}", "$(id)", "`id`", "</script><script>", "%s%s%n", "__proto__", "constructor"),
    *("username:ada", "like-u", "true", "null", "NaN", "[]", "{}", "dbs", "a;b", "a&b=c", "a|b", "a,b", "(", "."),
    *("%2e%2e", "..%2f..", "..;", "~", "a\u202eb", "a\u200bb", "🏴‍☠️", "ａｄｍｉｎ"),
]


def path_of(operation: Operation, item_id: str) -> str:
    return "/api/" + operation.route.format_map(
        dict.fromkeys(("userId", "postId", "commentId"), quote(item_id, safe=""))
    )


async def send(api: Api, operation: Operation, item_id: str) -> ApiResponse:
    return await api.send(operation.method, path_of(operation, item_id), body=BODIES.get(operation.name))


@pytest.mark.parametrize("name", WITH_IDS)
async def test_injection_in_a_path_id_returns_404(api: Api, name: str) -> None:
    # Hosts remove a segment `.`, also an encoded one.
    segments = [injection for injection in INJECTIONS if injection != "."]
    answers = {injection: await send(api, WITH_IDS[name], injection) for injection in segments}

    assert {injection: answer.status for injection, answer in answers.items()} == dict.fromkeys(segments, 404)


async def test_injection_in_a_body_user_id_returns_404(api: Api) -> None:
    post = await api.new_post(await api.new_user())

    for user_id in INJECTIONS:
        answers = (
            await api.create_post(user_id, "A title", "Some content."),
            await api.create_comment(post["id"], user_id, "Well put."),
            await api.create_like(post["id"], user_id),
        )
        assert [(answer.status, answer.body["title"]) for answer in answers] == [(404, "User not found")] * 3, user_id


async def test_injection_in_text_and_keys_is_stored_verbatim(api: Api) -> None:
    author = await api.new_user()

    for text in INJECTIONS:
        key = {"Idempotency-Key": text}
        post = await api.create_post(author["id"], text, text, key)
        again = await api.create_post(author["id"], text, text, key)
        comment = await api.create_comment(post.body["id"], author["id"], text, key)
        assert again.body == post.body
        assert (post.body["title"], post.body["content"], comment.body["content"]) == (text, text, text)


def cursor_of(date: str, item_id: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([date, item_id]).encode()).decode().rstrip("=")


async def test_a_forged_cursor_reads_only_the_requested_list(api: Api) -> None:
    """A cursor cannot name a partition, container, or type. Its values are compared, never executed."""
    author, other = await api.new_user(), await api.new_user()
    post, secret = await api.new_post(author), await api.new_post(other)
    own = await api.new_comment(post, author)
    await api.new_comment(secret, other)
    await api.new_like(post, other)

    for item_id in INJECTIONS:
        cursor = cursor_of("9999-12-31T23:59:59.999Z", item_id)
        comments = await api.list_comments(post["id"], cursor=cursor)
        posts = await api.list_user_posts(author["id"], cursor=cursor)
        if is_item_id(item_id):
            assert [item["id"] for item in comments.body["items"]] == [own["id"]], item_id
            assert {item["userId"] for item in posts.body["items"]} <= {author["id"]}, item_id
        else:
            assert (comments.status, posts.status) == (400, 400), item_id


async def test_a_cursor_in_the_far_future_does_not_reveal_a_deleted_post(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    await api.delete_post(post["id"])

    answer = await api.list_comments(post["id"], cursor=cursor_of("9999-12-31T23:59:59.999Z", "~"))

    assert answer.status == 404


# Line breaks, escape sequences, backspaces, and Unicode separators.
FORGERIES = ["a\nFORGED", "a\r\nFORGED: 1", "a\x1b[31mFORGED", "a\x1b]0;FORGED\x07", "a\x08\x08FORGED", "a\u2028FORGED"]


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_input_cannot_forge_log_lines_or_headers(api: Api, app: RunningApp, forgery: str) -> None:
    author = await api.new_user()
    lines = len(app.log_lines())
    text = forgery.replace("FORGED", unique("FORGED"))
    mark = text[text.index("FORGED-") :].split(":")[0]

    answers = [await send(api, endpoint, text) for endpoint in WITH_IDS.values()]
    answers.append(await api.create_user(text))
    answers.append(await api.create_post(author["id"], text, text))
    answers.append(await api.create_post(text, text, text))
    answers.append(await api.send("GET", f"/api/feed?cursor={quote(text)}&limit={quote(text)}"))

    assert {answer.status for answer in answers} <= {201, 400, 404, 422}
    written = app.log.read_text(encoding="utf-8").split("\n")[lines:]
    assert not [line for line in written if line.startswith(mark)]
    assert "\x1b" not in "".join(written)
    for answer in answers:
        assert not any(mark in name + value for name, value in answer.headers.items())
        assert not any(name.startswith("forged") for name in answer.headers)


@pytest.mark.parametrize("name", ["traceparent", "User-Agent", "X-Forwarded-For", "Idempotency-Key", "If-None-Match"])
async def test_request_headers_cannot_forge_log_lines(app: RunningApp, name: str) -> None:
    """Raw bytes: a carriage return, an escape sequence, a tab, invalid UTF-8."""
    mark = unique("FORGED")
    values = [b"\x1b[31m" + mark.encode(), b"a\r" + mark.encode(), b"\t" + mark.encode(), b"\xff\xfe" + mark.encode()]

    for value in values:
        request = b"GET /api/users/unknown HTTP/1.1\r\nHost: blog\r\nConnection: close\r\n%s: %s\r\n\r\n"
        answer = await raw(app, request % (name.encode(), value))
        assert answer.split()[1] in (b"400", b"404")
        assert mark.encode() not in answer.partition(b"\r\n\r\n")[0]

    text = app.log.read_text(encoding="utf-8")
    assert not [line for line in text.split("\n") if line.startswith(mark)]
    assert "\x1b" not in text


@pytest.mark.parametrize("target", ["/api/users/a%0d%0aSet-Cookie:%20x=1", "/api/posts/a%0aLocation:%20//evil"])
async def test_a_path_cannot_inject_response_headers(app: RunningApp, target: str) -> None:
    answer = await raw(app, f"GET {target} HTTP/1.1\r\nHost: blog\r\nConnection: close\r\n\r\n".encode())

    head = answer.partition(b"\r\n\r\n")[0].lower()
    assert head.split()[1] == b"404"
    assert b"set-cookie" not in head
    assert b"\nlocation" not in head


@pytest.mark.parametrize(
    "header",
    ["Host: evil.example", "X-Forwarded-Host: evil.example", "X-Original-URL: /api/users", "Forwarded: host=evil"],
)
async def test_request_headers_cannot_redirect_a_client(app: RunningApp, header: str) -> None:
    """URLs in responses are paths without a host."""
    body = json.dumps({"username": unique("ada")})
    host = "" if header.startswith("Host") else "Host: blog\r\n"

    answer = await raw(
        app,
        f"POST /api/users HTTP/1.1\r\n{host}{header}\r\nConnection: close\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode(),
    )

    assert answer.split()[1] == b"201"
    assert b"evil" not in answer


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
async def test_request_headers_cannot_override_the_method(api: Api, header: str) -> None:
    post = await api.new_post(await api.new_user())

    await api.get_post(post["id"], {header: "DELETE"})

    assert (await api.get_post(post["id"])).status == 200


async def test_cross_origin_requests_are_not_allowed(api: Api) -> None:
    """No CORS headers, and content types that a form can send are rejected (OWASP API8)."""
    origin = {"Origin": "https://evil.example"}

    asked = await api.get_feed()
    form = await api.send(
        "POST",
        "/api/users",
        content=b'{"username": "ada"}',
        headers=origin | {"Content-Type": "text/plain"},
    )

    assert not any(name.startswith("access-control-allow") for answer in (asked, form) for name in answer.headers)
    assert form.status == 415


@pytest.mark.parametrize("name", ["limit", "cursor"])
async def test_very_long_query_parameters_are_rejected(api: Api, name: str) -> None:
    for length in (1_000, 7_000):
        assert (await api.send("GET", f"/api/posts/unknown/comments?{name}={'9' * length}")).status == 400
