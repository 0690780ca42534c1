"""What the models share: the rules of usernames and texts, and the types of their fields."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from shared.models.characters import check_text, cluster_ends, has_invisible
from shared.models.summary import plain_text
from shared.platform.models import EMPTY, Resource

# The type and the time to live of the tombstone that tells the change feed about the deletion of a post or a user. It
# must outlast any downtime of the change-feed functions.
DELETED_TYPE = "tombstone"
DELETED_TTL_S = 30 * 24 * 3600
# In grapheme clusters: letters with their marks. One less if they write syllables, such as Hangul.
USERNAME_LENGTH = (3, 30)
USERNAME_CODE_POINTS = 120
TITLE_LENGTH = 200
POST_LENGTH = 100_000
# In UTF-8. The longer a post is, the more a like costs, which rewrites the item with the content and the counts.
POST_BYTES = 131_072
COMMENT_LENGTH = 5_000

_NOT_A_NAME = "Use only letters, digits, “_”, “-” and “.”."
_ASCII_NAME = re.compile("[A-Za-z0-9_.-]*")


class ItemOfPost(Resource):
    """A post, or a resource in its logical partition.

    A list in descending order of types must find the tombstone of a deleted post first (shared/data/posts.py).
    """

    INTERNAL: ClassVar[Mapping[str, type]] = {"nameVersion": int}

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        if cls.TYPE >= DELETED_TYPE:
            raise TypeError(f"the type {cls.TYPE!r} must sort before {DELETED_TYPE!r}; give it another name")


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
    from shared.models.writing_systems import has_stacked_marks, has_syllables, is_name, mixes_scripts

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


def _check_content(value: str) -> str:
    """Check the size of a post's content, and what readers see of it. Raises ValueError."""
    if len(value.encode()) > POST_BYTES:
        raise ValueError(f"This is too long. Use at most {POST_BYTES:,} bytes in UTF-8.")
    check_text(plain_text(value))
    return value


def _length(most: int, *, example: str) -> Any:
    return Field(min_length=1, max_length=most, examples=[example])


# Before the length is checked, which NFC can change.
_IS_TEXT = BeforeValidator(lambda value: check_text(value) if isinstance(value, str) else value)

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
# What someone is writing.
PostDraft = Annotated[str, _length(POST_LENGTH, example="It may weave algebraic patterns."), _IS_TEXT]
PostContent = Annotated[
    PostDraft, Field(description=f"Markdown: at most {POST_BYTES:,} bytes in UTF-8."), AfterValidator(_check_content)
]
CommentContent = Annotated[str, _length(COMMENT_LENGTH, example="Well put."), _IS_TEXT]
