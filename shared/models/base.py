"""Base classes of the models (camelCase in JSON, snake_case in Python), and the types of their fields."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self, TypeGuard
from urllib.parse import quote, unquote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

from shared.errors import ItemDamaged

# An item as stored: camelCase properties, JSON values.
Item = dict[str, Any]

# The type and the time to live of the tombstone that tells the change feed about the deletion of a post or a user. It
# must outlast any downtime of the change-feed functions.
DELETED_TYPE = "tombstone"
DELETED_TTL_S = 30 * 24 * 3600
# In grapheme clusters: letters with their marks. One less if they write syllables, such as Hangul.
USERNAME_LENGTH = (3, 30)
USERNAME_CODE_POINTS = 120
TITLE_LENGTH = 200
POST_LENGTH = 100_000
COMMENT_LENGTH = 5_000
# Clients show this text next to the field.
EMPTY = "This is empty. Write something."

_NOT_A_NAME = "Use only letters, digits, “_”, “-” and “.”."
_ASCII_NAME = re.compile("[A-Za-z0-9_.-]*")
# HTML and XML 1.0 have no form for these (https://www.w3.org/TR/xml/#charsets). Forms end lines with CR LF.
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]|\r(?!\n)")
_VISIBLE = re.compile("[!-~]")
_NAMES = {int: "a whole number", str: "a string", list: "an array"}
_TWO_PARTS = re.compile('"([^/]*)/.+"')
# The ids that Cosmos DB and its SDK accept: no /, \, ?, #, control character or trailing space.
# https://learn.microsoft.com/azure/cosmos-db/concepts-limits#per-item-limits
_ID = re.compile(r"[^/\\?#\x00-\x1f\x7f]{0,254}[^/\\?#\x00-\x20\x7f]")


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
    INTERNAL: ClassVar[Mapping[str, type]] = {"nameVersion": int}

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
        """Return what If-Match compares. Comments and likes cannot be edited; a like made again has another date."""
        return str(item.get("creationDate"))

    @classmethod
    def projection(cls) -> str:
        """Return the SELECT list that reads only this resource's fields from items named c."""
        return ", ".join(f"c.{field.alias}" for field in cls.model_fields.values())


class ItemOfPost(Resource):
    """A post, or a resource in its logical partition.

    A list in descending order of types must find the tombstone of a deleted post first (shared/data/posts.py).
    """

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        if cls.TYPE >= DELETED_TYPE:
            raise TypeError(f"the type {cls.TYPE!r} must sort before {DELETED_TYPE!r}; give it another name")


def _faults(error: ValidationError) -> str:
    """Name the invalid fields, without their values."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)


def integer_of(item: Mapping[str, Any], name: str, default: int = 0) -> int:
    """Return a number of the item, or `default` if it has none: a V1 post has no counts and no version."""
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
    """Return whether an item can have this id. If not, no request to the database is needed."""
    # "." and ".." are path segments: the SDK's request would address another resource.
    return _ID.fullmatch(value) is not None and value.isprintable() and value not in (".", "..")


def check_username(value: str) -> str:
    """Allow letters of one script with their marks, digits, `_`, `-` and `.`, before and after NFKC. Raises ValueError.

    Stored names are not checked again, so names from before a rule stay valid.
    """
    least, most = USERNAME_LENGTH
    if not value:
        raise ValueError(EMPTY)
    # The second limit keeps reservations in the limits of IDs; it is far beyond names in any language.
    if len(value) <= USERNAME_CODE_POINTS:
        if not value.isascii():
            return _check_international_username(value)
        if not _ASCII_NAME.fullmatch(value):
            raise ValueError(_NOT_A_NAME)
        if len(value) < least:
            raise ValueError(f"This is too short. Use at least {least} characters.")
    if len(value) > most:
        raise ValueError(f"This is too long. Use at most {most} characters.")
    return value


def _check_international_username(value: str) -> str:
    # Slow to import, and few names need them.
    from shared.models.characters import cluster_ends, has_invisible
    from shared.models.scripts import has_stacked_marks, has_syllables, is_name, mixes_scripts

    composed, normal = unicodedata.normalize("NFC", value), unicodedata.normalize("NFKC", value)
    if has_invisible(composed + normal):
        raise ValueError("This has invisible characters. Remove them.")
    # The normal form of a character that is newer than the standard library is unknown.
    is_known = all(unicodedata.category(character) != "Cn" for character in composed)
    if not (is_known and is_name(composed) and is_name(normal)):
        raise ValueError(_NOT_A_NAME)
    if has_stacked_marks(composed) or has_stacked_marks(normal):
        raise ValueError("A letter has too many accents. Remove some.")
    if mixes_scripts(composed) or mixes_scripts(normal):
        raise ValueError("This mixes alphabets, such as Latin and Cyrillic. Use letters of only one.")
    least = USERNAME_LENGTH[0] - has_syllables(composed)
    if sum(1 for _ in cluster_ends(composed)) < least:
        raise ValueError(f"This is too short. Use at least {least} characters.")
    length = sum(1 for _ in cluster_ends(normal))
    if length > USERNAME_LENGTH[1] or len(normal.casefold()) > USERNAME_CODE_POINTS:
        raise ValueError(f"This is too long. Use at most {USERNAME_LENGTH[1]} characters; some count as several.")
    return value


def check_text(value: str) -> str:
    """Require a visible character, and no control character that is not white space. Raises ValueError."""
    if match := _NOT_TEXT.search(value):
        raise ValueError(f"This has the control character U+{ord(match[0]):04X}. Remove it.")
    if not _VISIBLE.search(value):
        # Slow to import, and few texts need it.
        from shared.models.characters import is_blank

        if is_blank(value):
            raise ValueError(EMPTY)
    return value


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


def _length(most: int, *, example: str) -> Any:
    return Field(min_length=1, max_length=most, examples=[example])


_IS_TEXT = AfterValidator(check_text)

# JSON Schema counts code points (https://json-schema.org/draft/2020-12/json-schema-validation#section-6.3.1).
_NAME_LENGTH: dict[str, Any] = {"minLength": USERNAME_LENGTH[0] - 1, "maxLength": USERNAME_CODE_POINTS}
Username = Annotated[
    str,
    Field(
        description=f"{USERNAME_LENGTH[0]} to {USERNAME_LENGTH[1]} characters (extended grapheme clusters): letters of "
        "one script with their marks, digits, `_`, `-` and `.`. Two are enough with a letter of a script without an "
        "alphabet, such as Han, Hangul or Devanagari.",
        json_schema_extra=_NAME_LENGTH,
        examples=["ada.lovelace"],
    ),
    AfterValidator(check_username),
]
UserId = Annotated[str, _length(255, example="0b5be3f6-6b0a-4f0e-9d0e-6a1f6f3c2b11")]
# White space is removed before the length is checked.
Title = Annotated[
    str, StringConstraints(strip_whitespace=True), _length(TITLE_LENGTH, example="Notes on the Engine"), _IS_TEXT
]
PostContent = Annotated[str, _length(POST_LENGTH, example="It may weave algebraic patterns."), _IS_TEXT]
CommentContent = Annotated[str, _length(COMMENT_LENGTH, example="Well put."), _IS_TEXT]
# The format is documented but not enforced: items with older formats must stay readable.
_DATE: dict[str, Any] = {"format": "date-time", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"}
Date = Annotated[
    str,
    Field(description="ISO 8601, UTC, milliseconds.", json_schema_extra=_DATE, examples=["2026-01-31T23:59:59.123Z"]),
]
