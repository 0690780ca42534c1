"""Base classes of the models: camelCase in JSON, snake_case in Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

# An item as stored: camelCase properties, JSON values.
Item = dict[str, Any]

_TWO_PARTS = re.compile('"([^/]*)/.+"')


# `defer_build`: building every validator at startup would take 20 ms; build each when it is first used.
class RequestModel(BaseModel):
    """A request body: types are not coerced, and unknown fields are errors."""

    model_config = ConfigDict(
        alias_generator=to_camel, defer_build=True, validate_by_name=True, strict=True, extra="forbid", frozen=True
    )


class Resource(BaseModel):
    """A response. It has only the declared fields of an item, so no system property leaves the API."""

    # The log has the error of a malformed item, but not its content.
    model_config = ConfigDict(
        alias_generator=to_camel,
        defer_build=True,
        validate_by_name=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    TYPE: ClassVar[str]

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Return the resource that an item stores. Raises pydantic.ValidationError."""
        return cls.model_validate(item)

    @classmethod
    def entity_tag(cls, item: Mapping[str, Any]) -> str:
        """Return the resource's ETag: the last edit, and the item's etag, which changes whenever the response does."""
        tag: str = item["_etag"]  # quoted
        return f'"{quote(cls.last_edit(item), safe=":")}/{tag[1:]}'

    @classmethod
    def last_edit(cls, item: Mapping[str, Any]) -> str:
        """Return what If-Match compares. Comments and likes cannot be edited; a like made again has another date."""
        date: str = item["creationDate"]
        return date

    @classmethod
    def projection(cls) -> str:
        """Return the SELECT list that reads only this resource's fields from items named c."""
        return ", ".join(f"c.{field.alias}" for field in cls.model_fields.values())


def integer_of(item: Mapping[str, Any], name: str, default: int = 0) -> int:
    """Return a number of the item, or `default` if it has none: a V1 post has no counts and no version."""
    value = item.get(name)
    return value if isinstance(value, int) else default


def edit_of(etag: str) -> str:
    """Return the last edit that an ETag from a client names, or for any other ETag itself, which is never an edit."""
    match = _TWO_PARTS.fullmatch(etag)
    return unquote(match[1]) if match else etag
