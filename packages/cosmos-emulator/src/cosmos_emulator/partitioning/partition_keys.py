"""Partition keys: their definition, and their values in documents and headers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.partitioning.hashing import (
    UNDEFINED_KEY,
    KeyComponent,
    UndefinedKey,
    effective_partition_key_multi,
    effective_partition_key_v1,
    effective_partition_key_v2,
)
from cosmos_emulator.vocabulary.names import canonical

KEY_MISMATCH: Final = 1001
KEY_UNLIKE_DEFINITION: Final = (
    "Partition key provided either doesn't correspond to definition in the collection or doesn't match partition key "
    "field values specified in the document."
)
# Version 1 hashes only the first 100 characters, but accepts longer values (azure-cosmos partition_key.py and
# test_changefeed_partition_key_variation.py).
_MAX_BYTES: Final = 2048
_MAX_LEVELS: Final = 3
_SEGMENT: Final = re.compile(r"""/("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^/"'][^/]*|)""")
_PATH: Final = re.compile(f"(?:{_SEGMENT.pattern})+")
_QUOTES: Final = ('"', "'")
_UNQUOTED: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """One value of a container's partition key.

    `text` is the canonical header (`["p1"]`, or `[{}]` for undefined), which the store compares. A prefix of a
    hierarchical key selects a range.
    """

    components: tuple[KeyComponent, ...]
    text: str
    epk: str
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class PartitionKeyDefinition:
    """Paths as property names, e.g. `(("address", "city"),)`; kind Hash or MultiHash; version 1 or 2.

    `is_system` is whether the container was created without a partition key, so that its items can be without one.
    """

    paths: tuple[tuple[str, ...], ...]
    kind: str
    version: int
    is_system: bool = False

    @classmethod
    def parse(cls, definition: Json, *, strict: bool = False) -> PartitionKeyDefinition:
        """Parse the definition; `strict` as in `parse_path`. Raises 400."""
        if not isinstance(definition, dict):
            raise CosmosError(400, "The partition key definition must be an object with 'paths'.")
        paths, given = definition.get("paths"), definition.get("kind", "Hash")
        if not isinstance(paths, list) or not paths:
            raise CosmosError(400, "The partition key definition must name at least one path.")
        kind = canonical(given, ("Hash", "MultiHash"))
        if kind is None:
            raise CosmosError(400, f"Partition key kind {given!r} is not supported; use Hash or MultiHash.")
        if len(paths) > (_MAX_LEVELS if kind == "MultiHash" else 1):
            raise CosmosError(
                400,
                f"Too many partition key paths for kind {kind}. A hierarchical key has up to {_MAX_LEVELS} and "
                "'kind': 'MultiHash'.",
            )
        version = definition.get("version", 2 if kind == "MultiHash" else 1)  # azure-cosmos partition_key.py
        if named := canonical(version, ("V1", "V2")):  # azure-sdk-for-java PartitionKeyDefinition.java
            version = int(named.removeprefix("V"))
        if version not in (1, 2) or (kind == "MultiHash" and version == 1):
            raise CosmosError(400, f"Partition key version {version!r} is not supported for kind {kind}.")
        is_system = definition.get("systemKey") is True
        return cls(tuple(parse_path(path, strict=strict) for path in paths), kind, 2 if version == 2 else 1, is_system)

    def of_document(self, document: JsonObject) -> PartitionKey:
        """Return a document's key; an object is undefined. Raises 400 for an array."""
        return self._key(tuple(_component(value_at(document, path)) for path in self.paths))

    def of_values(self, values: Sequence[Json]) -> PartitionKey:
        """Return the key of values, one per level; `{}` is undefined."""
        return self._key(tuple(_component(value) for value in values))

    def _key(self, components: tuple[KeyComponent, ...]) -> PartitionKey:
        if any(isinstance(part, str) and len(part.encode()) > _MAX_BYTES for part in components):
            raise CosmosError(400, f"The partition key value is longer than the maximum of {_MAX_BYTES} bytes.")
        text = json_text.dump([{} if isinstance(part, UndefinedKey) else part for part in components]).decode()
        return PartitionKey(components, text, self._epk(components), 0 < len(components) < len(self.paths))

    def _epk(self, components: tuple[KeyComponent, ...]) -> str:
        if self.kind == "MultiHash":
            return effective_partition_key_multi(components)
        if self.version == 1:
            return effective_partition_key_v1(components)
        return effective_partition_key_v2(components)


@lru_cache(maxsize=8192)
def key_of_header(definition: PartitionKeyDefinition, text: str) -> PartitionKey:
    """Parse `x-ms-documentdb-partitionkey`, a JSON array."""
    values = json_text.parse(text)
    if not isinstance(values, list):
        raise CosmosError(400, f"Partition key {text} is invalid: a JSON array is expected.")
    if not values:
        # azure-cosmos sends [] for containers created without a partition key.
        values = [{}] * len(definition.paths)
    if len(values) > len(definition.paths):
        raise CosmosError(
            400,
            f"{KEY_UNLIKE_DEFINITION} {text} has too many values.",
            sub_status=KEY_MISMATCH,
        )
    return definition.of_values(values)


def parse_path(
    path: Json, *, strict: bool = False, key: Literal["Partition", "Unique"] = "Partition"
) -> tuple[str, ...]:
    """Return the property names of `/a/b`, `/"a b"/c` or `/'a/b'`. Raises 400 otherwise.

    As in the SDKs (azure-cosmos _base.py, ParsePaths), an escaped quote keeps its backslash. `strict` also refuses what
    a new container cannot have, but one in an older data directory can: in names without quotes, anything but letters,
    digits and underscores (learn.microsoft.com/azure/cosmos-db/partitioning-overview, "Choose a partition key").
    """
    if not isinstance(path, str) or not path.startswith("/") or len(path) < 2:
        raise _refused(path, key)
    text = path.removesuffix("/?")
    steps = _SEGMENT.findall(text)
    unusual = any(step[:1] not in _QUOTES and not _UNQUOTED.fullmatch(step) for step in steps)
    if not _PATH.fullmatch(text) or (strict and unusual):
        raise _refused(path, key)
    return tuple(step[1:-1] if step[:1] in _QUOTES else step.strip() for step in steps)


def _refused(path: Json, key: str) -> CosmosError:
    """Return the service's error (Azure/cosmos-explorer, ErrorParserUtility.test.ts), without the position."""
    name = "partition key component definition" if key == "Partition" else "unique key"
    return CosmosError(
        400,
        f"The {name} path '{path}' could not be accepted. {key} key paths must contain only valid characters and not"
        " contain a trailing slash or wildcard character. Put quotes around a name with other characters than letters,"
        " digits and underscores.",
    )


def value_at(document: JsonObject, path: tuple[str, ...]) -> Json | UndefinedKey:
    """Return the value at a path, or `UNDEFINED_KEY` if it is missing."""
    value: Json = document
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return UNDEFINED_KEY
        value = value[name]
    return value


def _component(value: Json | UndefinedKey) -> KeyComponent:
    if isinstance(value, dict):
        return UNDEFINED_KEY
    if isinstance(value, list):
        raise CosmosError(400, "A partition key value must be a string, number, boolean or null, not an array.")
    if type(value) is int and abs(value) > json_text.EXACT_INTEGERS:
        value = float(value)  # a number in a key is a double, as in the SDKs (.NET: PartitionKey.cs)
    if isinstance(value, float):
        normal = json_text.normalized(value)
        return normal if isinstance(normal, int | float) else value
    return value
