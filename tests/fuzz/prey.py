"""An emulator to attack: a database that attackers may use, and canaries in places that they may not reach."""

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

from tests.fuzz.http_bytes import Header, HttpAnswer, HttpRequest, answers, exchange
from tests.fuzz.processes import ServerProcess, server_process

SCRIPT_TIME_S: Final = 0.3
MOST_MB: Final = 500
# A token of Entra ID, which the emulator takes as it is: attacks are to get past the door.
ENTRA: Final[Header] = (b"authorization", b"type=aad&ver=1.0&sig=x")
KEY: Final[Header] = (b"x-ms-documentdb-partitionkey", b'["p"]')
# Attackers know `target` and `scrap`, whose containers are called `items`; they never name the canary's.
ITEMS: Final = "/dbs/target/colls/items"
SETTINGS: Final = {"script_time_limit_s": SCRIPT_TIME_S, "partitions": 2}
_READY: Final = re.compile(r"ready at http://127\.0\.0\.1:(\d+)/")
_LOOK_EACH_S: Final = 0.05


@dataclass
class Prey:
    """`marker` is in every canary in another database, `neighbour` in those of another logical partition.

    `secret` is in the environment of the process only. `rids` are the `_rid`s of the attackers' resources,
    `canary_rids` those of the canary's container and item.
    """

    server: ServerProcess
    marker: str
    neighbour: str
    secret: str
    rids: dict[str, str]
    canary_rids: tuple[str, str]

    def send(
        self, verb: str, path: str, body: Any = None, *headers: Header, expected: tuple[int, ...] = (200, 201, 204)
    ) -> Any:
        """The JSON of an answer of one of the `expected` statuses; for what is no attack."""
        content = b"" if body is None else json.dumps(body).encode()
        request = HttpRequest(verb, path.encode(), (ENTRA, *headers), content)
        answer = self.answer(request)
        assert answer.status in expected, (verb, path, answer)
        return json.loads(answer.body) if answer.body else None

    def answer(self, request: HttpRequest) -> HttpAnswer:
        """The one answer to one request."""
        [answer] = answers(exchange(self.server.port, request.encoded()), to_head=request.verb == "HEAD")
        return answer

    def stock(self, database: str) -> None:
        """A database with a container, items in the partition `p` and scripts, unless they are there."""
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
        """Removes what attacks have made, so that a long run stays as small as a short one."""
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
        """Whether an answer to a request that names no canary holds one."""
        return self.marker.encode() in received or self.secret.encode() in received

    def harm(self) -> str:
        """What the attacks have broken, empty when the process, the canaries and the log are as they should be."""
        if not self.server.is_alive:
            return f"the process ended with {self.server.process.returncode}: {self.server.log.read_text()[-6000:]}"
        if self.server.peak_mb > MOST_MB:
            return f"the process had {self.server.peak_mb:.0f} MB"
        for path, key, marker in (
            ("/dbs/canary/colls/", "c", self.marker),
            ("/dbs/target/colls/", "other", self.neighbour),
        ):
            name = self.marker if key == "c" else "items"
            header = (b"x-ms-documentdb-partitionkey", json.dumps([key]).encode())
            item = self.send("GET", f"{path}{name}/docs/{marker}", None, header)
            if {name: item[name] for name in ("id", "pk", "text")} != {"id": marker, "pk": key, "text": marker}:
                return f"the canary was changed: {item}"
        return self.server.complaints()

    @contextmanager
    def watched(self) -> Iterator[list[float]]:
        """The seconds that each of a client's reads took while the block ran; AssertionError when one failed."""
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
def preyed_emulator() -> Iterator[Prey]:
    """A fresh emulator, its signatures checked, with attackers' data and canaries."""
    marker, neighbour, secret = (f"{kind}{uuid4().hex}" for kind in ("canary", "neighbour", "secret"))
    environment = {**os.environ, "FUZZ_SECRET": secret}
    arguments = ["-m", "tests.fuzz.serve", json.dumps(SETTINGS)]
    with server_process(arguments, environment, _READY) as server:
        prey = Prey(server, marker, neighbour, secret, {}, ("", ""))
        prey.send("POST", "/dbs", {"id": "canary"})
        prey.send("POST", "/dbs/canary/colls", {"id": marker, "partitionKey": {"paths": ["/pk"], "kind": "Hash"}})
        key = (b"x-ms-documentdb-partitionkey", b'["c"]')
        hidden = f"/dbs/canary/colls/{marker}"
        prey.send("POST", f"{hidden}/docs", {"id": marker, "pk": "c", "text": marker}, key)
        prey.send("POST", f"{hidden}/sprocs", {"id": marker, "body": f"function () {{ return '{marker}'; }}"})
        prey.canary_rids = (
            prey.send("GET", hidden)["_rid"],
            prey.send("GET", f"{hidden}/docs/{marker}", None, key)["_rid"],
        )
        prey.stock("target")
        prey.stock("scrap")
        other = (b"x-ms-documentdb-partitionkey", b'["other"]')
        prey.send("POST", f"{ITEMS}/docs", {"id": neighbour, "pk": "other", "text": neighbour}, other)
        prey.rids = {
            "database": prey.send("GET", "/dbs/target")["_rid"],
            "container": prey.send("GET", ITEMS)["_rid"],
            "item": prey.send("GET", f"{ITEMS}/docs/i0", None, KEY)["_rid"],
            "procedure": prey.send("GET", f"{ITEMS}/sprocs/echo")["_rid"],
        }
        yield prey
