"""The emulator survives any bytes, responds to errors with 4xx and never leaks data."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.fuzz.fuzz_rounds import FuzzRounds
from tests.fuzz.fuzz_target import ENTRA, ITEMS, KEY, FuzzTarget
from tests.fuzz.hostile_bytes import broken
from tests.fuzz.hostile_requests import is_destructive, is_scoped, request
from tests.fuzz.http_bytes import HttpRequest, HttpResponse, answers, exchange
from tests.fuzz.recordings import changed, recorded

TIDY_EACH = 300
ALLOWED = (501,)  # features that are not emulated


def judge(rounds: FuzzRounds, fuzz_target: FuzzTarget, given: HttpRequest, answer: HttpResponse) -> None:
    """Report a response that must not occur."""
    if answer.status >= 500 and answer.status not in ALLOWED:
        rounds.found(f"status {answer.status} for {given.verb} {shape(given)}", given, answer)
    if fuzz_target.leaks(answer.body) or any(fuzz_target.leaks(value.encode()) for value in answer.headers.values()):
        rounds.found(f"a canary of another database in {given.verb} {shape(given)}", given, answer)
    if is_scoped(given) and fuzz_target.neighbor.encode() in answer.body:
        rounds.found(f"a canary of another partition in {given.verb} {shape(given)}", given, answer)
    if answer.body:
        try:
            json.loads(answer.body)
        except ValueError:
            if b"authorization" in dict(given.headers) and answer.headers.get("content-type") == "application/json":
                rounds.found(f"the answer to {given.verb} {shape(given)} is not JSON", given, answer)


def shape(given: HttpRequest) -> str:
    """Return the path without IDs, to group similar findings."""
    return "/".join(one for one in given.target.decode("latin-1")[:200].split("/")[1::2])[:40]


def attack(rounds: FuzzRounds, fuzz_target: FuzzTarget, given: HttpRequest) -> None:
    """Send a request and judge the response."""
    if is_destructive(given):
        return
    rounds.inputs += 1
    try:
        received = answers(exchange(fuzz_target.server.port, given.encoded()), to_head=given.verb == "HEAD")
    except (OSError, ValueError) as error:
        rounds.found(f"{type(error).__name__} for {given.verb} {shape(given)}", error, given)
        return
    if len(received) != 1:
        rounds.found(f"{len(received)} answers to {given.verb} {shape(given)}", given, received)
    for answer in received:
        judge(rounds, fuzz_target, given, answer)


def keep_house(rounds: FuzzRounds, fuzz_target: FuzzTarget, *, each: int = TIDY_EACH) -> None:
    """Regularly check for damage and delete what attacks created."""
    if rounds.played % each == each - 1:
        if damage := fuzz_target.damage():
            rounds.found("damage", damage)
        fuzz_target.tidy()


@pytest.fixture
def attacked(fuzz_target: FuzzTarget) -> Iterator[FuzzTarget]:
    """The target, with a client that must always be served; checked for damage at the end."""
    with fuzz_target.watched() as times:
        yield fuzz_target
    fuzz_target.tidy()
    assert not fuzz_target.damage()
    assert not times or max(times) < 8, max(times)


def test_any_request_is_answered_or_rejected(rounds: FuzzRounds, attacked: FuzzTarget) -> None:
    for rng in rounds:
        attack(rounds, attacked, request(rng, attacked))
        keep_house(rounds, attacked)


def test_any_changed_sdk_request_is_answered_or_rejected(rounds: FuzzRounds, attacked: FuzzTarget) -> None:
    requests = recorded(attacked.server.port)
    for rng in rounds:
        attack(rounds, attacked, changed(rng, rng.choice(requests), requests, attacked))
        keep_house(rounds, attacked)


def test_any_bytes_are_answered_or_rejected(rounds: FuzzRounds, attacked: FuzzTarget) -> None:
    for rng in rounds:
        given = request(rng, attacked)
        if is_destructive(given):
            continue
        data = broken(rng, given.encoded(last=rng.random() < 0.7))
        if is_dangerous(data):
            continue
        rounds.inputs += 1
        try:
            received = exchange(attacked.server.port, data, complete=False)
        except TimeoutError as error:
            rounds.found("a connection that stays open", error, data)
            continue
        for status in re.findall(rb"HTTP/1\.[01] (\d{3})", received):
            if int(status) >= 500 and int(status) not in ALLOWED:
                rounds.found(f"status {status.decode()} for bytes", data, received)
        if attacked.leaks(received):
            rounds.found("a canary of another database for bytes", data, received)
        keep_house(rounds, attacked)


def is_dangerous(data: bytes) -> bool:
    """Return whether a broken request could delete or replace what the checks need."""
    return any(verb in data for verb in (b"DELETE", b"PUT")) and b"docs" not in data


def test_pipelined_requests_are_answered_in_order(rounds: FuzzRounds, attacked: FuzzTarget) -> None:
    for rng in rounds:
        given = [request(rng, attacked) for _ in range(rng.randrange(2, 6))]
        given = [one for one in given if not is_destructive(one) and one.verb == "GET" and b"_" not in one.target]
        number = HttpRequest("GET", ITEMS.encode(), (ENTRA, (b"x-ms-activity-id", b"mark%d" % rounds.played)))
        asked = [*given, number]
        data = b"".join(one.encoded(last=one is number) for one in asked)
        rounds.inputs += len(asked)
        try:
            received = answers(exchange(attacked.server.port, data))
        except (OSError, ValueError) as error:
            rounds.found(f"{type(error).__name__} in a stream", error, asked)
            continue
        if len(received) == len(asked):  # otherwise the server closed after an invalid request
            for one, answer in zip(asked, received, strict=True):
                judge(rounds, attacked, one, answer)
            if received[-1].headers["x-ms-activity-id"] != f"mark{rounds.played}":
                rounds.found("an answer out of order", asked, received)
        elif received[-1].status != 400:
            rounds.found("a stream that ends early", asked, received)


_SIGNATURES = [
    *("", "type=master&ver=1.0&sig=", "type=master&ver=1.0&sig=AAAA", "type%3Dmaster%26ver%3D1.0%26sig%3D\xff"),
    *(
        "type=resource&ver=1.0&sig=x",
        "type=aad",
        "type%3Daad",
        "TYPE=AAD&ver=1.0&sig=x",
        "Bearer x",
    ),
    *("type=master&ver=2.0&sig=x", "%", "%%%", "type=master&ver=1.0&sig=" + "A" * 6000, "type=master&ver=1.0&sig=%00"),
]
_DATES = [
    "",
    "x",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Thu, 99 Jan 99999 00:00:00 GMT",
    "1/1/1 0:0 +99999999999",
    "\xff",
    "0",
]


def test_forged_signatures_are_rejected(rounds: FuzzRounds, attacked: FuzzTarget) -> None:
    path = f"/dbs/canary/colls/{attacked.marker}/docs/{attacked.marker}".encode()
    signed = [one for one in recorded(attacked.server.port) if one.verb != "DELETE"]
    for rng in rounds:
        if rng.random() < 0.5:  # another request's signature
            own = rng.choice(signed)
            borrowed = tuple(one for one in own.headers if one[0] in (b"authorization", b"x-ms-date"))
            given = HttpRequest("GET", path, (*borrowed, (KEY[0], b'["c"]')))
        else:
            date = (rng.choice([b"x-ms-date", b"date"]), rng.choice(_DATES).encode("latin-1"))
            forged = (b"authorization", rng.choice(_SIGNATURES).encode("latin-1"))
            given = HttpRequest("GET", path, (forged, date, (KEY[0], b'["c"]')))
        rounds.inputs += 1
        answer = attacked.answer(given)
        if answer.status not in (400, 401):
            rounds.found(f"status {answer.status} for a forged signature", given, answer)


def test_rids_do_not_reach_into_another_database(rounds: FuzzRounds, attacked: FuzzTarget) -> None:
    container, item = (one.encode() for one in attacked.canary_rids)
    own, own_container = attacked.rids["database"].encode(), attacked.rids["container"].encode()
    key = (KEY[0], b'["c"]')
    for parent in (own, b"AAAAAA==", b"target"):
        for target in (
            b"/dbs/%b/colls/%b" % (parent, container),
            b"/dbs/%b/colls/%b/docs" % (parent, container),
            b"/dbs/%b/colls/%b/docs/%b" % (parent, container, item),
            b"/dbs/%b/colls/%b/docs/%b" % (parent, own_container, item),
        ):
            for keyed in (key, KEY):
                rounds.inputs += 1
                answer = attacked.answer(HttpRequest("GET", target, (ENTRA, keyed)))
                if answer.status != 404:
                    rounds.found(f"status {answer.status} for {target!r}", answer)
                if attacked.leaks(answer.body):
                    rounds.found("a canary through foreign rids", target, answer)


def test_slow_clients_do_not_block_others(rounds: FuzzRounds, attacked: FuzzTarget) -> None:
    for rng in rounds:
        with ExitStack() as connections:
            for _ in range(20):
                slow = socket.create_connection(("127.0.0.1", attacked.server.port), 10)
                connections.enter_context(slow)
                data = request(rng, attacked).encoded()
                slow.sendall(data[: rng.randrange(data.find(b"\r\n\r\n") + 4)])
                rounds.inputs += 1
            begun = time.monotonic()
            attacked.send("GET", ITEMS)
            if time.monotonic() - begun > 5:
                rounds.found("a client was blocked by slow clients")
