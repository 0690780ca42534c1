"""The definitions of scripts, and how a container differs from its definition."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shared.containers import container_definitions

_ROOT = Path(__file__).parent.parent
_SCRIPTS = _ROOT / "stored_procedures"
# The service adds this path to every policy: https://learn.microsoft.com/azure/cosmos-db/index-policy
_ALWAYS_EXCLUDED = '/"_etag"/?'

Definition = Mapping[str, Any]


def declared_containers() -> list[dict[str, Any]]:
    """Return the containers of the core, and those in containers.json of each add-on whose setting is 1."""
    declared = [*container_definitions()]
    for file in sorted(_ROOT.glob("addons/*/containers.json")):
        add_on = json.loads(file.read_text(encoding="utf-8"))["containers"]
        declared += [added for added in add_on if "enabledBy" in added and os.environ.get(added["enabledBy"]) == "1"]
    return declared


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
    if _source(declared) != _source(present):
        differences.append("it is not an index of the same source, with the same query")
    if _texts(declared) - _texts(present):
        differences.append("its full-text policy has other paths or languages")
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


def _source(definition: Definition) -> tuple[str, str] | None:
    """Return the source and the query of a global secondary index."""
    index = definition.get("globalSecondaryIndexDefinition") or definition.get("globalSecondaryIndex")
    return (index["sourceCollectionId"], index["definition"]) if index else None


def _texts(definition: Definition) -> set[tuple[str, str]]:
    """Return the paths of a full-text policy, each with its language."""
    policy = definition.get("fullTextPolicy") or {}
    return {(path["path"], path["language"]) for path in policy.get("fullTextPaths", [])}


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
        {entry["path"] for entry in policy.get("fullTextIndexes", [])},
        {
            tuple((path["path"], path.get("order", "ascending")) for path in index)
            for index in policy.get("compositeIndexes", [])
        },
        {(index["path"], *sorted(index.get("types", []))) for index in policy.get("spatialIndexes", [])},
    )
