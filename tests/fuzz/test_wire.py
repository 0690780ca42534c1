"""Whatever bytes arrive, the emulator answers 4xx, stays up, and shows nobody what is not theirs."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.fuzz.hostile_bytes import broken
from tests.fuzz.hostile_requests import is_destructive, is_scoped, request
from tests.fuzz.http_bytes import HttpAnswer, HttpRequest, answers, exchange
from tests.fuzz.prey import ENTRA, ITEMS, KEY, Prey
from tests.fuzz.recordings import changed, recorded
from tests.fuzz.rounds import Rounds

TIDY_EACH = 300
ALLOWED = (501,)  # what is not emulated says so


def judge(rounds: Rounds, prey: Prey, given: HttpRequest, answer: HttpAnswer) -> None:
    """What no answer may be."""
    if answer.status >= 500 and answer.status not in ALLOWED:
        rounds.found(f"status {answer.status} for {given.verb} {shape(given)}", given, answer)
    if prey.leaks(answer.body) or any(prey.leaks(value.encode()) for value in answer.headers.values()):
        rounds.found(f"a canary of another database in {given.verb} {shape(given)}", given, answer)
    if is_scoped(given) and prey.neighbour.encode() in answer.body:
        rounds.found(f"a canary of another partition in {given.verb} {shape(given)}", given, answer)
    if answer.body:
        try:
            json.loads(answer.body)
        except ValueError:
            if b"authorization" in dict(given.headers) and answer.headers.get("content-type") == "application/json":
                rounds.found(f"no JSON in an answer to {given.verb} {shape(given)}", given, answer)


def shape(given: HttpRequest) -> str:
    """The kind of path, without ids: findings of one kind are told once."""
    return "/".join(one for one in given.target.decode("latin-1")[:200].split("/")[1::2])[:40]


def attack(rounds: Rounds, prey: Prey, given: HttpRequest) -> None:
    """Sends a request by itself and judges the answer."""
    if is_destructive(given):
        return
    rounds.inputs += 1
    try:
        received = answers(exchange(prey.server.port, given.encoded()), to_head=given.verb == "HEAD")
    except (OSError, ValueError) as error:
        rounds.found(f"{type(error).__name__} for {given.verb} {shape(given)}", error, given)
        return
    if len(received) != 1:
        rounds.found(f"{len(received)} answers to {given.verb} {shape(given)}", given, received)
    for answer in received:
        judge(rounds, prey, given, answer)


def keep_house(rounds: Rounds, prey: Prey, *, each: int = TIDY_EACH) -> None:
    """Now and then: looks for harm, and removes what the attacks have left."""
    if rounds.played % each == each - 1:
        if harm := prey.harm():
            rounds.found("harm", harm)
        prey.tidy()


@pytest.fixture
def attacked(prey: Prey) -> Iterator[Prey]:
    """The prey, with a client that must be served all the while; no harm may be left at the end."""
    with prey.watched() as times:
        yield prey
    prey.tidy()
    assert not prey.harm()
    assert not times or max(times) < 8, max(times)


def test_any_request_is_answered_or_refused(rounds: Rounds, attacked: Prey) -> None:
    for dice in rounds:
        attack(rounds, attacked, request(dice, attacked))
        keep_house(rounds, attacked)


def test_any_change_to_what_the_sdk_sends_is_answered_or_refused(rounds: Rounds, attacked: Prey) -> None:
    requests = recorded(attacked.server.port)
    for dice in rounds:
        attack(rounds, attacked, changed(dice, dice.choice(requests), requests, attacked))
        keep_house(rounds, attacked)


def test_any_bytes_are_answered_or_refused(rounds: Rounds, attacked: Prey) -> None:
    for dice in rounds:
        given = request(dice, attacked)
        if is_destructive(given):
            continue
        data = broken(dice, given.encoded(last=dice.random() < 0.7))
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
    """Whether a broken request may by chance be one that removes what the checks need."""
    return any(verb in data for verb in (b"DELETE", b"PUT")) and b"docs" not in data


def test_requests_in_one_stream_are_answered_in_their_order(rounds: Rounds, attacked: Prey) -> None:
    for dice in rounds:
        given = [request(dice, attacked) for _ in range(dice.randrange(2, 6))]
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
        if len(received) == len(asked):  # else the server closed behind a request that is no HTTP
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
        "type=aad%26ver%3D1.0%26sig%3Dx",
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


def test_no_forged_signature_opens_anything(rounds: Rounds, attacked: Prey) -> None:
    path = f"/dbs/canary/colls/{attacked.marker}/docs/{attacked.marker}".encode()
    signed = [one for one in recorded(attacked.server.port) if one.verb != "DELETE"]
    for dice in rounds:
        if dice.random() < 0.5:  # the signature of one request on another
            own = dice.choice(signed)
            borrowed = tuple(one for one in own.headers if one[0] in (b"authorization", b"x-ms-date"))
            given = HttpRequest("GET", path, (*borrowed, (KEY[0], b'["c"]')))
        else:
            date = (dice.choice([b"x-ms-date", b"date"]), dice.choice(_DATES).encode("latin-1"))
            forged = (b"authorization", dice.choice(_SIGNATURES).encode("latin-1"))
            given = HttpRequest("GET", path, (forged, date, (KEY[0], b'["c"]')))
        rounds.inputs += 1
        answer = attacked.answer(given)
        if answer.status not in (400, 401):
            rounds.found(f"status {answer.status} for a forged signature", given, answer)


def test_rids_of_one_database_do_not_reach_into_another(rounds: Rounds, attacked: Prey) -> None:
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


def test_slow_clients_do_not_keep_others_waiting(rounds: Rounds, attacked: Prey) -> None:
    for dice in rounds:
        with ExitStack() as connections:
            for _ in range(20):
                slow = socket.create_connection(("127.0.0.1", attacked.server.port), 10)
                connections.enter_context(slow)
                data = request(dice, attacked).encoded()
                slow.sendall(data[: dice.randrange(data.find(b"\r\n\r\n") + 4)])
                rounds.inputs += 1
            begun = time.monotonic()
            attacked.send("GET", ITEMS)
            if time.monotonic() - begun > 5:
                rounds.found("a client had to wait for slow ones")
