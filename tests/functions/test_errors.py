"""Error responses, and values at and just beyond each limit."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import time
from typing import Any

import pytest

from tests.api import Api, ApiResponse, Json
from tests.invalid_hosts import assert_invalid_hosts_are_refused
from tests.items import unique
from tests.problems import assert_problem
from tests.raw_http import raw
from tests.running_app import RunningApp

LIMIT = 1024 * 1024
JSON = {"Content-Type": "application/json"}


def pointers(answer: ApiResponse) -> list[str]:
    assert answer.status == 422
    assert all(set(error) == {"pointer", "detail"} and error["detail"] for error in answer.body["errors"])
    return sorted(error["pointer"] for error in answer.body["errors"])


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b" ", b"{", b'{"username":}', b"{'username': 'bob'}", b'{"username": "bob",}', b"\xff\xfe", b"NaN"),
        *(b'{"username":NaN}', b'{"username":-Infinity}'),
        *(
            b'{"username": "\xff"}',
            b'{"username": "\\ud800"}',
            b'{"username": "\\udc00\\ud800"}',
            b'{"username": "a\nb"}',
        ),
        *(b"null", b"[]", b'"bob"', b"1", b"true", b'[{"username": "bob"}]'),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b'{"a":' * 40_000, id="deep objects"),
        pytest.param('{"username": "bob"}'.encode("utf-16"), id="utf-16"),
        pytest.param(b'{"username": "bob"} {}', id="trailing data"),
    ],
)
async def test_a_body_that_is_not_a_json_object_returns_400(api: Api, content: bytes) -> None:
    answer = await api.send("POST", "/api/users", content=content, headers=JSON)

    assert_problem(answer, 400, "Malformed request", "/api/users")
    assert "x-ms-request-charge" not in answer.headers


async def test_a_chunked_body_counts_as_empty(api: Api, app: RunningApp) -> None:
    """The Functions host in Azure does not pass chunked bodies to the app."""
    request = (
        b"POST /api/users HTTP/1.1\r\nHost: blog\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    )

    answer = await raw(app, request + b'Connection: close\r\n\r\n14\r\n{"username": "bobo"}\r\n0\r\n\r\n')

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"The body is empty; send Content-Length." in answer


@pytest.mark.parametrize(
    "content_type",
    [
        *(None, "", "json", "text/plain", "text/json", "multipart/form-data", "application/x-www-form-urlencoded"),
        *("application/json; charset=utf-16", "application/json; charset=iso-8859-1"),
        *("application/json;foo=bar;charset=utf-16", 'application/json; x="y"; Charset="latin1"'),
        *(
            "application/json;charset=utf-8;charset=utf-16",
            "application/json;charset=",
            "application/json;charset=utf-8x",
        ),
        *("application/json foo=bar", "application/json,text/plain", 'application/json;x="'),
        *("application/json5", "application/problem+json"),
    ],
)
async def test_a_body_without_a_json_content_type_returns_415(api: Api, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}

    answer = await api.send("POST", "/api/users", content=b'{"username": "bob"}', headers=headers)

    assert_problem(answer, 415, "Unsupported body", "/api/users")


@pytest.mark.parametrize(
    "content_type",
    [
        *(
            "application/json",
            "Application/JSON",
            "application/json;charset=utf-8",
            'application/json; charset="UTF-8"',
        ),
        *("application/json;", "application/json;charset=utf-8;", "application/json ; ; charset=utf-8 ;;"),
        *(
            "application/json;foo=bar",
            'application/json;a="b;charset=\\"c";charset=utf-8',
            "application/json;charsets=x",
        ),
    ],
)
async def test_a_json_content_type_may_have_parameters_and_a_utf_8_charset(api: Api, content_type: str) -> None:
    content = json.dumps({"username": unique("ada")}).encode()

    assert (await api.send("POST", "/api/users", content=content, headers={"Content-Type": content_type})).status == 201


@pytest.mark.parametrize("encoding", ["gzip", "identity, br", "unknown"])
async def test_a_body_with_a_content_encoding_returns_415_and_the_supported_encoding(api: Api, encoding: str) -> None:
    """RFC 9110, 15.5.16: the header tells it from an unsupported media type."""
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    content = gzip.compress(b'{"username": "ada"}')

    answer = await api.send("POST", "/api/users", content=content, headers=headers)

    assert_problem(answer, 415, "Unsupported body", "/api/users")
    assert answer.headers["accept-encoding"] == "identity"
    other = await api.send("POST", "/api/users", content=b"{}", headers={"Content-Type": "text/plain"})
    assert (other.status, "accept-encoding" in other.headers) == (415, False)


@pytest.mark.parametrize("encoding", [None, "identity", "Identity", ", identity,"])
async def test_a_body_can_start_with_a_byte_order_mark(api: Api, encoding: str | None) -> None:
    """RFC 8259, 8.1."""
    headers = {"Content-Type": "application/json"} | ({"Content-Encoding": encoding} if encoding else {})
    content = codecs.BOM_UTF8 + json.dumps({"username": unique("ada")}).encode()

    assert (await api.send("POST", "/api/users", content=content, headers=headers)).status == 201
    assert (await api.send("POST", "/api/users", content=codecs.BOM_UTF8 * 2 + b"{}", headers=headers)).status == 400


# aiohttp warns about bodies over 1 MB.
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_a_body_over_1_mib_returns_413_before_it_is_parsed(api: Api) -> None:
    body = json.dumps({"username": unique("ada")}).encode()

    taken = await api.send("POST", "/api/users", content=body.ljust(LIMIT), headers=JSON)
    too_large = await api.send("POST", "/api/users", content=body.ljust(LIMIT + 1), headers=JSON)
    not_json = await api.send("POST", "/api/posts", content=b"x" * 2_000_000)

    assert taken.status == 201
    assert_problem(too_large, 413, "Body too large", "/api/users")
    assert_problem(not_json, 413, "Body too large", "/api/posts")


POST = {"userId": "u", "title": "A title", "content": "Some content."}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, ["/content", "/title", "/userId"]),
        (
            {"userId": "", "title": " ", "content": None, "x": 1, "a/b~c": {}},
            ["/a~1b~0c", "/content", "/title", "/userId", "/x"],
        ),
        (POST | {"title": ""}, ["/title"]),
        (POST | {"title": " \t\n\u00a0\u3000"}, ["/title"]),
        (POST | {"title": "t" * 201}, ["/title"]),
        (POST | {"title": "😀" * 201}, ["/title"]),
        (POST | {"content": ""}, ["/content"]),
        (POST | {"content": "\n" * 50}, ["/content"]),
        (POST | {"content": "c" * 100_001}, ["/content"]),
        (POST | {"userId": "u" * 256}, ["/userId"]),
        *((POST | {"title": value}, ["/title"]) for value in (None, 1, 1.5, True, [], {}, ["t"], {"a": "t"}, 10**400)),
        (
            POST | {"id": "mine", "_etag": "x", "type": "post", "commentCount": 7},
            ["/_etag", "/commentCount", "/id", "/type"],
        ),
        (POST | {"Title": "x", "user_id": "u"}, ["/Title", "/user_id"]),
        ({"user_id": "u", "title": "A title", "content": "Some content."}, ["/userId", "/user_id"]),
    ],
)
async def test_all_invalid_fields_of_a_new_post_are_reported(api: Api, body: Json, expected: list[str]) -> None:
    answer = await api.send("POST", "/api/posts", body=body)

    assert_problem(answer, 422, "Invalid fields", "/api/posts")
    assert pointers(answer) == expected
    assert "x-ms-request-charge" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("POST", "/api/users", {"name": "bob"}, ["/name", "/username"]),
        ("PUT", "/api/users/u", {"username": 5, "userId": "u"}, ["/userId", "/username"]),
        ("PUT", "/api/posts/p", {"title": "", "content": "", "userId": "u"}, ["/content", "/title", "/userId"]),
        ("POST", "/api/posts/p/comments", {"userId": 1, "content": "c" * 5_001}, ["/content", "/userId"]),
        ("POST", "/api/posts/p/comments", {"userId": "u", "content": " "}, ["/content"]),
        ("POST", "/api/posts/p/likes", {}, ["/userId"]),
        ("POST", "/api/posts/p/likes", {"userId": None, "postId": "p"}, ["/postId", "/userId"]),
    ],
)
async def test_all_invalid_fields_of_any_body_are_reported(
    api: Api, method: str, path: str, body: Json, expected: list[str]
) -> None:
    answer = await api.send(method, path, body=body)

    assert_problem(answer, 422, "Invalid fields", path)
    assert pointers(answer) == expected


@pytest.mark.parametrize(
    ("method", "path", "body", "fault"),
    [
        ("POST", "/api/users", {}, "This field is missing. Add it."),
        ("POST", "/api/users", {"username": "al"}, "This is too short. Use at least 3 characters."),
        ("POST", "/api/users", {"username": "a" * 31}, "This is too long. Use at most 30 characters."),
        ("POST", "/api/users", {"username": "a b c"}, "Use only letters, digits, “_”, “-” and “.”."),
        ("POST", "/api/users", {"username": 5}, "This is not text. Send a JSON string."),
        ("POST", "/api/users", {"username": "ada", "age": 5}, "This field is unknown. Remove it."),
        ("PUT", "/api/posts/p", {"title": "", "content": "c"}, "This is empty. Write something."),
        ("PUT", "/api/posts/p", {"title": " ", "content": "c"}, "This is empty. Write something."),
        (
            "PUT",
            "/api/posts/p",
            {"title": "t", "content": "c" * 100_001},
            "This is too long. Use at most 100,000 characters.",
        ),
        (
            "PUT",
            "/api/posts/p",
            {"title": "t", "content": "é" * 65_537},
            "This is too long. Use at most 131,072 bytes in UTF-8.",
        ),
    ],
)
async def test_a_fault_says_what_is_wrong_and_what_to_do(
    api: Api, method: str, path: str, body: Json, fault: str
) -> None:
    answer = await api.send(method, path, body=body)

    assert [error["detail"] for error in answer.body["errors"]] == [fault]


async def test_at_most_20_invalid_fields_are_reported(api: Api) -> None:
    unknown = {str(number): 0 for number in range(70_000)}

    answer = await api.send("POST", "/api/posts", body=unknown | {"userId": "u", "title": ""})

    assert_problem(answer, 422, "Invalid fields", "/api/posts")
    assert pointers(answer) == sorted(["/title", "/content", *(f"/{number}" for number in range(18))])


@pytest.mark.parametrize("key", ["username", "user\\u006eame"])
async def test_the_last_of_duplicate_json_keys_is_used(api: Api, key: str) -> None:
    name = unique("ada")
    content = f'{{"username": "x", "{key}": "{name}"}}'.encode()

    answer = await api.send("POST", "/api/users", content=content, headers=JSON)

    assert (answer.status, answer.body["username"]) == (201, name)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/nothing"),
        ("GET", "/api/users"),
        ("DELETE", "/api/users/u"),
        ("PATCH", "/api/posts/p"),
        ("PUT", "/api/posts"),
        ("GET", "/api/posts/p/comments/c"),
        ("GET", "/api/posts/p/likes/u"),
        ("POST", "/api/feed"),
        ("GET", "/feed"),
    ],
)
async def test_unknown_paths_and_methods_return_404(api: Api, method: str, path: str) -> None:
    assert (await api.send(method, path, body={} if method != "GET" else None)).status == 404


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("path", ["/api/nothing", "/api/posts/p/nothing/else", "/API/nothing"])
async def test_unknown_paths_of_the_api_return_problem_details(api: Api, method: str, path: str) -> None:
    assert_problem(await api.send(method, path), 404, "Path not found", path)


async def test_every_response_forbids_guessing_its_type(api: Api) -> None:
    post = await api.new_post(await api.new_user())

    answers = [
        await api.get_post(post["id"]),
        await api.get_post("unknown"),
        await api.create_post(post["userId"], "", ""),
        await api.get_feed(),
        await api.list_comments(post["id"]),
        await api.get_health(),
        await api.delete_post(post["id"]),
    ]

    assert [answer.status for answer in answers] == [200, 404, 422, 200, 200, 200, 204]
    assert {answer.headers.get("x-content-type-options") for answer in answers} == {"nosniff"}


async def test_404_and_409_return_problem_details(api: Api) -> None:
    user = await api.new_user()
    other = await api.new_user()
    post = await api.new_post(user)

    assert_problem(await api.get_user("unknown"), 404, "User not found", "/api/users/unknown")
    assert_problem(await api.get_post("unknown"), 404, "Post not found", "/api/posts/unknown")
    comment_path = f"/api/posts/{post['id']}/comments/unknown"
    assert_problem(await api.delete_comment(post["id"], "unknown"), 404, "Comment not found", comment_path)
    taken = await api.edit_user(user["id"], other["username"])
    assert_problem(taken, 409, "Username taken", f"/api/users/{user['id']}")


async def test_headers_with_invalid_utf_8_are_rejected(app: RunningApp) -> None:
    headers = dict.fromkeys((b"Idempotency-Key", b"If-Match", b"If-None-Match", b"traceparent"), b"400")
    statuses = {}
    for name in headers:
        body = json.dumps({"username": unique("ada")}).encode()
        lines = [b"POST /api/users HTTP/1.1", b"Host: blog", b"Connection: close", b"Content-Type: application/json"]
        lines += [b"Content-Length: %d" % len(body), name + b': "\xe9\xff"', b"", body]
        statuses[name] = (await raw(app, b"\r\n".join(lines))).split()[1]

    assert statuses == headers


async def test_an_if_match_with_invalid_utf_8_is_rejected(api: Api, app: RunningApp) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    paths = [f"/api/posts/{post['id']}", f"/api/posts/{post['id']}/likes/{user['id']}"]

    for path in paths:
        lines = [
            f"DELETE {path} HTTP/1.1".encode(),
            b"Host: blog",
            b"Connection: close",
            b'If-Match: "\xe9\xff"',
            b"",
            b"",
        ]
        assert (await raw(app, b"\r\n".join(lines))).split()[1] in (b"400", b"412")


@pytest.mark.parametrize("path", ["/api/posts/p", "/api/feed"])
async def test_an_invalid_host_header_returns_an_error(app: RunningApp, path: str) -> None:
    await assert_invalid_hosts_are_refused(app, path)


async def test_responses_omit_database_properties(api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    await api.new_comment(post, user)
    await api.new_like(post, user)

    answers = [
        await api.get_user(user["id"]),
        await api.get_post(post["id"]),
        await api.list_user_posts(user["id"]),
        await api.list_comments(post["id"]),
        await api.list_likes(post["id"]),
        await api.get_feed(),
    ]

    hidden = {"_rid", "_self", "_etag", "_ts", "_attachments", "ttl", "version", "nameVersion", "formerUsernames"}
    for answer in answers:
        assert not hidden & names_in(answer.body)


def names_in(value: Any) -> set[str]:
    match value:
        case dict():
            return set(value).union(*map(names_in, value.values()))
        case list():
            return set().union(*map(names_in, value))
        case _:
            return set()


async def test_the_log_names_the_request_and_its_problem(api: Api, app: RunningApp) -> None:
    post_id, started = unique("unknown"), time.perf_counter()

    await api.get_post(post_id)

    elapsed_ms = (time.perf_counter() - started) * 1000
    (line,) = [line for line in app.log_lines(containing=post_id) if "blog request" in line]
    request = f'function="get_post" method="GET" path="/api/posts/{post_id}" status=404 problem="post-not-found" '
    assert request in line
    assert re.search(r' request_id="[0-9a-f-]{36}"', line)
    (duration_ms,) = re.findall(r" duration_ms=([\d.]+) ", line)
    assert 0 < float(duration_ms) < elapsed_ms
