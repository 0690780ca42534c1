"""Which indexes a container has, and the entry of an item in one of them.

The policy says which paths may be indexed. Those that it names, and its composite indexes, are kept from the start;
what a wildcard includes is indexed when a query first needs it (query_access.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from cosmos_emulator.indexing import IndexingPolicy
from cosmos_emulator.json_text import Json
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined
from cosmos_emulator.store.encoding import encoded, inverted

Names = tuple[str, ...]
_MOST_NAMED_PATHS: Final = 16  # named beyond these, a path is indexed when it is asked for


@dataclass(frozen=True, slots=True)
class IndexPart:
    """A path of property names, and the direction in which its values are kept."""

    path: Names
    descending: bool = False


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """`is_local`: entries of one logical partition lie together; else those of the whole physical partition do."""

    parts: tuple[IndexPart, ...]
    is_local: bool

    @classmethod
    def parse(cls, text: str) -> IndexDefinition:
        """The definition that `text` was written for."""
        document = json.loads(text)
        parts = tuple(IndexPart(tuple(path), descending) for path, descending in document["parts"])
        return cls(parts, document["local"])

    @property
    def text(self) -> str:
        """A text that is the same for equal definitions only."""
        return json.dumps({"local": self.is_local, "parts": [[part.path, part.descending] for part in self.parts]})

    def entry(self, epk: str, document: Mapping[str, Json]) -> bytes:
        """The bytes by which an item is found. They end behind the first value that is not exact."""
        pieces = [local_prefix(epk)] if self.is_local else []
        for part in self.parts:
            data, exact = encoded(value_at(document, part.path))
            pieces.append(inverted(data) if part.descending else data)
            if not exact:
                break
        return b"".join(pieces)


def local_prefix(epk: str) -> bytes:
    """What the entries of a logical partition begin with. Two keys may share it, as they may share the EPK."""
    data = bytes.fromhex(epk)
    return bytes((len(data),)) + data


def value_at(document: Mapping[str, Json], path: Names) -> JsonOrUndefined:
    """The value at a path of property names, as a query sees it."""
    value: JsonOrUndefined = document.get(path[0], UNDEFINED)
    for name in path[1:]:
        if type(value) is not dict:
            return UNDEFINED
        value = value.get(name, UNDEFINED)
    return value


def definitions_of(policy: IndexingPolicy, key_paths: Iterable[Names]) -> list[IndexDefinition]:
    """The indexes that a policy asks for by name, without doubles.

    Every composite index, within logical partitions; every named path, across them and within; and in front of each
    composite index every other named path, because a filter on it and the order are asked for together. A path of
    the partition key is the same in a whole logical partition: it needs no index there.
    """
    key = set(key_paths)
    named = [path for path in policy.named_paths if path not in key][:_MOST_NAMED_PATHS]
    composites = [
        tuple(IndexPart(names, part.descending) for part in index if (names := property_names(part.path)))
        for index in policy.composite_indexes
    ]
    found = [IndexDefinition(parts, is_local=True) for parts in composites]
    for path in named:
        found.append(IndexDefinition((IndexPart(path),), is_local=False))
        behind = [parts for parts in composites if all(part.path != path for part in parts)]
        found += [IndexDefinition((IndexPart(path), *parts), is_local=True) for parts in behind]
        if not any(one.is_local and one.parts[0].path == path for one in found):
            found.append(IndexDefinition((IndexPart(path),), is_local=True))
    return list(dict.fromkeys(found))


def property_names(path: Iterable[object]) -> Names:
    """A path that steps into no array, which is all that an index is kept for; empty for any other."""
    steps = tuple(path)
    names = tuple(step for step in steps if isinstance(step, str))
    return names if len(names) == len(steps) else ()
