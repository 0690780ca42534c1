"""Fault rules: selectors, frequency and effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Literal

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.vocabulary.operation_names import OPERATION_NAMES

# Default sub-status: 410/1002 is a missing partition key range, 429/3200 throttling (azure-cosmos http_constants.py).
DEFAULT_SUB_STATUS: Final = {403: 0, 404: 0, 408: 0, 410: 1002, 413: 0, 429: 3200, 449: 0, 500: 0, 503: 0}

Effect = int | Literal["hang", "drop"]
When = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Target:
    """The request properties that selectors compare.

    `scripts` are the executed procedure or a write's triggers; `partition_key` is canonical JSON.
    """

    operation: str
    database: str | None
    container: str | None
    scripts: frozenset[str]
    partition_key: str | None


@dataclass(frozen=True, slots=True)
class FaultRule:
    """A rule. It matches a request if all its selectors match; an empty selector always matches.

    `effect` is a status of `DEFAULT_SUB_STATUS`, `hang` or `drop`. With `when="after"`, the operation runs first, so
    its writes are durable; operations that fail anyway are not struck. The first `skip` matching requests pass; up to
    `times` of the next (None: no limit) are struck, each with `probability`. `hang_ms` limits `hang` (None: until the
    client disconnects).
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
        """Return whether all selectors match a request."""
        return (
            (not self.operations or target.operation in self.operations)
            and self.database in (None, target.database)
            and self.container in (None, target.container)
            and self.partition_key in (None, target.partition_key)
            and (self.script is None or self.script in target.scripts)
        )

    def as_json(self) -> JsonObject:
        """Return the rule as JSON, without defaults."""
        written: JsonObject = {"fault": self.effect}
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value != field.default:
                written[_NAMES[field.name]] = sorted(value) if isinstance(value, frozenset) else value
        return written


# Names in texts and JSON.
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
    """Parse a text (`429 operation=create,upsert container=posts times=3 retry-after-ms=50`) or a JSON object.

    A text is a fault and `name=value` pairs, or JSON. Raises ValueError if it is invalid.
    """
    if isinstance(source, str):
        source = _parse_object(source) if source.lstrip().startswith("{") else _parse_pairs(source)
    unknown = sorted(set(source) - set(_NAMES.values()))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not a property of a fault; use {', '.join(_NAMES.values())}")
    return FaultRule(
        effect=_effect(source.get("fault")),
        when=_when(source.get("when", "before")),
        operations=parse_operations(source.get("operation")),
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
            raise ValueError(f"write the fault, then name=value pairs, each name once; {pair!r} is not valid")
        parsed[name] = value
    return parsed


def _effect(value: Json) -> Effect:
    if value == "hang":
        return "hang"
    if value == "drop":
        return "drop"
    status = int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()) else 0
    if status not in DEFAULT_SUB_STATUS:
        raise ValueError(
            f"a fault must be one of {', '.join(map(str, DEFAULT_SUB_STATUS))}, hang or drop, not {value!r}"
        )
    return status


def _when(value: Json) -> When:
    if value == "before":
        return "before"
    if value == "after":
        return "after"
    raise ValueError(f"when must be before or after, not {value!r}")


def parse_operations(value: Json) -> frozenset[str]:
    """Parse names in a list or a text (`create,upsert`); None gives the empty set. Raises ValueError."""
    names = value.split(",") if isinstance(value, str) else value
    if names is None:
        return frozenset()
    if not isinstance(names, list) or not set(map(str, names)) <= OPERATION_NAMES:
        raise ValueError(f"operation must be one of {', '.join(sorted(OPERATION_NAMES))}, not {value!r}")
    return frozenset(map(str, names))


def _text(source: Mapping[str, Json], name: str) -> str | None:
    value = source.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} must be a string, not {value!r}")
    return value


def _partition_key(value: Json) -> str | None:
    # Text that is not a JSON array is a single value.
    if value is None:
        return None
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json_text.parse(value)
        except CosmosError as error:
            raise ValueError(f"partition-key must be one value or a JSON array, not {value!r}") from error
    return json_text.dump(value if isinstance(value, list) else [value]).decode()


def _optional_count(source: Mapping[str, Json], name: str) -> int | None:
    value = source.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    raise ValueError(f"{name} must be a non-negative integer, not {value!r}")


def _probability(value: Json) -> float:
    try:
        probability = float(value) if isinstance(value, int | float | str) else -1.0
    except ValueError:
        probability = -1.0
    if not 0 <= probability <= 1:
        raise ValueError(f"probability must be between 0 and 1, not {value!r}")
    return probability
