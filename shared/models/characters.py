"""Texts as readers see them: grapheme clusters, and characters that are not shown or not allowed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

from shared.platform.models import EMPTY

# HTML and XML 1.0 have no form for these (https://www.w3.org/TR/xml/#charsets). Forms end lines with CR LF.
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]|\r(?!\n)")
_VISIBLE = re.compile("[!-~]")
# https://www.unicode.org/reports/tr29/#Grapheme_Cluster_Boundaries
_CLUSTER = r"\X"
# The rest are symbols that fonts show as nothing: the empty Braille pattern, annotations, a note without a head.
_INVISIBLE = r"(?s)[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800\ufff9-\ufffc\U0001d159]*+"
_IGNORABLE = r"\p{Default_Ignorable_Code_Point}"
# No language needs more marks on a letter (https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format). Normalizing
# takes quadratic time.
_CROWDED = r"(?<!\p{M})\p{M}{31}"


def cluster_ends(text: str) -> Iterator[int]:
    """Yield where each extended grapheme cluster of the text ends."""
    return (cluster.end() for cluster in _compiled(_CLUSTER).finditer(text))


def is_blank(text: str) -> bool:
    """Return whether no character of the text is shown."""
    return not _VISIBLE.search(text) and _compiled(_INVISIBLE).fullmatch(text) is not None


def has_invisible(text: str) -> bool:
    """Return whether the text has a default-ignorable code point, which is not shown, such as a Hangul filler."""
    return _compiled(_IGNORABLE).search(text) is not None


def check_text(value: str) -> str:
    """Return the text in NFC, in which texts that readers take for equal are equal.

    It needs a visible character, and no control character that is not white space. Raises ValueError.
    """
    if match := _NOT_TEXT.search(value):
        raise ValueError(f"This has the control character U+{ord(match[0]):04X}. Remove it.")
    if is_blank(value):
        raise ValueError(EMPTY)
    if not value.isascii() and _compiled(_CROWDED).search(value):
        raise ValueError("A letter has too many accents. Remove some.")
    return unicodedata.normalize("NFC", value)


@cache
def _compiled(pattern: str) -> Any:
    import regex  # type: ignore[import-untyped]  # has no annotations, is slow to import, and few texts need it

    return regex.compile(pattern)
