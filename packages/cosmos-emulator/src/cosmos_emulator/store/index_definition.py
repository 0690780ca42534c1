"""Index definitions and entries.

Named paths and composite indexes are indexed from the start; a path that only a wildcard includes, when a query needs
it (reads/entry_access.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from cosmos_emulator.indexing_policy import IndexingPolicy
from cosmos_emulator.json_text import Json
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined
from cosmos_emulator.store.encoding import encoded, inverted

Names = tuple[str, ...]
_MOST_NAMED_PATHS: Final = 16  # others are indexed when needed


@dataclass(frozen=True, slots=True)
class IndexPart:
    """A path and its direction."""

    path: Names
    descending: bool = False


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """An index; if `is_local`, a logical partition's entries are contiguous."""

    parts: tuple[IndexPart, ...]
    is_local: bool

    @classmethod
    def parse(cls, text: str) -> IndexDefinition:
        """Parse the result of `text`."""
        document = json.loads(text)
        parts = tuple(IndexPart(tuple(path), descending) for path, descending in document["parts"])
        return cls(parts, document["local"])

    @property
    def text(self) -> str:
        """Text that identifies the definition."""
        return json.dumps({"local": self.is_local, "parts": [[part.path, part.descending] for part in self.parts]})

    def entry(self, epk: str, document: Mapping[str, Json]) -> bytes:
        """Return an item's entry, which ends after the first inexact value."""
        pieces = [local_prefix(epk)] if self.is_local else []
        for part in self.parts:
            data, exact = encoded(value_at(document, part.path))
            pieces.append(inverted(data) if part.descending else data)
            if not exact:
                break
        return b"".join(pieces)


def local_prefix(epk: str) -> bytes:
    """Return the prefix of a logical partition's entries; keys with the same EPK share it."""
    data = bytes.fromhex(epk)
    return bytes((len(data),)) + data


def value_at(document: Mapping[str, Json], path: Names) -> JsonOrUndefined:
    """Return the value at a path, as a query sees it."""
    value: JsonOrUndefined = document.get(path[0], UNDEFINED)
    for name in path[1:]:
        if type(value) is not dict:
            return UNDEFINED
        value = value.get(name, UNDEFINED)
    return value


def definitions_of(policy: IndexingPolicy, key_paths: Iterable[Names]) -> list[IndexDefinition]:
    """Return the indexes that a policy names, without duplicates.

    These are each composite index, within logical partitions; each named path, across and within them; and each named
    path followed by a composite index, for a filter with an order. Partition key paths need none. Queries compute
    computed properties instead of reading them from an index.
    """
    key = set(key_paths)
    named = [path for path in policy.named_paths if path not in key and policy.is_stored(path)][:_MOST_NAMED_PATHS]
    composites = [
        tuple(IndexPart(names, part.descending) for part in index if (names := property_names(part.path)))
        for index in policy.composite_indexes
        if all(policy.is_stored(part.path) for part in index)
    ]
    found = [IndexDefinition(parts, is_local=True) for parts in composites]
    for path in named:
        found.append(IndexDefinition((IndexPart(path),), is_local=False))
        extended = [parts for parts in composites if all(part.path != path for part in parts)]
        found += [IndexDefinition((IndexPart(path), *parts), is_local=True) for parts in extended]
        if not any(one.is_local and one.parts[0].path == path for one in found):
            found.append(IndexDefinition((IndexPart(path),), is_local=True))
    return list(dict.fromkeys(found))


def property_names(path: Iterable[object]) -> Names:
    """Return the names of a path; empty if it has array elements."""
    steps = tuple(path)
    names = tuple(step for step in steps if isinstance(step, str))
    return names if len(names) == len(steps) else ()
