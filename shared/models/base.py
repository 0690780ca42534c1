"""What all models share: camelCase on the outside, snake_case inside, and no guessing at types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

# An item as the database gives and takes it: camelCase properties, JSON values.
Item = dict[str, Any]


# `defer_build`: building every validator at startup would take 20 ms; build each when it is first used.
class RequestModel(BaseModel):
    """A body: strict types, and a field that the model does not have is a fault."""

    model_config = ConfigDict(
        alias_generator=to_camel, defer_build=True, validate_by_name=True, strict=True, extra="forbid", frozen=True
    )


class Resource(BaseModel):
    """An answer. Made from an item, of which it takes its own fields only: no property of the database leaves."""

    model_config = ConfigDict(
        alias_generator=to_camel, defer_build=True, validate_by_name=True, extra="ignore", frozen=True
    )

    TYPE: ClassVar[str]

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Raises pydantic.ValidationError when the item is not of this shape."""
        return cls.model_validate(item)

    @classmethod
    def entity_tag(cls, item: Mapping[str, Any]) -> str:
        """The ETag of the resource: it changes whenever what the API shows of the item does."""
        tag: str = item["_etag"]
        return tag

    @classmethod
    def projection(cls) -> str:
        """The SELECT list that reads just the fields of this resource from items named c."""
        return ", ".join(f"c.{field.alias}" for field in cls.model_fields.values())
