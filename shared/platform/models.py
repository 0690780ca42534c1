"""Base classes of requests and resources: camelCase in JSON and in items, snake_case in Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self, TypeGuard
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from shared.platform.errors import ItemDamaged

# An item as stored: camelCase properties, JSON values.
Item = dict[str, Any]

# Clients show this text next to the field.
EMPTY = "This is empty. Write something."

_NAMES = {int: "a whole number", str: "a string", list: "an array"}
_TWO_PARTS = re.compile('"([^/]*)/.+"')
# The SDK quotes an ID and sends it as the last part of a path (_base.py, GetPathFromLink). "." and ".." are then cut
# off with the part before them (yarl), and "/" and "\\" divide the ID. The path does not match its signature, or
# names another item or the container. The service does not find an ID that ends with a space (401;
# CosmosItemIdEncodingTestsBase.cs of azure-cosmos-dotnet-v3), and the SDK creates none with "?" or "#". Control
# characters are not allowed (https://learn.microsoft.com/azure/cosmos-db/concepts-limits#per-item-limits), and a URL
# cannot carry surrogates.
_ID = re.compile(r"(?!\.{1,2}\Z)[^/\\?#\x00-\x1f\x7f\ud800-\udfff]{0,254}[^/\\?#\x00-\x20\x7f\ud800-\udfff]")


# `defer_build`: building every validator at startup would take 20 ms; build each when it is first used.
_MODEL = ConfigDict(alias_generator=to_camel, defer_build=True, validate_by_name=True, frozen=True)


class RequestModel(BaseModel):
    """A request body: types are not coerced, and unknown fields are errors."""

    model_config = ConfigDict(**_MODEL, strict=True, extra="forbid")


class Resource(BaseModel):
    """A response. It has only the declared fields of an item, so no system property leaves the API."""

    # The log has the error of a malformed item, but not its content.
    model_config = ConfigDict(**_MODEL, extra="ignore", hide_input_in_errors=True)

    TYPE: ClassVar[str]
    # Fields that items can have in addition, and that responses omit.
    INTERNAL: ClassVar[Mapping[str, type]] = {}

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Return the resource that an item stores. Raises ItemDamaged."""
        try:
            return cls.model_validate(item)
        except ValidationError as error:
            raise ItemDamaged(f"{cls.TYPE} {item.get('id')}: {_faults(error)}") from None

    @classmethod
    def serialize(cls, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the resource as JSON values, without the optional properties that the item does not have."""
        return cls.from_item(item).model_dump(by_alias=True, exclude_none=True)

    @classmethod
    def checked(cls, item: Item) -> Item:
        """Return `item`. Raises ItemDamaged if it is not what the app writes."""
        cls.from_item(item)
        for name, expected in cls.INTERNAL.items():
            value = item.get(name, expected())
            if not isinstance(value, expected) or isinstance(value, bool):
                raise ItemDamaged(f"{cls.TYPE} {item.get('id')}: {name} must be {_NAMES[expected]}")
        return item

    @classmethod
    def entity_tag(cls, item: Mapping[str, Any]) -> str:
        """Return the resource's ETag: the last edit, and the item's etag, which changes whenever the response does."""
        tag: str = item["_etag"]  # quoted
        return f'"{quote(cls.last_edit(item), safe=":")}/{tag[1:]}'

    @classmethod
    def last_edit(cls, item: Mapping[str, Any]) -> str:
        """Return what If-Match compares: by default the date of creation, of resources that cannot be edited."""
        return str(item.get("creationDate"))

    @classmethod
    def projection(cls) -> str:
        """Return the SELECT list that reads only this resource's fields from items named c."""
        return ", ".join(f"c.{field.alias}" for field in cls.model_fields.values())


def _faults(error: ValidationError) -> str:
    """Name the invalid fields, without their values."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)


def integer_of(item: Mapping[str, Any], name: str, default: int = 0) -> int:
    """Return a number of the item, or `default` if it has none, as in an earlier version of the data model."""
    value = item.get(name)
    return value if is_whole_number(value) else default


def string_of(item: Mapping[str, Any], name: str) -> str:
    """Return a property that must be a string, such as the partition key. Raises KeyError, TypeError."""
    value = item[name]
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {type(value).__name__}")
    return value


def is_whole_number(value: object) -> TypeGuard[int]:
    """Return whether the value is a JSON number without a fraction. In Python, true and false are numbers, too."""
    return isinstance(value, int) and not isinstance(value, bool)


def edit_of(etag: str) -> str:
    """Return the last edit that an ETag from a client names; the ETag itself if it has no such part."""
    match = _TWO_PARTS.fullmatch(etag)
    return unquote(match[1]) if match else etag


def is_item_id(value: str) -> bool:
    """Return whether the SDK can address an item with this ID. Batches and queries also reach others."""
    return _ID.fullmatch(value) is not None


def iso_utc(moment: datetime) -> str:
    """Format a time as `2026-01-31T23:59:59.123Z`: with a fixed width, so that strings sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now() -> str:
    return iso_utc(datetime.now(UTC))


def parse_moment(text: str) -> datetime:
    """Return an ISO 8601 time in UTC, which is also the default offset. Raises TypeError, ValueError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        # The original message quotes the text, which does not belong in the log.
        raise ValueError("a date must be in ISO 8601 format") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        # .NET writes 0001-01-01T00:00:00+08:00 for a local time that was never set (dotnet/runtime#70547).
        raise ValueError("a date must be in the years 1 to 9999 in UTC") from None


# The format is documented but not enforced: items with older formats must stay readable.
_DATE: dict[str, Any] = {"format": "date-time", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"}
Date = Annotated[
    str,
    Field(description="ISO 8601, UTC, milliseconds.", json_schema_extra=_DATE, examples=["2026-01-31T23:59:59.123Z"]),
]
