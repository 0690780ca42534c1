"""Requests to the emulator that are wrong somewhere: path, method, headers, body, framing."""

from __future__ import annotations

import base64
import json
import random
import string
from dataclasses import replace
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from cosmos_emulator.http import headers as h
from cosmos_emulator.http.routes import ROUTES

from tests.fuzz import hostile_json
from tests.fuzz.hostile_sql import query
from tests.fuzz.http_bytes import Header, HttpRequest
from tests.fuzz.prey import ENTRA, KEY, Prey

TEMPLATES: Final = sorted({template for _, template in ROUTES})
VERBS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "QUERY", "get", "X"]
# Every header that the emulator knows, whether it reads it or writes it.
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


def request(dice: random.Random, prey: Prey) -> HttpRequest:
    """A request that is mostly right, so that it gets far, and wrong in a few places."""
    verb, template = (
        dice.choice(sorted(ROUTES)) if dice.random() < 0.8 else (dice.choice(VERBS), dice.choice(TEMPLATES))
    )
    headers = [ENTRA]
    if verb in _POSTED:
        headers.append((_POSTED[verb].encode(), b"True"))
    elif verb == "CHANGES":
        headers.append((h.A_IM.encode(), b"Incremental feed"))
    verb = {"CHANGES": "GET"}.get(verb, "POST" if verb in _POSTED else verb)
    if dice.random() < 0.6:
        headers.append(KEY)
    if dice.random() < 0.5:
        headers.append((h.CROSS_PARTITION.encode(), b"True"))
    headers += [hostile_header(dice) for _ in range(dice.choice([0, 0, 1, 1, 2, 5]))]
    body = b"" if verb in ("GET", "HEAD") and dice.random() < 0.9 else _body(dice)
    target = path(dice, prey, template)
    return reframed(dice, HttpRequest(verb, target, tuple(headers), body))


_POSTED: Final = {"QUERY": h.IS_QUERY, "UPSERT": h.IS_UPSERT, "BATCH": h.IS_BATCH, "PLAN": h.IS_QUERY_PLAN}


def path(dice: random.Random, prey: Prey, template: str) -> bytes:
    """A path of the template, by names or by rids, with a foreign segment now and then."""
    by_rid = dice.random() < 0.2
    database = dice.choice(["target", "target", "scrap"])
    ids = iter(
        [prey.rids["database"], prey.rids["container"], dice.choice(sorted(prey.rids.values()))]
        if by_rid
        else [
            database,
            "items",
            dice.choice(["i0", "i1", "i2", "i9", "echo", "read", "same", "stamp", "after", "none"]),
        ]
    )
    segments = [next(ids).encode() if one == "*" else one.encode() for one in template.strip("/").split("/")]
    while dice.random() < 0.15:
        at = dice.randrange(len(segments) + 1)
        segments[at : at + dice.randrange(2)] = [dice.choice(_SEGMENTS)]
    found = b"/" + b"/".join(segments)
    if dice.random() < 0.05:
        found += dice.choice([b"/", b"//", b"?a=b", b"?%ff", b"#x", b"?" + b"q" * 3000])
    if dice.random() < 0.02:
        found = dice.choice([b"http://other" + found, b"//other" + found, b"*", found[1:], found.replace(b"/", b"%2F")])
    return found


def hostile_header(dice: random.Random) -> Header:
    """Any header of the emulator with a value that may fit it or not."""
    name = dice.choice(NAMES) if dice.random() < 0.95 else "x-" + "".join(dice.choices(string.ascii_lowercase, k=5))
    if name == h.CONTINUATION and dice.random() < 0.8:
        return name.encode(), token(dice)
    fitting = _VALUES.get(name, _FLAGS)
    value = dice.choice(fitting) if dice.random() < 0.6 else dice.choice(_ANY_VALUE)
    if dice.random() < 0.1:
        value = hostile_json.changed_text(dice, value)
    if name == h.AUTHORIZATION:
        name = h.ACTIVITY_ID
    return name.encode(), value.encode("utf-8" if dice.random() < 0.5 else "latin-1", "replace")


def token(dice: random.Random) -> bytes:
    """A continuation that looks like the emulator's own, or not."""
    names = dice.sample(sorted(_TOKEN), dice.randrange(1, 4))
    content = {name: _TOKEN[name] for name in names}
    text = hostile_json.encoded(dice, hostile_json.changed(dice, content, dice.randrange(3)))
    encoded = base64.urlsafe_b64encode(text[:2000])
    return encoded if dice.random() < 0.8 else encoded[:-1] + dice.choice([b"", b"=", b"!", b"\xff"])


def _body(dice: random.Random) -> bytes:
    if dice.random() < 0.3:
        return json.dumps(
            {"query": query(dice), "parameters": [{"name": "@p", "value": dice.choice(hostile_json.VALUES)}]}
        ).encode()
    content = dice.choice(BODIES)
    if dice.random() < 0.7:
        content = hostile_json.changed(dice, content, dice.choice([1, 1, 2, 4]))
    return hostile_json.encoded(dice, content)


def reframed(dice: random.Random, given: HttpRequest) -> HttpRequest:
    """Now and then in chunks."""
    return replace(given, chunked=True) if dice.random() < 0.1 else given


def is_destructive(given: HttpRequest) -> bool:
    """Whether it could remove or redefine a container that the checks need; scrap is anybody's."""
    segments = [one for one in unquote_to_bytes(given.target.partition(b"?")[0]).split(b"/") if one]
    return (
        given.verb in ("DELETE", "PUT") and b"dbs" in segments and b"docs" not in segments and b"scrap" not in segments
    )


def is_scoped(given: HttpRequest) -> bool:
    """Whether everything that it asks for lies in the partition `p`."""
    keys = given.header(h.PARTITION_KEY)
    bulk = given.header(h.BATCH_ATOMIC) and given.header(h.IS_BATCH)
    return keys == [KEY[1]] and not bulk
