"""Whatever a script does, it ends in time, stays within its memory and partition, and others are served meanwhile."""

from __future__ import annotations

import json
import random
import time
from typing import Final

from tests.fuzz.hostile_scripts import function, script
from tests.fuzz.http_bytes import HttpAnswer, HttpRequest
from tests.fuzz.prey import ENTRA, ITEMS, KEY, SCRIPT_TIME_S, Prey
from tests.fuzz.rounds import Rounds

# What does not end by itself is killed a quarter of a second after its time; the machine may have other things to do.
MARGIN_S: Final = 3.0
SERVED_S: Final = 3.0


def test_no_script_gets_out_or_goes_on(rounds: Rounds, prey: Prey) -> None:
    prey.tidy()
    with prey.watched() as times:
        for dice in rounds:
            given = _hostile(dice, prey)
            begun = time.monotonic()
            rounds.inputs += 1
            try:
                answer = prey.answer(given)
            except (OSError, ValueError) as error:
                rounds.found(f"{type(error).__name__}", error, _text(prey))
                continue
            _judge(rounds, prey, answer, time.monotonic() - begun)
            if rounds.played % 50 == 49:
                if harm := prey.harm():
                    rounds.found("harm", harm, _text(prey))
                prey.tidy()
    if harm := prey.harm():
        rounds.found("harm", harm)
    prey.tidy()
    slowest = max(times, default=0.0)
    if slowest > SERVED_S:
        rounds.found(f"another client waited {slowest:.1f} s")


def _hostile(dice: random.Random, prey: Prey) -> HttpRequest:
    """Stores a hostile script and gives the request that runs it."""
    for kind in ("sprocs", "triggers", "udfs"):
        prey.send("DELETE", f"{ITEMS}/{kind}/hostile", expected=(204, 404))
    match dice.randrange(8):
        case 0:
            side = dice.choice(["Pre", "Post"])
            _store(prey, "triggers", script(dice), triggerType=side, triggerOperation="All")
            header = (b"x-ms-documentdb-%b-trigger-include" % side.lower().encode(), b"hostile")
            body = json.dumps({"id": "made", "pk": "p"}).encode()
            return HttpRequest("POST", f"{ITEMS}/docs".encode(), (ENTRA, KEY, header, _UPSERT), body)
        case 1:
            _store(prey, "udfs", function(dice))
            body = json.dumps({"query": "SELECT VALUE udf.hostile(c) FROM c WHERE c.n >= 0"}).encode()
            return HttpRequest("POST", f"{ITEMS}/docs".encode(), (ENTRA, KEY, _QUERY), body)
    _store(prey, "sprocs", script(dice))
    headers = (ENTRA, KEY, (b"x-ms-documentdb-script-enable-logging", b"true"))
    return HttpRequest("POST", f"{ITEMS}/sprocs/hostile".encode(), headers, b'[1, {"a": ["b"]}]')


_UPSERT: Final = (b"x-ms-documentdb-is-upsert", b"true")
_QUERY: Final = (b"x-ms-documentdb-isquery", b"true")


def _store(prey: Prey, kind: str, body: str, **more: str) -> None:
    content = {"id": "hostile", "body": body.encode("utf-8", "replace").decode(), **more}
    prey.send("POST", f"{ITEMS}/{kind}", content)


def _text(prey: Prey) -> str:
    """The script that was run."""
    for kind in ("sprocs", "triggers", "udfs"):
        found = prey.send("GET", f"{ITEMS}/{kind}/hostile", expected=(200, 404))
        if "body" in found:
            return str(found["body"])
    return "none"


def _judge(rounds: Rounds, prey: Prey, answer: HttpAnswer, took_s: float) -> None:
    if answer.status >= 500:
        rounds.found(f"status {answer.status}", answer, _text(prey))
    if took_s > SCRIPT_TIME_S + MARGIN_S:
        rounds.found(f"{took_s:.1f} s", answer, _text(prey))
    told = answer.body + json.dumps(answer.headers).encode()
    if prey.leaks(told) or prey.neighbour.encode() in told:
        rounds.found("a canary", answer, _text(prey))
    if b"root:x:0" in told or b"[native code] process" in told:
        rounds.found("a file", answer, _text(prey))
    if b'"undefined"' not in answer.body and answer.body in (b'"object"', b'"function"'):
        rounds.found("something of the host", answer, _text(prey))
