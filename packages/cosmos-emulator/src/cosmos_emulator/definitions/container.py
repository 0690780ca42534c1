"""The definition of a container: validation, defaults and parsing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.definitions.secondary_index import SecondaryIndexDefinition
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.indexing_policy import IndexingPolicy
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.partitioning.hashing import UndefinedKey
from cosmos_emulator.partitioning.partition_keys import PartitionKeyDefinition, parse_path, value_at
from cosmos_emulator.query import Dialect, Query, parse_computed
from cosmos_emulator.search.functions import SearchFunctions
from cosmos_emulator.search.policies import SearchPolicies
from cosmos_emulator.vocabulary.names import canonical, checked_name

MAX_TTL_S: Final = 2147483647
_MAX_UNIQUE_KEYS: Final = 10
_MAX_UNIQUE_KEY_PATHS: Final = 16
_CONFLICT_MODES: Final = ("LastWriterWins", "Custom")
_UNSUPPORTED: Final = {
    "analyticalStorageTtl": "analytical store",
    "clientEncryptionPolicy": "client-side encryption",
}
_DEFAULTS: Final[JsonObject] = {
    "uniqueKeyPolicy": {"uniqueKeys": []},
    "conflictResolutionPolicy": {
        "mode": "LastWriterWins",
        "conflictResolutionPath": "/_ts",
        "conflictResolutionProcedure": "",
    },
    "geospatialConfig": {"type": "Geography"},
}


@dataclass(frozen=True, slots=True)
class ContainerDefinition:
    """A parsed container; `unique_keys` has the paths of each key, `dialect` what its queries can use.

    `log_retention_s` is how long the change feed keeps all versions and deletes; None if it does not. `source` is
    the container that a global secondary index follows.
    """

    partition_key: PartitionKeyDefinition
    indexing: IndexingPolicy
    default_ttl_s: int | None
    unique_keys: tuple[tuple[tuple[str, ...], ...], ...]
    dialect: Dialect
    log_retention_s: int | None
    source: SecondaryIndexDefinition | None

    @classmethod
    def parse(cls, body: JsonObject) -> ContainerDefinition:
        """Parse a body that `completed` returned. Raises 400."""
        return cls(
            PartitionKeyDefinition.parse(body.get("partitionKey")),
            _indexing(body),
            checked_ttl(body["defaultTtl"], "defaultTtl") if "defaultTtl" in body else None,
            _unique_keys(body["uniqueKeyPolicy"]),
            Dialect(_computed(body), is_planar=_is_planar(body), functions=SearchFunctions(SearchPolicies.parse(body))),
            _log_retention_s(body.get("changeFeedPolicy")),
            SecondaryIndexDefinition.parse(body),
        )

    def unique_values(self, document: JsonObject) -> list[str]:
        """Return each unique key's value as canonical JSON."""
        return [
            json_text.dump([_null_if_missing(value_at(document, path)) for path in paths]).decode()
            for paths in self.unique_keys
        ]


def completed(body: JsonObject, *, is_new: bool = True) -> JsonObject:
    """Return a body with the service's defaults. Raises 400 if it is invalid or uses an unsupported feature.

    A container that is not new keeps its paths, which can be from before their rules.
    """
    checked_name(body.get("id"))
    for name, feature in _UNSUPPORTED.items():
        if body.get(name):
            raise CosmosError(400, f"The property '{name}' is not supported by this emulator ({feature}); remove it.")
    SearchPolicies.parse(body)
    filled: JsonObject = {name: value for name, value in body.items() if value is not None}
    for name, default in _DEFAULTS.items():
        filled.setdefault(name, default)
    key = filled.get("partitionKey")
    # Checked here, and not when a data directory is opened, which can have containers from before these rules.
    definition = PartitionKeyDefinition.parse(key, strict=is_new)
    _unique_keys(filled["uniqueKeyPolicy"], strict=is_new)
    if isinstance(key, dict):
        # The service omits version 1 if the client did (azure-sdk-for-rust, cosmos_items.rs, v1_container_item_crud).
        version: JsonObject = {"version": definition.version} if "version" in key or definition.version == 2 else {}
        filled["partitionKey"] = {**key, "kind": definition.kind, **version}
    filled["conflictResolutionPolicy"] = _conflict_resolution(filled["conflictResolutionPolicy"])
    _log_retention_s(filled.get("changeFeedPolicy"))
    if "ttlPropertyPath" in filled and "defaultTtl" not in filled:
        raise CosmosError(400, "A 'ttlPropertyPath' needs a 'defaultTtl'.")
    _check_names(_computed(filled), definition)
    policy = filled["indexingPolicy"] = dict(_indexing(filled).document)
    if policy["indexingMode"] == "none" and policy["automatic"]:
        # azure-cosmos-table-dotnet#68
        raise CosmosError(400, "Indexing mode value cannot be 'none' when automatic indexing is specified as 'true'.")
    if policy["indexingMode"] == "none" and "defaultTtl" in filled:
        # learn.microsoft.com/azure/cosmos-db/nosql/how-to-manage-indexing-policy, "No indexing"
        raise CosmosError(400, "A container without an index, with indexingMode 'none', cannot have a 'defaultTtl'.")
    return filled


def checked_ttl(value: Json, name: str) -> int:
    """Return a valid TTL; -1 never expires. Raises 400 otherwise (azure-cosmos test_ttl.py)."""
    valid = isinstance(value, int) and not isinstance(value, bool) and (value == -1 or 1 <= value <= MAX_TTL_S)
    if not valid or not isinstance(value, int):
        raise CosmosError(
            400,
            f"The input {name} {json_text.dump(value).decode()!r} is invalid. Ensure to provide a nonzero positive "
            f"integer up to {MAX_TTL_S} or -1.",
        )
    return value


def conflict_resolution(body: JsonObject) -> tuple[Json, Json, Json]:
    """Return mode, path and procedure of a completed body."""
    policy = body["conflictResolutionPolicy"]
    assert isinstance(policy, dict)  # noqa: S101 - completed
    path = policy.get("conflictResolutionPath") or ("/_ts" if policy["mode"] == _CONFLICT_MODES[0] else "")
    return policy["mode"], path, policy.get("conflictResolutionProcedure") or ""


def _conflict_resolution(policy: Json) -> Json:
    mode = canonical(policy.get("mode", _CONFLICT_MODES[0]), _CONFLICT_MODES) if isinstance(policy, dict) else None
    if not isinstance(policy, dict) or mode is None:
        raise CosmosError(400, f"The mode of a conflict resolution policy must be {' or '.join(_CONFLICT_MODES)}.")
    return {**policy, "mode": mode}


def _indexing(body: JsonObject) -> IndexingPolicy:
    policy, key = body.get("indexingPolicy"), body["partitionKey"]
    if policy is not None and not isinstance(policy, dict):
        raise CosmosError(400, "The indexing policy must be an object.")
    paths = key["paths"] if isinstance(key, dict) else []
    key_paths = [str(path) for path in paths] if isinstance(paths, list) else []
    return IndexingPolicy(policy, key_paths, _computed(body), is_planar=_is_planar(body))


def _log_retention_s(policy: Json) -> int | None:
    """Return the retention time of a changeFeedPolicy, which has minutes; 0 is none (.NET, ChangeFeedPolicy.cs)."""
    if policy is None:
        return None
    minutes = policy.get("retentionDuration") if isinstance(policy, dict) else None
    if not isinstance(minutes, int) or isinstance(minutes, bool) or minutes < 0:
        raise CosmosError(400, "A changeFeedPolicy must have a retentionDuration in minutes, 0 or more.")
    return minutes * 60 or None


def _computed(body: JsonObject) -> Mapping[str, Query]:
    return parse_computed(body.get("computedProperties", []))


def _is_planar(body: JsonObject) -> bool:
    """Return whether the geospatialConfig is Geometry, not Geography."""
    config = body.get("geospatialConfig", {"type": "Geography"})
    kind = config.get("type") if isinstance(config, dict) else None
    if kind not in ("Geography", "Geometry"):
        raise CosmosError(400, f"The type of the geospatialConfig must be Geography or Geometry, not {kind!r}.")
    return kind == "Geometry"


def _check_names(computed: Mapping[str, Query], key: PartitionKeyDefinition) -> None:
    # An assumption: the service routes queries by the stored value, so the computed value could never be found.
    for path in key.paths:
        if path[0] in computed:
            raise CosmosError(400, f"The computed property '{path[0]}' must not have the name of the partition key.")


def _unique_keys(policy: Json, *, strict: bool = False) -> tuple[tuple[tuple[str, ...], ...], ...]:
    keys = policy.get("uniqueKeys", []) if isinstance(policy, dict) else None
    if not isinstance(keys, list) or len(keys) > _MAX_UNIQUE_KEYS:
        raise CosmosError(400, f"The unique key policy must have at most {_MAX_UNIQUE_KEYS} uniqueKeys.")
    return tuple(_unique_key_paths(key, strict) for key in keys)


def _unique_key_paths(key: Json, strict: bool) -> tuple[tuple[str, ...], ...]:
    paths = key.get("paths") if isinstance(key, dict) else None
    if not isinstance(paths, list) or not 0 < len(paths) <= _MAX_UNIQUE_KEY_PATHS:
        raise CosmosError(400, f"A unique key must have 1 to {_MAX_UNIQUE_KEY_PATHS} paths.")
    return tuple(parse_path(path, strict=strict, key="Unique") for path in paths)


def _null_if_missing(value: Json | UndefinedKey) -> Json:
    return None if isinstance(value, UndefinedKey) else value
