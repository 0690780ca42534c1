"""Any query text returns rows or 400, quickly and consistently."""

# ruff: noqa: S608 - the tests generate these texts
from __future__ import annotations

import copy
import json
import random
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import orjson
import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query import (
    Json,
    JsonOrUndefined,
    compile_query,
    filter_predicates,
    parse,
    pinned_values,
    query_plan,
)
from tests.fuzz import hostile_json
from tests.fuzz.fuzz_rounds import FuzzRounds
from tests.fuzz.fuzz_target import ENTRA, FuzzTarget
from tests.fuzz.hostile_items import ITEMS
from tests.fuzz.hostile_requests import token
from tests.fuzz.hostile_sql import condition, query
from tests.fuzz.http_bytes import Header, HttpRequest

resource = pytest.importorskip("resource", reason="limits time with SIGALRM, and measures memory with getrusage")

LONGEST_S: Final = 5.0
MOST_GROWN_KB: Final = 500 * 1024
REFUSALS: Final = (400, 408, 413)


def peak_kb() -> float:
    """Return the peak resident memory, which macOS reports in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak / 1024 if sys.platform == "darwin" else peak)


class Hang(BaseException):
    """A query took too long. Not an Exception, so that no handler swallows it."""


@contextmanager
def in_time(seconds: float = LONGEST_S) -> Iterator[None]:
    """Raise `Hang` if the block takes longer."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def same(name: str, arguments: list[JsonOrUndefined]) -> JsonOrUndefined:
    if name != "same":
        raise CosmosError(400, "Unknown function.")
    return arguments[0] if arguments else None


def attempt(rounds: FuzzRounds, text: str, parameters: Mapping[str, Json], work: Callable[[], Any]) -> Any:
    """Return the result of `work`, or None if it is rejected or fails."""
    try:
        with in_time():
            return work()
    except CosmosError as error:
        if error.status not in REFUSALS:
            rounds.found(f"status {error.status}: {error.message[:80]}", text, parameters)
    except (Hang, Exception) as error:  # noqa: BLE001 - everything is a finding
        rounds.found(f"{type(error).__name__}: {str(error)[:80]}", text, parameters)
    return None


def parameters_of(rng: random.Random) -> dict[str, Json]:
    """Parse parameters like a request: integers beyond 64 bits become floats."""
    parameters = {"@p": rng.choice(hostile_json.VALUES), "@q": hostile_json.nested(rng, rng.choice([0, 3, 100]))}
    read: dict[str, Json] = orjson.loads(json.dumps(parameters))
    return read


def is_fickle(text: str) -> bool:
    """Return whether a query can return different rows each time."""
    return any(word in text.upper() for word in ("RAND", "NOW", "CURRENT"))


def all_rows(text: str, parameters: Mapping[str, Json]) -> list[bytes]:
    """Return the serialized rows over all items."""
    compiled = compile_query(parse(text), parameters, same)
    return [orjson.dumps(row) for row in compiled.run(copy.deepcopy(ITEMS))]


def test_any_query_runs_or_is_rejected(rounds: FuzzRounds) -> None:
    before = peak_kb()
    for rng in rounds:
        text, parameters = query(rng), parameters_of(rng)
        rounds.inputs += 1
        rows = attempt(rounds, text, parameters, lambda: all_rows(text, parameters))  # noqa: B023 - called immediately
        if rows is not None:
            attempt(rounds, text, parameters, lambda: _explained(text, parameters))  # noqa: B023 - called immediately
    grown_kb = peak_kb() - before
    assert grown_kb < MOST_GROWN_KB, f"{grown_kb:.0f} KB"


def _explained(text: str, parameters: Mapping[str, Json]) -> None:
    """Run the query planner and the analyses of partition keys and indexes."""
    parsed = parse(text)
    pinned_values(parsed, parameters, ("pk",))
    served = filter_predicates(parsed, parameters)
    plan = query_plan(parsed, parameters, [("pk",)], None, lambda components: str(len(components)))
    rewritten = plan["queryInfo"]["rewrittenQuery"] if isinstance(plan["queryInfo"], dict) else ""
    if rewritten:
        assert isinstance(rewritten, str)
        parse(rewritten.replace("{documentdb-formattableorderbyquery-filter}", "true"))
    compiled = compile_query(parsed, parameters, same)
    if compiled.is_streaming:
        items = copy.deepcopy(ITEMS)
        apart = [orjson.dumps(row) for item in items for row in compiled.rows(item)]
        assert is_fickle(text) or apart == all_rows(text, parameters), "rows() and run() differ"
        for item in items:
            assert not compiled.matches(item) or all(one.test([item]) for one in served), "an index would lose a match"


def test_a_condition_its_negation_and_non_booleans_partition_the_items(rounds: FuzzRounds) -> None:
    for rng in rounds:
        where, parameters = condition(rng), parameters_of(rng)
        if is_fickle(where):
            continue
        rounds.inputs += 1
        parts = [
            attempt(rounds, text, parameters, lambda: all_rows(text, parameters))  # noqa: B023 - called immediately
            for text in (
                f"SELECT VALUE c.id FROM c WHERE ({where}) = true",
                f"SELECT VALUE c.id FROM c WHERE ({where}) = false",
                f"SELECT VALUE c.id FROM c WHERE NOT IS_BOOL({where})",
                f"SELECT VALUE c.id FROM c WHERE {where}",
            )
        ]
        if None in parts:
            continue
        if sorted(parts[0] + parts[1] + parts[2]) != sorted(orjson.dumps(item["id"]) for item in ITEMS):
            rounds.found(
                "the condition, its negation and non-booleans do not add up to all items", where, parameters, parts
            )
        if parts[3] != parts[0]:
            rounds.found("WHERE returns items for which the condition is not true", where, parameters, parts)


_POLICIES: Final[dict[str, Any]] = {
    "scanned": {"includedPaths": [], "excludedPaths": [{"path": "/*"}]},
    "indexed": {"includedPaths": [{"path": "/*"}], "excludedPaths": []},
    "composite": {
        "includedPaths": [{"path": "/n/?"}, {"path": "/tags/[]/?"}],
        "excludedPaths": [{"path": "/*"}],
        "compositeIndexes": [
            [{"path": f"/{first}", "order": order}, {"path": f"/{second}", "order": other}]
            for first, second in (("n", "s"), ("s", "n"), ("pk", "n"))
            for order, other in (("ascending", "ascending"), ("ascending", "descending"))
        ],
    },
}
_Q: Final = ((b"x-ms-documentdb-isquery", b"True"), (b"x-ms-documentdb-query-enablecrosspartition", b"True"))


def _stocked(fuzz_target: FuzzTarget) -> None:
    fuzz_target.send("DELETE", "/dbs/queried", expected=(204, 404))
    fuzz_target.send("POST", "/dbs", {"id": "queried"})
    for name, policy in _POLICIES.items():
        definition = {"id": name, "partitionKey": {"paths": ["/pk"], "kind": "Hash"}, "indexingPolicy": policy}
        fuzz_target.send("POST", "/dbs/queried/colls", definition)
        for index, item in enumerate(ITEMS * 3):
            key = (b"x-ms-documentdb-partitionkey", json.dumps([item["pk"]]).encode())
            made = (
                {**item, "id": f"{index:02}", "n": item["n"] if index < 8 else index % 5}
                if "n" in item
                else {**item, "id": f"{index:02}"}
            )
            fuzz_target.send("POST", f"/dbs/queried/colls/{name}/docs", made, key)
        fuzz_target.send(
            "POST", f"/dbs/queried/colls/{name}/udfs", {"id": "same", "body": "function (a) { return a; }"}
        )


def _pages(fuzz_target: FuzzTarget, name: str, body: bytes, *headers: Header) -> list[Any] | int:
    """Return all rows, page by page, or the error status."""
    rows: list[Any] = []
    continuation: tuple[Header, ...] = ()
    while True:
        request = HttpRequest(
            "POST", f"/dbs/queried/colls/{name}/docs".encode(), (ENTRA, *_Q, *headers, *continuation), body
        )
        answer = fuzz_target.answer(request)
        if answer.status != 200:
            return answer.status
        rows += json.loads(answer.body)["Documents"]
        if "x-ms-continuation" not in answer.headers:
            return rows
        continuation = ((b"x-ms-continuation", answer.headers["x-ms-continuation"].encode()),)


def test_indexes_and_page_sizes_do_not_change_an_answer(rounds: FuzzRounds, fuzz_target: FuzzTarget) -> None:
    _stocked(fuzz_target)
    for rng in rounds:
        text, (name, value) = query(rng), ("@p", rng.choice([1, "a", None, [1], 2.5]))
        if is_fickle(text) or "@q" in text:
            continue  # another value each time
        rounds.inputs += 1
        body = json.dumps({"query": text, "parameters": [{"name": name, "value": value}]}).encode()
        key = rng.choice([(b"x-ms-documentdb-partitionkey", b'["p"]'), (b"x-ms-documentdb-partitionkeyrangeid", b"0")])
        size = (b"x-ms-max-item-count", rng.choice([b"1", b"2", b"5"]))
        answers = {container: _pages(fuzz_target, container, body, key) for container in _POLICIES}
        paged = rng.choice(sorted(_POLICIES))
        answers["paged"] = _pages(fuzz_target, paged, body, key, size)
        compared = {container: _comparable(answer) for container, answer in answers.items()}
        if any(isinstance(answer, list) and answer != compared["scanned"] for answer in compared.values()):
            rounds.found(f"answers differ: {' '.join(text.split()[:3])}", body, key, size, paged, compared)
    if damage := fuzz_target.damage():
        rounds.found("damage", damage)
    fuzz_target.send("DELETE", "/dbs/queried")


def _comparable(answer: list[Any] | int) -> Any:
    """Return sorted rows without server-generated properties, because ORDER BY does not order ties."""
    return sorted(json.dumps(_bare(row), sort_keys=True) for row in answer) if isinstance(answer, list) else answer


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _bare(member) for name, member in value.items() if not name.startswith("_")}
    if isinstance(value, list):
        return [_bare(member) for member in value]
    return "an item" if isinstance(value, str) and "_rid" in value else value


def test_no_continuation_token_makes_a_query_fail(rounds: FuzzRounds, fuzz_target: FuzzTarget) -> None:
    fuzz_target.tidy()
    for rng in rounds:
        body = json.dumps(
            {"query": query(rng), "parameters": [{"name": "@p", "value": 1}, {"name": "@q", "value": []}]}
        ).encode()
        rounds.inputs += 1
        headers = ((b"x-ms-continuation", token(rng)), (b"x-ms-documentdb-partitionkey", b'["p"]'))
        answer = fuzz_target.answer(HttpRequest("POST", b"/dbs/target/colls/items/docs", (ENTRA, *_Q, *headers), body))
        if answer.status >= 500:
            rounds.found(f"status {answer.status}", headers, body, answer)
        if fuzz_target.leaks(answer.body) or fuzz_target.neighbor.encode() in answer.body:
            rounds.found("a canary through a continuation", headers, body, answer)
    if damage := fuzz_target.damage():
        rounds.found("damage", damage)
