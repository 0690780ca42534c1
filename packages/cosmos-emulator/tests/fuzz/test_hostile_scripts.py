"""Scripts end in time, stay within their memory and partition, and do not block other clients."""

from __future__ import annotations

import json
import random
import time
from typing import Final

from tests.fuzz.fuzz_rounds import FuzzRounds
from tests.fuzz.fuzz_target import ENTRA, ITEMS, KEY, SCRIPT_TIME_S, FuzzTarget
from tests.fuzz.hostile_scripts import function, script
from tests.fuzz.http_bytes import HttpRequest, HttpResponse

# A script is killed 0.25 s after its time limit; the rest is for a busy machine.
MARGIN_S: Final = 3.0
SERVED_S: Final = 3.0


def test_no_script_escapes_or_exceeds_its_limits(rounds: FuzzRounds, fuzz_target: FuzzTarget) -> None:
    fuzz_target.tidy()
    with fuzz_target.watched() as times:
        for rng in rounds:
            given = _hostile(rng, fuzz_target)
            begun = time.monotonic()
            rounds.inputs += 1
            try:
                answer = fuzz_target.answer(given)
            except (OSError, ValueError) as error:
                rounds.found(f"{type(error).__name__}", error, _text(fuzz_target))
                continue
            _judge(rounds, fuzz_target, answer, time.monotonic() - begun)
            if rounds.played % 50 == 49:
                if damage := fuzz_target.damage():
                    rounds.found("damage", damage, _text(fuzz_target))
                fuzz_target.tidy()
    if damage := fuzz_target.damage():
        rounds.found("damage", damage)
    fuzz_target.tidy()
    slowest = max(times, default=0.0)
    if slowest > SERVED_S:
        rounds.found(f"another client waited {slowest:.1f} s")


def _hostile(rng: random.Random, fuzz_target: FuzzTarget) -> HttpRequest:
    """Store a hostile script and return the request that runs it."""
    for kind in ("sprocs", "triggers", "udfs"):
        fuzz_target.send("DELETE", f"{ITEMS}/{kind}/hostile", expected=(204, 404))
    match rng.randrange(8):
        case 0:
            side = rng.choice(["Pre", "Post"])
            _store(fuzz_target, "triggers", script(rng), triggerType=side, triggerOperation="All")
            header = (b"x-ms-documentdb-%b-trigger-include" % side.lower().encode(), b"hostile")
            body = json.dumps({"id": "made", "pk": "p"}).encode()
            return HttpRequest("POST", f"{ITEMS}/docs".encode(), (ENTRA, KEY, header, _UPSERT), body)
        case 1:
            _store(fuzz_target, "udfs", function(rng))
            body = json.dumps({"query": "SELECT VALUE udf.hostile(c) FROM c WHERE c.n >= 0"}).encode()
            return HttpRequest("POST", f"{ITEMS}/docs".encode(), (ENTRA, KEY, _QUERY), body)
    _store(fuzz_target, "sprocs", script(rng))
    headers = (ENTRA, KEY, (b"x-ms-documentdb-script-enable-logging", b"true"))
    return HttpRequest("POST", f"{ITEMS}/sprocs/hostile".encode(), headers, b'[1, {"a": ["b"]}]')


_UPSERT: Final = (b"x-ms-documentdb-is-upsert", b"true")
_QUERY: Final = (b"x-ms-documentdb-isquery", b"true")


def _store(fuzz_target: FuzzTarget, kind: str, body: str, **more: str) -> None:
    content = {"id": "hostile", "body": body.encode("utf-8", "replace").decode(), **more}
    fuzz_target.send("POST", f"{ITEMS}/{kind}", content)


def _text(fuzz_target: FuzzTarget) -> str:
    for kind in ("sprocs", "triggers", "udfs"):
        found = fuzz_target.send("GET", f"{ITEMS}/{kind}/hostile", expected=(200, 404))
        if "body" in found:
            return str(found["body"])
    return "none"


def _judge(rounds: FuzzRounds, fuzz_target: FuzzTarget, answer: HttpResponse, took_s: float) -> None:
    if answer.status >= 500:
        rounds.found(f"status {answer.status}", answer, _text(fuzz_target))
    if took_s > SCRIPT_TIME_S + MARGIN_S:
        rounds.found(f"{took_s:.1f} s", answer, _text(fuzz_target))
    shown = answer.body + json.dumps(answer.headers).encode()
    if fuzz_target.leaks(shown) or fuzz_target.neighbor.encode() in shown:
        rounds.found("a canary", answer, _text(fuzz_target))
    if b"root:x:0" in shown or b"[native code] process" in shown:
        rounds.found("a file", answer, _text(fuzz_target))
    if b'"undefined"' not in answer.body and answer.body in (b'"object"', b'"function"'):
        rounds.found("something of the host", answer, _text(fuzz_target))
