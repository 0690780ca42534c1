"""A rule: which requests it strikes, how often, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Literal

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http.operation_names import OPERATION_NAMES
from cosmos_emulator.json_text import Json, JsonObject

# The statuses of transient failures and the sub-status that each has unless the rule gives one: a 410 is a partition
# key range that is gone, a 429 is throughput that is spent (azure-cosmos http_constants.py).
DEFAULT_SUB_STATUS: Final = {408: 0, 410: 1002, 429: 3200, 449: 0, 500: 0, 503: 0}

Effect = int | Literal["hang", "drop"]
When = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Target:
    """A request as rules see it. `scripts` are the procedure it executes or the triggers it names.

    `partition_key` is the canonical JSON text of the header, None without one; `container` and `database` are names.
    """

    operation: str
    database: str | None
    container: str | None
    scripts: frozenset[str]
    partition_key: str | None


@dataclass(frozen=True, slots=True)
class FaultRule:
    """Strikes requests that match all selectors; a selector that is None, or no operation, matches everything.

    `effect` is a status of `DEFAULT_SUB_STATUS`, `hang` (no answer until the client goes, or the connection is closed
    after `hang_ms`), or `drop` (the connection is closed). It comes `before` the operation, which then is not carried
    out, or `after` it: then a write is durable, and an operation that fails by itself is not struck. Of the requests
    that match, the first `skip` pass, then `times` (None: all) are struck, each with `probability`, drawn from a
    generator that starts from `seed`. `partition_key` is the canonical JSON text of the header, as in `["p1"]`.
    """

    effect: Effect
    when: When = "before"
    operations: frozenset[str] = frozenset()
    database: str | None = None
    container: str | None = None
    script: str | None = None
    partition_key: str | None = None
    times: int | None = None
    skip: int = 0
    probability: float = 1.0
    seed: int = 0
    sub_status: int | None = None
    retry_after_ms: int | None = None
    hang_ms: int | None = None

    def matches(self, target: Target) -> bool:
        """Whether the selectors fit a request."""
        return (
            (not self.operations or target.operation in self.operations)
            and self.database in (None, target.database)
            and self.container in (None, target.container)
            and self.partition_key in (None, target.partition_key)
            and (self.script is None or self.script in target.scripts)
        )

    def as_json(self) -> JsonObject:
        """What `parse_rule` reads, without what is left at its default."""
        written: JsonObject = {"fault": self.effect}
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value != field.default:
                written[_NAMES[field.name]] = sorted(value) if isinstance(value, frozenset) else value
        return written


# The name of each field in texts and JSON.
_NAMES: Final = {
    "effect": "fault",
    "when": "when",
    "operations": "operation",
    "database": "database",
    "container": "container",
    "script": "script",
    "partition_key": "partition-key",
    "times": "times",
    "skip": "skip",
    "probability": "probability",
    "seed": "seed",
    "sub_status": "sub-status",
    "retry_after_ms": "retry-after-ms",
    "hang_ms": "hang-ms",
}


def parse_rule(source: str | Mapping[str, Json]) -> FaultRule:
    """The rule of a text (`429 operation=create,upsert container=posts times=3 retry-after-ms=50`) or a JSON object.

    A text is a fault and `name=value` pairs with blanks between them; values with blanks need the JSON object, which
    a text may be, too. Raises ValueError that says what is wrong.
    """
    if isinstance(source, str):
        source = _parse_object(source) if source.lstrip().startswith("{") else _parse_pairs(source)
    unknown = sorted(set(source) - set(_NAMES.values()))
    if unknown:
        raise ValueError(f"a fault has no {unknown[0]!r}; it has {', '.join(_NAMES.values())}")
    return FaultRule(
        effect=_effect(source.get("fault")),
        when=_when(source.get("when", "before")),
        operations=_operations(source.get("operation")),
        database=_text(source, "database"),
        container=_text(source, "container"),
        script=_text(source, "script"),
        partition_key=_partition_key(source.get("partition-key")),
        times=_optional_count(source, "times"),
        skip=_optional_count(source, "skip") or 0,
        probability=_probability(source.get("probability", 1.0)),
        seed=_optional_count(source, "seed") or 0,
        sub_status=_optional_count(source, "sub-status"),
        retry_after_ms=_optional_count(source, "retry-after-ms"),
        hang_ms=_optional_count(source, "hang-ms"),
    )


def _parse_object(text: str) -> JsonObject:
    try:
        return json_text.parse_object(text)
    except CosmosError as error:
        raise ValueError(error.message) from error


def _parse_pairs(text: str) -> JsonObject:
    fault, *pairs = text.split() or [""]
    parsed: JsonObject = {"fault": fault}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or name in parsed:
            raise ValueError(f"a fault is followed by name=value pairs, each name once; {pair!r} is none")
        parsed[name] = value
    return parsed


def _effect(value: Json) -> Effect:
    if value == "hang":
        return "hang"
    if value == "drop":
        return "drop"
    status = int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()) else 0
    if status not in DEFAULT_SUB_STATUS:
        raise ValueError(f"a fault is one of {', '.join(map(str, DEFAULT_SUB_STATUS))}, hang and drop, not {value!r}")
    return status


def _when(value: Json) -> When:
    if value == "before":
        return "before"
    if value == "after":
        return "after"
    raise ValueError(f"a fault comes before or after the operation, not {value!r}")


def _operations(value: Json) -> frozenset[str]:
    names = value.split(",") if isinstance(value, str) else value
    if names is None:
        return frozenset()
    if not isinstance(names, list) or not set(map(str, names)) <= OPERATION_NAMES:
        raise ValueError(f"operation must be among {', '.join(sorted(OPERATION_NAMES))}; {value!r} is not")
    return frozenset(map(str, names))


def _text(source: Mapping[str, Json], name: str) -> str | None:
    value = source.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} must be a text, not {value!r}")
    return value


def _partition_key(value: Json) -> str | None:
    """Canonical: a text that is no JSON array is the one value of the key."""
    if value is None:
        return None
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json_text.parse(value)
        except CosmosError as error:
            raise ValueError(f"partition-key is no JSON array: {value!r}") from error
    return json_text.dump(value if isinstance(value, list) else [value]).decode()


def _optional_count(source: Mapping[str, Json], name: str) -> int | None:
    value = source.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    raise ValueError(f"{name} must be a whole number that is not negative, not {value!r}")


def _probability(value: Json) -> float:
    try:
        probability = float(value) if isinstance(value, int | float | str) else -1.0
    except ValueError:
        probability = -1.0
    if not 0 <= probability <= 1:
        raise ValueError(f"probability must be from 0 to 1, not {value!r}")
    return probability
