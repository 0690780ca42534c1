"""Requests with errors in path, method, headers, body or framing."""

from __future__ import annotations

import base64
import json
import random
import string
from dataclasses import replace
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from cosmos_emulator.http.routes import ROUTES
from cosmos_emulator.messages import headers as h
from tests.fuzz import hostile_json
from tests.fuzz.fuzz_target import ENTRA, KEY, FuzzTarget
from tests.fuzz.hostile_sql import query
from tests.fuzz.http_bytes import Header, HttpRequest

TEMPLATES: Final = sorted({template for _, template in ROUTES})
VERBS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "QUERY", "get", "X"]
# Every header that the emulator reads or writes.
NAMES: Final = sorted(value for name, value in vars(h).items() if name.isupper() and isinstance(value, str))
_SEGMENTS: Final = [
    *(b"..", b".", b"%2e%2e", b"%2F", b"%5C", b"%00", b"%ff", b"%u0041", b"%", b"%zz", b"%E2%82%AC", b"\xc3\xbc"),
    *(b"", b"x" * 5000, b";", b"a;b=c", b"%20", b"*", b"-", b"{id}", b"gAABAA==", b"AAAAAA==", b"gAABAIAAAAE="),
    *(
        b"%3F",
        b"%23",
        b"~",
        b"..%2F..%2Fetc%2Fpasswd",
        b"%252e",
        b"con",
        b"'",
        b"%0d%0aX-A:%20b",
        b"users",
        b"operations",
    ),
]
_FLAGS: Final = ["true", "True", "TRUE", "false", "yes", "1", ""]
_ANY_VALUE: Final = [
    *("", " ", "0", "-1", "1", "true", "x", "null", "[]", "{}", '"', "9" * 400, "1e400", "NaN", "\xff", "\t", "²", "*"),
    *(",", ";", "a,b", "%00", "%ff", "../..", "' OR 1=1", "x" * 7000, "Thu, 01 Jan 1970 00:00:00 GMT", "[[[[", '["p"]'),
    *(
        "Thu, 32 Foo 99999 99:99:99 GMT",
        "Fri, 31 Dec 9999 23:59:59 -2400",
        "[1e400]",
        '["\\ud800"]',
        '[{"a": 1}]',
        "[[]]",
    ),
    *("Mon, 01 Jan 0001 00:00:00 +2359", "1/1/1 00:00:00 +99999999999999", "[null]", "[true, false]", '["p", "p"]'),
]
_VALUES: Final[dict[str, list[str]]] = {
    h.MAX_ITEM_COUNT: ["1", "2", "-1", "1000", "2147483647", "2147483648", "١"],
    h.PARTITION_KEY_RANGE_ID: ["0", "1", "2", "x,0", ",", "٠"],
    h.START_EPK: ["", "00", "1F", "FF", "zz", "ÿ"],
    h.END_EPK: ["", "FF", "1F", "00", "zz"],
    h.A_IM: ["Incremental feed", "Full-Fidelity Feed"],
    h.IF_NONE_MATCH: ["*", '"0"', '"1"', '"99999999999999999999"', "-1", "١"],
    h.IF_MATCH: ["*", '"00000000-0000-0000-0000-000000000000"'],
    h.PRE_TRIGGER: ["stamp", "after", "stamp,after"],
    h.POST_TRIGGER: ["after", "stamp"],
    h.PREFER: ["return=minimal", "return=representation"],
    h.CONSISTENCY_LEVEL: ["Eventual", "Strong", "Session"],
    h.SUPPORTED_QUERY_FEATURES: ["Aggregate, Distinct, GroupBy", "OrderBy", ",", "x" * 3000],
    h.OFFER_THROUGHPUT: ["400", "401", "1e3", "-100", "4" * 30],
    h.AUTOPILOT_SETTINGS: ['{"maxThroughput": 4000}', '{"maxThroughput": "x"}', '{"maxThroughput": 1e300}'],
    h.CONTENT_TYPE: [
        "application/json",
        "application/query+json",
        "text/plain; charset=x",
        "application/json_patch+json",
    ],
    h.INDEXING_DIRECTIVE: ["Include", "Exclude"],
    h.SESSION_TOKEN: ["0:-1#5", "0:1#2#3=4", "0:-1#" + "9" * 30, "x"],
}
_TOKEN: Final[dict[str, Any]] = {
    "range": "0",
    "epk": "",
    "number": 1,
    "given": 1,
    "start": True,
    "cut": {"number": 1, "rows": 1},
    "after": {"keys": [], "rid": ""},
}
_ITEM: Final = {"id": "i9", "pk": "p", "n": 1, "ttl": 60, "text": "a", "list": [1, {"a": None}]}
_CONTAINER: Final = {
    "id": "more",
    "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
    "defaultTtl": 100,
    "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/a", "/b/c"]}]},
    "indexingPolicy": {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/*"}, {"path": "/a/[]/b/?", "indexes": [{"kind": "Range", "precision": -1}]}],
        "excludedPaths": [{"path": '/"_etag"/?'}],
        "compositeIndexes": [[{"path": "/a", "order": "ascending"}, {"path": "/b", "order": "descending"}]],
        "spatialIndexes": [{"path": "/l/*", "types": ["Point"]}],
    },
    "conflictResolutionPolicy": {"mode": "LastWriterWins", "conflictResolutionPath": "/_ts"},
    "computedProperties": [],
}
_PATCH: Final = {
    "condition": "from c where c.n = 1",
    "operations": [
        {"op": "add", "path": "/a/0", "value": 1},
        {"op": "incr", "path": "/n", "value": 1},
        {"op": "move", "from": "/n", "path": "/m"},
        {"op": "remove", "path": "/tags/0"},
        {"op": "set", "path": "/tags/-", "value": {}},
    ],
}
_BATCH: Final = [
    {"operationType": "Create", "resourceBody": {"id": "b", "pk": "p"}},
    {"operationType": "Read", "id": "i1", "ifNoneMatch": "x"},
    {"operationType": "Patch", "id": "i1", "resourceBody": _PATCH},
    {"operationType": "Delete", "id": "i2", "ifMatch": "x"},
    {"operationType": "Upsert", "resourceBody": {"id": "i3", "pk": "p"}, "partitionKey": '["p"]'},
]
_TRIGGER: Final = {"id": "s", "triggerType": "Pre", "triggerOperation": "All", "body": "function () {}"}
_OFFER: Final = {"content": {"offerThroughput": 500, "offerAutopilotSettings": {"maxThroughput": 4000}}, "id": "x"}
_QUERY: Final = {"query": "SELECT * FROM c WHERE c.n = @n", "parameters": [{"name": "@n", "value": 1}]}
BODIES: Final[list[Any]] = [{"id": "d"}, _ITEM, _CONTAINER, _PATCH, _BATCH, _TRIGGER, _OFFER, _QUERY, [1, "a"], None]


def request(rng: random.Random, fuzz_target: FuzzTarget) -> HttpRequest:
    """Return a request with few errors, to get past the first checks."""
    verb, template = rng.choice(sorted(ROUTES)) if rng.random() < 0.8 else (rng.choice(VERBS), rng.choice(TEMPLATES))
    headers = [ENTRA]
    if verb in _POSTED:
        headers.append((_POSTED[verb].encode(), b"True"))
    elif verb == "CHANGES":
        headers.append((h.A_IM.encode(), b"Incremental feed"))
    verb = {"CHANGES": "GET"}.get(verb, "POST" if verb in _POSTED else verb)
    if rng.random() < 0.6:
        headers.append(KEY)
    if rng.random() < 0.5:
        headers.append((h.CROSS_PARTITION.encode(), b"True"))
    headers += [hostile_header(rng) for _ in range(rng.choice([0, 0, 1, 1, 2, 5]))]
    body = b"" if verb in ("GET", "HEAD") and rng.random() < 0.9 else _body(rng)
    target = path(rng, fuzz_target, template)
    return reframed(rng, HttpRequest(verb, target, tuple(headers), body))


_POSTED: Final = {"QUERY": h.IS_QUERY, "UPSERT": h.IS_UPSERT, "BATCH": h.IS_BATCH, "PLAN": h.IS_QUERY_PLAN}


def path(rng: random.Random, fuzz_target: FuzzTarget, template: str) -> bytes:
    """Fill a path template with names or RIDs, sometimes with an invalid segment."""
    by_rid = rng.random() < 0.2
    database = rng.choice(["target", "target", "scrap"])
    ids = iter(
        [fuzz_target.rids["database"], fuzz_target.rids["container"], rng.choice(sorted(fuzz_target.rids.values()))]
        if by_rid
        else [
            database,
            "items",
            rng.choice(["i0", "i1", "i2", "i9", "echo", "read", "same", "stamp", "after", "none"]),
        ]
    )
    segments = [next(ids).encode() if one == "*" else one.encode() for one in template.strip("/").split("/")]
    while rng.random() < 0.15:
        at = rng.randrange(len(segments) + 1)
        segments[at : at + rng.randrange(2)] = [rng.choice(_SEGMENTS)]
    found = b"/" + b"/".join(segments)
    if rng.random() < 0.05:
        found += rng.choice([b"/", b"//", b"?a=b", b"?%ff", b"#x", b"?" + b"q" * 3000])
    if rng.random() < 0.02:
        found = rng.choice([b"http://other" + found, b"//other" + found, b"*", found[1:], found.replace(b"/", b"%2F")])
    return found


def hostile_header(rng: random.Random) -> Header:
    """Return one of the emulator's headers, with a valid or invalid value."""
    name = rng.choice(NAMES) if rng.random() < 0.95 else "x-" + "".join(rng.choices(string.ascii_lowercase, k=5))
    if name == h.CONTINUATION and rng.random() < 0.8:
        return name.encode(), token(rng)
    fitting = _VALUES.get(name, _FLAGS)
    value = rng.choice(fitting) if rng.random() < 0.6 else rng.choice(_ANY_VALUE)
    if rng.random() < 0.1:
        value = hostile_json.changed_text(rng, value)
    if name == h.AUTHORIZATION:
        name = h.ACTIVITY_ID
    return name.encode(), value.encode("utf-8" if rng.random() < 0.5 else "latin-1", "replace")


def token(rng: random.Random) -> bytes:
    """Return a continuation token that can look like the emulator's."""
    names = rng.sample(sorted(_TOKEN), rng.randrange(1, 4))
    content = {name: _TOKEN[name] for name in names}
    text = hostile_json.encoded(rng, hostile_json.changed(rng, content, rng.randrange(3)))
    encoded = base64.urlsafe_b64encode(text[:2000])
    return encoded if rng.random() < 0.8 else encoded[:-1] + rng.choice([b"", b"=", b"!", b"\xff"])


def _body(rng: random.Random) -> bytes:
    if rng.random() < 0.3:
        return json.dumps(
            {"query": query(rng), "parameters": [{"name": "@p", "value": rng.choice(hostile_json.VALUES)}]}
        ).encode()
    content = rng.choice(BODIES)
    if rng.random() < 0.7:
        content = hostile_json.changed(rng, content, rng.choice([1, 1, 2, 4]))
    return hostile_json.encoded(rng, content)


def reframed(rng: random.Random, given: HttpRequest) -> HttpRequest:
    """Sometimes send the body in chunks."""
    return replace(given, chunked=True) if rng.random() < 0.1 else given


def is_destructive(given: HttpRequest) -> bool:
    """Return whether the request could delete or replace a container that the checks need."""
    segments = [one for one in unquote_to_bytes(given.target.partition(b"?")[0]).split(b"/") if one]
    return (
        given.verb in ("DELETE", "PUT") and b"dbs" in segments and b"docs" not in segments and b"scrap" not in segments
    )


def is_scoped(given: HttpRequest) -> bool:
    """Return whether the request is limited to the partition `p`."""
    keys = given.header(h.PARTITION_KEY)
    bulk = given.header(h.BATCH_ATOMIC) and given.header(h.IS_BATCH)
    return keys == [KEY[1]] and not bulk
