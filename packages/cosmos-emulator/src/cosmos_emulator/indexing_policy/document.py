"""The policy document: defaults, validation and composite indexes.

Spatial indexes are checked but have no effect. search/policies.py checks vector and full-text indexes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple, NoReturn, TypeAlias

from cosmos_emulator.indexing_policy.paths import Json, Path, Step, parse_path, parse_wildcard_path, refuse, refuse_path
from cosmos_emulator.vocabulary.names import canonical

IndexingMode = Literal["consistent", "none"]

ROOT = "/*"
ETAG = '/"_etag"/?'

# learn.microsoft.com/azure/cosmos-db/concepts-limits
MAX_COMPOSITE_PATHS = 8
MAX_PATHS = 1500

SPATIAL_TYPES = ("Point", "LineString", "Polygon", "MultiPolygon")


_ORDERS = ("ascending", "descending")


class OrderedPath(NamedTuple):
    """A path of a composite index and its direction."""

    path: Path
    descending: bool


CompositeIndex: TypeAlias = tuple[OrderedPath, ...]


def parse_mode(document: Mapping[str, Json]) -> IndexingMode:
    """Return the indexing mode. Raises 400 for lazy indexing, as in new containers (azure-cosmos documents.py)."""
    given = document.get("indexingMode", "consistent")
    mode = canonical(given, ("consistent", "none"))
    if mode == "none":
        return "none"
    if mode != "consistent":
        refuse(f"The indexing mode '{given}' is not supported. Choose between 'consistent' and 'none'.")
    if not isinstance(document.get("automatic", True), bool):
        refuse("'automatic' must be true or false.")
    return "consistent"


def complete_document(document: Mapping[str, Json], mode: IndexingMode) -> dict[str, Json]:
    """Return the policy with the service's defaults.

    By default, all paths are included and `_etag` is excluded. `/` becomes `/*`. Drops older clients' `indexes` of
    included paths (azure-sdk-for-python, sdk/cosmos/azure-cosmos/tests/test_crud_container.py). A consistent index is
    `automatic` (azure-sdk-for-rust, cosmos_containers.rs, container_crud_simple).
    """
    included, excluded = path_entries(document, "includedPaths"), path_entries(document, "excludedPaths")
    if mode == "consistent":
        if not included and not excluded:
            included = [{"path": ROOT}]
        if not any(parse_path(entry["path"])[0] == ("_etag",) for entry in (*included, *excluded)):
            excluded = [*excluded, {"path": ETAG}]
    completed: dict[str, Json] = {
        "indexingMode": mode,
        "automatic": mode == "consistent" or document.get("automatic", False),
        "includedPaths": [*included],
        "excludedPaths": [*excluded],
    }
    if "compositeIndexes" in document:
        completed["compositeIndexes"] = _lower_case_orders(document["compositeIndexes"])
    return {**document, **completed}


def _lower_case_orders(indexes: Json) -> Json:
    """Spell the orders of composite indexes as the service returns them (azure-rest-api-specs#11222)."""
    if isinstance(indexes, list):
        return [_lower_case_orders(entry) for entry in indexes]
    order = canonical(indexes.get("order"), _ORDERS) if isinstance(indexes, dict) else None
    return {**indexes, "order": order} if isinstance(indexes, dict) and order else indexes


def path_entries(document: Mapping[str, Json], key: str) -> list[dict[str, Json]]:
    """Return `includedPaths` or `excludedPaths`. Raises 400."""
    entries = document.get(key)
    if entries is None:
        return []
    if not isinstance(entries, list):
        refuse(f"One of the specified inputs is invalid: '{key}' must be an array.")
    return [_path_entry(entry, key) for entry in entries]


def parse_patterns(document: Mapping[str, Json]) -> dict[tuple[Path, str], bool]:
    """Return the patterns of a completed document, (steps, wildcard) → included.

    Raises 400 for a duplicate path, and without the root path. `_etag` does not count toward the limit, because it can
    be a default.
    """
    patterns: dict[tuple[Path, str], bool] = {}
    for key, included in (("includedPaths", True), ("excludedPaths", False)):
        for entry in path_entries(document, key):
            pattern = parse_wildcard_path(entry["path"])
            if pattern in patterns:
                _refuse_duplicate(entry["path"], key)
            patterns[pattern] = included
    if len(patterns.keys() - {(("_etag",), "?")}) > MAX_PATHS:
        refuse(f"An indexing policy can have at most {MAX_PATHS} included and excluded paths.")
    if document["indexingMode"] == "consistent" and ((), "*") not in patterns:
        refuse(
            'The special mandatory indexing path "/" is not provided in any of the path type sets. '
            "Please provide this path in one of the sets."
        )
    return patterns


def parse_composite_indexes(document: Mapping[str, Json]) -> tuple[CompositeIndex, ...]:
    """Parse composite indexes. Raises 400 (vercel/cosmosdb-server, create-collection.ts)."""
    indexes = document.get("compositeIndexes")
    if indexes is None:
        return ()
    if not isinstance(indexes, list):
        refuse("One of the specified inputs is invalid: 'compositeIndexes' must be an array of arrays.")
    return tuple(_composite_index(index, position) for position, index in enumerate(indexes))


def _composite_index(index: Json, position: int) -> CompositeIndex:
    place = f"indexingPolicy.additionalIndexes.composite[{position}]"
    if not isinstance(index, list):
        refuse(f"One of the specified inputs is invalid: '{place}' must be an array.")
    if len(index) < 2:
        refuse(f"The composite index at '{place}' must have at least 2 paths.")
    if len(index) > MAX_COMPOSITE_PATHS:
        refuse(f"The composite index at '{place}' must have at most {MAX_COMPOSITE_PATHS} paths.")
    directions: dict[Path, bool] = {}
    for offset, entry in enumerate(index):
        text, part = _ordered_path(_path_entry(entry, place))
        if part.path in directions:
            _refuse_duplicate(text, f"{place}[{offset}]")
        directions[part.path] = part.descending
    return tuple(OrderedPath(path, descending) for path, descending in directions.items())


def check_spatial_indexes(document: Mapping[str, Json], computed: Collection[str], *, is_planar: bool) -> None:
    """Raise 400 for an invalid spatial index (learn.microsoft.com/azure/cosmos-db/nosql/query/geospatial-index).

    On a plane, each index needs a bounding box.
    """
    indexes = document.get("spatialIndexes")
    if indexes is not None and not isinstance(indexes, list):
        refuse("One of the specified inputs is invalid: 'spatialIndexes' must be an array.")
    seen: set[Json] = set()
    for entry in indexes or []:
        index = _path_entry(entry, "spatialIndexes")
        text, types, box = str(index["path"]), index.get("types", []), index.get("boundingBox")
        steps, _ = parse_wildcard_path(text)
        if text in seen:
            _refuse_duplicate(text, "spatialIndexes")
        seen.add(text)
        for number, name in enumerate(computed):
            if name in steps[:1]:
                refuse(
                    f"Computed property '{name}' at index ({number}) has a spatial index. "
                    "Remove the spatial index on this path."
                )
        if not types:
            refuse(
                "The spatial data types array cannot be empty. Assign at least one spatial type for the 'types' array "
                f"for the path '{text}'."
            )
        if not isinstance(types, list) or any(one not in SPATIAL_TYPES for one in types):
            refuse(f"The types of the spatial index '{text}' must be in {', '.join(SPATIAL_TYPES)}, not {types!r}.")
        if is_planar is not _is_box(box) or (box is not None and not is_planar):
            refuse(
                f"The spatial index '{text}' must {'' if is_planar else 'not '}have a boundingBox with xmin < xmax and "
                f"ymin < ymax if the geospatialConfig is {'Geometry' if is_planar else 'Geography'}."
            )


def _is_box(box: Json) -> bool:
    match box:
        case {
            "xmin": int() | float() as xmin,
            "ymin": int() | float() as ymin,
            "xmax": int() | float() as xmax,
            "ymax": int() | float() as ymax,
        }:
            return xmin < xmax and ymin < ymax
    return False


def _ordered_path(entry: dict[str, Json]) -> tuple[Json, OrderedPath]:
    """Parse an entry of a composite index. A trailing `/?` is optional."""
    text, order = entry["path"], entry.get("order", "ascending")
    steps, wildcard = parse_path(text)
    if not steps or wildcard == "*" or Step.ELEMENT in steps:
        refuse_path(text, len(str(text)))
    if order not in _ORDERS:
        refuse(f"The composite order '{order}' is invalid. Choose between 'ascending' and 'descending'.")
    return text, OrderedPath(steps, order == "descending")


def _path_entry(entry: Json, place: str) -> dict[str, Json]:
    if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
        refuse(f"One of the specified inputs is invalid: '{place}' accepts only objects with a 'path'.")
    kept = {name: value for name, value in entry.items() if name != "indexes"}
    return {**kept, "path": ROOT} if entry["path"] == "/" else kept


def _refuse_duplicate(text: Json, place: str) -> NoReturn:
    refuse(f"The following path '{text}' was specified more than once in '{place}'. Remove the duplicated field.")
