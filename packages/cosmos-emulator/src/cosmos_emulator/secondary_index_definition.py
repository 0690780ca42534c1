"""The definition of a global secondary index: a container that the service fills with a projection of another one.

Rules: learn.microsoft.com/azure/cosmos-db/nosql/global-secondary-indexes, and azure-cosmos 4.17,
_global_secondary_index.py, for the properties. docs/secondary-indexes.md lists what the sources leave open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.query import parse
from cosmos_emulator.query.syntax import Identifier, PathCollection, Property, Query, SelectList, SelectStar

PROPERTIES: Final = ("globalSecondaryIndexDefinition", "materializedViewDefinition")
"""SDKs send both, and read the second from older versions of the service."""
BUILDING, ACTIVE = "InitialBuildAfterCreate", "Active"
_NAMES: Final = ("sourceCollectionId", "sourceCollectionRid", "definition", "status")


@dataclass(frozen=True, slots=True)
class SecondaryIndexDefinition:
    """The source container, and the properties of its items that the index has; None for all."""

    source_id: str
    source_rid: str | None
    text: str
    properties: tuple[str, ...] | None

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
        return cls(source, rid if isinstance(rid, str) else None, text, _properties(text))

    def projected(self, document: JsonObject, item_id: str) -> JsonObject:
        """Return the index's item for an item of the source, whose id is in `_id`.

        `item_id` identifies the source's item: the service assigns the id, and does not say how.
        """
        names = document if self.properties is None else self.properties
        found = {name: document[name] for name in names if name in document}
        return {**found, "_id": document["id"], "id": item_id}

    def as_json(self, status: str) -> JsonObject:
        """Return the definition as the service shows it."""
        return dict(zip(_NAMES, (self.source_id, self.source_rid, self.text, status), strict=True))


def with_status(body: JsonObject, definition: SecondaryIndexDefinition, status: str) -> JsonObject:
    """Return a container's body that shows the state of the index."""
    shown: Json = definition.as_json(status)
    return {**body, **dict.fromkeys(PROPERTIES, shown)}


def _properties(text: str) -> tuple[str, ...] | None:
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
                names = [_name(item.expression, alias) for item in select.items]
                if None not in names:
                    return tuple(dict.fromkeys(name for name in names if name is not None))
    raise _invalid(
        "its query must be SELECT c.a, c.b FROM c or SELECT * FROM c, with properties of one level and without aliases,"
        " functions and other clauses"
    )


def _name(expression: object, alias: str) -> str | None:
    match expression:
        case Property(target=Identifier(name=target), name=name) if target == alias:
            return name
    return None


def _invalid(reason: str) -> CosmosError:
    return CosmosError(400, f"The definition of the global secondary index is invalid: {reason}.")
