"""The definition of a global secondary index: a container that the service fills with a projection of another one.

Rules: learn.microsoft.com/azure/cosmos-db/global-secondary-indexes, and azure-cosmos 4.17,
_global_secondary_index.py, for the properties. docs/secondary-indexes.md lists what the sources leave open.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.partitioning.hashing import UndefinedKey
from cosmos_emulator.partitioning.partition_keys import value_at
from cosmos_emulator.query import parse
from cosmos_emulator.query.syntax import Identifier, PathCollection, Property, Query, SelectList, SelectStar

PROPERTIES: Final = ("globalSecondaryIndexDefinition", "materializedViewDefinition")
"""SDKs send both, and read the second from older versions of the service."""
BUILDING, ACTIVE = "InitialBuildAfterCreate", "Active"
_NAMES: Final = ("sourceCollectionId", "sourceCollectionRid", "definition", "status")


@dataclass(frozen=True, slots=True)
class SecondaryIndexDefinition:
    """The source container, and the paths in its items that the index has, by its own names for them; None for all."""

    source_id: str
    source_rid: str | None
    text: str
    paths: dict[str, tuple[str, ...]] | None

    @classmethod
    def parse(cls, body: JsonObject) -> SecondaryIndexDefinition | None:
        """Parse the definition in a container's body, if it has one. Raises 400."""
        given = [body[name] for name in PROPERTIES if body.get(name) is not None]
        if not given:
            return None
        definition = given[0]
        if not isinstance(definition, dict) or any(one != definition for one in given):
            raise _invalid("it must be one object")
        source, rid, text = (definition.get(name) for name in _NAMES[:3])
        if not isinstance(source, str) or not isinstance(text, str):
            raise _invalid("it must have a sourceCollectionId and a definition")
        return cls(source, rid if isinstance(rid, str) else None, text, _paths(text))

    def projected(self, document: JsonObject, item_id: str) -> JsonObject:
        """Return the index's item for an item of the source, whose id is in `_id` if the definition has it.

        `item_id` identifies the source's item: the service assigns the id, and does not say how.
        """
        if self.paths is None:
            return {**document, "_id": document["id"], "id": item_id}
        found: JsonObject = {}
        for name, path in self.paths.items():
            value = value_at(document, path)
            if not isinstance(value, UndefinedKey):
                found[name] = value
            elif name != "ttl":  # with a ttl of null, the item would be invalid
                found[name] = None
        return {**found, "id": item_id}

    def as_json(self, status: str) -> JsonObject:
        """Return the definition as the service shows it."""
        return dict(zip(_NAMES, (self.source_id, self.source_rid, self.text, status), strict=True))


def with_status(body: JsonObject, definition: SecondaryIndexDefinition, status: str) -> JsonObject:
    """Return a container's body that shows the state of the index."""
    shown: Json = definition.as_json(status)
    return {**body, **dict.fromkeys(PROPERTIES, shown)}


def _paths(text: str) -> dict[str, tuple[str, ...]] | None:
    match parse(text):
        case Query(
            sources=(source,),
            where=None,
            group_by=(),
            order_by=(),
            top=None,
            offset=None,
            distinct=False,
            select=select,
        ) if isinstance(source.collection, PathCollection) and not source.collection.path and not source.iterate:
            alias = source.alias or source.collection.name
            if isinstance(select, SelectStar):
                return None
            if isinstance(select, SelectList) and all(item.alias is None for item in select.items):
                paths = [_path(item.expression, alias) for item in select.items]
                if all(paths):
                    return _named(paths)
    raise _invalid(
        "its query must be SELECT c.a, c.b.c FROM c or SELECT * FROM c, without aliases, functions and other clauses"
    )


def _path(expression: object, alias: str) -> tuple[str, ...]:
    """Return the names of `c.a.b`; none for another expression."""
    names: list[str] = []
    while isinstance(expression, Property):
        names.insert(0, expression.name)
        expression = expression.target
    return tuple(names) if isinstance(expression, Identifier) and expression.name == alias else ()


def _named(paths: list[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the paths by their names in the index. Raises 400 if two have the same, which is not documented."""
    names = ["_id" if path == ("id",) else path[-1] for path in paths]
    [(name, count)] = Counter([*names, "id"]).most_common(1)  # the index has an id of its own
    if count > 1:
        raise _invalid(f"two properties would have the name '{name}' in the index")
    return dict(zip(names, paths, strict=True))


def _invalid(reason: str) -> CosmosError:
    return CosmosError(400, f"The definition of the global secondary index is invalid: {reason}.")
