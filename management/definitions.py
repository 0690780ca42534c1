"""The definitions of scripts, and how a container differs from its definition."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_SCRIPTS = Path(__file__).parent.parent / "stored_procedures"
# The service adds this path to every policy: https://learn.microsoft.com/azure/cosmos-db/index-policy
_ALWAYS_EXCLUDED = '/"_etag"/?'

Definition = Mapping[str, Any]


def script_text(name: str) -> str:
    return (_SCRIPTS / f"{name}.js").read_text(encoding="utf-8")


def procedure_definition(name: str) -> dict[str, str]:
    return {"id": name, "body": script_text(name)}


def trigger_definition(declared: Mapping[str, str]) -> dict[str, str]:
    return {
        "id": declared["id"],
        "body": script_text(declared["id"]),
        "triggerType": declared["type"],
        "triggerOperation": declared["operation"],
    }


def unchangeable_differences(declared: Definition, present: Definition) -> list[str]:
    """Describe differences in immutable properties."""
    differences = []
    if _partition_key(declared) != _partition_key(present):
        differences.append(f"its partition key is {_paths(present)}, not {_paths(declared)}")
    if _unique_keys(declared) != _unique_keys(present):
        differences.append("its unique keys differ")
    return differences


def changeable_differences(declared: Definition, present: Definition) -> list[str]:
    """Name the properties to replace. An undeclared indexing policy accepts any."""
    differences = []
    policy = declared.get("indexingPolicy")
    if policy is not None and _policy(policy) != _policy(present.get("indexingPolicy", {})):
        differences.append("indexing policy")
    if declared.get("defaultTtl") != present.get("defaultTtl"):
        differences.append("TTL")
    return differences


def _partition_key(definition: Definition) -> tuple[Any, ...]:
    key = definition["partitionKey"]
    return tuple(key["paths"]), key.get("kind", "Hash"), key.get("version", 1)


def _paths(definition: Definition) -> str:
    key = definition["partitionKey"]
    return f"{', '.join(key['paths'])} (version {key.get('version', 1)})"


def _unique_keys(definition: Definition) -> set[tuple[str, ...]]:
    keys = definition.get("uniqueKeyPolicy", {}).get("uniqueKeys", [])
    return {tuple(key["paths"]) for key in keys}


def _policy(policy: Mapping[str, Any]) -> tuple[Any, ...]:
    """Normalize a policy: ignore order and what the service adds."""
    return (
        policy.get("indexingMode", "consistent").lower(),
        policy.get("automatic", True),
        {entry["path"] for entry in policy.get("includedPaths", [])},
        {entry["path"] for entry in policy.get("excludedPaths", [])} - {_ALWAYS_EXCLUDED},
        {
            tuple((path["path"], path.get("order", "ascending")) for path in index)
            for index in policy.get("compositeIndexes", [])
        },
        {(index["path"], *sorted(index.get("types", []))) for index in policy.get("spatialIndexes", [])},
    )
