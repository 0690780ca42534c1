"""The emulator under attack, with data to attack and canaries that must stay unreachable."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from tests.fuzz.emulator_process import ServerProcess, server_process
from tests.fuzz.http_bytes import Header, HttpRequest, HttpResponse, answers, exchange

SCRIPT_TIME_S: Final = 0.3
MOST_MB: Final = 500
# The emulator accepts this Microsoft Entra ID token unchecked, so attacks get past authentication.
ENTRA: Final[Header] = (b"authorization", b"type=aad&ver=1.0&sig=x")
KEY: Final[Header] = (b"x-ms-documentdb-partitionkey", b'["p"]')
# Attackers use the databases `target` and `scrap`, and never name the canary's.
ITEMS: Final = "/dbs/target/colls/items"
SETTINGS: Final = {
    "script_time_limit_s": SCRIPT_TIME_S,
    "script_edition": "latest",
    "partitions": 2,
    "lenient_order_by": True,
}
_READY: Final = re.compile(r"ready at http://127\.0\.0\.1:(\d+)/")
_LOOK_EACH_S: Final = 0.05


@dataclass
class FuzzTarget:
    """`marker` is in canaries of another database, `neighbor` in canaries of another logical partition.

    `secret` is in the process environment. `rids` are `_rid`s of the attackers' resources, `canary_rids` are of the
    canary's.
    """

    server: ServerProcess
    marker: str
    neighbor: str
    secret: str
    rids: dict[str, str]
    canary_rids: tuple[str, str]

    def send(
        self, verb: str, path: str, body: Any = None, *headers: Header, expected: tuple[int, ...] = (200, 201, 204)
    ) -> Any:
        """Send a legitimate request and return its JSON. Fails for unexpected statuses."""
        content = b"" if body is None else json.dumps(body).encode()
        request = HttpRequest(verb, path.encode(), (ENTRA, *headers), content)
        answer = self.answer(request)
        assert answer.status in expected, (verb, path, answer)
        return json.loads(answer.body) if answer.body else None

    def answer(self, request: HttpRequest) -> HttpResponse:
        """Return the only response to a request."""
        [answer] = answers(exchange(self.server.port, request.encoded()), to_head=request.verb == "HEAD")
        return answer

    def stock(self, database: str) -> None:
        """Create the database, container, items and scripts if missing."""
        made = (201, 409)
        self.send("POST", "/dbs", {"id": database}, expected=made)
        definition = {"id": "items", "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}
        self.send("POST", f"/dbs/{database}/colls", definition, expected=made)
        container = f"/dbs/{database}/colls/items"
        for index in range(5):
            item = {"id": f"i{index}", "pk": "p", "n": index, "tags": ["a", {"b": index}], "o": {"x": None}}
            self.send("POST", f"{container}/docs", item, KEY, expected=made)
        for kind, scripts in _SCRIPTS.items():
            for script in scripts:
                self.send("POST", f"{container}/{kind}", script, expected=made)

    def tidy(self) -> None:
        """Delete what attacks created, to limit growth."""
        for database in self.send("GET", "/dbs")["Databases"]:
            if database["id"] not in ("target", "canary"):
                self.send("DELETE", f"/dbs/{database['_rid']}", expected=(204, 404))
        for container in self.send("GET", "/dbs/target/colls")["DocumentCollections"]:
            if container["id"] != "items":
                self.send("DELETE", f"/dbs/target/colls/{container['_rid']}", expected=(204, 404))
        for kind in _SCRIPTS:
            for script in next(value for value in self.send("GET", f"{ITEMS}/{kind}").values() if type(value) is list):
                self.send("DELETE", f"{ITEMS}/{kind}/{script['_rid']}", expected=(204, 404))
        self.send("POST", f"{ITEMS}/operations/partitionkeydelete", None, KEY, expected=(200,))
        self.stock("target")
        self.stock("scrap")

    def leaks(self, received: bytes) -> bool:
        """Return whether a response contains data that the request must not reach."""
        return self.marker.encode() in received or self.secret.encode() in received

    def damage(self) -> str:
        """Describe damage to the process, the canaries or the log, if any."""
        if not self.server.is_alive:
            return f"the process exited with {self.server.process.returncode}: {self.server.log.read_text()[-6000:]}"
        if self.server.peak_mb > MOST_MB:
            return f"the process used {self.server.peak_mb:.0f} MB"
        for path, key, marker in (
            ("/dbs/canary/colls/", "c", self.marker),
            ("/dbs/target/colls/", "other", self.neighbor),
        ):
            name = self.marker if key == "c" else "items"
            header = (b"x-ms-documentdb-partitionkey", json.dumps([key]).encode())
            item = self.send("GET", f"{path}{name}/docs/{marker}", None, header)
            if {name: item[name] for name in ("id", "pk", "text")} != {"id": marker, "pk": key, "text": marker}:
                return f"the canary was changed: {item}"
        return self.server.complaints()

    @contextmanager
    def watched(self) -> Iterator[list[float]]:
        """Yield the latencies of a well-behaved client during the block. Fails if its requests fail."""
        times: list[float] = []
        failures: list[BaseException] = []
        over = threading.Event()

        def watch() -> None:
            try:
                while not over.wait(_LOOK_EACH_S):
                    begun = time.monotonic()
                    self.send("GET", "/dbs/canary")
                    times.append(time.monotonic() - begun)
            except (AssertionError, OSError, ValueError) as error:
                failures.append(error)

        thread = threading.Thread(target=watch, name="canary")
        thread.start()
        try:
            yield times
        finally:
            over.set()
            thread.join()
        assert not failures, failures


_SCRIPTS: Final = {
    "sprocs": [
        {"id": "echo", "body": "function (a) { getContext().getResponse().setBody(a); }"},
        {
            "id": "read",
            "body": "function (q) { __.queryDocuments(__.getSelfLink(), q, (e, r) => __.response.setBody(r)); }",
        },
    ],
    "udfs": [{"id": "same", "body": "function (a) { return a; }"}],
    "triggers": [
        {
            "id": "stamp",
            "triggerType": "Pre",
            "triggerOperation": "All",
            "body": "function () { const r = __.request, b = r.getBody(); b.t = 1; r.setBody(b); }",
        },
        {"id": "after", "triggerType": "Post", "triggerOperation": "All", "body": "function () {}"},
    ],
}


@contextmanager
def running_fuzz_target() -> Iterator[FuzzTarget]:
    """Start an emulator that checks signatures, with data to attack and canaries."""
    marker, neighbor, secret = (f"{kind}{uuid4().hex}" for kind in ("canary", "neighbor", "secret"))
    environment = {**os.environ, "FUZZ_SECRET": secret}
    arguments = ["-m", "tests.fuzz.serve", json.dumps(SETTINGS)]
    with server_process(arguments, environment, _READY) as server:
        fuzz_target = FuzzTarget(server, marker, neighbor, secret, {}, ("", ""))
        fuzz_target.send("POST", "/dbs", {"id": "canary"})
        fuzz_target.send(
            "POST", "/dbs/canary/colls", {"id": marker, "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}
        )
        key = (b"x-ms-documentdb-partitionkey", b'["c"]')
        hidden = f"/dbs/canary/colls/{marker}"
        fuzz_target.send("POST", f"{hidden}/docs", {"id": marker, "pk": "c", "text": marker}, key)
        fuzz_target.send("POST", f"{hidden}/sprocs", {"id": marker, "body": f"function () {{ return '{marker}'; }}"})
        fuzz_target.canary_rids = (
            fuzz_target.send("GET", hidden)["_rid"],
            fuzz_target.send("GET", f"{hidden}/docs/{marker}", None, key)["_rid"],
        )
        fuzz_target.stock("target")
        fuzz_target.stock("scrap")
        other = (b"x-ms-documentdb-partitionkey", b'["other"]')
        fuzz_target.send("POST", f"{ITEMS}/docs", {"id": neighbor, "pk": "other", "text": neighbor}, other)
        fuzz_target.rids = {
            "database": fuzz_target.send("GET", "/dbs/target")["_rid"],
            "container": fuzz_target.send("GET", ITEMS)["_rid"],
            "item": fuzz_target.send("GET", f"{ITEMS}/docs/i0", None, KEY)["_rid"],
            "procedure": fuzz_target.send("GET", f"{ITEMS}/sprocs/echo")["_rid"],
        }
        yield fuzz_target
