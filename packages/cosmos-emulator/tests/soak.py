"""Load the emulator in several ways at once, and report how it holds up: `python -m tests.soak MINUTES` (Linux only).

Every minute, prints the longest delay of a ping, memory, descriptors and the size of the files. The ping runs in a
process of its own; "late" is how late that process woke up, which other processes of the machine cause.
"""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

from aiohttp import ClientSession
from tests.processes import cpu_ticks, emulator_process

INTERVAL_S = 60.0
PING_S = 0.01
TTL = {"defaultTtl": 5, "changeFeedPolicy": {"retentionDuration": 1}}
BY_M = {"includedPaths": [{"path": "/m/?"}], "excludedPaths": [{"path": "/*"}]}
PAGED = 120_000
LARGE = "x" * 20_000
IDLE_CONTAINERS = 100
RANDOM = random.Random(42)
WORDS = ["".join(RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(5_000)]
ARTICLES = 2_000
INDEX = {
    "globalSecondaryIndexDefinition": {"sourceCollectionId": "articles", "definition": "SELECT * FROM c"},
    "fullTextPolicy": {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/text", "language": "en-US"}]},
    "vectorEmbeddingPolicy": {
        "vectorEmbeddings": [
            {"path": "/vector", "dataType": "float32", "dimensions": 256, "distanceFunction": "cosine"}
        ]
    },
    "indexingPolicy": {
        "includedPaths": [{"path": "/kind/?"}],
        "excludedPaths": [{"path": "/*"}],
        "fullTextIndexes": [{"path": "/text"}],
        "vectorIndexes": [{"path": "/vector", "type": "flat"}],
    },
    "partitionKey": {"paths": ["/kind"], "kind": "Hash", "version": 2},
}
AUTOSCALE = {"x_ms_cosmos_offer_autopilot_settings": json.dumps({"maxThroughput": 100_000})}

Longest = Synchronized  # of a float, in seconds


def ping(endpoint: str, longest: Longest[float], lateness: Longest[float]) -> None:
    """Ping the emulator for ever; keep the longest delay, and how late the process was at most."""
    connection = http.client.HTTPConnection(endpoint.removeprefix("http://").rstrip("/"))
    while True:
        begun = time.perf_counter()
        time.sleep(PING_S)
        asked = time.perf_counter()
        connection.request("GET", "/_emulator/health")
        connection.getresponse().read()
        longest.value = max(longest.value, time.perf_counter() - asked)
        lateness.value = max(lateness.value, asked - begun - PING_S)


class Load:
    """Sends requests and counts what was done."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session
        self.done: Counter[str] = Counter()

    async def send(self, method: str, path: str, body: Any, **headers: str) -> Any:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self._session.request(method, path, data=json.dumps(body), headers=sent) as response:
            text = await response.read()
            assert response.status < 300, (method, path, response.status, text[:500])
            return response.headers, json.loads(text)

    async def create(self, name: str, headers: Mapping[str, str] | None = None, **definition: Any) -> None:
        body = {"id": name, "partitionKey": {"paths": ["/pk"]}, "indexingPolicy": BY_M, **definition}
        await self.send("POST", "/dbs/db/colls", body, **(headers or {}))

    async def write(self, name: str, key: str, items: list[dict[str, Any]]) -> None:
        batch = [{"operationType": "Upsert", "resourceBody": {"pk": key, **item}} for item in items]
        headers = {"x_ms_cosmos_is_batch_request": "True", "x_ms_cosmos_batch_atomic": "True"}
        await self.send(
            "POST", f"/dbs/db/colls/{name}/docs", batch, x_ms_documentdb_partitionkey=json.dumps([key]), **headers
        )
        self.done["items written"] += len(items)

    async def query(self, name: str, text: str) -> None:
        headers = {"x_ms_documentdb_isquery": "True", "x_ms_documentdb_partitionkeyrangeid": "0"}
        found: dict[str, str] | None = {}
        while found is not None:
            answer, _ = await self.send("POST", f"/dbs/db/colls/{name}/docs", {"query": text}, **headers, **found)
            token = answer.get("x-ms-continuation")
            found = {"x_ms_continuation": token} if token else None
            self.done["pages read"] += 1

    async def prepare(self) -> None:
        await self.send("POST", "/dbs", {"id": "db"})
        for name, definition in {"expiring": TTL, "paged": {}, "built": {}}.items():
            await self.create(name, **definition)
        for number in range(IDLE_CONTAINERS):
            await self.create(f"idle{number}")
        for first in range(0, PAGED, 100):
            await self.write(
                "paged", str(first % 900), [{"id": str(n), "m": n, "t": n} for n in range(first, first + 100)]
            )
        for number in range(1000):
            await self.write("built", "p", [{"id": str(number), "m": number, "other": number, "t": LARGE}])

        await self.create("articles")
        for number in range(ARTICLES):
            await self.write("articles", str(number % 100), [article(number)])
        await self.create("index", AUTOSCALE, **INDEX)

    async def expire(self, number: int) -> None:
        """Write 300 items per second, which expire."""
        await self.write("expiring", str(number % 10), [{"id": f"{number}-{n}", "m": n} for n in range(30)])
        await asyncio.sleep(0.1)

    async def page(self, number: int) -> None:
        await self.query("paged", f"SELECT VALUE c.id FROM c WHERE c.m >= {PAGED // 2 + number % 10}")  # noqa: S608 - numbers of this test
        await self.write("paged", "0", [{"id": "0", "m": number, "t": 0}])

    async def build(self, number: int) -> None:
        """Index one path after the other, of large items."""
        path = "other" if number % 2 else "t"
        policy = {"includedPaths": [{"path": f"/{path}/?"}], "excludedPaths": [{"path": "/*"}]}
        body = {"id": "built", "partitionKey": {"paths": ["/pk"]}, "indexingPolicy": policy}
        await self.send("PUT", "/dbs/db/colls/built", body)
        await asyncio.sleep(5)

    async def scan(self, number: int) -> None:
        texts = (
            "SELECT VALUE COUNT(1) FROM c WHERE CONTAINS(c.id, 'x')",
            "SELECT DISTINCT VALUE c.t % 5000 FROM c",
            "SELECT c.pk, COUNT(1) AS n FROM c GROUP BY c.pk",
            "SELECT VALUE c.id FROM c WHERE c.t % 1000 = 7",
        )
        await self.query("paged", texts[number % len(texts)])
        self.done["scans"] += 1

    async def touch(self, number: int) -> None:
        """Use many containers in turn, of which few stay open."""
        await self.write(f"idle{number % IDLE_CONTAINERS}", "p", [{"id": str(number % 1000)}])
        await asyncio.sleep(0.05)

    async def search(self, number: int) -> None:
        """Change an item, which the index follows, and search in the index."""
        await self.write("articles", str(number % 100), [article(number % ARTICLES)])
        word, vector = RANDOM.choice(WORDS), [RANDOM.gauss(0, 1) for _ in range(256)]
        nearest = f"VectorDistance(c.vector, {vector})"
        texts = (
            f"SELECT TOP 10 c._id FROM c WHERE FullTextContains(c.text, '{word}')",  # noqa: S608 - words of this test
            f"SELECT TOP 10 c._id FROM c ORDER BY RANK FullTextScore(c.text, '{word}')",  # noqa: S608
            f"SELECT TOP 10 c._id FROM c ORDER BY {nearest}",  # noqa: S608
            f"SELECT TOP 10 c._id FROM c ORDER BY RANK RRF(FullTextScore(c.text, '{word}'), {nearest})",  # noqa: S608
        )
        headers = {"x_ms_documentdb_isquery": "True", "x_ms_documentdb_partitionkey": '["article"]'}
        _, found = await self.send("POST", "/dbs/db/colls/index/docs", {"query": texts[number % len(texts)]}, **headers)
        self.done["search results"] += len(found["Documents"])
        self.done["searches"] += 1
        await asyncio.sleep(0.05)


def article(number: int) -> dict[str, Any]:
    """A text of about 5 KB, and a vector."""
    text = " ".join(RANDOM.choices(WORDS, k=700))
    return {"id": str(number), "kind": "article", "text": text, "vector": [RANDOM.gauss(0, 1) for _ in range(256)]}


async def repeat(action: Callable[[int], Awaitable[None]]) -> None:
    for number in itertools.count():
        await action(number)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def used(pid: int, data: Path) -> str:
    """Return the memory and descriptors of a process, and the size of the files."""
    process = Path(f"/proc/{pid}")
    memory_mb = int((process / "status").read_text().partition("VmRSS:")[2].split()[0]) / 1024
    files_mb = sum(one.stat().st_size for one in data.glob("**/*.sqlite*")) / 2**20
    return f"{memory_mb:10.0f} {len(list((process / 'fd').iterdir())):12} {files_mb:9.0f}"


async def report(load: Load, pid: int, data: Path, minutes: float, endpoint: str) -> None:
    """Print a line for each interval, with its delays."""
    longest, lateness = multiprocessing.Value("d", 0.0), multiprocessing.Value("d", 0.0)
    pinger = multiprocessing.Process(target=ping, args=(endpoint, longest, lateness), daemon=True)
    pinger.start()
    worst = 0.0
    say("minute  ping ms  late ms  memory MB  descriptors  files MB  CPU %  load  done")
    for minute in range(1, int(minutes * 60 / INTERVAL_S) + 1):
        ticks = cpu_ticks(pid)
        await asyncio.sleep(INTERVAL_S)
        assert pinger.is_alive()
        say(
            f"{minute:6} {longest.value * 1000:8.1f} {lateness.value * 1000:8.1f} {used(pid, data)} "
            f"{(cpu_ticks(pid) - ticks) / INTERVAL_S:6.0f} {os.getloadavg()[0]:5.1f}  {dict(load.done)}"
        )
        worst = max(worst, longest.value)
        longest.value = lateness.value = 0.0
        load.done.clear()
    pinger.kill()
    say(f"longest delay of a ping: {worst * 1000:.1f} ms")


async def main(minutes: float) -> None:
    """Prepare the data, then run all loads at once."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:  # not a disk, which others can delay
        given = ("--data-dir", directory, "--no-signature-check")
        async with emulator_process(*given) as (process, endpoint), ClientSession(endpoint) as session:
            load = Load(session)
            await load.prepare()
            load.done.clear()
            actions = (load.expire, load.page, load.build, load.scan, load.touch, load.search)
            loads = asyncio.gather(*(repeat(action) for action in actions))
            reporting = asyncio.ensure_future(report(load, process.pid, Path(directory), minutes, endpoint))
            await asyncio.wait([loads, reporting], return_when=asyncio.FIRST_COMPLETED)
            await (reporting if reporting.done() else loads)
            loads.cancel()
            with suppress(asyncio.CancelledError):
                await loads


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
